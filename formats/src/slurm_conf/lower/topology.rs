//! Switches of topology.conf.

use std::collections::BTreeMap;

use foresite_engine::cluster::Switch;
use foresite_engine::ids::NodeId;
use foresite_engine::node_set::NodeSet;
use foresite_engine::policy::SlurmVersion;

use super::Lowering;
use crate::diagnostic::Severity;
use crate::hostlist;
use crate::slurm_conf::read::MAX_NODES;
use crate::slurm_conf::records::PlainRecord;

/// Switches of one topology at most; also how deep they may be stacked is bounded by it.
const MAX_SWITCHES: usize = 10_000;

/// A switch with its own nodes, and the names of the switches below it.
type Draft = (Switch, Vec<String>);

impl Lowering<'_> {
    /// Switches, leaves first; empty unless `TopologyPlugin=topology/tree`.
    pub(super) fn switches(&mut self, n_nodes: usize) -> Vec<Switch> {
        let plugin = self.globals().text("TopologyPlugin").to_ascii_lowercase();
        if self.conf.has_topology_yaml && (self.conf.version.is_none() || self.version >= SlurmVersion::V25_05) {
            // 25.05 and later take it before topology.conf, whatever the plugin.
            let message =
                "topology.yaml is not read: all nodes are taken as equally near but for what topology.conf says";
            let remark = self.whole_file().remark(Severity::NotModelled, "TopologyPlugin", message);
            self.diagnostics.push(remark.cure("write its tree of switches as topology.conf"));
            if !self.conf.has_topology {
                return Vec::new();
            }
        }
        match plugin.as_str() {
            "topology/tree" if !self.conf.has_topology => {
                let remark = self.place_of("TopologyPlugin").remark(
                    Severity::Warning,
                    "TopologyPlugin",
                    "topology.conf is not there: all nodes are taken as equally near",
                );
                self.diagnostics.push(remark.cure("hand over topology.conf beside slurm.conf"));
                return Vec::new();
            }
            "topology/tree" => {}
            "topology/block" | "topology/3d_torus" | "topology/node_rank" | "topology/hypercube" => {
                let message = format!("{plugin} is not modelled: all nodes are taken as equally near");
                self.note(Severity::NotModelled, "TopologyPlugin", message);
                return Vec::new();
            }
            _ => return Vec::new(),
        }
        let (drafts, names) = self.drafts(n_nodes);
        let switches = self.arrange(drafts, &names);
        self.remark_on_nodes_elsewhere(&switches);
        switches
    }

    /// Nodes on no switch serve nobody who does not name them.
    fn remark_on_nodes_elsewhere(&mut self, switches: &[Switch]) {
        let on_some = |node: NodeId| switches.iter().any(|switch| switch.nodes.contains(node));
        let elsewhere = self.nodes_by_name.iter().filter(|(_, node)| !on_some(**node)).map(|(name, _)| name.as_str());
        let mut names: Vec<&str> = elsewhere.collect();
        if names.is_empty() || switches.is_empty() {
            return;
        }
        names.sort_unstable();
        let message = format!("'{}' stand on no switch: only jobs that name them run there", hostlist::compress(names));
        let remark = self.topology_file().remark(Severity::Warning, "Nodes", message);
        self.diagnostics.push(remark.cure("add them to a switch"));
    }

    /// Every switch with its own nodes and the names of the switches below it.
    fn drafts(&mut self, n_nodes: usize) -> (Vec<Draft>, BTreeMap<String, usize>) {
        let (mut drafts, mut names) = (Vec::new(), BTreeMap::new());
        let mut n_below = 0;
        for record in &self.conf.switches {
            let Some(list) = record.get("SwitchName") else {
                let key = record.pairs.first().map_or("", |(key, _)| key.as_str()).to_owned();
                let error = record.place.error(key, "topology.conf takes lines that begin with SwitchName only");
                self.diagnostics.push(error.cure("write SwitchName=s1 Nodes=… or Switches=…"));
                continue;
            };
            self.remark_on_keys(record);
            let mut expanded = |list: &str, limit: usize, field: &str| {
                hostlist::expand(list, limit).unwrap_or_else(|error| {
                    self.diagnostics.push(record.place.error(field, error.to_string()).cure("write a hostlist"));
                    Vec::new()
                })
            };
            let mut nodes = NodeSet::empty(n_nodes);
            let (mut undefined, members) =
                (Vec::new(), expanded(record.get("Nodes").unwrap_or_default(), MAX_NODES, "Nodes"));
            // Every switch is below one other, so that all lists together are no longer than there are switches.
            let below = expanded(
                record.get("Switches").unwrap_or_default(),
                MAX_SWITCHES - n_below.min(MAX_SWITCHES),
                "Switches",
            );
            n_below += below.len();
            let name = list.to_owned();
            for name in members {
                match self.nodes_by_name.get(&name) {
                    Some(&node) => nodes.insert(node),
                    None => undefined.push(name),
                }
            }
            if !undefined.is_empty() {
                let list = hostlist::compress(undefined.iter().map(String::as_str));
                let message = format!("'{list}' is no node of slurm.conf");
                self.diagnostics.push(
                    record.place.remark(Severity::Warning, "Nodes", message).cure("remove it from topology.conf"),
                );
            }
            if drafts.len() >= MAX_SWITCHES || names.contains_key(&name) {
                let message = format!("switch '{name}' is described twice, or one of too many");
                self.diagnostics.push(record.place.error("SwitchName", message).cure("keep one description"));
                continue;
            }
            names.insert(name.clone(), drafts.len());
            drafts.push((Switch { name, nodes, level: 0, parent: None }, below));
        }
        (drafts, names)
    }

    /// Keys that slurmctld does not start with (topology_tree.c of 22.05.8, `switch_options`).
    fn remark_on_keys(&mut self, record: &PlainRecord) {
        let known = ["SwitchName", "Nodes", "Switches", "LinkSpeed"];
        let is_known = |key: &str| known.iter().any(|known| known.eq_ignore_ascii_case(key));
        for (key, _) in record.pairs.iter().filter(|(key, _)| !is_known(key)) {
            let remark = record.place.remark(
                Severity::Warning,
                key.clone(),
                "topology.conf has no such parameter; slurmctld would not start",
            );
            self.diagnostics.push(remark.cure(format!("remove it, or write one of {}", known.join(", "))));
        }
        if record.get("Nodes").is_some() && record.get("Switches").is_some() {
            let message = "a switch has nodes or other switches below it; slurmctld does not start with both, and this takes both";
            self.diagnostics.push(
                record.place.remark(Severity::Warning, "Switches", message).cure("put the nodes on a switch below it"),
            );
        }
    }

    /// Sets levels, parents and node sets from the leaves up, and sorts leaves first.
    fn arrange(&mut self, drafts: Vec<Draft>, names: &BTreeMap<String, usize>) -> Vec<Switch> {
        let below: Vec<Vec<usize>> = drafts
            .iter()
            .map(|(_, below)| below.iter().filter_map(|name| names.get(name).copied()).collect())
            .collect();
        for (switch, below) in &drafts {
            for name in below.iter().filter(|name| !names.contains_key(*name)) {
                let place = self.topology_file();
                let message = format!("switch '{}' names '{name}', which is not described", switch.name);
                self.diagnostics.push(place.error("Switches", message).cure("describe it, or remove it"));
            }
        }
        let mut switches: Vec<Switch> = drafts.into_iter().map(|(switch, _)| switch).collect();
        let mut is_done = vec![false; switches.len()];
        let mut order: Vec<usize> = Vec::with_capacity(switches.len());
        let mut level = 0;
        // Each round takes the switches all of whose children are done: one level.
        loop {
            let round: Vec<usize> = (0..switches.len())
                .filter(|&at| !is_done.get(at).copied().unwrap_or(true))
                .filter(|&at| {
                    below.get(at).is_some_and(|below| below.iter().all(|&child| is_done.get(child) == Some(&true)))
                })
                .collect();
            if round.is_empty() {
                break;
            }
            for &at in &round {
                let mut nodes: Vec<NodeId> = Vec::new();
                for child in below.get(at).into_iter().flatten() {
                    nodes.extend(switches.get(*child).into_iter().flat_map(|child| child.nodes.iter()));
                    if let Some(child) = switches.get_mut(*child) {
                        child.parent = Some(at);
                    }
                }
                if let Some(switch) = switches.get_mut(at) {
                    switch.level = level;
                    nodes.into_iter().for_each(|node| switch.nodes.insert(node));
                }
            }
            round.iter().for_each(|&at| {
                if let Some(done) = is_done.get_mut(at) {
                    *done = true;
                }
            });
            order.extend(round);
            level += 1;
        }
        if order.len() < switches.len() {
            let place = self.topology_file();
            self.diagnostics.push(place.error("Switches", "switches are below one another").cure("remove the circle"));
            return Vec::new();
        }
        let mut new_index = vec![0; switches.len()];
        for (new, &old) in order.iter().enumerate() {
            if let Some(slot) = new_index.get_mut(old) {
                *slot = new;
            }
        }
        order
            .iter()
            .filter_map(|&old| switches.get(old).cloned())
            .map(|switch| Switch { parent: switch.parent.and_then(|old| new_index.get(old).copied()), ..switch })
            .collect()
    }

    fn topology_file(&self) -> crate::slurm_conf::settings::Place {
        self.conf.switches.first().map_or_else(
            || self.whole_file(),
            |record| crate::slurm_conf::settings::Place { line: None, ..record.place.clone() },
        )
    }
}
