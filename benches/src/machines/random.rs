//! Small machines whose every parameter is drawn: inputs for comparing two ways to simulate.

use super::{BATCHES, RUNS};
use crate::draw::{Draw, Quantiles};
use crate::population::{Kind, Population};
use crate::site::Site;

/// A machine of a seed: 4 to 40 nodes of two kinds, two overlapping partitions, a few hundred jobs.
pub(crate) fn random(seed: u64) -> Site {
    let mut draw = Draw::new(seed, 1 << 32);
    let (plain, large) = (draw.between(2, 30), draw.between(2, 10));
    let mut one = |of: &[&'static str]| of[draw.below(of.len() as u64) as usize];
    let unit = one(&[
        "CR_Core",
        "CR_Core_Memory",
        "CR_CPU",
        "CR_Socket",
        "CR_Socket_Memory",
        "CR_CPU_Memory",
        "CR_Core,CR_ONE_TASK_PER_CORE",
    ]);
    let sharing = one(&["NO", "NO", "EXCLUSIVE"]);
    let depth = one(&["5", "50", "500"]);
    let per_user = one(&["", ",bf_max_job_user=3", ",bf_max_job_part=10", ",bf_max_job_assoc=4"]);
    let window = one(&["60", "1440", "4320"]);
    let interval = one(&["30", "30", "7", "300"]);
    let queue = one(&["", ",default_queue_depth=5", ",sched_interval=20", ",batch_sched_delay=10"]);
    let tree = one(&["", "PriorityFlags=NO_FAIR_TREE\n", "PriorityFlags=SMALL_RELATIVE_TO_TIME\n"]);
    let small = one(&["NO", "YES"]);
    let tier = one(&["1", "1", "10"]);
    // A few jobs, in some scenarios, for which every cycle is gone through while they wait.
    let options = one(&["", "", "--contiguous", "--switches=1@10", "--switches=1", "--prefer=b"]);
    // Jobs that ask the same of nodes as others in all but one respect: what is known of one must not be taken for the other's.
    let like = "--exclusive,--exclusive=user,--hint=nomultithread,--ntasks-per-core=1,--ntasks-per-socket=1,--overcommit,--spread-job,\
                --use-min-nodes,--mincpus=4,-B 2:1,-c 2,--mem=0,-s";
    let like: Vec<&str> = like.split(',').collect();
    let like_tasks = one(&like);
    let like_nodes = one(&like);
    let like_large = one(&like);
    let gpus = one(&["", "", "GresTypes=gpu\n"]);
    let gpu_options = one(&["", "--gpus-per-node=1", "--gpus=2", "--gpus-per-task=1", "--ntasks-per-gpu=1"]);
    let threads = one(&["1", "2"]);
    let more = one(&[
        "",
        "",
        ",bf_continue",
        ",bf_busy_nodes",
        ",assoc_limit_stop",
        ",pack_serial_at_end",
        ",bf_resolution=300",
    ]);
    let both = one(&["all", "all", "large,all"]);
    let large_sharing = one(&["NO", "NO", "EXCLUSIVE"]);
    let topology =
        one(&["", "", "TopologyPlugin=topology/tree\n", "TopologyPlugin=topology/tree\nTopologyParam=Dragonfly\n"]);
    let plugin = one(&["cons_tres", "cons_tres", "cons_res"]);
    // Jobs that wait for others, for a time, for a licence, or with others of their array.
    let queued = one(&[
        "",
        "--array=1-4",
        "--array=1-6%2",
        "--dependency=afterany:@",
        "--dependency=singleton",
        "--begin=now+900",
        "-L x:1",
    ]);
    let limits = one(&[
        "",
        "",
        ":GrpTRES=cpu=40",
        ":GrpTRES=node=3",
        ":GrpJobs=6",
        ":MaxJobs=2",
        ":MaxTRESPerJob=cpu=16",
        ":GrpTRESRunMins=cpu=9000",
        ":GrpTRESMins=cpu=60000",
    ]);
    let preempts = one(&["", "", "", "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"]);
    let completes = one(&["", "", "CompleteWait=32\n"]);
    let of_large = one(&["", "", " LLN=YES", " MaxNodes=2", " MaxCPUsPerNode=6", " ExclusiveUser=YES", " MinNodes=2"]);
    let gres = if gpus.is_empty() { "" } else { " Gres=gpu:2" };
    let slurm_conf = format!(
        "ClusterName=bench\nSchedulerType=sched/backfill\n\
         SchedulerParameters=bf_interval={interval},bf_max_job_test={depth},bf_window={window}{per_user}{queue}{more}\n\
         SelectType=select/{plugin}\nSelectTypeParameters={unit}\nAccountingStorageType=accounting_storage/slurmdbd\n\
         AccountingStorageEnforce=associations,limits\nPriorityType=priority/multifactor\nPriorityDecayHalfLife=0-2\n{tree}\
         PriorityFavorSmall={small}\nPriorityMaxAge=0-4\nPriorityWeightAge=10000\nPriorityWeightFairshare=20000\nPriorityWeightJobSize=5000\n\
         PriorityWeightPartition=3000\nDefMemPerCPU=1000\nLicenses=x:3\n{topology}{gpus}{preempts}{completes}\
         NodeName=a[1-{plain}] Sockets=2 CoresPerSocket=4 ThreadsPerCore={threads} RealMemory=16000 Feature=a Weight=1 State=UNKNOWN\n\
         NodeName=b[1-{large}] Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=64000 Feature=b Weight=2{gres} State=UNKNOWN\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=12:00:00 OverSubscribe={sharing} State=UP\n\
         PartitionName=large Nodes=b[1-{large}] MaxTime=12:00:00 PriorityTier={tier} PriorityJobFactor=10 OverSubscribe={large_sharing}{of_large} State=UP\n"
    );
    let half = plain / 2;
    let topology_conf = (!topology.is_empty()).then(|| {
        format!(
            "SwitchName=l0 Nodes=a[1-{half}]\nSwitchName=l1 Nodes=a[{}-{plain}]\nSwitchName=l2 Nodes=b[1-{large}]\nSwitchName=top Switches=l[0-2]\n",
            half + 1
        )
    });
    let tasks = Kind {
        weight: 600,
        partition: "all",
        size: Quantiles(&[(5000, 1), (8000, 4), (10_000, 24)]),
        node_cpus: None,
        unit_work: 1,
        run: RUNS,
        max_minutes: 12 * 60,
        memory: Quantiles(&[(6000, 0), (10_000, 3000)]),
        constraints: &[(20, "a"), (20, "b")],
        gres: None,
        options: "",
    };
    let nodes = Kind {
        weight: 250,
        size: Quantiles(&[(8000, 2), (10_000, 4)]),
        node_cpus: Some(8),
        unit_work: 8,
        constraints: &[],
        ..tasks.clone()
    };
    let peculiar = Kind { weight: 40, partition: both, options, ..nodes.clone() };
    let large_tasks = Kind { weight: 150, partition: "large", constraints: &[], ..tasks.clone() };
    let alike = [
        Kind { weight: 60, options: like_tasks, ..tasks.clone() },
        Kind { weight: 60, options: like_nodes, ..nodes.clone() },
        Kind { weight: 40, options: like_large, ..large_tasks.clone() },
        Kind { weight: 60, options: queued, ..tasks.clone() },
    ];
    let with_gpus = Kind {
        weight: if gpus.is_empty() { 0 } else { 80 },
        size: Quantiles(&[(10_000, 2)]),
        options: gpu_options,
        gres: gpu_options.is_empty().then_some("gpu:1"),
        ..large_tasks.clone()
    };
    let capacity = plain * 8 + large * 16;
    let population = Population {
        kinds: [vec![tasks, nodes, large_tasks, peculiar, with_gpus], alike.to_vec()].concat(),
        batch: BATCHES,
        users: 12,
        jobs: draw.between(50, 300),
        span: 86_400,
        capacity,
        pressure: draw.between(700, 1300),
        fill: 3600,
        swing: 300,
        cancelled: 50,
    };
    Site { slurm_conf, topology_conf, accounts: 4, limits, populations: vec![population] }
}
