//! Nodes: geometry, memory, features, state.

use std::collections::{BTreeMap, BTreeSet};

use foresite_engine::cluster::{Cluster, Node};
use foresite_engine::ids::{FeatureId, NodeId};

use super::{Lowering, Values};
use crate::diagnostic::Severity;
use crate::hostlist::{self, natural_cmp};
use crate::slurm_conf::Scope;
use crate::slurm_conf::read::MAX_NODES;
use crate::slurm_conf::records::NodeRecord;

/// Features of one node at most.
const MAX_FEATURES: usize = 256;

/// Sockets, cores and threads of a node.
pub(super) struct Geometry {
    pub(super) sockets: u32,
    /// In each socket.
    pub(super) cores: u32,
    threads: u32,
    pub(super) cpus: u32,
}

impl Lowering<'_> {
    /// Fills in nodes (in node order) and features.
    pub(super) fn nodes(&mut self, cluster: &mut Cluster) {
        let down = self.down_nodes();
        let mut features: BTreeMap<String, FeatureId> = BTreeMap::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let gpus = self.gpus_of_gres_conf();
        for (index, record) in self.conf.nodes.iter().enumerate() {
            let template = self.node(record, index as u32, cluster, &mut features);
            self.check_gres_conf(record, &gpus);
            let mut twice: Vec<&str> = Vec::new();
            for name in &record.names {
                if !seen.insert(name) {
                    twice.push(name);
                    continue;
                }
                let schedulable = template.schedulable && !down.contains(name);
                let gres_near = match template.gres.is_empty() {
                    true => Vec::new(),
                    false => self.gres_near(name, &template),
                };
                cluster.nodes.push(Node { name: name.clone(), schedulable, gres_near, ..template.clone() });
            }
            if !twice.is_empty() {
                let (nodes, are) = if twice.len() == 1 { ("node", "is") } else { ("nodes", "are") };
                let message = format!("{nodes} '{}' {are} described twice; slurmctld would not start", shown(&twice));
                self.diagnostics.push(record.place.error("NodeName", message).cure("keep one description"));
            }
        }
        self.remark_on_memory();
        cluster.nodes.sort_by(|a, b| natural_cmp(&a.name, &b.name));
        self.nodes_by_name =
            cluster.nodes.iter().enumerate().map(|(index, node)| (node.name.clone(), NodeId::new(index))).collect();
        if cluster.nodes.is_empty() {
            let error = self.whole_file().error("NodeName", "no node is described");
            let cure = match self.globals().setting("MaxNodeCount") {
                // Dynamic nodes tell slurmctld themselves what they are.
                Some(_) => "add NodeName lines of the nodes that have registered: scontrol write config prints them so",
                None => "hand over the whole slurm.conf, or the file with the NodeName lines beside it",
            };
            self.diagnostics.push(error.cure(cure));
        }
    }

    fn node(
        &mut self,
        record: &NodeRecord,
        config_record: u32,
        cluster: &mut Cluster,
        known: &mut BTreeMap<String, FeatureId>,
    ) -> Node {
        let values = Values::new(&record.settings, Scope::Node);
        let geometry = self.geometry(record, &values);
        let memory = values.megabytes("RealMemory").unwrap_or(1);
        let mut reserved = values.megabytes("MemSpecLimit").unwrap_or(0);
        if reserved >= memory && reserved > 0 {
            let message = format!("{reserved} MB leave nothing of RealMemory {memory} MB; slurmctld takes 0");
            let remark = record.place.remark(Severity::Warning, "node.HOSTLIST.MemSpecLimit", message);
            self.diagnostics.push(remark.cure("make it smaller than RealMemory"));
            reserved = 0;
        }
        let mut features: Vec<FeatureId> = Vec::new();
        for name in values.words("Feature") {
            let next = FeatureId::new(cluster.features.len());
            let id = *known.entry(name.to_owned()).or_insert_with(|| {
                cluster.features.push(name.to_owned());
                next
            });
            features.push(id);
        }
        features.sort_unstable();
        features.dedup();
        if features.len() > MAX_FEATURES {
            let message = format!("a node has more than {MAX_FEATURES} features");
            self.diagnostics.push(record.place.error("node.HOSTLIST.Feature", message).cure("give fewer"));
            features.clear();
        }
        let gres = self.gres_counts(record);
        let spec_cores = self.spec_cores(record, &values, &geometry);
        let cores = geometry.sockets.saturating_mul(geometry.cores).max(1);
        let kept = spec_cores.iter().sum::<u32>().saturating_mul((geometry.cpus / cores).max(1));
        Node {
            name: String::new(),
            sockets: geometry.sockets,
            cores_per_socket: geometry.cores,
            threads_per_core: geometry.threads,
            cpus: geometry.cpus.saturating_sub(kept),
            spec_cores,
            memory_mb: memory.saturating_sub(reserved),
            kept_memory_mb: reserved.min(memory),
            tmp_disk_mb: values.megabytes("TmpDisk"),
            weight: values.number("Weight"),
            features,
            gres,
            gres_near: Vec::new(),
            config_record,
            schedulable: self.is_schedulable(record, values.text("State")),
        }
    }

    /// slurm.conf(5): sockets follow from CPUs where they are not given, CPUs from the rest where they are not given; CPUs
    /// that match neither sockets, cores nor threads are reset.
    fn geometry(&mut self, record: &NodeRecord, values: &Values) -> Geometry {
        let cores = values.number("CoresPerSocket").max(1);
        let threads = values.number("ThreadsPerCore").max(1);
        let boards = values.number("Boards").max(1);
        let cpus = values.integer("CPUs").filter(|&cpus| cpus > 0);
        let sockets = match (values.integer("SocketsPerBoard"), values.integer("Sockets"), cpus) {
            (Some(per_board), _, _) => boards.saturating_mul(per_board.max(1)),
            (None, Some(sockets), _) => sockets.max(1),
            (None, None, Some(cpus)) => {
                // As many as hold these CPUs, if they do so exactly.
                let per_socket = cores.saturating_mul(threads);
                if cpus >= per_socket && cpus % per_socket == 0 { cpus / per_socket } else { boards }
            }
            (None, None, None) => boards,
        };
        let all = u64::from(sockets).saturating_mul(u64::from(cores)).saturating_mul(u64::from(threads));
        let (n_cores, all) =
            (u64::from(sockets).saturating_mul(u64::from(cores)), u32::try_from(all).unwrap_or(u32::MAX));
        if all > 65_533 {
            let message =
                format!("{sockets} sockets × {cores} cores × {threads} threads are more CPUs than a node can have");
            self.diagnostics.push(record.place.error("node.HOSTLIST.CPUs", message).cure("give what slurmd -C prints"));
            // Nothing is laid out for so many.
            return Geometry { sockets: 1, cores: 1, threads: 1, cpus: 1 };
        }
        let cpus = match cpus {
            Some(cpus) if cpus == all || u64::from(cpus) == n_cores || cpus == sockets => cpus,
            Some(cpus) => {
                let matches =
                    format!("CPUs={cpus} matches neither {sockets} sockets nor {n_cores} cores nor {all} threads");
                let what_if = values.setting("CPUs").map(|it| &it.place).filter(|it| it.is_what_if());
                self.diagnostics.push(match what_if {
                    // A slip in a file is Slurm's to ignore; one in a what-if would make it study nothing.
                    Some(place) => {
                        let message = format!("{matches}: slurmctld takes {all}, and nothing changes");
                        let cure = "set CoresPerSocket (and Sockets), and CPUs to all cores or threads or not at all";
                        place.error("CPUs", message).cure(cure)
                    }
                    None => {
                        let message = format!("{matches}; {all} is taken, as slurmctld does");
                        let remark = record.place.remark(Severity::Warning, "node.HOSTLIST.CPUs", message);
                        remark.cure("give what slurmd -C prints")
                    }
                });
                all
            }
            None => all,
        };
        Geometry { sockets, cores, threads, cpus }
    }

    fn is_schedulable(&mut self, record: &NodeRecord, state: &str) -> bool {
        let mut schedulable = true;
        for word in state.split('+').map(str::trim) {
            let upper = word.to_ascii_uppercase();
            // Of these slurmctld looks at the first letters alone (node_conf.c of 22.05.8, `state_str2int`).
            let known = ["CLOUD", "DRAIN", "FAIL"].into_iter().find(|state| upper.starts_with(state));
            match known.unwrap_or(upper.as_str()) {
                "UNKNOWN" | "IDLE" | "UP" | "ALLOCATED" | "MIXED" | "" => {}
                "CLOUD" | "DYNAMIC_NORM" | "DYNAMIC_FUTURE" | "POWERED_DOWN" | "POWERED_UP" => {
                    let message = "cloud nodes are taken as always on: they start jobs without delay";
                    self.remark_once(record, Severity::NotModelled, "node.HOSTLIST.State", message);
                }
                "EXTERNAL" => {
                    let message = "jobs on nodes outside of Slurm's control are not simulated";
                    self.remark_once(record, Severity::NotModelled, "node.HOSTLIST.State", message);
                    schedulable = false;
                }
                "DOWN" | "DRAIN" | "FAIL" | "FUTURE" | "ERROR" => schedulable = false,
                _ => {
                    let message = format!("'{word}' is no state of a node");
                    let cure = "known are UNKNOWN, CLOUD, DOWN, DRAIN, FAIL, FAILING and FUTURE";
                    self.diagnostics.push(record.place.error("node.HOSTLIST.State", message).cure(cure));
                }
            }
        }
        schedulable
    }

    /// slurm.conf(5): RealMemory is 1 MB where it is not given, so that no job that needs memory fits.
    fn remark_on_memory(&mut self) {
        if !self.memory_is_consumed() {
            return;
        }
        let without = self.conf.nodes.iter().filter(|record| record.settings.get("RealMemory").is_none());
        let (mut names, mut place) = (Vec::new(), None);
        for record in without {
            names.extend(record.names.iter().map(String::as_str));
            place.get_or_insert(&record.place);
        }
        let Some(place) = place else { return };
        let message = format!(
            "memory is handed out, but RealMemory of '{}' is not given: 1 MB, as slurmctld takes it, so that jobs with memory do not fit",
            shown(&names)
        );
        let remark = place.remark(Severity::Warning, "node.HOSTLIST.RealMemory", message);
        self.diagnostics.push(remark.cure("give what slurmd -C prints"));
    }

    fn down_nodes(&mut self) -> BTreeSet<String> {
        let mut down = BTreeSet::new();
        for record in &self.conf.down_nodes {
            let state = record.get("State").unwrap_or("DOWN").to_ascii_uppercase();
            if ["UNKNOWN", "IDLE", "UP"].contains(&state.as_str()) {
                continue;
            }
            match hostlist::expand(record.get("DownNodes").unwrap_or_default(), MAX_NODES) {
                Ok(names) => down.extend(names),
                Err(error) => {
                    self.diagnostics.push(record.place.error("DownNodes", error.to_string()).cure("write a hostlist"))
                }
            }
        }
        down
    }
}

/// A hostlist for a message.
fn shown(names: &[&str]) -> String {
    hostlist::compress(names.iter().copied()).chars().take(120).collect()
}
