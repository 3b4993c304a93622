//! How many CPUs a job is charged, and whether that depends on its nodes.

use super::shape::{MemoryNeed, Shape, Strategy};
use super::{Free, NodeId, Selector};
use crate::policy::ConsumableUnit;

impl Selector {
    /// CPUs the job would be charged on the nodes last chosen out of `free`; `None` if just what it asked for, wherever it is tested.
    /// O(nodes of the job × sockets).
    pub(crate) fn charged_cpus(&self, free: &Free, shape: &Shape) -> Option<u32> {
        // In an EXCLUSIVE partition all cores are a job's that is planned there with parts of nodes, too (dist_tasks.c of 22.05.8,
        // `dist_tasks`).
        if !shape.whole_nodes && shape.exclusive_partition && shape.unit == ConsumableUnit::Socket {
            // By sockets those count whole that have a core of it, cores kept for the system too (cons_common/job_test.c; rec w2224).
            return Some(self.chosen.iter().map(|offer| self.cpus_of_sockets(offer.node)).sum());
        }
        if shape.whole_nodes || shape.exclusive_partition {
            return Some(self.chosen.iter().map(|offer| self.geometry.cpus[offer.node.index()]).sum());
        }
        let least_of_all = shape.min_cpus_per_node.saturating_mul(self.chosen.len() as u32);
        (self.rounds_up
            || shape.overcommitted.is_some()
            || shape.nodes_with_tasks.is_some_and(|tasks| (tasks as usize) < self.chosen.len())
            || shape.gpus_add_cpus
            || shape.nodes_add_cpus
            || shape.size_varies
            || least_of_all > shape.min_cpus)
            .then(|| self.allocate(free, shape).cpus())
    }

    /// CPUs of the sockets that have a core for jobs. O(sockets).
    fn cpus_of_sockets(&self, node: NodeId) -> u32 {
        let geometry = &self.geometry;
        let of_socket =
            |socket: usize| if geometry.socket_cores[socket] > 0 { geometry.whole_sockets[socket] } else { 0 };
        let cores: u32 = geometry.sockets(node).map(of_socket).sum();
        cores * geometry.cpus_per_core[node.index()]
    }

    /// Whether a job that shares its nodes may be charged more on some than on others: cores have unlike numbers of threads, or each
    /// of as many nodes as it gets gives it a least (docs/FACTS.md, facts 50). O(eligible nodes).
    pub(crate) fn charges_by_node(&self, shape: &Shape) -> bool {
        let of_cores = |node: NodeId| {
            let threads = self.geometry.cpus_per_core[node.index()].max(1);
            let usable = shape.usable_threads(threads);
            if shape.max_nodes == 1 { shape.cores_of(shape.min_cpus, usable) * threads } else { threads }
        };
        let mut charges = shape.eligible.iter().map(of_cores);
        let first = charges.next();
        let least_of_all = shape.min_cpus_per_node.saturating_mul(shape.max_nodes);
        // Tasks of several CPUs that find them nowhere whole have what is left.
        let whole = matches!(shape.memory, MemoryNeed::PerCpu(_)) && shape.cpus_per_task <= shape.min_cpus_per_node;
        let squeezes = shape.cpus_per_task > 1 && shape.max_nodes > 1 && !whole;
        let gives_least = shape.min_cpus_per_node > 1 || shape.tasks_per_node.is_some();
        squeezes
            // Cores near its GRES are the job's, whatever its tasks need.
            || shape.binding.is_some() && !shape.gres.is_empty()
            || charges.any(|other| Some(other) != first)
            || (shape.max_nodes > shape.min_nodes && least_of_all > shape.min_cpus && gives_least)
    }

    /// Whether a job that takes whole nodes is charged the same on whichever of its nodes. O(eligible nodes).
    pub(crate) fn charges_always_alike(&self, shape: &Shape) -> bool {
        let mut cpus = shape.eligible.iter().map(|node| self.geometry.cpus[node.index()]);
        let first = cpus.next();
        cpus.all(|cpus| Some(cpus) == first)
            && shape.wanted_nodes == shape.min_nodes
            && shape.strategy != Strategy::Spread
            && shape.counted.is_empty()
    }
}
