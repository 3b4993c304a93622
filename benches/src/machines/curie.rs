//! Curie of CEA: a quarter of a million jobs in eight months under Slurm's full model.
//!
//! Source: the log CEA-Curie-2011 and its use by Jokanovic et al. 2018 (5,040 nodes of two sockets with eight cores, 8 months); mean wait
//! 6,689 s and at most 3,810 jobs waiting under EASY on its nodes are the congestion to reach. Parameters are this project's: multifactor
//! priority with fair tree, a backfill depth of 1,000 and a window longer than the longest limit. Kinds of jobs are chosen.

use super::{BATCHES, DAY, RUNS};
use crate::draw::Quantiles;
use crate::population::{Kind, Population};
use crate::site::Site;

const SLURM_CONF: &str = "\
ClusterName=bench
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=30,bf_max_job_test=1000,bf_window=5760,bf_resolution=60,bf_continue
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits
PriorityType=priority/multifactor
PriorityDecayHalfLife=7-0
PriorityMaxAge=7-0
PriorityWeightAge=10000
PriorityWeightFairshare=50000
PriorityWeightJobSize=10000
NodeName=curie[0001-5040] Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=64000 State=UNKNOWN
PartitionName=standard Nodes=ALL Default=YES MaxTime=3-0 OverSubscribe=NO State=UP
";

/// 5,040 nodes, 250,000 jobs.
pub(crate) fn curie() -> Site {
    let tasks = Kind {
        weight: 500,
        partition: "standard",
        size: Quantiles(&[(3500, 1), (5000, 4), (7000, 8), (10_000, 16)]),
        node_cpus: None,
        unit_work: 1,
        run: RUNS,
        max_minutes: 3 * 24 * 60,
        memory: Quantiles(&[(10_000, 0)]),
        constraints: &[],
        gres: None,
        options: "",
    };
    let nodes = Kind {
        weight: 500,
        size: Quantiles(&[(3000, 2), (5500, 8), (7800, 32), (9300, 128), (9850, 512), (9990, 1500), (10_000, 4000)]),
        node_cpus: Some(16),
        unit_work: 16,
        ..tasks.clone()
    };
    let population = Population {
        kinds: vec![tasks, nodes],
        batch: BATCHES,
        users: 580,
        jobs: 250_000,
        span: 243 * DAY,
        capacity: 5040 * 16,
        pressure: 780,
        fill: 3 * 3600,
        swing: 1000,
        cancelled: 30,
    };
    Site {
        slurm_conf: SLURM_CONF.to_owned(),
        topology_conf: None,
        accounts: 110,
        limits: "",
        populations: vec![population],
    }
}
