//! A request made ready for selection in one partition: everything that does not change while the simulation runs.

use crate::ids::{GresId, NodeId, PartitionId};
use crate::node_set::NodeSet;
use crate::policy::ConsumableUnit;
use crate::select::by_runs::Alike;
use crate::select::geometry::Geometry;
use crate::select::past_tasks::PastTasks;
use crate::select::rows::Rows;

pub(crate) use gres::GresOfJob;
pub(crate) use need::NodeNeed;

pub(super) mod gres;
pub(crate) mod memory_limit;
mod need;
mod prepare;

/// Memory a job takes on each of its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MemoryNeed {
    /// Memory is not a consumable resource here: a node only has to be large enough [MB].
    NotConsumed(u64),
    /// So much on every node [MB].
    PerNode(u64),
    /// So much for every allocated CPU [MB].
    PerCpu(u64),
    /// So much for every unit of the GRES that is counted for the whole job [MB], of which a node gives so many at least.
    PerUnit(u64, u32),
    /// All of the node.
    Whole,
}

/// A request in one partition.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Nodes that could serve it, alone in the world.
    pub(crate) eligible: NodeSet,
    /// These, and others that only lack its GRES: slurmctld's test of when and where looks at them, too, and waits for what
    /// runs there.
    pub(crate) tested: NodeSet,
    /// Memory that every GPU must find free on its node [MB], however much the job takes (`DefMemPerGPU` where `--mem` is given, too).
    pub(crate) unit_memory: u64,
    /// Its partition.
    pub(crate) partition: PartitionId,
    /// Fewest nodes.
    pub(crate) min_nodes: u32,
    /// Most nodes (at least `min_nodes`, or the request can never be met).
    pub(crate) max_nodes: u32,
    /// The most that some ways of choosing take: as many as tasks are asked for, though a partition's MinNodes may be more
    /// (cons_tres/job_test.c of 22.05.8, `_eval_nodes_lln`, `_eval_nodes_busy`, `_eval_nodes_spread`, `_eval_nodes_serial`; rec c178).
    pub(crate) most_by_tasks: u32,
    /// Nodes that selection tries to get.
    pub(crate) wanted_nodes: u32,
    /// The same two without the limits of whose job it is at the moment.
    uncapped: (u32, u32),
    /// Least CPUs of the whole job.
    pub(crate) min_cpus: u32,
    /// CPUs a task.
    pub(crate) cpus_per_task: u32,
    /// Tasks on a node at most, where asked for.
    pub(crate) tasks_per_node: Option<u32>,
    /// The same with `--overcommit`, which from 23.02.5 on counts where [`Shape::counts_tasks_by_node`] does (rec c117-25-05).
    pub(crate) overcommitted_per_node: Option<u32>,
    /// Tasks, at least one, and whether they were asked for.
    pub(crate) tasks: u32,
    pub(crate) tasks_are_said: bool,
    /// `-N` was given.
    pub(crate) nodes_are_said: bool,
    /// From 23.02.5 on, unless GRES are asked for: a node counts with the CPUs of whole tasks, and with no more than its `--ntasks-per-node`
    /// (cons_tres/job_test.c of 24.11.5, `_allocate_sc`; rec c103-25-05, c117-25-05).
    pub(crate) counts_tasks_by_node: bool,
    /// CPUs of a node that its memory makes, where those are more than it asks for: then a node counts with no fewer
    /// (`pn_min_cpus` above `orig_pn_min_cpus`; rec c101-24-05). 0 where they are not.
    pub(crate) cpus_of_memory: u32,
    /// Tasks on a socket at most.
    pub(crate) tasks_per_socket: Option<u32>,
    /// CPUs usable of each core: threads, fewer where tasks per core or threads per core are limited.
    pub(crate) tasks_per_core: Option<u32>,
    /// Threads used per core at most.
    pub(crate) threads_per_core: Option<u32>,
    /// All threads of a core count though each task has cores of its own: with `CR_ONE_TASK_PER_CORE`, where CPUs come with GPUs.
    pub(crate) gpus_count_threads: bool,
    /// `--cores-per-socket`.
    pub(crate) cores_per_socket: u32,
    /// `--sockets-per-node`.
    pub(crate) sockets_per_node: u32,
    /// With select/linear and `--ntasks-per-node`: a node counts with no more CPUs than those tasks have (docs/FACTS.md, facts 51).
    pub(crate) most_of_whole: Option<u32>,
    /// Fewest CPUs that each node gives it.
    pub(crate) min_cpus_per_node: u32,
    /// Fewest CPUs that a node must offer: these, and room for all tasks of `--ntasks-per-node` though it may have fewer.
    pub(crate) room_per_node: u32,
    /// Fewest CPUs that a node must offer to the job's tasks, when all limits have been applied: `--mincpus`, and what memory asks for,
    /// are looked for before that (docs/FACTS.md, facts 50).
    pub(crate) room_for_tasks: u32,
    /// CPUs that the one node of a job must offer to its tasks before memory is looked at, where fewer will do after that; else 0.
    pub(crate) room_of_one: u32,
    /// As `room_for_tasks` of what is left of an offer that was looked at: with `--overcommit`, tasks are not asked for again (`_select_cores`).
    pub(crate) room_left: u32,
    /// Memory.
    pub(crate) memory: MemoryNeed,
    /// GRES needed on every node.
    pub(crate) gres: Vec<(GresId, u32)>,
    /// GRES that a node must have free to serve the job, however few it gets there.
    pub(crate) gres_least: Vec<(GresId, u32)>,
    /// CPUs that a node must have for each GPU that it gives: those that come with it, asked for or by default, or those of its tasks; 0 for none.
    pub(crate) cpus_a_gpu: u32,
    /// `--ntasks-per-gpu`, where no CPUs are asked for with GPUs.
    pub(crate) tasks_per_gpu: Option<u32>,
    /// Tasks that each node must have room for with it, and has at most.
    pub(crate) tasks_of_gpus: Option<u32>,
    /// Whether no more CPUs near GRES count than those of as many tasks as fit.
    pub(crate) tasks_bound_cpus: bool,
    /// `--gres-flags=enforce-binding`.
    pub(crate) binding: Option<Binding>,
    /// GRES that come with each socket: `gres` has those of one.
    pub(crate) gres_of_socket: Vec<(GresId, u32)>,
    /// GRES of the whole job, where its nodes may have unlike shares.
    pub(crate) gres_of_job: Vec<GresOfJob>,
    /// What is handed out in its partition.
    pub(crate) unit: ConsumableUnit,
    /// The job gets whole nodes.
    pub(crate) whole_nodes: bool,
    /// Of an EXCLUSIVE partition, where nodes in use are not looked at.
    pub(crate) exclusive_partition: bool,
    /// Nodes used by other users' jobs are unusable.
    pub(crate) exclusive_user: bool,
    /// `--exclusive=user` itself: no node serves it whose CPUs, its partition's and free ones, `MaxCPUsPerNode` does not cover.
    pub(crate) asks_for_user: bool,
    /// `MaxCPUsPerNode` of the partition, with the partition's position among the capped ones.
    pub(crate) max_cpus_per_node: Option<(u32, u32)>,
    /// Nodes over which `--ntasks-per-node` spreads its tasks, at least.
    pub(crate) spread: u32,
    /// Nodes it must get.
    pub(crate) required: Vec<NodeId>,
    /// One run of consecutive nodes only.
    pub(crate) contiguous: bool,
    /// Whether a part of a constraint that asks for one node takes the last one (`pack_serial_at_end`).
    pub(crate) packs_parts: bool,
    /// `--overcommit` with select/cons_res: so many tasks take CPUs, as far as nodes offer them.
    pub(crate) overcommitted: Option<u32>,
    /// `--overcommit` with select/cons_tres: only so many nodes have a task, and hold anything; a partition's `MinNodes` may be more.
    pub(crate) nodes_with_tasks: Option<u32>,
    /// `--overcommit` with select/cons_tres: of so many tasks each node gets the CPUs of one, whatever it must have at least, and those that
    /// fit on the cores begun (cons_tres/dist_tasks.c of 22.05.8; rec c134-23-11).
    pub(crate) one_task_a_node: Option<u32>,
    /// `--overcommit` beside `--cpus-per-task`, or nodes that `MaxCPUsPerNode` cuts, from 24.11 on: so many tasks must find their CPUs on the
    /// nodes chosen, which are chosen for fewer (dist_tasks.c of 24.11.5, `tres_per_task`; rec c103-24-11, c1199-24-11).
    pub(crate) tasks_to_place: Option<u32>,
    /// More nodes than tasks, where GPUs may ask for them.
    pub(crate) past_tasks: Option<PastTasks>,
    /// By the rules of select/cons_res.
    pub(crate) cons_res: bool,
    /// Which selection is used.
    pub(crate) strategy: Strategy,
    /// The rows of its partition, where jobs may share cores there.
    pub(crate) rows: Option<Rows>,
    /// How many jobs may share its cores, itself included.
    pub(crate) shared_by: u32,
    /// `--oversubscribe`, whether or not the partition lets jobs share; not where they take whole nodes.
    pub(crate) asks_to_share: bool,
    /// The same job if it shared with nobody: as such backfill tests it first, where it shares because it asks to, or where its
    /// `--ntasks-per-node` then cuts no node ([`Shape::on_dedicated_nodes`]).
    pub(crate) unshared: Option<Box<Self>>,
    /// It is that job.
    pub(crate) is_unshared: bool,
    /// Each part of a constraint that counts nodes must hold all tasks to start it (from 24.11 on).
    pub(crate) parts_hold_tasks: bool,
    /// The first of them cannot, which is found before another has no nodes at all: busy, not never runnable.
    pub(crate) first_part_fails: bool,
    /// The same job with the default memory instead of `DefMemPerGPU`, where another of its partitions has none.
    pub(crate) by_default: Option<Box<Self>>,
    /// Fill a node's sockets one after the other.
    pub(crate) block_cores: bool,
    /// Tasks of a plane, at least one.
    pub(crate) plane: Option<u32>,
    /// `--switches`: how many leaf switches at most, and how long it waits for nodes of so few [s].
    pub(crate) leaf_wait: Option<(u32, i64)>,
    /// The job's limits leave it fewer nodes than it needs.
    pub(crate) over_limit: bool,
    /// Alternatives of `[a|b]`: all nodes of one.
    pub(crate) alternatives: Vec<NodeSet>,
    /// Parts of `a*2&b*3`.
    pub(crate) counted: Vec<(NodeSet, u32)>,
    /// `--spread-job` takes as many nodes as it may; a part of a constraint that counts does not.
    pub(crate) as_many: bool,
    /// `--spread-job` takes a node of each further weight, too, whatever is needed (topology/common's eval_nodes.c of 25.05.3,
    /// `_add_nodes_by_weight_spread`: its end is that of one weight's list alone; rec w2130-25-05).
    pub(crate) of_each_weight: bool,
    /// Each node gives more CPUs than the tasks of its sockets may have: slurmctld cannot lay it out, and holds it.
    pub(crate) unlayable: bool,
    /// Whether an empty machine could run it; filled in by the controller.
    pub(crate) feasible: bool,
    /// What an empty machine would give it, where it is feasible; filled in by the controller.
    pub(crate) alone: Alone,
    /// CPUs that an empty machine would charge it, where that counts for its size; filled in by the controller.
    pub(crate) charged_alone: Option<u32>,
    /// The three above, while limits leave it fewer nodes than an empty machine would give it.
    uncapped_alone: Option<OnEmpty>,
    /// The three by the most nodes that limits have left it, as far as that has been asked.
    capped_alone: Vec<(u32, OnEmpty)>,
    /// Whether GPUs may bring it more CPUs than it asks for: their own, or one on each node that they take.
    pub(crate) gpus_add_cpus: bool,
    /// Whether a partition's `MinNodes` does, of which each gives a CPU (rec c1255).
    pub(crate) nodes_add_cpus: bool,
    /// Whether the nodes it gets decide how many CPUs it is charged, where that counts for its size; filled in by the
    /// controller.
    pub(crate) size_varies: bool,
    /// Whether an idle machine would charge it more than it asks for, and what a plan names is not taken to change that, where it
    /// counts for its size; filled in by the controller.
    pub(crate) size_grows: bool,
    /// What every node offers that offers anything, where that is known and the choice among them is plain; filled in by the
    /// controller.
    pub(crate) alike: Option<Alike>,
    /// Whether idle nodes alone will do, and each eligible one does while it is idle; filled in by the controller.
    pub(crate) idle_suffices: bool,
    /// Whether its tests of when it could run find more than there is ([`super::strays`]).
    pub(crate) strays: bool,
}

/// What `--gres-flags=enforce-binding` asks of the sockets of a node that give GRES.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Binding {
    /// How many may give what the whole job counts,
    pub(crate) most_sockets: u32,
    /// which is this.
    pub(crate) of_job: Vec<GresId>,
    /// What each must have (`--gpus-per-socket`).
    pub(crate) of_socket: Vec<(GresId, u32)>,
}

/// What a test gave a job.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Alone {
    /// Its nodes.
    pub(crate) nodes: u32,
    /// What these offer of the GRES that it counts over all of its nodes (`--gpus`): tests count them whole (rec q-gpu).
    pub(crate) units: u64,
}

/// What an empty machine would do for a job: whether it could run, what it would get, and the CPUs charged.
pub(crate) type OnEmpty = (bool, Alone, Option<u32>);

/// How nodes are chosen among those that can serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Best fit over runs of consecutive nodes.
    Consecutive,
    /// `--spread-job`.
    Spread,
    /// `CR_LLN`, `LLN=YES`.
    LeastLoaded,
    /// `pack_serial_at_end` for one-CPU jobs.
    SerialAtEnd,
    /// topology/tree.
    Tree,
}

impl Shape {
    /// Whether nodes are looked at for it, though none may serve it: some have what it asks for, those that it names among them
    /// (node_scheduler.c of 22.05.8, `select_nodes`, `_nodes_in_sets`; rec be-k23). O(named nodes).
    pub(crate) fn is_looked_at(&self) -> bool {
        !self.tested.is_empty() && self.required.iter().all(|&node| self.tested.contains(node))
    }

    /// Selection takes no more nodes than `most`, if the request allows for so few. O(1).
    pub(crate) fn cap_nodes(&mut self, most: u32) {
        self.over_limit = most < self.min_nodes;
        let most = most.max(self.min_nodes);
        let (max_nodes, wanted_nodes) = self.uncapped;
        (self.max_nodes, self.wanted_nodes) = (max_nodes.min(most), wanted_nodes.min(most));
        if let Some(on_more) = self.past_tasks_mut() {
            on_more.cap_nodes(most);
        }
        if let Some(unshared) = &mut self.unshared {
            unshared.cap_nodes(most);
        }
        if let Some(by_default) = &mut self.by_default {
            by_default.cap_nodes(most);
        }
        if let Some(uncapped) = self.uncapped_alone.take() {
            self.set_on_empty(uncapped);
        }
    }

    /// It has asked for no more nodes, said or by its tasks. O(1).
    pub(crate) fn cap_nodes_said(&mut self, most: u32, is_said: bool) {
        self.max_nodes = self.max_nodes.min(most);
        self.uncapped.0 = self.uncapped.0.min(most);
        self.nodes_are_said = is_said;
    }

    /// The same if it asked for as many nodes as it may have. O(nodes).
    pub(crate) fn wanting_all_nodes(&self) -> Self {
        Self { wanted_nodes: self.max_nodes.max(self.min_nodes), alike: None, ..self.clone() }
    }

    /// Takes what an empty machine would do under [`Shape::cap_nodes`] for what it would do at all; `of` tells it where that is not
    /// known yet. O(limits on nodes asked for).
    pub(crate) fn cap_alone(&mut self, of: impl FnOnce(&Self) -> OnEmpty) {
        if !self.feasible || self.over_limit || self.max_nodes >= self.alone.nodes {
            return;
        }
        let known = self.capped_alone.iter().find(|(most, _)| *most == self.max_nodes).map(|(_, known)| *known);
        let capped = known.unwrap_or_else(|| of(self));
        if known.is_none() {
            self.capped_alone.push((self.max_nodes, capped));
        }
        self.uncapped_alone = Some((self.feasible, self.alone, self.charged_alone));
        self.set_on_empty(capped);
    }

    /// Notes what an empty machine would do. O(1).
    pub(crate) fn set_on_empty(&mut self, (feasible, alone, charged): OnEmpty) {
        (self.feasible, self.alone, self.charged_alone) = (feasible, alone, charged);
    }

    /// Threads of a core that its tasks may use. O(1).
    #[inline]
    pub(crate) fn usable_threads(&self, cpus_per_core: u32) -> u32 {
        let threads = self.used_threads(cpus_per_core);
        match self.tasks_per_core {
            Some(tasks) => threads.min(tasks.saturating_mul(self.cpus_per_task).max(1)),
            None => threads,
        }
    }

    /// Threads of a core that count where memory goes by CPUs: those that `--threads-per-core` (`--hint=nomultithread`) leaves. O(1).
    #[inline]
    pub(crate) fn used_threads(&self, cpus_per_core: u32) -> u32 {
        self.threads_per_core.unwrap_or(cpus_per_core).clamp(1, cpus_per_core.max(1))
    }

    /// Whether each of its tasks has cores of its own, of which the last has threads left over (`--ntasks-per-core=1`,
    /// `CR_ONE_TASK_PER_CORE`). O(1).
    #[inline]
    pub(crate) fn leaves_odd_threads(&self, threads: u32) -> bool {
        self.tasks_per_core == Some(1)
            && self.cpus_per_task > threads
            && !self.cpus_per_task.is_multiple_of(threads.max(1))
    }

    /// How many CPUs count of so many cores, of which `threads` are usable (cons_common.c of 22.05.8, `_count_used_cpus`; rec s-qos).
    /// O(1).
    #[inline]
    pub(crate) fn cpus_counted(&self, cores: u32, threads: u32) -> u32 {
        if !self.leaves_odd_threads(threads) || self.gpus_count_threads {
            return cores * threads;
        }
        let of_task = self.cpus_per_task.div_ceil(threads);
        cores / of_task * self.cpus_per_task + cores % of_task * threads
    }

    /// How many cores so many CPUs of its tasks take. O(1).
    #[inline]
    pub(crate) fn cores_of(&self, cpus: u32, threads: u32) -> u32 {
        if !self.leaves_odd_threads(threads) {
            return cpus.div_ceil(threads);
        }
        let of_task = self.cpus_per_task.div_ceil(threads);
        cpus / self.cpus_per_task * of_task + (cpus % self.cpus_per_task).div_ceil(threads)
    }

    /// Whether it may leave threads of its cores unused. O(1).
    pub(crate) fn leaves_threads(&self) -> bool {
        self.threads_per_core.is_some() || self.tasks_per_core.is_some()
    }

    /// CPUs of a node taken whole that its tasks may use. O(1); O(sockets) with `--ntasks-per-socket`.
    pub(crate) fn cpus_of_whole(&self, geometry: &Geometry, node: usize) -> u32 {
        let threads = || self.usable_threads(geometry.cpus_per_core[node]);
        let cpus = if self.tasks_per_socket.is_some() {
            let of_socket = |socket| self.within_tasks_of_socket(geometry.socket_cores[socket] * threads(), threads());
            let cpus: u32 = geometry.sockets(NodeId(node as u32)).map(of_socket).sum();
            self.cpus_counted(cpus / threads(), threads())
        } else if self.leaves_threads() {
            self.cpus_counted(geometry.cores[node], threads())
        } else {
            geometry.cpus[node]
        };
        cpus.min(self.most_of_whole.unwrap_or(u32::MAX))
    }

    /// CPUs of a node taken whole that memory by the CPU is charged for. O(1).
    pub(crate) fn charged_of_whole(&self, geometry: &Geometry, node: usize) -> u32 {
        geometry.cores[node] * self.used_threads(geometry.cpus_per_core[node])
    }

    /// What `--ntasks-per-socket` leaves of a socket's CPUs: whole cores, as many as those tasks need. O(1).
    #[inline]
    pub(crate) fn within_tasks_of_socket(&self, cpus: u32, usable_threads: u32) -> u32 {
        let Some(tasks) = self.tasks_per_socket else { return cpus };
        let asked = tasks.saturating_mul(self.cpus_per_task).max(1);
        cpus.min(asked.saturating_add(usable_threads - 1) / usable_threads * usable_threads)
    }

    /// For how many GPUs so much free memory is enough. O(1).
    pub(crate) fn gpus_within(&self, memory: u64) -> u32 {
        memory.checked_div(self.unit_memory).map_or(u32::MAX, |units| u32::try_from(units).unwrap_or(u32::MAX))
    }

    /// How many of a GRES come with each socket, where it is counted so. O(such GRES).
    pub(crate) fn of_each_socket(&self, gres: GresId) -> Option<u32> {
        self.gres_of_socket.iter().find(|&&(other, _)| other == gres).map(|&(_, count)| count)
    }

    /// CPUs that come with each GPU of the job; 0 where none do. O(1).
    pub(crate) fn unit_cpus(&self) -> u32 {
        self.gres_of_job.first().map_or(0, |wanted| wanted.unit_cpus)
    }

    /// Whether limits leave it fewer nodes than an idle machine would give it, or than it asks for. O(1).
    pub(crate) fn is_capped(&self) -> bool {
        self.max_nodes < self.alone.nodes || self.wanted_nodes < self.uncapped.1
    }

    /// `--ntasks-per-node`, where a node counts with no more than that ([`Shape::counts_tasks_by_node`]). Before 23.02.5 it does not, though
    /// slurm-semantics 6.5 says so of jobs that share cores: those tasks are counted, and compared with nothing (rec c1010).
    pub(crate) fn tasks_a_node_counts(&self) -> Option<u32> {
        self.tasks_per_node.or(self.overcommitted_per_node).filter(|_| self.counts_tasks_by_node && !self.is_unshared)
    }

    /// The job as backfill tests it first, where a node then counts with all its CPUs and not with those of `--ntasks-per-node`. It fits
    /// there where it fits with these, so that only the choice of nodes differs (backfill.c of 24.11.5, `_try_sched`: `share_res` is 0;
    /// job_test.c, `_allocate_sc`; rec c212-24-11).
    pub(crate) fn on_dedicated_nodes(&self) -> Option<Box<Self>> {
        let cuts = self.tasks_a_node_counts().is_some() && !self.whole_nodes;
        cuts.then(|| Box::new(Self { is_unshared: true, ..self.clone() }))
    }

    /// Whether the job as it is tested first may fit where it itself does not.
    pub(crate) fn fits_otherwise(&self) -> bool {
        self.unshared.as_ref().is_some_and(|unshared| unshared.shared_by < self.shared_by)
    }

    /// Of so many CPUs of a node those that count: of whole tasks, but no fewer than its memory makes. O(1).
    #[inline]
    pub(crate) fn that_count(&self, cpus: u32, usable_threads: u32) -> u32 {
        let least = if self.counts_tasks_by_node && cpus > 0 { self.cpus_of_memory } else { 0 };
        (cpus - self.beyond_whole_tasks(cpus, usable_threads)).max(least)
    }

    /// CPUs of a node that make no whole task, where they do not count. O(1).
    #[inline]
    pub(crate) fn beyond_whole_tasks(&self, cpus: u32, usable_threads: u32) -> u32 {
        // (A division costs as much as the rest of the test.)
        if self.cpus_per_task <= 1 || !(self.counts_tasks_by_node || matches!(self.memory, MemoryNeed::PerCpu(_))) {
            return 0;
        }
        if self.counts_tasks_by_node && self.tasks_per_core == Some(1) && self.cpus_per_task > usable_threads {
            let of_task = self.cpus_per_task.next_multiple_of(usable_threads.max(1));
            return cpus - cpus / of_task * self.cpus_per_task;
        }
        cpus % self.cpus_per_task
    }
}
