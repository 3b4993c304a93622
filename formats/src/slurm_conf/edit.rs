//! Edits of records that what-ifs need: nodes and their partitions.

use std::collections::{BTreeMap, BTreeSet};

use super::read::MAX_NODES;
use super::records::{NodeRecord, PartitionRecord};
use super::settings::{Place, Setting, Settings};
use super::{Scope, SlurmConf, find_parameter};
use crate::diagnostic::Diagnostic;
use crate::hostlist::{self, HostlistError};
use crate::slurm_conf::near::did_you_mean;

/// Names that are described, and names that are not.
type Members = (Vec<String>, Vec<String>);

impl SlurmConf {
    /// The nodes of a partition: those `known`, sorted by name, and those no line describes. O(nodes × log nodes).
    pub(super) fn members(
        &self,
        partition: &PartitionRecord,
        known: &BTreeSet<&str>,
    ) -> Result<Members, HostlistError> {
        let text = partition.settings.get("Nodes").map_or("", |setting| setting.value.as_str());
        // slurmctld takes blanks for commas (read_config.c of 22.05.8, `_parse_partitionname`).
        let text = &text.replace(|character: char| character.is_ascii_whitespace(), ",");
        let (mut members, mut undefined) = (BTreeSet::new(), BTreeSet::new());
        let sets: BTreeSet<&str> = self.node_sets.iter().map(|set| set.name.as_str()).collect();
        for item in hostlist::split_top_level(text)? {
            if item.is_empty() || item == "(null)" {
                continue;
            }
            if item.eq_ignore_ascii_case("ALL") {
                members.extend(known.iter().map(|name| (*name).to_owned()));
                continue;
            }
            let names = if sets.contains(item) { self.node_set(item)? } else { hostlist::expand(item, MAX_NODES)? };
            for name in names {
                if known.contains(name.as_str()) {
                    members.insert(name);
                } else {
                    undefined.insert(name);
                }
            }
        }
        Ok((members.into_iter().collect(), undefined.into_iter().collect()))
    }

    /// The nodes of a `NodeSet`.
    fn node_set(&self, name: &str) -> Result<Vec<String>, HostlistError> {
        let mut names: Vec<String> = Vec::new();
        for set in self.node_sets.iter().filter(|set| set.name == name) {
            if let Some(list) = &set.nodes
                && list.eq_ignore_ascii_case("ALL")
            {
                names.extend(self.node_names().map(str::to_owned));
            } else if let Some(list) = &set.nodes {
                names.extend(hostlist::expand(list, MAX_NODES)?);
            }
            for record in &self.nodes {
                if features(record).any(|feature| set.features.iter().any(|wanted| wanted == feature)) {
                    names.extend(record.names.iter().cloned());
                }
            }
        }
        Ok(names)
    }

    fn known_nodes(&self) -> BTreeSet<&str> {
        self.node_names().collect()
    }

    /// The nodes of a partition by name, sorted; `None` where there is no such partition.
    pub fn partition_nodes(&self, name: &str) -> Option<Vec<String>> {
        let partition = self.partitions.iter().find(|partition| partition.name == name)?;
        Some(self.members(partition, &self.known_nodes()).map(|(members, _)| members).unwrap_or_default())
    }

    /// Keeps only the nodes named, in records and partitions; partitions left without nodes are dropped and returned, in
    /// the order of the file. For a controller of a part of the machine.
    pub fn retain_nodes(&mut self, keep: &BTreeSet<String>) -> Vec<String> {
        let members: BTreeMap<String, Vec<String>> =
            self.partition_names().filter_map(|name| Some((name.to_owned(), self.partition_nodes(name)?))).collect();
        for record in &mut self.nodes {
            record.names.retain(|name| keep.contains(name));
        }
        self.nodes.retain(|record| !record.names.is_empty());
        // Sets have been resolved into the partitions' own lists.
        self.node_sets.clear();
        let mut dropped = Vec::new();
        self.partitions.retain_mut(|partition| {
            let names = members.get(&partition.name).into_iter().flatten().filter(|name| keep.contains(*name));
            let list = hostlist::compress(names.map(String::as_str));
            if list.is_empty() {
                dropped.push(partition.name.clone());
                return false;
            }
            set_text(&mut partition.settings, Scope::Partition, "Nodes", list);
            true
        });
        dropped
    }

    /// Removes nodes from records and partitions, and gives the partitions dropped as [`Self::retain_nodes`] does.
    ///
    /// # Errors
    /// An unreadable hostlist, or a node that is not there.
    pub fn remove_nodes(&mut self, list: &str) -> Result<Vec<String>, Diagnostic> {
        let removed: BTreeSet<String> = self.existing(list)?.into_iter().collect();
        let keep = self.node_names().filter(|name| !removed.contains(*name)).map(str::to_owned).collect();
        Ok(self.retain_nodes(&keep))
    }

    /// Adds nodes that are like the node `like`, also in its partitions.
    ///
    /// # Errors
    /// An unreadable hostlist, a node that is there already, or no node `like`.
    pub fn add_nodes(&mut self, list: &str, like: &str) -> Result<(), Diagnostic> {
        let names = hostlist::expand(list, MAX_NODES)
            .map_err(|error| self.edit_error(list, error.to_string(), "write a hostlist"))?;
        let known = self.known_nodes();
        if let Some(name) = names.iter().find(|name| known.contains(name.as_str())) {
            return Err(self.edit_error(name, format!("there is a node '{name}' already"), "give new names"));
        }
        self.existing(like)?;
        let Some(at) = self.nodes.iter().position(|record| record.names.iter().any(|name| name == like)) else {
            return Err(self.edit_error(like, format!("there is no single node '{like}'"), "name one node"));
        };
        let partitions: Vec<String> = self
            .partition_names()
            .filter(|name| {
                self.partition_nodes(name).is_some_and(|members| members.iter().any(|member| member == like))
            })
            .map(str::to_owned)
            .collect();
        if let Some(record) = self.nodes.get_mut(at) {
            record.names.extend(names.iter().cloned());
        }
        let known: BTreeSet<String> = self.node_names().map(str::to_owned).collect();
        let known: BTreeSet<&str> = known.iter().map(String::as_str).collect();
        let lists: BTreeMap<String, String> = self
            .partitions
            .iter()
            .filter(|partition| partitions.contains(&partition.name))
            .filter_map(|partition| {
                let (members, _) = self.members(partition, &known).ok()?;
                let all: BTreeSet<&str> = members.iter().chain(&names).map(String::as_str).collect();
                Some((partition.name.clone(), hostlist::compress(all)))
            })
            .collect();
        for partition in &mut self.partitions {
            if let Some(list) = lists.get(&partition.name) {
                set_text(&mut partition.settings, Scope::Partition, "Nodes", list.clone());
            }
        }
        Ok(())
    }

    /// The nodes of a hostlist, all of which must be there.
    pub(super) fn existing(&self, list: &str) -> Result<Vec<String>, Diagnostic> {
        let names = hostlist::expand(list, MAX_NODES)
            .map_err(|error| self.edit_error(list, error.to_string(), "write a hostlist"))?;
        let known = self.known_nodes();
        if let Some(name) = names.iter().find(|name| !known.contains(name.as_str())) {
            let cure = did_you_mean(name, known.iter().copied(), "name nodes of slurm.conf");
            return Err(self.edit_error(name, format!("there is no node '{name}'"), &cure));
        }
        if names.is_empty() {
            return Err(self.edit_error(list, "no node is named".to_owned(), "write a hostlist"));
        }
        Ok(names)
    }

    /// Splits records so that one record holds nothing but nodes of `names`, and gives the indices of such records.
    pub(super) fn isolate(&mut self, names: &BTreeSet<String>) -> Vec<usize> {
        let (mut records, mut isolated) = (Vec::with_capacity(self.nodes.len()), Vec::new());
        for record in std::mem::take(&mut self.nodes) {
            let (inside, outside): (Vec<String>, Vec<String>) =
                record.names.iter().cloned().partition(|name| names.contains(name));
            if !outside.is_empty() {
                records.push(NodeRecord { names: outside, ..record.clone() });
            }
            if !inside.is_empty() {
                isolated.push(records.len());
                records.push(NodeRecord { names: inside, ..record });
            }
        }
        self.nodes = records;
        isolated
    }

    /// An error of an edit.
    pub(super) fn edit_error(&self, field: &str, message: String, cure: &str) -> Diagnostic {
        let field: String = field.chars().take(120).collect();
        Diagnostic::error(self.name.clone(), message).field(field).cure(cure)
    }
}

fn features(record: &NodeRecord) -> impl Iterator<Item = &str> {
    find_parameter(Scope::Node, "Feature")
        .and_then(|parameter| record.settings.value(parameter))
        .into_iter()
        .flat_map(|setting| setting.value.split(',').map(str::trim))
}

/// Sets a value that the simulator itself has computed.
fn set_text(settings: &mut Settings, scope: Scope, name: &str, value: String) {
    if let Some(parameter) = find_parameter(scope, name) {
        let place = settings
            .get(parameter.name)
            .map_or(Place { file: "what-if".into(), line: None }, |setting| setting.place.clone());
        settings.insert(Setting { parameter, value, place });
    }
}
