//! What one node's answer to a request depends on.

use crate::ids::{GresId, PartitionId};
use crate::node_set::NodeSet;
use crate::policy::ConsumableUnit;
use crate::select::shape::{Binding, MemoryNeed, Shape};

/// All that one node's answer to a shape depends on ([`super::usable`]): shapes alike in it get the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NodeNeed {
    eligible: NodeSet,
    room_per_node: u32,
    most_of_whole: Option<u32>,
    memory: MemoryNeed,
    unit_memory: u64,
    gres: Vec<(GresId, u32)>,
    gres_least: Vec<(GresId, u32)>,
    gres_of_socket: Vec<(GresId, u32)>,
    binding: Option<Binding>,
    exclusive_user: bool,
    asks_for_user: bool,
    exclusive_partition: bool,
    whole_nodes: bool,
    max_cpus_per_node: Option<(u32, u32)>,
    room_for_tasks: u32,
    room_of_one: u32,
    /// CPUs of whole tasks only count, though it takes whole nodes.
    whole_tasks: Option<u32>,
    by_node: bool,
    cpus_of_memory: u32,
    /// `None` if it takes whole nodes with all of their CPUs.
    tasks: Option<TaskNeed>,
}

/// The part of a [`NodeNeed`] that says how tasks are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TaskNeed {
    cpus_per_task: u32,
    per_node: Option<u32>,
    per_socket: Option<u32>,
    per_core: Option<u32>,
    threads_per_core: Option<u32>,
    gpus_count_threads: bool,
    cores_per_socket: u32,
    sockets_per_node: u32,
    min_cpus_per_node: u32,
    unit: ConsumableUnit,
    /// With CR_Socket, where partitions differ in the sockets that serve their jobs.
    partition: Option<PartitionId>,
}

impl Shape {
    /// Whether it depends on the tasks how many CPUs of a node they may use.
    fn counts_tasks(&self) -> bool {
        !self.whole_nodes || self.leaves_threads() || self.tasks_per_socket.is_some()
    }

    /// What one node's answer depends on.
    pub(crate) fn node_need(&self) -> NodeNeed {
        NodeNeed {
            eligible: self.eligible.clone(),
            room_per_node: self.room_per_node,
            most_of_whole: self.most_of_whole,
            memory: self.memory,
            unit_memory: self.unit_memory,
            gres: self.gres.clone(),
            gres_least: self.gres_least.clone(),
            gres_of_socket: self.gres_of_socket.clone(),
            binding: self.binding.clone(),
            exclusive_user: self.exclusive_user,
            asks_for_user: self.asks_for_user,
            exclusive_partition: self.exclusive_partition && !self.whole_nodes,
            whole_nodes: self.whole_nodes,
            max_cpus_per_node: self.max_cpus_per_node,
            room_for_tasks: self.room_for_tasks,
            room_of_one: self.room_of_one,
            whole_tasks: (self.whole_nodes
                && (self.counts_tasks_by_node || matches!(self.memory, MemoryNeed::PerCpu(_))))
            .then_some(self.cpus_per_task),
            by_node: self.counts_tasks_by_node,
            cpus_of_memory: if self.counts_tasks_by_node { self.cpus_of_memory } else { 0 },
            tasks: self.counts_tasks().then_some(TaskNeed {
                cpus_per_task: self.cpus_per_task,
                per_node: self.tasks_a_node_counts(),
                per_socket: self.tasks_per_socket,
                per_core: self.tasks_per_core,
                threads_per_core: self.threads_per_core,
                gpus_count_threads: self.gpus_count_threads,
                cores_per_socket: self.cores_per_socket,
                sockets_per_node: self.sockets_per_node,
                min_cpus_per_node: self.min_cpus_per_node,
                unit: self.unit,
                partition: (self.unit == ConsumableUnit::Socket).then_some(self.partition),
            }),
        }
    }
}
