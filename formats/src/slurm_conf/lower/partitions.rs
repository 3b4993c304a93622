//! Partitions.

use std::collections::BTreeSet;

use foresite_engine::association::{AssociationTree, Qos};
use foresite_engine::cluster::{Cluster, MemoryDefault, OverSubscribe, Partition, PartitionState, UNLIMITED_OVER_TIME};
use foresite_engine::ids::QosId;
use foresite_engine::node_set::NodeSet;
use foresite_engine::policy::SlurmVersion;

use super::policy::preempt_mode;
use super::{Lowering, Values};
use crate::diagnostic::Severity;
use crate::hostlist;
use crate::slurm_conf::Scope;
use crate::slurm_conf::near::did_you_mean;
use crate::slurm_conf::read::MAX_PAIRS;
use crate::slurm_conf::records::PartitionRecord;
use crate::slurm_conf::settings::Place;
use crate::slurm_conf::value::{Span, is_unlimited, leading};

/// Accounts that partitions name, with those below them, at most.
const MAX_NAMED: usize = 5_000_000;
/// Partitions of one cluster at most.
const MAX_PARTITIONS: usize = 2000;

impl Lowering<'_> {
    /// All partitions in the order of the file.
    pub(super) fn partitions(&mut self, cluster: &Cluster, qos: &[Qos], has_accounts: bool) -> Vec<Partition> {
        let conf = self.conf;
        // Refused before any partition's nodes are made: 100,000 × 100,000 took longer than 300 s.
        if let Some(record) = conf.partitions.get(MAX_PAIRS / cluster.nodes.len().max(1)) {
            let (nodes, partitions) = (cluster.nodes.len(), conf.partitions.len());
            let message = format!("{nodes} nodes × {partitions} partitions are more than {MAX_PAIRS} pairs");
            let error = record.place.error("PartitionName", message);
            self.diagnostics
                .push(error.cure("hand over the configuration of one cluster, or describe fewer partitions"));
            return Vec::new();
        }
        let known: BTreeSet<&str> = cluster.nodes.iter().map(|node| node.name.as_str()).collect();
        let mut partitions = Vec::with_capacity(conf.partitions.len());
        if conf.partitions.len() > MAX_PARTITIONS {
            let error =
                self.whole_file().error("PartitionName", format!("there are more than {MAX_PARTITIONS} partitions"));
            self.diagnostics.push(error.cure("hand over the configuration of one cluster"));
        }
        for record in conf.partitions.iter().take(MAX_PARTITIONS) {
            let partition = self.partition(record, &known, qos, has_accounts);
            partitions.push(partition);
        }
        if partitions.is_empty() {
            let error = self.whole_file().error("PartitionName", "no partition is described");
            self.diagnostics
                .push(error.cure("hand over the whole slurm.conf, or the file with the PartitionName lines beside it"));
        }
        self.keep_last_default(&mut partitions);
        partitions
    }

    /// slurmctld takes the last partition that says `Default=YES`.
    fn keep_last_default(&mut self, partitions: &mut [Partition]) {
        let defaults: Vec<usize> =
            (0..partitions.len()).filter(|&at| partitions.get(at).is_some_and(|p| p.is_default)).collect();
        let Some((last, others)) = defaults.split_last() else { return };
        if others.is_empty() {
            return;
        }
        for &at in others {
            if let Some(partition) = partitions.get_mut(at) {
                partition.is_default = false;
            }
        }
        if let (Some(record), Some(partition)) = (self.conf.partitions.get(*last), partitions.get(*last)) {
            let message = format!("several partitions say Default=YES; the last, '{}', is taken", partition.name);
            self.diagnostics.push(record.place.remark(Severity::Warning, "Default", message).cure("keep one"));
        }
    }

    /// From 23.02 on an account in `AllowAccounts` or `DenyAccounts` stands for those below it, too, and where associations are not
    /// enforced nobody is kept out (partition_mgr.c of 23.02.0, `part_policy_valid_acct`). O(partitions × associations).
    pub(super) fn inherit_accounts(&mut self, partitions: &mut [Partition], associations: &AssociationTree) {
        if self.version < SlurmVersion::V23_02 {
            return;
        }
        let is_without = |word: &str| ["none", "0", "nojobs", "nosteps"].iter().any(|it| it.eq_ignore_ascii_case(word));
        let enforces = !self.globals().words("AccountingStorageEnforce").into_iter().all(is_without);
        let mut n_named = 0;
        for list in partitions.iter_mut().flat_map(|it| [&mut it.allow_accounts, &mut it.deny_accounts]) {
            if !enforces {
                list.clear();
            }
            if list.is_empty() {
                continue;
            }
            // Parents stand before their children.
            let mut is_below: Vec<bool> = Vec::with_capacity(associations.rows.len());
            let mut named: BTreeSet<String> = list.drain(..).collect();
            for row in &associations.rows {
                let parent = row.parent.and_then(|parent| is_below.get(parent.index())).copied();
                let is_meant = parent.unwrap_or(false) || named.contains(&row.account);
                is_below.push(is_meant);
                if is_meant {
                    named.insert(row.account.clone());
                }
            }
            n_named += named.len();
            if n_named > MAX_NAMED {
                let message =
                    format!("partitions and the accounts below those that they name are more than {MAX_NAMED} pairs");
                let error = self.whole_file().error("AllowAccounts", message);
                self.diagnostics.push(error.cure("name accounts with fewer below them, or ALL"));
                return;
            }
            list.extend(named);
        }
    }

    fn partition(
        &mut self,
        record: &PartitionRecord,
        known: &BTreeSet<&str>,
        qos: &[Qos],
        has_accounts: bool,
    ) -> Partition {
        let values = Values::new(&record.settings, Scope::Partition);
        let allow_accounts = names(&values, "AllowAccounts");
        let allow_qos = names(&values, "AllowQos");
        // The old name wins over both new ones, wherever it stands (read_config.c of 22.05.8, `_parse_partitionname`).
        let old_priority = values.integer("Priority");
        let old_or_own = |name: &str| old_priority.unwrap_or_else(|| values.number(name));
        self.remark_on_old_priority(record, &values);
        let max_time = values.span("MaxTime").and_then(Span::minutes);
        self.remark_on_two_defaults(&values, &record.place);
        Partition {
            name: record.name.clone(),
            is_default: values.flag("Default"),
            nodes: self.partition_nodes(record, known),
            state: match values.text("State").to_ascii_uppercase().as_str() {
                "DOWN" => PartitionState::Down,
                "DRAIN" => PartitionState::Drain,
                "INACTIVE" => PartitionState::Inactive,
                _ => PartitionState::Up,
            },
            priority_tier: old_or_own("PriorityTier"),
            priority_job_factor: old_or_own("PriorityJobFactor"),
            max_time,
            default_time: self.default_time(record, &values, max_time),
            min_nodes: values.count("MinNodes").unwrap_or(u32::MAX),
            max_nodes: values.count("MaxNodes"),
            max_cpus_per_node: values.count("MaxCPUsPerNode"),
            over_subscribe: match (
                says_exclusive(record, &values),
                self.over_subscribe(record, values.text("OverSubscribe")),
            ) {
                (Some(Exclusive::Node), _) => OverSubscribe::Exclusive,
                (Some(Exclusive::No), OverSubscribe::Exclusive) => OverSubscribe::No,
                (_, sharing) => sharing,
            },
            exclusive_user: match says_exclusive(record, &values) {
                Some(exclusive) => exclusive == Exclusive::User,
                None => values.flag("ExclusiveUser"),
            },
            least_loaded_nodes: values.flag("LLN"),
            consumes: self.consumed_in(&values),
            default_memory: memory(&values, "DefMemPerCPU", "DefMemPerNode"),
            max_memory: if is_unlimited_in(&values, ["MaxMemPerCPU", "MaxMemPerNode"]) {
                // Instead of the cluster's (read_config.c, `_parse_partitionname`; job_mgr.c of 22.05.8, `_valid_pn_min_mem`).
                Some(MemoryDefault::PerNode(u64::MAX))
            } else {
                memory(&values, "MaxMemPerCPU", "MaxMemPerNode")
            },
            default_cpus_per_gpu: values.integer("DefCpuPerGPU"),
            default_memory_per_gpu: values.megabytes("DefMemPerGPU"),
            // slurm.conf(5): a deny list is not looked at where there is an allow list.
            deny_accounts: if allow_accounts.is_empty() { names(&values, "DenyAccounts") } else { Vec::new() },
            deny_qos: if allow_qos.is_empty() { names(&values, "DenyQos") } else { Vec::new() },
            allow_accounts,
            allow_qos,
            qos: self.partition_qos(record, &values, qos, has_accounts),
            billing_weights: self.billing_weights(record),
            preempt_mode: values.setting("PreemptMode").map(|setting| preempt_mode(&setting.value)),
            grace_time: values.number("GraceTime"),
            over_time_limit: values.setting("OverTimeLimit").and_then(|setting| over_time_limit(&setting.value)),
        }
    }

    /// slurm.conf(5): memory is given per CPU or per node, not both.
    pub(super) fn remark_on_two_defaults(&mut self, values: &Values, place: &Place) {
        for (per_cpu, per_node) in [("DefMemPerCPU", "DefMemPerNode"), ("MaxMemPerCPU", "MaxMemPerNode")] {
            if values.megabytes(per_cpu).is_some() && values.megabytes(per_node).is_some() {
                let message = format!("{per_node} is set too, and taken: the two exclude one another");
                self.diagnostics.push(place.remark(Severity::Warning, per_cpu, message).cure("keep one of them"));
            }
        }
    }

    fn remark_on_old_priority(&mut self, record: &PartitionRecord, values: &Values) {
        let Some(old) = values.setting("Priority") else { return };
        for name in ["PriorityTier", "PriorityJobFactor"] {
            if values.setting(name).is_some_and(|setting| setting.value != old.value) {
                let message = format!("Priority={} sets {name} as well, and is taken, as slurmctld does", old.value);
                let field = format!("partition.NAME.{name}");
                let remark = record.place.remark(Severity::Warning, field, message);
                self.diagnostics.push(remark.cure("remove Priority"));
            }
        }
    }

    fn partition_nodes(&mut self, record: &PartitionRecord, known: &BTreeSet<&str>) -> NodeSet {
        let n_nodes = known.len();
        let (members, undefined) = match self.conf.members(record, known) {
            Ok(members) => members,
            Err(error) => {
                let place = record.settings.get("Nodes").map_or(&record.place, |setting| &setting.place);
                self.diagnostics.push(
                    place.error("partition.NAME.Nodes", error.to_string()).cure("write a hostlist such as n[01-16]"),
                );
                return NodeSet::empty(n_nodes);
            }
        };
        if !undefined.is_empty() && n_nodes > 0 {
            let list: String = hostlist::compress(undefined.iter().map(String::as_str)).chars().take(120).collect();
            let message = format!(
                "partition '{}' names '{list}', which no NodeName or NodeSet line describes; left out",
                record.name
            );
            let cure =
                did_you_mean(&list, known.iter().copied(), "describe these nodes, or remove them from the partition");
            self.diagnostics.push(record.place.remark(Severity::Warning, "partition.NAME.Nodes", message).cure(cure));
        }
        let nodes: Vec<_> = members.iter().filter_map(|name| self.nodes_by_name.get(name).copied()).collect();
        if nodes.is_empty() && n_nodes > 0 {
            let message = format!("partition '{}' has no node: no job can run in it", record.name);
            self.diagnostics
                .push(record.place.remark(Severity::Warning, "partition.NAME.Nodes", message).cure("give Nodes="));
        }
        NodeSet::from_nodes(n_nodes, nodes)
    }

    fn default_time(&mut self, record: &PartitionRecord, values: &Values, max_time: Option<u32>) -> Option<u32> {
        let default_time = match values.span("DefaultTime")? {
            Span::Unlimited => return None,
            span => span.minutes()?,
        };
        match max_time {
            Some(max_time) if default_time > max_time => {
                let message = format!("partition '{}': DefaultTime exceeds MaxTime; MaxTime is taken", record.name);
                self.diagnostics.push(
                    record.place.remark(Severity::Warning, "partition.NAME.DefaultTime", message).cure("lower it"),
                );
                Some(max_time)
            }
            _ => Some(default_time),
        }
    }

    fn over_subscribe(&mut self, record: &PartitionRecord, text: &str) -> OverSubscribe {
        let (word, degree) = text.split_once(':').map_or((text, None), |(word, degree)| (word, Some(degree)));
        // What there is of a number counts; without one that makes sense nodes are not shared (read_config.c of 22.05.8).
        let least = if word.eq_ignore_ascii_case("YES") { 2 } else { 1 };
        let degree = match degree.map(leading) {
            None => 4,
            Some(Some(degree)) if (least..=32_768).contains(&degree) => degree as u32,
            Some(degree) => {
                let too_many = degree.is_some_and(|degree| degree > 32_768);
                let is_what_if = record.settings.get("OverSubscribe").is_some_and(|it| it.place.line.is_none());
                let (severity, what) = match too_many || is_what_if {
                    true => (Severity::Error, "a number of jobs is between 1 and 32768"),
                    false => (Severity::Warning, "no number of jobs that can share; slurmctld takes NO"),
                };
                let remark = record.place.remark(severity, "partition.NAME.OverSubscribe", format!("'{text}': {what}"));
                self.diagnostics.push(remark.cure("write for example FORCE:4"));
                return OverSubscribe::No;
            }
        };
        match word.to_ascii_uppercase().as_str() {
            "EXCLUSIVE" => OverSubscribe::Exclusive,
            "YES" => OverSubscribe::Yes(degree),
            "FORCE" => OverSubscribe::Force(degree),
            _ => OverSubscribe::No,
        }
    }

    fn partition_qos(
        &mut self,
        record: &PartitionRecord,
        values: &Values,
        qos: &[Qos],
        has_accounts: bool,
    ) -> Option<QosId> {
        let setting = values.setting("QOS").filter(|setting| !["", "N/A"].contains(&setting.value.as_str()))?;
        let found = qos.iter().position(|qos| qos.name.eq_ignore_ascii_case(&setting.value)).map(QosId::new);
        if found.is_none() {
            let (severity, message, cure) = if has_accounts {
                let names = qos.iter().map(|qos| qos.name.as_str());
                let message = format!(
                    "partition '{}' has QOS '{}', which the accounting files do not describe",
                    record.name, setting.value
                );
                (
                    Severity::Warning,
                    message,
                    did_you_mean(&setting.value, names, "add the output of sacctmgr show qos -P"),
                )
            } else {
                let message = format!("the limits of partition QOS '{}' are unknown and not applied", setting.value);
                (Severity::NotModelled, message, "hand over the output of sacctmgr show qos -P".to_owned())
            };
            self.diagnostics.push(setting.place.remark(severity, "partition.NAME.QOS", message).cure(cure));
        }
        found
    }

    fn billing_weights(&mut self, record: &PartitionRecord) -> Vec<(foresite_engine::cluster::Tres, f64)> {
        let Some(setting) = record.settings.get("TRESBillingWeights") else { return Vec::new() };
        let list = crate::slurm_conf::parameters::weights(&setting.value).unwrap_or_default();
        self.remark_on_untracked(setting, "partition.NAME.TRESBillingWeights", &list);
        let (weights, faults) = self.tres.weights(&list);
        for fault in faults {
            let remark = setting.place.remark(Severity::NotModelled, "partition.NAME.TRESBillingWeights", fault);
            self.diagnostics.push(remark);
        }
        weights
    }
}

/// Minutes; none that is below zero (read_config.c of 22.05.8, `_parse_partitionname`).
fn over_time_limit(text: &str) -> Option<u32> {
    let minutes = if is_unlimited(text) { i64::MAX } else { leading(text).unwrap_or(0) };
    match minutes {
        ..0 | 65_534 => None,
        65_535.. => Some(UNLIMITED_OVER_TIME),
        _ => u32::try_from(minutes).ok(),
    }
}

/// A list of names; empty for ALL.
fn names(values: &Values, name: &str) -> Vec<String> {
    let words = values.words(name);
    if words.iter().any(|word| word.eq_ignore_ascii_case("ALL")) {
        return Vec::new();
    }
    // slurmctld lowers them, as sacctmgr does the names that it keeps (read_config.c of 22.05.8).
    words.into_iter().map(str::to_ascii_lowercase).collect()
}

/// Whether one of these says `UNLIMITED`, the one per node before that per CPU.
fn is_unlimited_in(values: &Values, [per_cpu, per_node]: [&str; 2]) -> bool {
    let setting = values.setting(per_node).or_else(|| values.setting(per_cpu));
    setting.is_some_and(|setting| is_unlimited(&setting.value))
}

/// Memory per node, or per CPU where that is not set (read_config.c of 22.05.8, rec at-pre).
pub(super) fn memory(values: &Values, per_cpu: &str, per_node: &str) -> Option<MemoryDefault> {
    values
        .megabytes(per_node)
        .map(MemoryDefault::PerNode)
        .or_else(|| values.megabytes(per_cpu).map(MemoryDefault::PerCpu))
}

/// `Exclusive=` of 26.05 and later.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exclusive {
    No,
    /// `TOPO`, too, which implies it.
    Node,
    User,
}

/// What `Exclusive` says, which counts before `OverSubscribe` and `ExclusiveUser` (read_config.c of 26.05.3, `_parse_partitionname`); not where a
/// what-if says one of these.
fn says_exclusive(record: &PartitionRecord, values: &Values<'_>) -> Option<Exclusive> {
    let is_what_if = |name: &str| record.settings.get(name).is_some_and(|it| it.place.line.is_none());
    if (is_what_if("OverSubscribe") || is_what_if("ExclusiveUser")) && !is_what_if("Exclusive") {
        return None;
    }
    match values.text("Exclusive").to_ascii_uppercase().as_str() {
        "NO" | "NONE" => Some(Exclusive::No),
        "NODE" | "TOPO" => Some(Exclusive::Node),
        "USER" => Some(Exclusive::User),
        _ => None,
    }
}
