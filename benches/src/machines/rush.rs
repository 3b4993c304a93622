//! The Rush cluster of the University at Buffalo, October 2016.
//!
//! Source: Simakov et al. 2018, "A Slurm simulator: implementation and parametric analysis", table 2 and section 4.2: the nodes, 65,000
//! jobs in 23.8 days, 161 users, 83 accounts, 3.3 million core hours, node sharing, `bf_max_job_user` 20; section 5.3: without sharing the
//! same work takes 45 % longer. Weights, limits and kinds of jobs are chosen so that this comes out.

use super::{BATCHES, DAY, RUNS};
use crate::draw::Quantiles;
use crate::population::{Kind, Population};
use crate::site::Site;

const SLURM_CONF: &str = "\
ClusterName=bench
SchedulerType=sched/backfill
SchedulerParameters=default_queue_depth=1000,bf_interval=30,bf_max_job_test=1000,bf_max_job_user=20,bf_window=4320,bf_resolution=60,bf_continue
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits,qos
PriorityType=priority/multifactor
PriorityDecayHalfLife=14-0
PriorityCalcPeriod=5
PriorityMaxAge=7-0
PriorityWeightAge=50000
PriorityWeightFairshare=100000
PriorityWeightJobSize=20000
PriorityWeightPartition=50000
DefMemPerCPU=2800
NodeName=DEFAULT ThreadsPerCore=1 State=UNKNOWN
NodeName=e[001-372] Sockets=2 CoresPerSocket=6 RealMemory=48000 Feature=IB,CPU-E5645 Weight=20
NodeName=k[001-128] Sockets=2 CoresPerSocket=4 RealMemory=24000 Feature=CPU-L5630 Weight=10
NodeName=l[001-128] Sockets=2 CoresPerSocket=4 RealMemory=24000 Feature=IB,CPU-L5520 Weight=15
NodeName=d[01-32] Sockets=2 CoresPerSocket=8 RealMemory=128000 Feature=IB,CPU-E5-2660 Weight=30
NodeName=g[01-26] Sockets=2 CoresPerSocket=6 RealMemory=48000 Feature=CPU-X5650 Gres=gpu:2 Weight=40
NodeName=h[1-8] Sockets=4 CoresPerSocket=8 RealMemory=256000 Feature=CPU-E7-4830 Weight=50
NodeName=a[1-8] Sockets=4 CoresPerSocket=8 RealMemory=256000 Feature=CPU-6132HE Weight=45
NodeName=x[1-2] Sockets=4 CoresPerSocket=8 RealMemory=512000 Feature=CPU-E7-4830 Weight=60
PartitionName=DEFAULT State=UP OverSubscribe=NO
PartitionName=general Nodes=ALL Default=YES MaxTime=72:00:00
PartitionName=debug Nodes=e[001-008],k[001-004] MaxTime=1:00:00 PriorityJobFactor=10
PartitionName=largemem Nodes=h[1-8],a[1-8],x[1-2] MaxTime=72:00:00
PartitionName=gpu Nodes=g[01-26] MaxTime=72:00:00
";

/// Serial jobs run a twentieth as long as those of whole nodes, and jobs of a few tasks a fifth, so that without sharing the work takes
/// as much longer as was published.
const SERIAL_RUNS: Quantiles = Quantiles(&[
    (500, 1),
    (1500, 3),
    (3000, 10),
    (5000, 35),
    (7000, 125),
    (8500, 450),
    (9400, 1500),
    (9800, 4000),
    (10_000, 12_500),
]);
const TASK_RUNS: Quantiles = Quantiles(&[
    (500, 2),
    (1500, 12),
    (3000, 40),
    (5000, 140),
    (7000, 500),
    (8500, 1800),
    (9400, 6000),
    (9800, 16_000),
    (10_000, 50_000),
]);

/// 732 nodes, 7,912 cores, 65,000 jobs.
pub(crate) fn rush() -> Site {
    let features: &[(u64, &str)] = &[(3, "CPU-E5645"), (2, "CPU-L5520"), (3, "CPU-E5645|CPU-E5-2660"), (4, "IB")];
    let memory = Quantiles(&[(5500, 0), (5501, 1000), (8500, 2800), (9500, 4000), (10_000, 8000)]);
    let general = Kind {
        weight: 0,
        partition: "general",
        size: Quantiles(&[(10_000, 1)]),
        node_cpus: None,
        unit_work: 1,
        run: RUNS,
        max_minutes: 72 * 60,
        memory,
        constraints: features,
        gres: None,
        options: "",
    };
    let none = Quantiles(&[(10_000, 0)]);
    let kinds = vec![
        Kind { weight: 520, run: SERIAL_RUNS, ..general.clone() },
        Kind { weight: 180, run: TASK_RUNS, size: Quantiles(&[(4000, 2), (8000, 4), (10_000, 8)]), ..general.clone() },
        Kind { weight: 90, node_cpus: Some(8), unit_work: 8, memory: none, ..general.clone() },
        Kind { weight: 70, node_cpus: Some(12), unit_work: 12, memory: none, ..general.clone() },
        Kind {
            weight: 60,
            size: Quantiles(&[(4500, 2), (7500, 4), (9200, 8), (9800, 16), (10_000, 48)]),
            node_cpus: Some(12),
            unit_work: 12,
            memory: none,
            constraints: &[(40, "IB"), (10, "CPU-E5645")],
            ..general.clone()
        },
        Kind {
            weight: 15,
            size: Quantiles(&[(6000, 2), (9000, 8), (10_000, 24)]),
            node_cpus: Some(8),
            unit_work: 8,
            memory: none,
            ..general.clone()
        },
        Kind { weight: 25, partition: "debug", max_minutes: 60, constraints: &[], ..general.clone() },
        Kind {
            weight: 10,
            partition: "largemem",
            run: TASK_RUNS,
            size: Quantiles(&[(2000, 8), (6000, 16), (10_000, 32)]),
            memory: Quantiles(&[(5000, 4000), (10_000, 7500)]),
            constraints: &[],
            ..general.clone()
        },
        Kind {
            weight: 6,
            partition: "gpu",
            run: TASK_RUNS,
            size: Quantiles(&[(6000, 1), (10_000, 6)]),
            gres: Some("gpu:1"),
            constraints: &[],
            ..general
        },
    ];
    let population = Population {
        kinds,
        batch: BATCHES,
        users: 161,
        jobs: 65_000,
        span: 23 * DAY + DAY * 8 / 10,
        capacity: 7_912,
        pressure: 680,
        fill: 18 * 3600,
        swing: 400,
        cancelled: 30,
    };
    Site {
        slurm_conf: SLURM_CONF.to_owned(),
        topology_conf: None,
        accounts: 83,
        limits: "",
        populations: vec![population],
    }
}
