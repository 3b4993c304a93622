//! The conformance tests of slurm-semantics 13 that the public engine can express, under their numbers.
//! 3 (predicted start) is in `src/select/tests.rs`, 14 (tied accounts) in `src/priority/tests.rs`.

use crate::schedule::{expect, rows, run};

#[test]
fn test_1_an_idle_cluster_starts_a_job_within_four_seconds() {
    expect(
        "node n[1-2] cores=4
         job 1 run=100 t=10",
        "1  0  0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
fn test_2_a_successor_starts_within_four_seconds_at_once_with_an_epilog() {
    let scenario = |set: &str| format!("node n1 cores=4\n{set}\njob 1 n=4 run=100 t=10\njob 2 n=4 run=100 t=10");
    expect(
        &scenario(""),
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +100  COMPLETED  n1  *",
    );
    expect(
        &scenario("set epilog"),
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..1  +100  COMPLETED  n1  main",
    );
}

/// Jobs of 90 and 20 min behind one that waits for n6 until +60 min.
#[test]
fn test_4_a_plan_on_a_named_node_is_filled_only_by_short_jobs_and_only_by_backfill() {
    expect(
        "node n[1-6] cores=4
         job 1 N=5 n=20 w=n[1-5] run=1790 t=30
         job 2 n=2 w=n6 run=3590 t=60
         job 3 at=20 N=1 n=3 w=n6 run=100 t=60
         job 4 at=20 n=1 run=100 t=90
         job 5 at=20 n=1 run=100 t=20",
        "1  0   0..4        +1790  COMPLETED  n1,n2,n3,n4,n5  *
         2  0   0..4        +3590  COMPLETED  n6              *
         3  20  2.end+0..4  +100   COMPLETED  n6              *
         4  20  1.end+0..4  +100   COMPLETED  n1              *
         5  20  20..51      +100   COMPLETED  n6              backfill",
    );
}

/// Nodes a job gets on six nodes of four cores with so many free.
fn placed(free: [u32; 6], job: &str) -> String {
    let fillers: String = (1..=6)
        .filter(|&node| free[node - 1] < 4)
        .map(|node| format!("job {node} n={} w=n{node} run=3000\n", 4 - free[node - 1]))
        .collect();
    let (scenario, outcome) = run(&format!("node n[1-6] cores=4\n{fillers}job 7 at=10 run=100 {job}"), 1);
    rows(&scenario, &outcome).last().unwrap()[5].clone()
}

#[test]
fn test_5_the_tightest_run_of_nodes_wins_then_the_tightest_node() {
    assert_eq!(placed([3, 0, 2, 4, 0, 0], "n=2"), "n1");
    assert_eq!(placed([3, 4, 2, 4, 0, 0], "n=2"), "n3");
    assert_eq!(placed([3, 4, 2, 4, 0, 0], "n=7"), "n1,n2");
    assert_eq!(placed([3, 4, 2, 4, 0, 0], "n=8 N=3"), "n1,n2,n3");
}

#[test]
fn test_6_behind_a_heterogeneous_job_only_backfill_starts_jobs() {
    expect(
        "node n[1-3] cores=4
         job 1 n=4 w=n3 run=590 t=10
         job 2+0 at=5 n=4 w=n1 run=100 t=10
         job 2+1 at=5 n=4 w=n3 run=100 t=10
         job 3 at=50 n=1 run=50 t=5",
        "1    0   0..4         +590  COMPLETED  n3  *
         2+0  5   1.end+0..95  +100  COMPLETED  n1  backfill
         2+1  5   1.end+0..95  +100  COMPLETED  n3  backfill
         3    50  50..82       +50   COMPLETED  *   backfill",
    );
}

// 9: main_scheduler::the_queue_depth_tests_one_record_more_than_it_says
// 10: main_scheduler::the_nodes_of_a_blocked_partition_serve_no_overlapping_partition

#[test]
pub(crate) fn test_11_a_job_at_its_limit_blocks_nobody_unless_assoc_limit_stop() {
    let scenario = |stop: &str| {
        format!(
            "node n1 cores=4
             qos normal max_jobs_per_user=1
             set enforce=limits bf_interval=off {stop}
             job 1 user=a run=100 t=10
             job 2 at=10 user=a run=100 t=10
             job 3 at=10 user=b run=100 t=10"
        )
    };
    expect(
        &scenario(""),
        "1  0   0..4        +100  COMPLETED  n1  main
         2  10  1.end+0..4  +100  COMPLETED  n1  main
         3  10  10..14      +100  COMPLETED  n1  main",
    );
    expect(
        &scenario("assoc_limit_stop"),
        "1  0   0..4        +100  COMPLETED  n1  main
         2  10  1.end+0..4  +100  COMPLETED  n1  main
         3  10  2.start+0   +100  COMPLETED  n1  main",
    );
}

/// The controller starts at 0. Job 1 of user a lives between two priority steps (at 300 and 600 s, up to 30 s later). Only where limits are
/// enforced is it charged, which then puts user b first.
#[test]
fn test_13_a_job_between_two_steps_is_charged_only_where_limits_are_enforced() {
    let scenario = |enforce: &str| {
        format!(
            "node n1 cores=1
             user a
             user b
             user c usage=100000
             set multifactor weight_fairshare=10000 {enforce}
             boot 340
             job 1 at=340 user=a run=200 t=4
             job 2 at=341 user=c run=500 t=20
             job 3 at=700 user=a run=100 t=5
             job 4 at=710 user=b run=100 t=5"
        )
    };
    expect(
        &scenario(""),
        "1  340  340..344    +200  COMPLETED  n1  *
         2  341  1.end+0..4  +500  COMPLETED  n1  *
         3  700  2.end+0..4  +100  COMPLETED  n1  *
         4  710  3.end+0..4  +100  COMPLETED  n1  *",
    );
    expect(
        &scenario("enforce=limits"),
        "1  340  340..344    +200  COMPLETED  n1  *
         2  341  1.end+0..4  +500  COMPLETED  n1  *
         3  700  4.end+0..4  +100  COMPLETED  n1  *
         4  710  2.end+0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
pub(crate) fn test_16_without_memory_defaults_a_job_takes_all_memory() {
    expect(
        "node n1 cores=4 memory=16000
         set memory
         job 1 run=100 t=10
         job 2 run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +100  COMPLETED  n1  *",
    );
}
