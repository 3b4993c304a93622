//! A machine of any size with a queue of any length, to see what time grows with.

use super::RUNS;
use crate::draw::Quantiles;
use crate::population::{Kind, Population};
use crate::site::Site;

/// What is varied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// Jobs.
    pub(crate) jobs: u64,
    /// Nodes of sixteen cores.
    pub(crate) nodes: u64,
    /// Jobs that wait.
    pub(crate) queue: u64,
}

/// Jobs of all sizes up to ten nodes. When they come is for [`crate::growth`] to say.
pub(crate) fn growth(size: Growth) -> Site {
    let slurm_conf = format!(
        "ClusterName=bench\nSchedulerType=sched/backfill\n\
         SchedulerParameters=bf_interval=30,bf_max_job_test=500,bf_window=2880,bf_resolution=60,bf_continue\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nAccountingStorageType=accounting_storage/slurmdbd\n\
         AccountingStorageEnforce=associations,limits\nPriorityType=priority/multifactor\nPriorityDecayHalfLife=7-0\n\
         PriorityMaxAge=7-0\nPriorityWeightAge=10000\nPriorityWeightFairshare=50000\nPriorityWeightJobSize=10000\n\
         NodeName=n[1-{}] Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=64000 State=UNKNOWN\n\
         PartitionName=batch Nodes=ALL Default=YES MaxTime=2-0 OverSubscribe=NO State=UP\n",
        size.nodes
    );
    let tasks = Kind {
        weight: 700,
        partition: "batch",
        size: Quantiles(&[(5000, 1), (7500, 4), (10_000, 16)]),
        node_cpus: None,
        unit_work: 1,
        run: RUNS,
        max_minutes: 2 * 24 * 60,
        memory: Quantiles(&[(10_000, 0)]),
        constraints: &[],
        gres: None,
        options: "",
    };
    let nodes = Kind {
        weight: 300,
        size: Quantiles(&[(6000, 2), (9000, 4), (10_000, 10)]),
        node_cpus: Some(16),
        unit_work: 16,
        ..tasks.clone()
    };
    // So many jobs a second keep the machine busy, if a job is 20,000 core-seconds of work on average.
    let capacity = size.nodes * 16;
    let span = (size.jobs * 20_000 / capacity).max(1);
    let population = Population {
        kinds: vec![tasks, nodes],
        batch: Quantiles(&[(5000, 1), (9000, 8), (10_000, 60)]),
        users: 500,
        jobs: size.jobs,
        span,
        capacity,
        pressure: 1000,
        fill: 0,
        swing: 0,
        cancelled: 0,
    };
    Site { slurm_conf, topology_conf: None, accounts: 50, limits: "", populations: vec![population] }
}
