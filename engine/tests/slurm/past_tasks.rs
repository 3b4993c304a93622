//! More nodes than the job has tasks: GPUs need them (docs/FACTS.md, facts 96 (b)), or a partition's `MinNodes`.

use crate::schedule::{expect, expect_equal_with_every_cycle, run};

/// Job 1 asks for three GPUs of nodes that have two, and job 2 comes behind it.
fn scenario(version: &str, job: &str) -> String {
    format!(
        "node g[1-2] cores=4 gres=gpu:2
         set bf_interval=300 version={version}
         job 1 n=1 gpus=3 {job} run=100 t=10
         job 2 at=10 n=1 run=50 t=5"
    )
}

/// Before 24.05 nobody gets more nodes than tasks, and sbatch refuses it. With 24.05 each of the two has a task (rec t2, t2-24-05).
#[test]
fn each_node_has_a_task_with_24_05() {
    expect(&scenario("23.11", ""), "1  -  -  -  PENDING  -  -\n 2  10  10..14  +50  *  g1  main");
    expect(&scenario("24.05", ""), "1  0  0..4  +100  *  g1,g2  *\n 2  10  10..14  +50  *  g1  main");
    expect_equal_with_every_cycle(&scenario("24.05", ""), 3);
}

/// From 24.11 on the second node would hold nothing: the job is accepted, never starts, and keeps job 2 from the main scheduler (rec t2-24-11).
#[test]
fn nodes_beyond_the_tasks_hold_nothing_from_24_11_on() {
    for version in ["24.11", "25.05"] {
        expect(&scenario(version, ""), "1  0  -  -  PENDING  -  -\n 2  10  10..330  +50  *  g1  backfill");
        expect_equal_with_every_cycle(&scenario(version, ""), 3);
    }
}

/// It starts where they hold something all the same: as whole nodes, and with CPUs for each GPU (rec t2-24-11, t3-24-11).
#[test]
fn whole_nodes_and_cpus_of_gpus_hold_something() {
    let waits = "1  0  0..4  +100  *  g1,g2  *\n 2  10  1.end+0..34  +50  *  g1  *";
    expect(&scenario("24.11", "exclusive"), waits);
    // Each node has the CPUs of both of its GPUs, though three are taken (rec t5-24-11); before, six CPUs go round the nodes (t5-24-05).
    expect(&scenario("24.11", "cpus_per_gpu=2"), waits);
    expect(&scenario("24.05", "n=0 cpus_per_gpu=2"), "1  0  0..4  +100  *  g1,g2  *\n 2  10  10..14  +50  *  *  main");
    expect_equal_with_every_cycle(&scenario("24.11", "cpus_per_gpu=2"), 3);
}

/// With one GPU free on either node job 3 takes both with 24.05, and waits for a node before and after (rec t6, t6-24-05, t6-24-11).
#[test]
fn one_gpu_of_each_node_will_do_with_24_05() {
    let scenario = |version: &str| {
        format!(
            "node g[1-2] cores=4 gres=gpu:2
             set bf_interval=300 version={version}
             job 1 n=1 gpus=1 w=g1 run=500 t=10
             job 2 n=1 gpus=1 w=g2 run=100 t=10
             job 3 at=10 n=1 gpus=2 run=50 t=5"
        )
    };
    let expected = |third: &str| format!("1 0 0..4 +500 * g1 *\n 2 0 0..34 +100 * g2 *\n 3 10 {third}");
    expect(&scenario("24.05"), &expected("10..14 +50 * g1,g2 *"));
    for version in ["23.11", "24.11"] {
        expect(&scenario(version), &expected("2.end+0..34 +50 * g2 *"));
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
    expect_equal_with_every_cycle(&scenario("24.05"), 3);
}

/// The nodes of job 1, of six cores each, and the CPUs that it is charged.
fn charged(sockets: u32, settings: &str, job: &str) -> (u32, u32) {
    let scenario = format!(
        "node n[1-4] cores=6 sockets={sockets} gres=gpu:2
         set select=socket {settings}
         job 1 {job} run=100 t=10"
    );
    let (_, outcome) = run(&scenario, 1);
    (outcome.records[0].n_nodes, outcome.records[0].cpus)
}

/// Planes leave the last node without a task. Its socket is the job's all the same, and charged (rec w2107: 24 CPUs for 18); round and round every
/// node has one.
#[test]
fn sockets_of_a_node_without_tasks_are_charged_under_planes() {
    assert_eq!(charged(1, "lln", "N=2- n=5 c=4 plane=2"), (4, 4 * 6));
    assert_eq!(charged(1, "lln", "N=2- n=5 c=4"), (4, 4 * 6));
}

/// One task is one task on each node that `MinNodes` adds: the cores kept beside GPUs are spread over both sockets there, too (rec t14).
#[test]
fn one_task_takes_of_each_node_what_it_takes_of_one() {
    assert_eq!(charged(2, "", "n=1 c=2 gres=gpu:1"), (1, 6));
    assert_eq!(charged(2, "", "N=2- n=1 c=2 gres=gpu:1"), (2, 6 + 6));
    assert_eq!(charged(2, "", "N=2- n=1 c=2"), (2, 3 + 3));
}
