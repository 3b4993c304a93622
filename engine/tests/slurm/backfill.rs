//! Backfill: conservative, whole-node plans and their limits (slurm-semantics 3).

use crate::schedule::expect;

/// Job 2 needs half of the node at +10 min; its plan hides all of it, so job 3 waits though its core would do no harm.
#[test]
pub(crate) fn a_plan_hides_whole_nodes() {
    expect(
        "node n1 cores=4
         job 1 n=3 run=590 t=10
         job 2 at=10 n=2 run=100 t=10
         job 3 at=10 n=1 run=100 t=60
         job 4 at=10 n=1 run=100 t=5",
        "1  0   0..4        +590  COMPLETED  n1  *
         2  10  1.end+0..4  +100  COMPLETED  n1  *
         3  10  1.end+0..4  +100  COMPLETED  n1  *
         4  10  10..41      +100  COMPLETED  n1  backfill",
    );
}

#[test]
pub(crate) fn a_lower_job_starts_only_if_its_limit_ends_before_the_plan() {
    expect(
        "node n[1-2] cores=4
         job 1 n=4 run=590 t=10
         job 2 at=10 N=2 n=8 run=50 t=10
         job 3 at=10 n=4 run=290 t=5
         job 4 at=10 n=4 run=10 t=15",
        "1  0   0..4        +590  COMPLETED  n1     *
         2  10  1.end+0..4  +50   COMPLETED  n1,n2  *
         3  10  10..41      +290  COMPLETED  n2     backfill
         4  10  2.end+0..4  +10   COMPLETED  n1     *",
    );
}

#[test]
pub(crate) fn plans_trust_limits_not_run_times() {
    expect(
        "node n[1-2] cores=4
         job 1 n=4 run=100 t=60
         job 2 at=10 N=2 n=8 run=50 t=10
         job 3 at=10 n=4 run=1700 t=30",
        "1  0   0..4        +100   COMPLETED  n1     *
         2  10  3.end+0..4  +50    COMPLETED  n1,n2  *
         3  10  10..41      +1700  COMPLETED  n2     backfill",
    );
}

/// Not only the head's plan is protected: job 5 would delay job 4, the second in the queue.
#[test]
pub(crate) fn every_tested_job_is_planned() {
    expect(
        "node n[1-3] cores=4
         job 1 n=4 w=n1 run=590 t=10
         job 2 n=4 w=n2 run=1190 t=20
         job 3 at=10 n=4 w=n1 run=100 t=30
         job 4 at=10 N=2 n=8 w=n2,n3 run=100 t=30
         job 5 at=10 n=4 x=n1 run=100 t=30
         job 6 at=10 n=4 x=n1 run=500 t=15",
        "1  0   0..4        +590   COMPLETED  n1     *
         2  0   0..4        +1190  COMPLETED  n2     *
         3  10  1.end+0..4  +100   COMPLETED  n1     *
         4  10  2.end+0..4  +100   COMPLETED  n2,n3  *
         5  10  4.end+0..4  +100   COMPLETED  n2     *
         6  10  10..41      +500   COMPLETED  n3     backfill",
    );
}

#[test]
pub(crate) fn a_cycle_tests_as_many_jobs_of_a_user_as_allowed() {
    expect(
        "node n[1-2] cores=4
         set bf_max_job_user=1
         job 1 user=h n=4 run=590 t=10
         job 2 at=10 user=h N=2 n=8 run=50 t=10
         job 3 at=10 user=a run=100 t=2
         job 4 at=10 user=a run=100 t=2
         job 5 at=10 user=b run=100 t=2",
        "1  0   0..4           +590  COMPLETED  n1     *
         2  10  1.end+0..4     +50   COMPLETED  n1,n2  *
         3  10  10..41          +100  COMPLETED  n2     backfill
         4  10  3.start+30..32  +100  COMPLETED  n2     backfill
         5  10  3.start+0..32   +100  COMPLETED  n2     backfill",
    );
}

/// Recorded (w2145): those of all accounts but the default one are counted together.
#[test]
fn a_cycle_counts_the_jobs_of_a_user_in_other_accounts_together() {
    expect(
        "node n[1-2] cores=4
         account x
         account y
         account z
         user a account=x
         user a account=y
         user a account=z
         set bf_max_job_user=1
         job 1 user=h n=4 run=590 t=10
         job 2 at=10 user=h N=2 n=8 run=50 t=10
         job 3 at=10 user=a account=z run=100 t=2
         job 4 at=10 user=a account=y run=100 t=2
         job 5 at=10 user=a account=x run=100 t=2",
        "1  0   0..4           +590  COMPLETED  n1     *
         2  10  1.end+0..4     +50   COMPLETED  n1,n2  *
         3  10  10..41         +100  COMPLETED  n2     backfill
         4  10  3.start+30..32 +100  COMPLETED  n2     backfill
         5  10  3.start+0..2   +100  COMPLETED  n2     backfill",
    );
}

/// Recorded (q-tree): a user's jobs are counted apart in his default account and in another.
#[test]
fn a_cycle_tests_as_many_jobs_of_a_user_in_his_default_account_as_allowed() {
    expect(
        "node n[1-2] cores=4
         account x
         account y
         user a account=x
         user a account=y
         set bf_max_job_user=1
         job 1 user=h n=4 run=590 t=10
         job 2 at=10 user=h N=2 n=8 run=50 t=10
         job 3 at=10 user=a account=x run=100 t=2
         job 4 at=10 user=a account=x run=100 t=2
         job 5 at=10 user=a account=y run=100 t=2",
        "1  0   0..4           +590  COMPLETED  n1     *
         2  10  1.end+0..4     +50   COMPLETED  n1,n2  *
         3  10  10..41          +100  COMPLETED  n2     backfill
         4  10  3.start+30..32  +100  COMPLETED  n2     backfill
         5  10  3.start+0..32   +100  COMPLETED  n2     backfill",
    );
}

/// Two nodes have all the CPUs of job 3, and no third one would have them again: it is not planned, and job 4 passes it.
#[test]
fn a_part_that_counts_nodes_may_take_too_few_for_a_plan() {
    expect(
        "node n[1-3] cores=4 features=a
         job 1 w=n1,n2 N=2 n=8 run=590 t=10
         job 2 w=n3 n=4 run=1190 t=20
         job 3 at=10 N=3 n=8 C=a*1 run=100 t=2
         job 4 at=20 N=2 n=8 run=100 t=30",
        "1  0   0..4         +590   COMPLETED  n1,n2     *
         2  0   0..4         +1190  COMPLETED  n3        *
         3  10  2.end+0..4   +100   COMPLETED  n1,n2,n3  *
         4  20  1.end+0..41  +100   COMPLETED  n1,n2     backfill",
    );
}

#[test]
pub(crate) fn a_cycle_tests_as_many_jobs_as_allowed() {
    let scenario = |most: u32| {
        format!(
            "node n[1-2] cores=4
             set bf_max_job_test={most}
             job 1 n=4 run=590 t=10
             job 2 at=10 N=2 run=50 t=10
             job 3 at=10 run=30 t=1"
        )
    };
    expect(
        &scenario(1),
        "1  0   0..4        +590  COMPLETED  n1     *
         2  10  1.end+0..4  +50   COMPLETED  n1,n2  *
         3  10  2.start+0..4  +30   COMPLETED  n1     *",
    );
    expect(
        &scenario(2),
        "1  0   0..4        +590  COMPLETED  n1     *
         2  10  1.end+0..4  +50   COMPLETED  n1,n2  *
         3  10  10..41      +30   COMPLETED  n2     backfill",
    );
}

/// Beyond the window nothing is planned, so the big job is passed by.
#[test]
pub(crate) fn no_plan_is_made_beyond_the_window() {
    let scenario = |window: u32| {
        format!(
            "node n[1-2] cores=4
             set bf_window={window}
             job 1 n=4 run=590 t=10
             job 2 at=10 N=2 n=8 run=50 t=10
             job 3 at=10 n=4 run=1000 t=60"
        )
    };
    expect(
        &scenario(5),
        "1  0   0..4        +590   COMPLETED  n1     *
         2  10  3.end+0..4  +50    COMPLETED  n1,n2  *
         3  10  10..41      +1000  COMPLETED  n2     backfill",
    );
    expect(
        &scenario(1440),
        "1  0   0..4        +590   COMPLETED  n1     *
         2  10  1.end+0..4  +50    COMPLETED  n1,n2  *
         3  10  2.end+0..4  +1000  COMPLETED  n1     *",
    );
}

#[test]
pub(crate) fn a_cycle_starts_as_many_jobs_as_allowed_and_the_next_comes_an_interval_later() {
    expect(
        "node n1 cores=4
         set sched_interval=off bf_max_job_start=1 bf_interval=40
         job 1 run=300 t=10
         job 2 run=300 t=10",
        "1  0  0..41           +300  COMPLETED  n1  backfill
         2  0  1.start+40..42  +300  COMPLETED  n1  backfill",
    );
}

/// Only the first job of the partition is planned: job 4 may run in job 3's way, not in job 2's.
#[test]
fn as_many_jobs_of_a_partition_are_planned_as_allowed() {
    let scenario = |reserve: u32| {
        format!(
            "node n[1-3] cores=4
             set bf_job_part_count_reserve={reserve}
             job 1 n=4 w=n1 run=590 t=10
             job 2 at=10 n=4 w=n1 run=100 t=10
             job 3 at=10 N=3 n=12 run=100 t=10
             job 4 at=10 n=4 w=n2 run=2000 t=60"
        )
    };
    expect(
        &scenario(1),
        "1  0   0..4        +590   COMPLETED  n1        *
         2  10  1.end+0..4  +100   COMPLETED  n1        *
         3  10  4.end+0..4  +100   COMPLETED  n1,n2,n3  *
         4  10  10..41      +2000  COMPLETED  n2        backfill",
    );
    expect(
        &scenario(0),
        "1  0   0..4        +590   COMPLETED  n1        *
         2  10  1.end+0..4  +100   COMPLETED  n1        *
         3  10  2.end+0..4  +100   COMPLETED  n1,n2,n3  *
         4  10  3.end+0..4  +2000  COMPLETED  n2        *",
    );
}

/// Slurm keeps the tasks of an array in one record, and comes to the next of them when it has found a place for the one before.
#[test]
fn tasks_behind_one_without_a_place_do_not_count() {
    expect(
        "node n[1-2] cores=4
         set bf_max_job_user=2 bf_window=5
         job 1 user=h n=4 run=590 t=10
         job 2 at=10 user=a array=1-3 N=2 n=8 run=50 t=10
         job 3 at=10 user=a run=100 t=2",
        "1    0   0..4          +590  COMPLETED  n1     *
         2_1  10  1.end+0..4    +50   COMPLETED  n1,n2  *
         2_2  10  2_1.end+0..4  +50   COMPLETED  n1,n2  *
         2_3  10  2_2.end+0..4  +50   COMPLETED  n1,n2  *
         3    10  10..41        +100  COMPLETED  n2     backfill",
    );
}

/// When backfill starts a task, the array's records of other partitions are the started task's in the rest of the cycle: n2 stays idle. To the
/// main scheduler they are those of the tasks still waiting (docs/FACTS.md, facts 37, 63).
#[test]
fn a_task_that_starts_takes_the_records_of_other_partitions_with_it() {
    let scenario = |off: &str| {
        format!(
            "node n[1-2] cores=4
             partition p nodes=n1 tier=2
             partition q nodes=n2 tier=1
             set {off}=off
             job 1 p=p,q n=4 array=1-2 run=500 t=10"
        )
    };
    expect(
        &scenario("sched_interval"),
        "1_1  0  0..31          +500  COMPLETED  n1  backfill
         1_2  0  1_1.start+1..99  +500  COMPLETED  n2  backfill",
    );
    expect(
        &scenario("bf_interval"),
        "1_1  0  0..4            +500  COMPLETED  n1  main
         1_2  0  1_1.start+0..1   +500  COMPLETED  n2  main",
    );
}

/// Two tasks are planned in p, and these count in q: the cycle comes to the first task only, and job 6 is the fourth record of its
/// user. Once another array was planned in between, the second task is the fourth.
#[test]
fn plans_of_other_partitions_count_against_the_number_of_tasks() {
    let scenario = |between: &str| {
        format!(
            "node n[1-4] cores=4
             partition p nodes=n1 tier=4
             partition r nodes=n4 tier=3
             partition q nodes=n2 tier=2
             partition s nodes=n3 tier=1
             set bf_max_job_user=4 sched_interval=off
             job 1 user=h p=p n=4 run=600 t=10
             job 2 user=h p=q n=4 run=600 t=10
             job 3 user=h p=r n=4 run=600 t=10
             job 4 at=100 user=a p=p,q n=4 array=1-2 run=50 t=10
             job 5 at=100 user=b p=r n=4 {between} run=50 t=10
             job 6 at=100 user=a p=s n=4 run=50 t=1"
        )
    };
    let of = |tasks: &str, start: &str| {
        let others =
            "1 0 0..31 * * n1 *\n 2 0 0..31 * * n2 *\n 3 0 0..31 * * n4 *\n 4_1 100 * * * n1 *\n 4_2 100 * * * n2 *";
        format!("{others}\n {tasks}\n 6 100 {start} +50 COMPLETED n3 backfill")
    };
    expect(&scenario(""), &of("5 100 * * * n4 *", "100..131"));
    expect(&scenario("array=1-2"), &of("5_1 100 * * * n4 *\n 5_2 100 * * * n4 *", "600..700"));
}

/// Five tasks come at once, but plans of two at most are kept: the cap is on what is planned, not on what starts.
#[test]
fn a_cycle_starts_every_task_of_an_array_that_fits() {
    expect(
        "node n1 cores=8
         set sched_interval=off bf_max_job_array_resv=2
         job 1 n=8 run=100 t=10
         job 2 at=10 array=1-5 run=50 t=10",
        "1    0   0..31          +100  COMPLETED  n1  backfill
         2_1  10  1.end+0..31    +50   COMPLETED  n1  backfill
         2_2  10  2_1.start+0    +50   COMPLETED  n1  backfill
         2_3  10  2_1.start+0    +50   COMPLETED  n1  backfill
         2_4  10  2_1.start+0    +50   COMPLETED  n1  backfill
         2_5  10  2_1.start+0    +50   COMPLETED  n1  backfill",
    );
}

/// Recorded (ay-tier): each of several features is waited for by itself, with its own groups of ends (`_try_sched`). On n1 and n2 together the
/// jobs that end at 1500 and 1740 are released at once; on n2 alone job 4 starts at 1500, which keeps job 5 out.
#[test]
fn each_of_several_features_is_waited_for_by_itself() {
    expect(
        "node n1 cores=4 features=fast
         node n2 cores=4 features=slow
         job 1 at=0 n=4 w=n1 run=1730 t=29
         job 2 at=0 n=3 w=n2 run=1490 t=25
         job 3 at=0 n=1 w=n2 run=290 t=5
         job 4 at=10 n=4 C=[fast|slow] run=100 t=10
         job 5 at=400 n=1 w=n2 run=1190 t=20",
        "1  *  0..31       +1730  COMPLETED  n1  *
         2  *  0..31       +1490  COMPLETED  n2  *
         3  *  0..31       +290   COMPLETED  n2  *
         4  *  1490..1535  +100   COMPLETED  n2  *
         5  *  1590..1730  +1190  COMPLETED  n2  *",
    );
}

/// Recorded (c1444): job 1 may have one node, as it has one task to spread, and must have two; it is passed over before anything is tested.
#[test]
fn who_must_have_more_nodes_than_it_may_is_not_tested() {
    expect(
        "node n[1-3] cores=4
         partition p nodes=n[1-3] min_nodes=2
         set sched_interval=off bf_max_job_test=1 bf_interval=10
         job 1 N=2-1 n=1 run=100 t=10
         job 2 at=1 N=2 n=2 run=100 t=10",
        "1  0  -  -     PENDING    -      -
         2  1  *  +100  COMPLETED  n1,n2  backfill",
    );
}
