//! One line's pairs into the record they make.

use super::{MAX_NODES, Reader};
use crate::diagnostic::Severity;
use crate::hostlist::{self, HostlistError};
use crate::slurm_conf::near::did_you_mean;
use crate::slurm_conf::pairs::Pair;
use crate::slurm_conf::records::{NodeRecord, NodeSetRecord, PartitionRecord, PlainRecord};
use crate::slurm_conf::settings::{Place, Setting, Settings};
use crate::slurm_conf::{Scope, find_parameter, parameter_names};

/// What partitions do not take over from `PartitionName=DEFAULT` (read_config.c of 22.05.8, `_parse_partitionname`).
const NOT_INHERITED: [&str; 2] = ["ExclusiveUser", "SelectTypeParameters"];

impl Reader<'_> {
    /// A record if the line begins one, else parameters of their own.
    pub(super) fn pairs(&mut self, pairs: &[Pair], place: &impl Fn(usize) -> Place) {
        let Some((first, rest)) = pairs.split_first() else { return };
        match first.key.to_ascii_lowercase().as_str() {
            "nodename" => self.node(first, rest, place),
            "partitionname" => self.partition(first, rest, place),
            "nodeset" => self.node_set(first, rest, place),
            "downnodes" => {
                let pairs = pairs.iter().map(|pair| (pair.key.clone(), pair.value.clone())).collect();
                self.conf.down_nodes.push(PlainRecord { pairs, place: place(first.offset) });
            }
            "frontendname" => self.globals(std::slice::from_ref(first), place),
            _ => self.globals(pairs, place),
        }
    }

    fn globals(&mut self, pairs: &[Pair], place: &impl Fn(usize) -> Place) {
        for pair in pairs {
            let place = place(pair.offset);
            let Some(parameter) = find_parameter(Scope::Global, &pair.key) else {
                let field: String = pair.key.chars().take(60).collect();
                let cure = self.cure_for_unknown(&pair.key);
                self.diagnostics
                    .push(place.error(field, "slurm.conf has no such parameter; slurmctld would not start").cure(cure));
                continue;
            };
            let setting = Setting { parameter, value: pair.value.clone(), place: place.clone() };
            // Several controllers are named line by line.
            let may_repeat = ["SlurmctldHost", "FrontendName"].contains(&parameter.name);
            if let Some(earlier) = self.conf.globals.insert(setting)
                && !may_repeat
                && earlier.value != pair.value
            {
                let line = earlier
                    .place
                    .line
                    .map_or_else(String::new, |line| format!(" (first in {}:{line})", earlier.place.file));
                let message = format!("given more than once{line}; the last one is taken, as slurmctld does");
                self.diagnostics.push(place.remark(Severity::Warning, parameter.name, message).cure("keep one"));
            }
        }
    }

    /// A key of partitions or nodes at the start of a line is most often a continuation that was cut off.
    fn cure_for_unknown(&self, key: &str) -> String {
        let owner = [
            (Scope::Partition, "PartitionName"),
            (Scope::Node, "NodeName"),
            (Scope::SchedulerParameters, "SchedulerParameters"),
        ]
        .into_iter()
        .find(|(scope, _)| find_parameter(*scope, key).is_some());
        match owner {
            Some((_, record)) => {
                format!("it belongs to {record}: end the line before with a backslash, or join the lines")
            }
            None => did_you_mean(key, parameter_names(Scope::Global), "remove it, or comment it out with #"),
        }
    }

    fn settings(&mut self, scope: Scope, record: &str, pairs: &[Pair], place: &impl Fn(usize) -> Place) -> Settings {
        let mut settings = Settings::default();
        for pair in pairs {
            let place = place(pair.offset);
            let Some(parameter) = find_parameter(scope, &pair.key) else {
                let field: String = format!("{record}.{}", pair.key).chars().take(60).collect();
                let cure = did_you_mean(&pair.key, parameter_names(scope), "remove it");
                self.diagnostics.push(place.error(field, "no such key; slurmctld would not start").cure(cure));
                continue;
            };
            let setting = Setting { parameter, value: pair.value.clone(), place: place.clone() };
            if settings.insert(setting).is_some_and(|earlier| earlier.value != pair.value) {
                let message = "given more than once on the line; the last one is taken";
                self.diagnostics.push(
                    place.remark(Severity::Warning, format!("{record}.{}", parameter.name), message).cure("keep one"),
                );
            }
        }
        for (present, old) in settings.given_under_two_names() {
            let (name, other) = (present.parameter.name, old.parameter.name);
            let message = format!("{other}={} is another name of it; {name}={} is taken", old.value, present.value);
            self.diagnostics.push(
                present.place.remark(Severity::Warning, format!("{record}.{name}"), message).cure("keep one of them"),
            );
        }
        settings
    }

    fn node(&mut self, first: &Pair, rest: &[Pair], place: &impl Fn(usize) -> Place) {
        let mut settings = self.settings(Scope::Node, "NodeName", rest, place);
        if first.value.eq_ignore_ascii_case("DEFAULT") {
            settings.fill_from(&self.node_defaults);
            self.node_defaults = settings;
            return;
        }
        settings.fill_from(&self.node_defaults);
        let place = place(first.offset);
        match hostlist::expand(&first.value, MAX_NODES - self.n_nodes) {
            Ok(names) => {
                self.n_nodes += names.len();
                self.conf.nodes.push(NodeRecord { names, settings, place });
            }
            Err(HostlistError::TooMany { list, .. }) if self.n_nodes > 0 => {
                let earlier = self.n_nodes;
                let message =
                    format!("with '{list}' there are more than {MAX_NODES} nodes: lines before name {earlier}");
                let cure = "hand over the configuration of one cluster, or describe fewer nodes";
                self.diagnostics.push(place.error("NodeName", message).cure(cure));
            }
            Err(error) => {
                self.diagnostics.push(
                    place.error("NodeName", error.to_string()).cure("write the nodes as a hostlist such as n[01-16]"),
                );
            }
        }
    }

    fn partition(&mut self, first: &Pair, rest: &[Pair], place: &impl Fn(usize) -> Place) {
        let mut settings = self.settings(Scope::Partition, "PartitionName", rest, place);
        if first.value.eq_ignore_ascii_case("DEFAULT") {
            for name in NOT_INHERITED {
                let Some(setting) = settings.remove(name) else { continue };
                let message = "slurmctld reads it from a partition's own line only: without effect for DEFAULT";
                let remark = setting.place.remark(Severity::Warning, format!("PartitionName.{name}"), message);
                self.diagnostics.push(remark.cure("write it on the line of each partition that it is meant for"));
            }
            settings.fill_from(&self.partition_defaults);
            self.partition_defaults = settings;
            return;
        }
        settings.fill_from(&self.partition_defaults);
        let place = place(first.offset);
        for name in first.value.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let record = PartitionRecord { name: name.to_owned(), settings: settings.clone(), place: place.clone() };
            match self.partition_at.get(name) {
                Some(_) => {
                    let message = format!("partition '{name}' is described twice; slurmctld would not start");
                    self.diagnostics.push(place.error("PartitionName", message).cure("keep one"));
                }
                None => {
                    self.partition_at.insert(name.to_owned(), self.conf.partitions.len());
                    self.conf.partitions.push(record);
                }
            }
        }
    }

    fn node_set(&mut self, first: &Pair, rest: &[Pair], place: &impl Fn(usize) -> Place) {
        let mut record = NodeSetRecord { name: first.value.clone(), features: Vec::new(), nodes: None };
        for pair in rest {
            match pair.key.to_ascii_lowercase().as_str() {
                "feature" | "features" => {
                    record.features = pair.value.split(',').map(|name| name.trim().to_owned()).collect()
                }
                "nodes" => record.nodes = Some(pair.value.clone()),
                _ => {
                    let field: String = format!("NodeSet.{}", pair.key).chars().take(60).collect();
                    let cure = did_you_mean(&pair.key, ["Feature", "Nodes"], "NodeSet takes Feature and Nodes");
                    self.diagnostics
                        .push(place(pair.offset).error(field, "no such key; slurmctld would not start").cure(cure));
                }
            }
        }
        self.conf.node_sets.push(record);
    }
}
