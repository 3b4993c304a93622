//! slurm.conf in two stages: [`SlurmConf::read`] keeps what the files say, record by record, so that what-ifs can edit it
//! ([`SlurmConf::set`], [`SlurmConf::scale`], [`SlurmConf::retain_nodes`], …); [`SlurmConf::lower`] makes engine values of it.

mod cost;
mod edit;
mod lower;
pub(crate) mod near;
mod pairs;
mod parameters;
pub(crate) mod plain;
mod read;
mod records;
mod set;
pub(crate) mod settings;
mod text;
pub(crate) mod tres;
pub(crate) mod value;

use foresite_engine::policy::SlurmVersion;

pub(crate) use lower::gres::NOT_CONSUMED;
pub use parameters::{Kind, Parameter, Scope, Status, parameters};
pub(crate) use parameters::{find as find_parameter, names as parameter_names};
pub use read::Sources;
use records::{NodeRecord, NodeSetRecord, PartitionRecord, PlainRecord};
use settings::Settings;

/// What slurm.conf and the files beside it say, parsed but not yet lowered.
#[derive(Clone, Debug)]
pub struct SlurmConf {
    /// The file's name, for messages.
    name: String,
    /// Which release is reproduced; `None` where nothing says so.
    version: Option<SlurmVersion>,
    /// Settings of the simulator: the cost model.
    simulator: Settings,
    /// Lines of their own.
    globals: Settings,
    /// Options of `SchedulerParameters`.
    scheduler_parameters: Settings,
    /// Options of `PreemptParameters`.
    preempt_parameters: Settings,
    /// `NodeName` records, templates applied.
    nodes: Vec<NodeRecord>,
    /// `NodeSet` records.
    node_sets: Vec<NodeSetRecord>,
    /// `DownNodes` records.
    down_nodes: Vec<PlainRecord>,
    /// `PartitionName` records, templates applied.
    partitions: Vec<PartitionRecord>,
    /// gres.conf.
    gres: Vec<PlainRecord>,
    /// topology.conf.
    switches: Vec<PlainRecord>,
    /// Whether topology.conf was there.
    has_topology: bool,
    /// Whether topology.yaml was there, which is not read.
    has_topology_yaml: bool,
}

impl SlurmConf {
    /// ClusterName, where it is set.
    pub fn cluster_name(&self) -> Option<&str> {
        self.globals.get("ClusterName").map(|setting| setting.value.trim())
    }

    /// The names of all partitions, in the order of the file.
    pub fn partition_names(&self) -> impl Iterator<Item = &str> {
        self.partitions.iter().map(|partition| partition.name.as_str())
    }

    /// Every setting of the files, scope by scope.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &settings::Setting> {
        let lines = [&self.globals, &self.scheduler_parameters, &self.preempt_parameters].into_iter();
        let partitions = self.partitions.iter().map(|partition| &partition.settings);
        let nodes = self.nodes.iter().map(|node| &node.settings);
        lines.chain(partitions).chain(nodes).flat_map(Settings::iter)
    }

    /// The names of all nodes, in the order of the file.
    pub fn node_names(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().flat_map(|record| record.names.iter().map(String::as_str))
    }
}

#[cfg(test)]
mod tests;
