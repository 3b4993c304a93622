//! Edison of NERSC: a week at job pressure 1.0 with a backlog of four hours.
//!
//! Source: Rodrigo et al. 2017, "ScSF: a scheduling simulation framework", sections 3.3 and 4.1: backfilling with a depth of 50 jobs every
//! 30 s, priority from age (older higher) and size (smaller higher), four hours of backlog. 5,576 nodes of 24 cores are the 133,824 cores
//! of Rodrigo et al. 2018. Kinds of jobs and their number in a week are chosen.

use super::{BATCHES, DAY, RUNS};
use crate::draw::Quantiles;
use crate::population::{Kind, Population};
use crate::site::Site;

const SLURM_CONF: &str = "\
ClusterName=bench
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=30,bf_max_job_test=50,bf_window=2880,bf_resolution=60
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations
PriorityType=priority/multifactor
PriorityFavorSmall=YES
PriorityMaxAge=7-0
PriorityWeightAge=1000000
PriorityWeightFairshare=0
PriorityWeightJobSize=100000
NodeName=nid[0001-5576] Sockets=2 CoresPerSocket=12 ThreadsPerCore=1 RealMemory=64000 State=UNKNOWN
PartitionName=regular Nodes=ALL Default=YES MaxTime=2-0 OverSubscribe=EXCLUSIVE State=UP
";

/// 5,576 nodes, 40,000 jobs of whole nodes in a week.
pub(crate) fn edison() -> Site {
    let kind = Kind {
        weight: 1,
        partition: "regular",
        size: Quantiles(&[
            (5000, 1),
            (6300, 2),
            (7400, 5),
            (8500, 16),
            (9400, 43),
            (9800, 128),
            (9960, 400),
            (9995, 1200),
            (10_000, 3000),
        ]),
        node_cpus: Some(24),
        unit_work: 1,
        run: RUNS,
        max_minutes: 2 * 24 * 60,
        memory: Quantiles(&[(10_000, 0)]),
        constraints: &[],
        gres: None,
        options: "",
    };
    let population = Population {
        kinds: vec![kind],
        batch: BATCHES,
        users: 600,
        jobs: 40_000,
        span: 7 * DAY,
        capacity: 5576,
        pressure: 960,
        fill: 4 * 3600,
        swing: 200,
        cancelled: 30,
    };
    Site {
        slurm_conf: SLURM_CONF.to_owned(),
        topology_conf: None,
        accounts: 120,
        limits: "",
        populations: vec![population],
    }
}
