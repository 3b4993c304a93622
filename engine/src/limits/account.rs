//! Keeping the groups' use up to date as jobs start, run and end.

use crate::cluster::Tres;
use crate::ids::{AssociationId, GresId, JobId, PartitionId};
use crate::policy::SlurmVersion;
use crate::select::allocation::Allocation;
use crate::select::free::Free;
use crate::select::shape::{Alone, GresOfJob, MemoryNeed, Shape};
use crate::simulation::{Controller, seconds};

use super::usage::{Held, Used};

/// How much of a slice [s] lay within the job's limit, of which so much was `left` before [s]: no more was counted as to come when it
/// started (priority_multifactor.c of 22.05.8, `_apply_new_usage`; rec ax-topo).
fn within_limit(slice: i64, left: i64) -> f64 {
    slice.min(left.max(0)) as f64
}

impl Controller<'_> {
    /// Counts of an allocation.
    pub(crate) fn allocated_counts(&self, id: JobId, allocation: &Allocation, billing: f64) -> Held {
        let index = self.limits.index;
        let n_gres = self.selector.geometry.n_gres;
        let mut counts = vec![0; index.len()];
        counts[index.of(Tres::Cpu)] = u64::from(allocation.cpus());
        counts[index.of(Tres::Memory)] = allocation.shares.iter().map(|share| share.memory).sum();
        counts[index.of(Tres::Node)] = allocation.shares.len() as u64;
        counts[index.of(Tres::Billing)] = billing as u64;
        for (position, &held) in allocation.gres.iter().enumerate() {
            counts[4 + position % n_gres.max(1)] += u64::from(held);
        }
        let request = self.scenario.workload.jobs[id.index()].request;
        for &(license, count) in &self.scenario.workload.requests[request.index()].licenses {
            counts[index.of(Tres::License(license))] += u64::from(count);
        }
        Held { counts, nodes: allocation.shares.iter().map(|share| share.node).collect() }
    }

    /// The state of which the last test of when and where has chosen nodes: the present, without victims if it takes that, or (`later`) a
    /// time when running jobs have ended.
    pub(crate) fn state_of_plan(&self, later: bool) -> &Free {
        match &self.preempt {
            _ if later => &self.future,
            Some(preemption) if preemption.in_plan => &preemption.free,
            _ => &self.free,
        }
    }

    /// Counts of the job on the nodes last chosen, free now or (`later`) once the running jobs have ended that the
    /// will-run test released. That its groups use some of them already counts for those it names only. O(nodes of the job).
    pub(crate) fn planned_counts(&self, id: JobId, partition: PartitionId, shape: &Shape, later: bool) -> Held {
        let mut allocation = self.selector.allocate(self.state_of_plan(later), shape);
        if shape.exclusive_partition && !shape.whole_nodes {
            // Planned with parts of nodes, it counts with all of their CPUs (dist_tasks.c of 22.05.8, `_clear_spec_cores`; rec s-qos).
            for share in &mut allocation.shares {
                share.cpus = shape.charged_of_whole(&self.selector.geometry, share.node.index());
                if let MemoryNeed::PerCpu(mb) = shape.memory {
                    share.memory = mb.saturating_mul(u64::from(share.cpus));
                }
            }
        }
        let mut held = self.allocated_counts(id, &allocation, self.billing(partition, &allocation));
        if shape.whole_nodes {
            // All GRES of its nodes are its own from the start on; a plan counts those that it asks for (node_scheduler.c of 22.05.8,
            // `_handle_exclusive_gres`, which `_attempt_backfill` does not call; rec bc-gpu4311).
            let asked = self.counts_on(id, allocation.shares.len() as u64);
            for gres in (0..self.selector.geometry.n_gres).map(GresId::new) {
                let of = self.limits.index.of(Tres::Gres(gres));
                held.counts[of] = asked.counts[of];
            }
        }
        if matches!(shape.memory, MemoryNeed::Whole) {
            // A test of when and where leaves nothing allocated that could be counted (cons_common/job_test.c of 22.05.8; rec be-k31).
            let nodes = allocation.shares.len() as u64;
            held.counts[self.limits.index.of(Tres::Memory)] = self.memory_of_first(partition).saturating_mul(nodes);
        }
        if shape.whole_nodes || matches!(shape.memory, MemoryNeed::Whole) {
            held.counts[self.limits.index.of(Tres::Billing)] = self.billing_of(partition, &held);
        }
        let units = self.selector.alone().units;
        self.count_units(&mut held, shape, units, false);
        if let MemoryNeed::PerUnit(mb, _) = shape.memory {
            held.counts[self.limits.index.of(Tres::Memory)] = units.saturating_mul(mb);
        }
        // Of the nodes that its group holds already, which do not count again, slurmctld knows those that the job requires, from 24.11.4 on
        // all that its last test chose (acct_policy.c, `_get_unique_job_node_cnt`; facts 87).
        if shape.required.is_empty() && self.scenario.policy.version >= SlurmVersion::V24_11 {
            return held;
        }
        Held { nodes: shape.required.clone(), ..held }
    }

    /// The same, of a job whose size another test says. O(1).
    pub(crate) fn with_cpus(&self, mut held: Held, cpus: Option<u32>) -> Held {
        if let Some(cpus) = cpus {
            held.counts[self.limits.index.of(Tres::Cpu)] = u64::from(cpus);
        }
        held
    }

    /// What a waiting job is taken to want while its nodes are busy: the CPUs of its last successful test, before that those it
    /// asks for, on as many nodes as it would get `alone` on an idle machine, or asks for at most.
    /// Memory by default counts; of a job that takes all of a node's, what the partition's first node has on each (job_mgr.c of 22.05.8,
    /// `job_get_tres_mem`; rec bb-gpu).
    pub(crate) fn busy_counts(&self, id: JobId, partition: PartitionId, shape: &Shape, alone: Option<Alone>) -> Held {
        let request = &self.scenario.workload.requests[self.scenario.workload.jobs[id.index()].request.index()];
        let asked = request.max_nodes.unwrap_or(request.min_nodes).max(1);
        let mut held = self.counts_on(id, u64::from(alone.map_or(asked, |alone| alone.nodes)));
        // Those of sockets count as a test has laid them out.
        let counts = shape.gres_of_socket.is_empty() || self.charged_cpus(id).is_some();
        let units = alone.filter(|_| counts).map_or(0, |alone| alone.units);
        self.count_units(&mut held, shape, units, true);
        let index = self.limits.index;
        let (cpus, nodes) = (held.counts[index.of(Tres::Cpu)], held.counts[index.of(Tres::Node)]);
        match shape.memory {
            MemoryNeed::PerNode(mb) => held.counts[index.of(Tres::Memory)] = mb.saturating_mul(nodes),
            MemoryNeed::PerCpu(mb) => held.counts[index.of(Tres::Memory)] = mb.saturating_mul(cpus),
            MemoryNeed::PerUnit(mb, _) => held.counts[index.of(Tres::Memory)] = mb.saturating_mul(units),
            MemoryNeed::Whole => {
                held.counts[index.of(Tres::Memory)] = self.memory_of_first(partition).saturating_mul(nodes);
            }
            MemoryNeed::NotConsumed(_) => {}
        }
        held.counts[index.of(Tres::Billing)] = self.billing_of(partition, &held);
        held
    }

    /// What a job that asks for all memory of its nodes counts for each while it has none: what the partition's first node has
    /// (job_mgr.c of 22.05.8, `_mem_per_node_part`).
    fn memory_of_first(&self, partition: PartitionId) -> u64 {
        let cluster = &self.scenario.cluster;
        let first = cluster.partitions[partition.index()].nodes.iter().next();
        first.map_or(0, |node| cluster.nodes[node.index()].memory_mb)
    }

    /// The billing of what is counted; licences bill nothing.
    fn billing_of(&self, partition: PartitionId, held: &Held) -> u64 {
        let counted = |tres| match tres {
            Tres::Billing | Tres::License(_) => 0.0,
            _ => held.counts[self.limits.index.of(tres)] as f64,
        };
        self.weighted_billing(partition, counted) as u64
    }

    /// Counts what a test took of the GRES of the whole job, where it took any and they do not come with CPUs: nor with tasks, but of a
    /// job whose nodes are busy (facts 65).
    fn count_units(&self, held: &mut Held, shape: &Shape, units: u64, busy: bool) {
        let counts = |wanted: &&GresOfJob| wanted.unit_cpus == 0 && (busy || wanted.per_task.is_none());
        let of_job = shape.gres_of_job.first().filter(counts).map(|wanted| wanted.gres);
        let of_socket = shape.gres_of_socket.first().filter(|_| busy).map(|&(gres, _)| gres);
        let Some(wanted) = of_job.or(of_socket).filter(|_| units > 0) else {
            return;
        };
        let total = self.selector.geometry.gres_total[wanted.index()].map(GresId::new);
        for gres in std::iter::once(wanted).chain(total) {
            held.counts[self.limits.index.of(Tres::Gres(gres))] = units;
        }
    }

    /// What a waiting job would at least hold.
    pub(crate) fn requested_counts(&self, id: JobId) -> Held {
        self.counts_with(id, None, None)
    }

    /// The same on so many nodes, of the CPUs that the last successful test would have charged.
    pub(super) fn counts_on(&self, id: JobId, nodes: u64) -> Held {
        self.counts_with(id, self.charged_cpus(id), Some(nodes))
    }

    fn counts_with(&self, id: JobId, charged_cpus: Option<u32>, nodes: Option<u64>) -> Held {
        let job = &self.scenario.workload.jobs[id.index()];
        let request = &self.scenario.workload.requests[job.request.index()];
        let index = self.limits.index;
        let mut counts = vec![0; index.len()];
        let nodes = nodes.unwrap_or(u64::from(request.min_nodes.max(1)));
        let cpus = u64::from(charged_cpus.unwrap_or(request.min_cpus).max(1));
        counts[index.of(Tres::Cpu)] = cpus;
        counts[index.of(Tres::Node)] = nodes;
        counts[index.of(Tres::Billing)] = cpus;
        counts[index.of(Tres::Memory)] = match request.memory {
            crate::job::Memory::PerNode(mb) => mb.saturating_mul(nodes),
            crate::job::Memory::PerCpu(mb) => mb.saturating_mul(cpus),
            _ => 0,
        };
        let geometry = &self.selector.geometry;
        let on_nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        for gres in (0..geometry.n_gres).map(GresId::new) {
            counts[index.of(Tres::Gres(gres))] = u64::from(geometry.gres_asked(request, gres, on_nodes));
        }
        for &(license, count) in &request.licenses {
            counts[index.of(Tres::License(license))] = u64::from(count);
        }
        Held { counts, nodes: request.required_nodes.clone() }
    }

    /// Applies a change to every group the job belongs to in a partition; it is told whether the group's use never decays.
    /// O(depth of the tree).
    pub(super) fn for_each_group(&mut self, id: JobId, partition: PartitionId, change: impl Fn(&mut Used, bool)) {
        let job = &self.scenario.workload.jobs[id.index()];
        let (own, user) = (job.association, job.user.0);
        let account = self.account_of(id).0;
        let partition_qos = self.scenario.cluster.partitions[partition.index()].qos;
        let mut at: Option<AssociationId> = Some(own);
        while let Some(row) = at {
            change(&mut self.limits.associations[row.index()], false);
            at = self.scenario.associations.rows[row.index()].parent;
        }
        let second = partition_qos.filter(|&qos| qos != job.qos);
        for qos in std::iter::once(job.qos).chain(second) {
            let limits = &self.scenario.qos[qos.index()].limits;
            let keeps = self.scenario.qos[qos.index()].no_decay;
            change(&mut self.limits.qos[qos.index()], keeps);
            change(self.limits.of_user(qos, limits, user), keeps);
            change(self.limits.of_account(qos, limits, account), keeps);
        }
    }

    /// A job starts.
    pub(crate) fn limits_start(&mut self, id: JobId) {
        if !self.limits.active {
            return;
        }
        self.stop_accruing(id);
        let Some(live) = self.live.get(id) else { return };
        // Of a job that ran before the first step, the part before it is not counted.
        let unseen = (self.timers.last_priority_step - live.start).max(0);
        let (partition, limit) = (live.partition, (live.limit_seconds - unseen).max(0));
        let held = self.allocated_counts(id, &live.allocation, live.billing);
        let limit = limit as f64 * self.usage_factor(id);
        self.for_each_group(id, partition, |used, _| used.start(&held, limit));
    }

    /// A job ends; its last slice is charged.
    pub(crate) fn limits_end(&mut self, id: JobId, slice: i64, charged_seconds: f64, left_at_step: i64) {
        if !self.limits.active {
            return;
        }
        let Some(live) = self.live.get(id) else { return };
        let partition = live.partition;
        let held = self.allocated_counts(id, &live.allocation, live.billing);
        let factor = self.usage_factor(id);
        let (undecayed, left) = (slice as f64 * factor, (left_at_step - slice).max(0) as f64 * factor);
        let within_limit = within_limit(slice, left_at_step) * factor;
        self.for_each_group(id, partition, |used, keeps| {
            used.charge(&held, within_limit, if keeps { undecayed } else { charged_seconds });
            used.end(&held, left);
        });
        self.limits.to_end.remove(&id);
        self.end_where_minutes_ran_out();
    }

    /// A priority step charges a slice of a running job.
    pub(crate) fn limits_charge(&mut self, id: JobId, slice: i64, charged_seconds: f64) {
        if !self.limits.active {
            return;
        }
        let Some(live) = self.live.get(id) else { return };
        let partition = live.partition;
        let held = self.allocated_counts(id, &live.allocation, live.billing);
        let left_before = live.start + live.limit_seconds - (seconds(self.now) - slice);
        let factor = self.usage_factor(id);
        let (undecayed, within_limit) = (slice as f64 * factor, within_limit(slice, left_before) * factor);
        self.for_each_group(id, partition, |used, keeps| {
            used.charge(&held, within_limit, if keeps { undecayed } else { charged_seconds });
        });
    }

    /// A priority step decays what was spent, which a QOS with NoDecay keeps; 0 forgets it (`PriorityUsageResetPeriod`), of every
    /// QOS (priority_multifactor.c, `_reset_usage`, of 22.05.8).
    pub(crate) fn limits_decay(&mut self, factor: f64) {
        for used in &mut self.limits.associations {
            used.decay(factor);
        }
        for (used, qos) in self.limits.qos.iter_mut().zip(&self.scenario.qos) {
            if factor == 0.0 || !qos.no_decay {
                used.decay(factor);
            }
        }
    }
}
