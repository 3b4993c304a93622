//! Stampede2 of TACC: Knights Landing and Skylake nodes, twelve weeks.
//!
//! Source: Simakov et al. 2018, sections 4.3 and 5.4: 4,200 + 1,736 nodes, jobs in proportion to the nodes, one-node jobs of 1, 2, 4, 6, 8
//! or 12 cores or a whole node, KNL nodes not shared, SKX nodes shared or not, mean waits of 5 to 11 hours. Backfill parameters and the
//! number of jobs are chosen (Stampede 1 ran about two million jobs a year).

use super::{BATCHES, DAY, RUNS};
use crate::draw::Quantiles;
use crate::population::{Kind, Population};
use crate::site::Site;

const SLURM_CONF: &str = "\
ClusterName=bench
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=30,bf_max_job_test=500,bf_max_job_user=30,bf_window=2880,bf_resolution=300,bf_continue
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits
PriorityType=priority/multifactor
PriorityDecayHalfLife=7-0
PriorityMaxAge=7-0
PriorityWeightAge=10000
PriorityWeightFairshare=30000
PriorityWeightJobSize=20000
NodeName=knl[0001-4200] Sockets=1 CoresPerSocket=68 ThreadsPerCore=1 RealMemory=96000 Feature=knl State=UNKNOWN
NodeName=skx[0001-1736] Sockets=2 CoresPerSocket=24 ThreadsPerCore=1 RealMemory=192000 Feature=skx State=UNKNOWN
PartitionName=normal Nodes=knl[0001-4200] Default=YES MaxTime=2-0 OverSubscribe=EXCLUSIVE DefMemPerCPU=1400 State=UP
PartitionName=skx Nodes=skx[0001-1736] MaxTime=2-0 OverSubscribe=EXCLUSIVE DefMemPerCPU=4000 State=UP
";

/// The jobs of a part of the machine.
const JOBS_PER_NODE: u64 = 80;

/// 5,936 nodes, 474,880 jobs.
pub(crate) fn stampede2() -> Site {
    let populations = vec![part("normal", 4200, 68, false), part("skx", 1736, 48, true)];
    Site { slurm_conf: SLURM_CONF.to_owned(), topology_conf: None, accounts: 250, limits: "", populations }
}

/// Jobs of one kind of node; work is counted in nodes.
fn part(partition: &'static str, nodes: u64, cores: u64, by_cores: bool) -> Population {
    let single = Kind {
        weight: 450,
        partition,
        size: Quantiles(&[(10_000, 1)]),
        node_cpus: Some(cores),
        unit_work: 1,
        run: RUNS,
        max_minutes: 2 * 24 * 60,
        memory: Quantiles(&[(10_000, 0)]),
        constraints: &[],
        gres: None,
        options: "",
    };
    let several = Kind {
        weight: 550,
        size: Quantiles(&[(3500, 2), (6500, 4), (8500, 16), (9600, 64), (9950, 200), (10_000, 256)]),
        ..single.clone()
    };
    let mut kinds = vec![single.clone(), several];
    if by_cores {
        kinds[0].weight = 150;
        // Each occupies a node unless nodes are shared; its work is that of a node.
        for (weight, size) in [
            (90, Quantiles(&[(10_000, 1)])),
            (50, Quantiles(&[(10_000, 2)])),
            (50, Quantiles(&[(10_000, 4)])),
            (30, Quantiles(&[(10_000, 6)])),
            (40, Quantiles(&[(10_000, 8)])),
            (40, Quantiles(&[(10_000, 12)])),
        ] {
            kinds.push(Kind { weight, size, node_cpus: None, unit_work: 0, ..single.clone() });
        }
    }
    Population {
        kinds,
        batch: BATCHES,
        users: 1200,
        jobs: JOBS_PER_NODE * nodes,
        span: 84 * DAY,
        capacity: nodes,
        pressure: 930,
        fill: 8 * 3600,
        swing: 400,
        cancelled: 30,
    }
}
