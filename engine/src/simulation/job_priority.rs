//! A job's priority tier and priority, from what the controller knows of it. Source of the order: slurm-semantics 2.2, 4.2.

use super::jobs::Phase;
use super::lifecycle::YEAR_MINUTES;
use super::reservations::RESERVED_TIER;
use super::{Controller, seconds};
use crate::cluster::{MemoryDefault, Tres};
use crate::ids::{AssociationId, GresId, JobId, PartitionId, QosId, RequestId};
use crate::job::{Job, JobName, JobPart, Memory, Request};
use crate::limits::accrue::NO_AGE;
use crate::policy::SlurmVersion;
use crate::priority::multifactor::JobFactors;
use crate::scenario::Scenario;
use crate::sched::queue::Record;

/// As much may niceness raise a job above all others under priority/basic: slurmctld's first priority is that much below the highest.
const BASIC_RESERVE: i64 = 0xffff;

/// Under priority/basic: how many priorities were given before a job's, which sets it behind them; arrays have one. Empty under others.
#[derive(Debug, Default)]
pub(super) struct BasicRanks {
    /// As if nobody were requeued, until the job comes.
    ranks: Vec<u32>,
    /// Given last.
    last: u32,
    /// Given to jobs that were requeued.
    requeues: u32,
}

impl BasicRanks {
    /// Of all jobs to come. O(jobs).
    pub(super) fn of(scenario: &Scenario) -> Self {
        let jobs = &scenario.workload.jobs;
        if scenario.policy.priority.multifactor {
            return Self::default();
        }
        let mut rank = 0;
        let mut before: Option<&JobName> = None;
        let mut ranks = Vec::with_capacity(jobs.len());
        for job in jobs {
            let is_task = matches!(job.name.part, JobPart::Task(_));
            let same_array = is_task && before.is_some_and(|before| before.id == job.name.id);
            rank += u32::from(!same_array);
            before = Some(&job.name);
            ranks.push(rank);
        }
        Self { ranks, ..Self::default() }
    }

    fn of_job(&self, id: JobId) -> i64 {
        i64::from(self.ranks.get(id.index()).copied().unwrap_or(0))
    }

    /// A job comes. O(1).
    pub(super) fn submitted(&mut self, id: JobId) {
        if let Some(rank) = self.ranks.get_mut(id.index()) {
            *rank = rank.saturating_add(self.requeues);
            self.last = *rank;
        }
    }

    /// A job is requeued, and gets the next one. O(1).
    fn requeued(&mut self, id: JobId) {
        if let Some(rank) = self.ranks.get_mut(id.index()) {
            self.last = self.last.max(*rank).saturating_add(1);
            self.requeues = self.requeues.saturating_add(1);
            *rank = self.last;
        }
    }
}

/// What of a job, live or not, enters its priority.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// When age began to accrue [s].
    accrue: i64,
    /// Limit in force [s].
    limit_seconds: i64,
    /// CPUs that the last successful test of when and where would have charged it.
    pub(super) charged_cpus: Option<u32>,
    nice: i32,
    request: RequestId,
    association: AssociationId,
    qos: QosId,
}

impl Controller<'_> {
    /// A requeued job gets a new priority, from 24.05.8 on under priority/basic, too (job_mgr.c, `batch_requeue_fini`; rec c168-25-05). O(1).
    pub(super) fn ranks_behind(&mut self, id: JobId) {
        if self.scenario.policy.version >= SlurmVersion::V24_05 {
            self.basic_ranks.requeued(id);
        }
    }

    /// The priority tier and the priority of a job in one partition.
    pub(crate) fn tier_and_priority(&self, id: JobId, partition: PartitionId) -> (u32, u32) {
        self.tier_and_priority_of(id, partition, self.standing(id))
    }

    /// What of a job enters its priority. O(1), two cache misses.
    #[inline]
    pub(crate) fn standing(&self, id: JobId) -> Standing {
        let job = self.job(id);
        let live = self.live.get(id);
        let charged = if self.sizes_vary { self.charged_cpus(id) } else { live.and_then(|live| live.charged_cpus) };
        Standing {
            accrue: live.map_or(job.submit, |live| live.accrue),
            limit_seconds: live.map_or(60 * i64::from(YEAR_MINUTES), |live| live.limit_seconds),
            charged_cpus: charged.or_else(|| self.counted_cpus(job)),
            nice: job.nice,
            request: job.request,
            association: job.association,
            qos: job.qos,
        }
    }

    /// As how many CPUs a job counts that no test has found nodes for, where its memory makes others than it asks for: those of its last partition,
    /// from the first queue after its submission on. O(log such requests).
    fn counted_cpus(&self, job: &Job) -> Option<u32> {
        let counted = self.counted_cpus.get(&job.request).filter(|_| job.submit < seconds(self.now))?;
        Some(*counted)
    }

    /// With `INCR_ONLY` a priority never falls, also while the job waits for other things than nodes (priority_multifactor.c of
    /// 22.05.8, `decay_apply_weighted_factors`). O(partitions).
    pub(super) fn rise(&mut self, id: JobId, standing: Standing) {
        let policy = &self.scenario.policy.priority;
        if !policy.increase_only || !policy.multifactor {
            return;
        }
        let mut risen = self.risen.remove(&id).unwrap_or_default();
        risen.resize(self.partitions(id).len(), 0);
        for (highest, &partition) in risen.iter_mut().zip(self.partitions(id)) {
            *highest = (*highest).max(self.tier_and_priority_of(id, partition, standing).1);
        }
        self.risen.insert(id, risen);
    }

    /// A job starts from a record: of several partitions it keeps its priorities in all of them. O(partitions); where tests change sizes, which
    /// count from the next step on (rec w2103), O(queue) if it may come back.
    pub(super) fn keep_priorities(&mut self, record: Record) {
        let id = record.job;
        if self.partitions(id).len() == 1 {
            return;
        }
        let standing = self.standing(id);
        let mut queued = vec![None; self.partitions(id).len()];
        queued[usize::from(record.place)] = Some(record.priority());
        if self.sizes_vary && (self.preempt.is_some() || !self.scenario.calendar.outages.is_empty()) {
            for other in self.queue.iter().filter(|other| other.job == id) {
                queued[usize::from(other.place)] = Some(other.priority());
            }
        }
        let priorities = self.partitions(id).iter().enumerate().map(|(position, &partition)| {
            if let Some(priority) = queued[position] {
                return priority;
            }
            self.tier_and_priority_of(id, partition, standing).1.max(self.risen_to(id, position))
        });
        let priorities = priorities.collect();
        self.kept_priorities.insert(id, priorities);
    }

    /// The priority that a job comes back with in one of its partitions, until the next step: what it had there when it started, while
    /// nothing but a step changes `priority_array` (job_mgr.c of 22.05.8; rec bd-g7). From 24.05.8 on it is reckoned anew (`batch_requeue_fini`).
    pub(super) fn kept_priority(&self, id: JobId, position: usize) -> Option<u32> {
        if self.scenario.policy.version >= SlurmVersion::V24_05 {
            return None;
        }
        let last_step = self.timers.last_priority_step;
        let back = self.back_in_place.get(&id);
        let since = |submit: i64| back.copied().unwrap_or(submit);
        let live = self.live.get(id).filter(|live| live.starts > 0 && last_step < since(live.submit))?;
        match self.kept_priorities.get(&id) {
            Some(kept) => kept.get(position).copied(),
            None => (position == 0).then_some(live.priority),
        }
    }

    /// The highest priority that it has had in one of its partitions, with `INCR_ONLY`; else 0.
    pub(super) fn risen_to(&self, id: JobId, position: usize) -> u32 {
        self.risen.get(&id).and_then(|risen| risen.get(position)).copied().unwrap_or(0)
    }

    /// A step comes to all that wait. O(live jobs) with `INCR_ONLY`.
    pub(super) fn rise_all(&mut self) {
        let policy = &self.scenario.policy.priority;
        if !policy.increase_only {
            return;
        }
        let waits = |phase: Phase| matches!(phase, Phase::Waiting | Phase::Pending);
        let waiting: Vec<(JobId, bool)> = self
            .live
            .all()
            .filter(|live| waits(live.phase))
            .map(|live| (live.job, live.phase == Phase::Pending || live.accrues || policy.accrue_always))
            .collect();
        for (id, ages) in waiting {
            let mut standing = self.standing(id);
            if !ages {
                standing.accrue = NO_AGE;
            }
            self.rise(id, standing);
        }
    }

    /// The memory that a request counts with: what it asks for, or the default of its first partition or of the cluster; where that is all
    /// that a node has, what the first node of its first partition has (job_mgr.c of 22.05.8, `job_get_tres_mem`; rec at-tier). O(1).
    fn memory_asked(&self, request: &Request) -> Option<MemoryDefault> {
        let partition = request.partitions.first().map(|id| &self.scenario.cluster.partitions[id.index()]);
        let default = || {
            let of_partition = partition.and_then(|partition| partition.default_memory);
            of_partition.or(self.scenario.policy.select.default_memory)
        };
        let asked = match request.memory {
            Memory::PerNode(mb) => Some(MemoryDefault::PerNode(mb)),
            Memory::PerCpu(mb) => Some(MemoryDefault::PerCpu(mb)),
            Memory::Default => default(),
            Memory::WholeNode => None,
            Memory::PerGpu(_) => return None,
        };
        let is_some = |asked: &MemoryDefault| !matches!(asked, MemoryDefault::PerNode(0) | MemoryDefault::PerCpu(0));
        asked.filter(is_some).or_else(|| {
            let first = partition.and_then(|partition| partition.nodes.iter().next());
            first.map(|node| MemoryDefault::PerNode(self.scenario.cluster.nodes[node.index()].memory_mb))
        })
    }

    /// The memory that a request counts with which asks for some with each GPU (`--mem-per-gpu`) [MB]. O(kinds of GRES).
    fn memory_with_gpus(&self, request: &Request, nodes: u32) -> f64 {
        let Memory::PerGpu(mb) = request.memory else { return 0.0 };
        let geometry = &self.selector.geometry;
        let gpus = (0..geometry.n_gres).filter(|&gres| geometry.gpus[gres] && geometry.gres_total[gres].is_none());
        let asked: u32 = gpus.map(|gres| geometry.gres_asked(request, GresId::new(gres), nodes)).sum();
        mb as f64 * f64::from(asked)
    }

    /// All the memory that a request counts with [MB]. O(kinds of GRES).
    pub(crate) fn memory_counted(&self, request: &Request, nodes: u32, asked_cpus: f64) -> f64 {
        if matches!(request.memory, Memory::PerGpu(_)) {
            return self.memory_with_gpus(request, nodes);
        }
        match self.memory_asked(request) {
            Some(MemoryDefault::PerNode(mb)) => mb as f64 * f64::from(nodes),
            Some(MemoryDefault::PerCpu(mb)) => mb as f64 * asked_cpus,
            None => 0.0,
        }
    }

    /// As [`Self::tier_and_priority`], with what [`Self::standing`] found.
    pub(crate) fn tier_and_priority_of(&self, id: JobId, partition: PartitionId, standing: Standing) -> (u32, u32) {
        let mut tier = self.scenario.cluster.partitions[partition.index()].priority_tier;
        if self.reservation_of(id).is_some() {
            tier |= RESERVED_TIER;
        }
        let policy = &self.scenario.policy.priority;
        if !policy.multifactor {
            // priority/basic: first come, first served. Who is nice stands level with
            // who comes as many submissions later (priority_basic.c of 22.05.8).
            let place = self.basic_ranks.of_job(id) + i64::from(standing.nice);
            return (tier, (i64::from(u32::MAX) - BASIC_RESERVE - place).clamp(1, i64::from(u32::MAX)) as u32);
        }
        let request = &self.scenario.workload.requests[standing.request.index()];
        let nodes = request.min_nodes.max(1);
        let cpus = standing.charged_cpus.unwrap_or(request.min_cpus).max(1);
        // What TRES count with is what was asked for, whatever a plan would charge.
        let asked_cpus = f64::from(request.min_cpus.max(1));
        let lost = self.lost_with_its_nodes(id);
        let lost_mb = lost.map(|lost| lost.memory_mb).filter(|&mb| mb > 0);
        let tres: Vec<f64> = policy
            .weight_tres
            .iter()
            .map(|&(tres, _)| match tres {
                Tres::Cpu | Tres::Billing => lost.map_or(asked_cpus, |lost| f64::from(lost.cpus)),
                Tres::Node => f64::from(lost.map_or(nodes, |lost| lost.nodes)),
                Tres::Memory => lost_mb.map_or_else(|| self.memory_counted(request, nodes, asked_cpus), |mb| mb as f64),
                Tres::Gres(gres) => f64::from(self.selector.geometry.gres_asked(request, gres, nodes)),
                Tres::License(license) => {
                    let wanted = request.licenses.iter().find(|(id, _)| *id == license);
                    wanted.map_or(0.0, |(_, count)| f64::from(*count))
                }
            })
            .collect();
        // Between the steps nobody ages, whether in the queue or not.
        let at_boot = self.now == self.timers.boot;
        let aged = if at_boot { seconds(self.now) } else { self.timers.last_priority_step.min(seconds(self.now)) };
        let aged = aged.max(self.let_go_at(id));
        let factors = JobFactors {
            age: aged.max(standing.accrue) - standing.accrue,
            fair_share: self.fair_share.factors[standing.association.index()],
            association_priority: match policy.weight_assoc {
                0 => 0,
                _ => self.scenario.associations.rows[standing.association.index()].priority,
            },
            nodes,
            cpus,
            limit: (standing.limit_seconds / 60) as u32,
            partition,
            qos: &self.scenario.qos[standing.qos.index()],
            tres: &tres,
            nice: standing.nice,
        };
        (tier, self.norms().priority(policy, &self.scenario.cluster, factors))
    }
}
