//! A machine larger than those published: 10,000 nodes, ten million jobs, a hundred thousand waiting.

use super::{BATCHES, DAY, RUNS};
use crate::draw::Quantiles;
use crate::population::{Kind, Population};
use crate::site::Site;

const SLURM_CONF: &str = "\
ClusterName=bench
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=30,bf_max_job_test=1000,bf_max_job_user=50,bf_window=2880,bf_resolution=300,bf_continue
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
NodeName=n[00001-10000] Sockets=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=256000 State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=2-0 OverSubscribe=NO State=UP
";

/// Jobs a day at full length.
const JOBS_PER_DAY: u64 = 100_000;

/// 10,000 nodes; `jobs` at a hundred thousand a day.
pub(crate) fn huge(jobs: u64) -> Site {
    let tasks = Kind {
        weight: 800,
        partition: "batch",
        size: Quantiles(&[(5000, 1), (7000, 4), (9000, 16), (10_000, 64)]),
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
        weight: 200,
        size: Quantiles(&[(4000, 2), (7000, 8), (9300, 32), (9900, 128), (10_000, 512)]),
        node_cpus: Some(64),
        unit_work: 64,
        ..tasks.clone()
    };
    let population = Population {
        kinds: vec![tasks, nodes],
        batch: BATCHES,
        users: 3000,
        jobs,
        span: DAY * jobs / JOBS_PER_DAY,
        capacity: 640_000,
        pressure: 930,
        fill: 16 * 3600,
        swing: 300,
        cancelled: 30,
    };
    Site {
        slurm_conf: SLURM_CONF.to_owned(),
        topology_conf: None,
        accounts: 500,
        limits: "",
        populations: vec![population],
    }
}
