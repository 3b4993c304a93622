//! Whom a job may preempt, and in which order they are considered. Source: slurm-semantics 7.1, 5.1.

use crate::ids::{JobId, PartitionId, QosId};
use crate::job::JobPart;
use crate::policy::{PreemptKind, PreemptMode};
use crate::simulation::jobs::{LiveJob, Phase};
use crate::simulation::record_age::Age;
use crate::simulation::{Controller, seconds};

/// Who has started so often is not preempted again: room that is made in vain, or lists that change, must not keep jobs from
/// ever ending. slurmctld has no such bound.
const STARTS_MAX: u16 = 1000;

impl Controller<'_> {
    /// What happens to a preempted job: its partition's or QOS's mode, else the cluster's.
    pub(crate) fn preempt_mode(&self, victim: &LiveJob) -> PreemptMode {
        let policy = &self.scenario.policy.preempt;
        let own = match policy.kind {
            PreemptKind::PartitionPrio => self.scenario.cluster.partitions[victim.partition.index()].preempt_mode,
            PreemptKind::Qos => self.scenario.qos[self.qos_of(victim.job).index()].preempt_mode,
            PreemptKind::None => None,
        };
        own.unwrap_or(policy.mode)
    }

    /// Seconds between a victim's warning and its end.
    pub(super) fn grace_time(&self, victim: &LiveJob) -> u32 {
        match self.scenario.policy.preempt.kind {
            PreemptKind::PartitionPrio => self.scenario.cluster.partitions[victim.partition.index()].grace_time,
            PreemptKind::Qos => self.scenario.qos[self.qos_of(victim.job).index()].grace_time,
            PreemptKind::None => 0,
        }
    }

    fn qos_of(&self, id: JobId) -> QosId {
        self.scenario.workload.jobs[id.index()].qos
    }

    /// Whether a job of the first (job, partition, priority) may preempt one of the second: by tiers of overlapping
    /// partitions, or by lists of QOS. The queue is ordered by the same rule.
    pub(super) fn outranks(&self, one: (JobId, PartitionId, u32), other: (JobId, PartitionId, u32)) -> bool {
        let policy = &self.scenario.policy.preempt;
        match policy.kind {
            PreemptKind::None => false,
            PreemptKind::PartitionPrio => {
                let partitions = &self.scenario.cluster.partitions;
                let (one, other) = (&partitions[one.1.index()], &partitions[other.1.index()]);
                one.priority_tier > other.priority_tier && one.nodes.intersects(&other.nodes)
            }
            PreemptKind::Qos => {
                let (mine, theirs) = (self.qos_of(one.0), self.qos_of(other.0));
                self.scenario.qos[mine.index()].preempt.contains(&theirs)
                    || (policy.within && mine == theirs && one.2 > other.2)
            }
        }
    }

    /// `PreemptExemptTime` of a running job: the partition QOS's, the job QOS's, else the cluster's.
    fn exempt_time(&self, victim: &LiveJob) -> i64 {
        let of = |qos: QosId| self.scenario.qos[qos.index()].preempt_exempt_time;
        let own = self.qos_of(victim.job);
        let partition = self.scenario.cluster.partitions[victim.partition.index()].qos.and_then(of);
        let first =
            if self.scenario.qos[own.index()].over_part_qos { of(own).or(partition) } else { partition.or(of(own)) };
        i64::from(first.unwrap_or(self.scenario.policy.preempt.exempt_time))
    }

    /// Running jobs that this one may preempt, those of the lowest tier or QOS and the smallest first, or the youngest; of equals
    /// those whose job record was made first (rec n-tier). A heterogeneous job stands as its first component, and is one of them if every
    /// component may go and one lies on the partition's nodes (preempt.c of 22.05.8, `_add_preemptable_job`; rec j-het).
    /// O(running × nodes of a job).
    pub(super) fn victims_of(&self, id: JobId, partition: PartitionId) -> Vec<JobId> {
        let nodes = &self.scenario.cluster.partitions[partition.index()].nodes;
        let priority = self.live.get(id).map_or(0, |live| live.priority);
        let now = seconds(self.now);
        let may_go = |victim: &LiveJob| {
            victim.phase == Phase::Running
                && victim.starts < STARTS_MAX
                && self.outranks((id, partition, priority), (victim.job, victim.partition, victim.priority))
                && matches!(self.preempt_mode(victim), PreemptMode::Cancel | PreemptMode::Requeue)
                && now - victim.start >= self.exempt_time(victim)
        };
        let lies_there = |victim: &LiveJob| victim.allocation.shares.iter().any(|share| nodes.contains(share.node));
        let is_candidate = |victim: &&LiveJob| match self.scenario.workload.jobs[victim.job.index()].name.part {
            JobPart::Component(0) => {
                let components = self.components_of(victim.job);
                let mut live = components.iter().filter_map(|&component| self.live.get(component));
                live.clone().all(may_go) && live.any(lies_there)
            }
            JobPart::Component(_) => false,
            _ => may_go(victim) && lies_there(victim),
        };
        let live = self.running.iter().filter_map(|running| self.live.get(running.job));
        let mut victims: Vec<(i64, Option<Age>, JobId)> =
            live.filter(is_candidate).map(|victim| (self.preemption_order(victim), victim.age, victim.job)).collect();
        victims.sort_unstable();
        victims.into_iter().map(|(_, _, job)| job).collect()
    }

    /// The running components of a victim, in their order; itself alone, if it is no heterogeneous job.
    pub(super) fn components_of(&self, victim: JobId) -> Vec<JobId> {
        let siblings = self.running_siblings(victim);
        if siblings.is_empty() { vec![victim] } else { siblings }
    }

    /// The running components of a heterogeneous job, the given one included; none for any other job.
    pub(crate) fn running_siblings(&self, id: JobId) -> Vec<JobId> {
        let name = self.scenario.workload.jobs[id.index()].name;
        let Some(hetjobs) = self.hetjobs.as_ref().filter(|_| matches!(name.part, JobPart::Component(_))) else {
            return Vec::new();
        };
        hetjobs.siblings(name.id).iter().copied().filter(|&other| self.live.is_running(other)).collect()
    }

    /// The key by which victims are considered, smallest first.
    fn preemption_order(&self, victim: &LiveJob) -> i64 {
        let policy = &self.scenario.policy.preempt;
        if policy.youngest_first {
            return -victim.start;
        }
        let rank = match policy.kind {
            PreemptKind::Qos => self.scenario.qos[self.qos_of(victim.job).index()].priority,
            _ => self.scenario.cluster.partitions[victim.partition.index()].priority_tier,
        };
        // A QOS's priority and the nodes have sixteen bits each (preempt_qos.c of 22.05.8).
        let bits = |number: i64| if policy.kind == PreemptKind::Qos { number.min(0xffff) } else { number };
        bits(i64::from(rank)) * 65_536 + bits(victim.allocation.shares.len() as i64)
    }
}
