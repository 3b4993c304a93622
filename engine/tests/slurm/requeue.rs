//! Jobs that are queued again, and their recorded runs (slurm-semantics 7.6, probe-limits job 9).

use crate::schedule::{expect, expect_equal_with_every_cycle, run};

#[test]
fn every_recorded_run_is_repeated_for_its_own_time() {
    for seed in 0..4 {
        let (_, outcome) = run("node n1 cores=4\n job 1 runs=100,200:node_fail,50:preempted run=300 t=10", seed);
        let record = outcome.records[0];
        assert_eq!(outcome.counters.requeued, 3);
        let least = 100 + 200 + 50 + 3 * 121;
        assert!((least..least + 3 * 64).contains(&(record.start.unwrap() - crate::dsl::T0)), "{record:?}");
        assert_eq!(record.end.unwrap() - record.start.unwrap(), 300);
    }
}

#[test]
fn nodes_are_used_by_others_while_a_requeued_job_waits() {
    expect(
        "node n1 cores=4
         job 1 n=4 runs=200 run=300 t=10
         job 2 at=1 n=4 run=400 t=10",
        "1  2.start+116..122  2.end+0..31    +300  COMPLETED  n1  *
         2  1                 200..236       +400  COMPLETED  n1  *",
    );
}

/// Others that wait for its end wait for the end of its last run.
#[test]
fn a_dependency_on_a_requeued_job_waits_for_its_last_run() {
    expect(
        "node n1 cores=4
         job 1 runs=50 run=100 t=10
         job 2 dep=afterany:1 run=10 t=10",
        "1  *           171..238    +100  COMPLETED  n1  *
         2  1.end+0..4  1.end+0..31  +10  COMPLETED  n1  *",
    );
}

/// Its limit would have struck the first run, so that was over when it was requeued (rec at-lin): it is taken to have lasted as long as the
/// last, and leaves its node to job 2.
#[test]
fn a_run_that_outlasts_its_limit_was_over_before_its_requeue() {
    expect(
        "node n1 cores=4
         job 1 runs=500 n=4 run=10 t=5
         job 2 at=5 n=4 run=20 t=10",
        "1  *  621..704     +10  COMPLETED  n1  *
         2  5  10..44      +20  COMPLETED  n1  *",
    );
}

#[test]
fn a_job_cancelled_after_its_requeue_runs_before() {
    expect(
        "node n1 cores=4
         job 1 runs=50 cancel=10 t=10
         job 2 runs=50 cancel=150 t=10
         job 3 at=20 n=3 run=500 t=10",
        "1  -  -       50..55  CANCELLED  -   -
         2  -  -       150     CANCELLED  -   -
         3  *  20..55  +500    COMPLETED  n1  *",
    );
}

/// Its place by submit time is the requeue's. Under priority/basic the priority of its submission is the higher one.
#[test]
fn a_requeued_job_stands_behind_those_submitted_meanwhile() {
    let scenario = |priority: &str| {
        format!(
            "node n1 cores=4
             set bf_interval=off {priority}
             job 1 n=4 runs=100 run=50 t=10
             job 2 at=90 n=4 run=400 t=10
             job 3 at=95 n=4 run=50 t=10"
        )
    };
    expect(
        &scenario("multifactor"),
        "1  *   3.end+0..4      +50   COMPLETED  n1  *
         2  90  100..108        +400  COMPLETED  n1  *
         3  95  2.end+0..4      +50   COMPLETED  n1  *",
    );
    expect(
        &scenario(""),
        "1  *   2.end+0..4      +50   COMPLETED  n1  *
         2  90  100..108        +400  COMPLETED  n1  *
         3  95  1.end+0..4      +50   COMPLETED  n1  *",
    );
}

/// Recorded (c1021): of those who were submitted in the second of its return the older number stands first: job 1, though job 2 came then.
#[test]
fn a_requeued_job_stands_before_younger_ones_of_the_same_second() {
    let scenario = |at: u32| {
        format!(
            "node n1 cores=4
             set multifactor
             outage n1 at=1000 for=600
             job 1 at=0 run=2000 t=60 n=4
             job 2 at={at} run=100 t=10 n=4"
        )
    };
    let starts = |at: u32, seed: u64| {
        let records = run(&scenario(at), seed).1.records;
        (records[0].start, records[1].start)
    };
    for seed in 0..4 {
        let (first, second) = starts(1000, seed);
        assert!(first < second, "seed {seed}: {first:?} {second:?}");
        let (first, second) = starts(900, seed);
        assert!(first > second, "seed {seed}: {first:?} {second:?}");
    }
}

#[test]
fn a_requeued_array_task_does_not_count_against_its_array_while_it_waits() {
    expect(
        "node n1 cores=4
         job 1 array=1-2%1 runs=50 run=100 t=10",
        "1_1  *  *                *     COMPLETED  n1  *
         1_2  *  *                *     COMPLETED  n1  *",
    );
}

#[test]
fn skipped_cycles_would_have_changed_nothing() {
    for seed in 0..8 {
        expect_equal_with_every_cycle(
            "node n[1-2] cores=4
             job 1 n=4 runs=100,30 run=50 t=10
             job 2 at=9 n=8 N=2 runs=77 run=400 t=10
             job 3 at=95 n=4 run=50 t=10 dep=afterany:1
             job 4 at=99 n=4 run=150 t=30",
            seed,
        );
    }
}

/// Recorded (w2103): job 1 starts in b as its test there has just found it, with a core of eight CPUs. Preempted, it comes back with what it had in a
/// before that test, and behind job 3.
#[test]
fn a_requeued_job_comes_back_in_all_partitions_with_what_its_last_step_gave_it() {
    expect(
        "node n1 cores=4
         node n2 cores=4 threads=8
         partition a nodes=n1
         partition b nodes=n2
         partition high nodes=n2 tier=2
         set preempt=partition preempt_mode=requeue bf_interval=30 multifactor weight_job_size=1000
         job 4 p=a w=n1 n=4 run=255 t=20
         job 5 p=high w=n2 n=8 run=700 t=30
         job 6 at=5 p=b w=n2 n=32 run=10 t=10
         job 1 at=10 p=a,b N=1 n=1 run=500 t=10
         job 3 at=20 p=a w=n1 N=1 n=4 run=100 t=10
         job 7 at=100 p=high w=n2 n=24 run=900 t=20",
        "4  0         0..4         +255  COMPLETED  n1  *
         5  0         0..4         +700  COMPLETED  n2  *
         6  5         *            +10   COMPLETED  n2  *
         1  220..252  3.end+0..32  +500  COMPLETED  n1  *
         3  20        4.end+0..5   +100  COMPLETED  n1  *
         7  100       100..136     +900  COMPLETED  n2  *",
    );
}
