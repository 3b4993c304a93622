//! The multifactor formula. Source: slurm-semantics 4.2, priority_multifactor guide. O(1) a job.

use crate::ablation::{Rule, is_off};
use crate::association::Qos;
use crate::cluster::{Cluster, Tres};
use crate::ids::PartitionId;
use crate::policy::PriorityPolicy;

/// Sums over the cluster that factors are normalised by.
#[derive(Clone, Debug)]
pub(crate) struct Norms {
    nodes: f64,
    cpus: f64,
    max_job_factor: f64,
    max_qos_priority: f64,
    max_association_priority: f64,
    /// Totals of the weighted TRES, a partition each.
    partition_tres: Vec<Vec<f64>>,
}

/// What of a job enters the formula.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobFactors<'a> {
    /// Seconds since the job began to accrue age.
    pub(crate) age: i64,
    /// Fair-share factor.
    pub(crate) fair_share: f64,
    /// `Priority` of the association.
    pub(crate) association_priority: u32,
    /// Nodes asked for.
    pub(crate) nodes: u32,
    /// CPUs asked for.
    pub(crate) cpus: u32,
    /// Time limit [min].
    pub(crate) limit: u32,
    /// The partition.
    pub(crate) partition: PartitionId,
    /// Its QOS.
    pub(crate) qos: &'a Qos,
    /// Counts of the TRES in the order of `PriorityWeightTRES`.
    pub(crate) tres: &'a [f64],
    /// `--nice`.
    pub(crate) nice: i32,
}

impl Norms {
    /// Reads the cluster.
    pub(crate) fn new(cluster: &Cluster, qos: &[Qos], association_priority: u32, policy: &PriorityPolicy) -> Self {
        let max_or_zero = |values: &mut dyn Iterator<Item = u32>| f64::from(values.max().unwrap_or(0));
        let total = |partition: &crate::cluster::Partition, tres: Tres| -> f64 {
            let nodes = partition.nodes.iter().map(|node| &cluster.nodes[node.index()]);
            match tres {
                Tres::Cpu | Tres::Billing => nodes.map(|node| f64::from(node.cpus)).sum(),
                // All of RealMemory, though of CPUs those that jobs may have (controller.c of 22.05.8, `set_cluster_tres`).
                Tres::Memory => nodes.map(|node| (node.memory_mb + node.kept_memory_mb) as f64).sum(),
                Tres::Node => partition.nodes.len() as f64,
                Tres::Gres(gres) => {
                    nodes.map(|node| f64::from(node.gres.get(gres.index()).copied().unwrap_or(0))).sum()
                }
                Tres::License(license) => cluster.licenses.get(license.index()).map_or(0.0, |(_, n)| f64::from(*n)),
            }
        };
        Self {
            nodes: cluster.nodes.len() as f64,
            cpus: cluster.total_cpus() as f64,
            max_job_factor: max_or_zero(&mut cluster.partitions.iter().map(|partition| partition.priority_job_factor)),
            max_qos_priority: max_or_zero(&mut qos.iter().map(|qos| qos.priority)),
            max_association_priority: f64::from(association_priority),
            partition_tres: cluster
                .partitions
                .iter()
                .map(|partition| policy.weight_tres.iter().map(|&(tres, _)| total(partition, tres)).collect())
                .collect(),
        }
    }

    /// A job's priority in one partition: 1 to 2³²−1.
    pub(crate) fn priority(&self, policy: &PriorityPolicy, cluster: &Cluster, job: JobFactors<'_>) -> u32 {
        let age = match policy.max_age {
            _ if is_off(Rule::Age) => 0.0,
            0 => 1.0,
            max_age => (job.age.max(0) as f64 / f64::from(max_age)).min(1.0),
        };
        let partition = f64::from(cluster.partitions[job.partition.index()].priority_job_factor);
        let fair_share = if is_off(Rule::FairShare) { 0.0 } else { job.fair_share };
        let qos = if is_off(Rule::Qos) { 0.0 } else { f64::from(job.qos.priority) };
        let association = f64::from(job.association_priority);
        let sum = f64::from(policy.weight_age) * age
            + weighted(policy.weight_assoc, || {
                normal(association, self.max_association_priority, policy.no_normal_assoc)
            })
            + f64::from(policy.weight_fairshare) * fair_share
            + weighted(policy.weight_job_size, || self.job_size(policy, job))
            + weighted(policy.weight_partition, || normal(partition, self.max_job_factor, policy.no_normal_part))
            + weighted(policy.weight_qos, || normal(qos, self.max_qos_priority, policy.no_normal_qos))
            + self.tres(policy, job)
            - f64::from(job.nice);
        // Saturating conversion: a float cast clamps, which is what the bounds ask for.
        (sum as u32).max(1)
    }

    fn job_size(&self, policy: &PriorityPolicy, job: JobFactors<'_>) -> f64 {
        let (nodes, cpus) = (f64::from(job.nodes), f64::from(job.cpus));
        let size = if policy.small_relative_to_time {
            let size = (nodes * self.cpus / self.nodes).max(cpus) / f64::from(job.limit.max(1)) / self.cpus;
            if policy.favor_small { 1.0 - size } else { size }
        } else if policy.favor_small {
            f64::midpoint((self.nodes - nodes) / self.nodes, (self.cpus - cpus) / self.cpus)
        } else {
            f64::midpoint(nodes / self.nodes, cpus / self.cpus)
        };
        size.clamp(0.0, 1.0)
    }

    fn tres(&self, policy: &PriorityPolicy, job: JobFactors<'_>) -> f64 {
        let totals = &self.partition_tres[job.partition.index()];
        policy
            .weight_tres
            .iter()
            .zip(job.tres)
            .zip(totals)
            .map(|((&(_, weight), &count), &total)| weight * normal(count, total, policy.no_normal_tres))
            .sum()
    }
}

/// `weight × factor`, where the factor is finite: what weighs nothing is not worked out.
fn weighted(weight: u32, factor: impl FnOnce() -> f64) -> f64 {
    if weight == 0 { 0.0 } else { f64::from(weight) * factor() }
}

/// `value / most`, or the raw value where normalisation is off.
fn normal(value: f64, most: f64, raw: bool) -> f64 {
    if raw {
        value
    } else if most > 0.0 {
        value / most
    } else {
        0.0
    }
}
