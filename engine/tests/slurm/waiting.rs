//! What keeps a job from being eligible, and how jobs end (slurm-semantics 2.4, 2.5, 7.4; oracle FACTS).

use crate::schedule::{expect, expect_equal_with_every_cycle, run};

#[test]
pub(crate) fn the_time_limit_is_enforced_by_a_scan_every_thirty_seconds() {
    expect(
        "node n1 cores=4
         job 1 run=1000 t=5
         job 2 run=301 t=5
         job 3 run=299 t=5",
        "1  0  0..4  +300..331  TIMEOUT    n1  *
         2  0  0..4  +300..301  TIMEOUT    n1  *
         3  0  0..4  +299       COMPLETED  n1  *",
    );
}

/// Who ends by himself within them has not timed out (job_mgr.c of 22.05.8, `job_complete`; rec bd-k11).
#[test]
fn over_time_limit_adds_minutes() {
    expect(
        "node n1 cores=4
         set over_time_limit=2
         job 1 run=1000 t=5
         job 2 run=400 t=5
         job 3 run=10 t=5 dep=afterok:2",
        "1  0  0..4       +420..451  TIMEOUT    n1  *
         2  0  0..4       +400       COMPLETED  n1  *
         3  2.end+0..1  2.end+0..5  +10  COMPLETED  n1  *",
    );
}

#[test]
fn jobs_over_their_limits_end_in_the_same_scan() {
    expect(
        "node n1 cores=4
         job 1 run=1000 t=5
         job 2 at=30 run=1000 t=5
         job 3 at=60 run=1000 t=5",
        "1  0   0..4    +300..331    TIMEOUT  n1  *
         2  30  30..34  1.end+0..61  TIMEOUT  n1  *
         3  60  60..64  2.end+0..61  TIMEOUT  n1  *",
    );
}

#[test]
fn no_limit_asked_for_is_the_partitions_default() {
    expect(
        "node n1 cores=4
         partition p default=5 max=60
         job 1 run=1000 t=none",
        "1  0  0..4  +300..331  TIMEOUT  n1  *",
    );
}

#[test]
fn a_cancelled_job_leaves_the_queue_and_its_plan_goes_with_it() {
    expect(
        "node n[1-2] cores=4
         job 1 n=4 run=590 t=10
         job 2 at=10 N=2 n=8 run=50 t=10 cancel=100
         job 3 at=10 n=4 run=50 t=60",
        "1  0   0..4      +590  COMPLETED  n1  *
         2  10  -         100   CANCELLED  -   -
         3  10  100..131  +50   COMPLETED  n2  *",
    );
}

/// The minute's run only wakes the scheduler's thread, and looks who is eligible before that starts anybody (controller.c of 22.05.8,
/// `set_job_elig_time`; rec c1082-24-11): who waits for a start is seen a minute later, by the next queue.
#[test]
fn who_waits_for_the_start_of_a_job_is_not_seen_by_the_run_that_starts_it() {
    expect(
        "node n[1-2] cores=4
         partition p nodes=n1
         partition q nodes=n2
         set default_queue_depth=1 bf_interval=600
         job 1 p=p n=4 run=900 t=20
         job 2 p=q n=4 run=140 t=5
         job 3 at=10 p=p n=4 run=60 t=5
         job 4 at=10 p=p n=4 run=60 t=5
         job 5 at=20 p=q n=4 run=300 t=8
         job 6 at=30 p=q n=4 dep=after:5 run=60 t=5",
        "1  0   0..4        +900  COMPLETED  n1  *
         2  0   0..4        +140  COMPLETED  n2  *
         3  10  1.end+0..4  +60   COMPLETED  n1  *
         4  10  3.end+0..4  +60   COMPLETED  n1  *
         5  20  2.end+0..61  +300  COMPLETED  n2  main
         6  5.start+60  5.end+0..61  +60  COMPLETED  n2  *",
    );
}

#[test]
fn a_begin_time_makes_the_job_eligible_then() {
    expect(
        "node n1 cores=4
         job 1 begin=100 run=50 t=10",
        "1  100  100..161  +50  COMPLETED  n1  *",
    );
}

/// Recorded (c197): queue builds note a job's begin time as the one that its age counts from, whatever else it waits for; where limits are
/// enforced, only once it waits for nothing else.
#[test]
fn a_begin_time_counts_for_the_age_of_a_job_that_waits_for_another() {
    let scenario = |enforce: &str| {
        format!(
            "node n1 cores=4
             set multifactor weight_age=100000 max_age=10000 {enforce}
             job 1 n=4 run=400 t=10
             job 2 at=10 n=4 begin=40 dep=afterany:1 run=100 t=10
             job 3 at=100 n=4 run=100 t=10"
        )
    };
    expect(
        &scenario(""),
        "1  0             0..4          +400  COMPLETED  n1  *
         2  1.end+0..4    1.end+0..34   +100  COMPLETED  n1  *
         3  100           2.end+0..34   +100  COMPLETED  n1  *",
    );
    expect(
        &scenario("enforce=limits"),
        "1  0             0..4          +400  COMPLETED  n1  *
         2  1.end+0..4    3.end+0..34   +100  COMPLETED  n1  *
         3  100           1.end+0..34   +100  COMPLETED  n1  *",
    );
}

/// Satisfied when the other has left COMPLETING; discovered at the next queue build, started then or by backfill.
#[test]
fn dependencies_are_released_by_how_the_other_ended() {
    expect(
        "node n1 cores=8
         job 1 run=100 t=10
         job 2 run=100 t=10 fails
         job 3 dep=afterok:1 run=10
         job 4 dep=afterok:2 run=10
         job 5 dep=afternotok:1 run=10
         job 6 dep=afternotok:2 run=10
         job 7 dep=afterany:1,afterany:2 run=10
         job 8 dep=afterok:2?afterok:1 run=10
         job 9 dep=afterok:99 run=10",
        "1  0           0..4         +100  COMPLETED  n1  *
         2  0           0..4         +100  FAILED     n1  *
         3  1.end+0..4  1.end+0..31  +10   COMPLETED  n1  *
         4  -           -            -     PENDING    -   -
         5  -           -            -     PENDING    -   -
         6  2.end+0..4  2.end+0..31  +10   COMPLETED  n1  *
         7  2.end+0..4  2.end+0..31  +10   COMPLETED  n1  *
         8  1.end+0..4  1.end+0..31  +10   COMPLETED  n1  *
         9  0           0..4         +10   COMPLETED  n1  *",
    );
}

/// Recorded (c1149): what a dependency names must be there when the job comes. Job 2 names one that comes after it and waits for nobody,
/// job 3 waits for the first alone.
#[test]
fn a_dependency_on_a_job_that_comes_later_is_lifted() {
    expect(
        "node n1 cores=8
         job 1 run=100 t=10
         job 2 dep=afterok:4 run=10
         job 3 at=1 dep=afterok:99,afterok:1 run=10
         job 4 at=2 run=200 t=10",
        "1  0           0..4         +100  COMPLETED  n1  *
         2  0           0..4         +10   COMPLETED  n1  *
         3  1.end+0..4  1.end+0..31  +10   COMPLETED  n1  *
         4  2           2..6         +200  COMPLETED  n1  *",
    );
}

/// Tasks run one after the other: job 3 waits for the first alone, job 4 for the second, which failed, job 5 for none that there is.
#[test]
fn a_dependency_on_one_task_of_an_array_waits_for_no_other() {
    expect(
        "node n1 cores=8
         job 1 array=0-1%1 run=100 t=10
         job 2 array=3-4%1 run=100 t=10 fails
         job 3 dep=afterany:1_0,afternotok:2_3 run=10
         job 4 dep=afterok:2_4 run=10
         job 5 dep=afterok:1_7 run=10
         job 6 dep=afterok:1_1 run=10",
        "1_0  0             0..4            +100  COMPLETED  n1  *
         1_1  1_0.end+0..4  1_0.end+0..31  +100  COMPLETED  n1  *
         2_3  0             0..4           +100  FAILED     n1  *
         2_4  2_3.end+0..4  2_3.end+0..31  +100  FAILED     n1  *
         3    2_3.end+0..4  2_3.end+0..31  +10   COMPLETED  n1  *
         4    -             -              -     PENDING    -   -
         5    0             0..4           +10   COMPLETED  n1  *
         6    1_1.end+0..4  1_1.end+0..31  +10   COMPLETED  n1  *",
    );
}

/// An array is judged when all of it has ended, and did not end well if one task did not (`test_job_array_complete`): the second is
/// cancelled before its start. Job 4 names that task, but its own number has a task in the array, for which it waits.
#[test]
fn an_array_is_judged_when_all_of_it_has_ended() {
    expect(
        "node n1 cores=8
         job 1 array=0-1%1 run=100 t=10 cancel=50
         job 2 dep=afternotok:1 run=10
         job 3 dep=afterok:1 run=10
         job 4 array=0-0 dep=aftercorr:1_1 run=10",
        "1_0  0             0..4            +100  COMPLETED  n1  *
         1_1  -             -               50    CANCELLED  -   -
         2    1_0.end+0..4  1_0.end+0..31   +10   COMPLETED  n1  *
         3    -             -               -     PENDING    -   -
         4_0  1_0.end+0..4  1_0.end+0..31   +10   COMPLETED  n1  *",
    );
}

#[test]
fn a_job_killed_by_its_limit_did_not_end_well() {
    expect(
        "node n1 cores=8
         job 1 run=1000 t=1
         job 2 dep=afterok:1 run=10
         job 3 dep=afternotok:1 run=10",
        "1  0           0..4         +60..91  TIMEOUT    n1  *
         2  -           -            -        PENDING    -   -
         3  1.end+0..4  1.end+0..31  +10      COMPLETED  n1  *",
    );
}

#[test]
fn after_waits_for_the_start_and_minutes_from_it() {
    expect(
        "node n1 cores=8
         job 1 run=1000 t=60
         job 2 dep=after:1+5 run=10
         job 3 dep=after:1 run=10",
        "1  0                0..4             +1000  COMPLETED  n1  *
         2  1.start+300..361  1.start+300..392  +10  COMPLETED  n1  *
         3  1.start+0..61     1.start+0..92     +10  COMPLETED  n1  *",
    );
}

#[test]
fn singletons_of_a_name_run_one_after_the_other() {
    expect(
        "node n1 cores=8
         job 1 user=a name=x run=100 t=10
         job 2 user=a name=x dep=singleton run=100 t=10
         job 3 user=b name=x dep=singleton run=100 t=10
         job 4 user=a name=y dep=singleton run=100 t=10",
        "1  0           0..4         +100  COMPLETED  n1  *
         2  1.end+0..4  1.end+0..31  +100  COMPLETED  n1  *
         3  0           0..4         +100  COMPLETED  n1  *
         4  0           0..4         +100  COMPLETED  n1  *",
    );
}

#[test]
fn tasks_of_a_singleton_array_wait_for_others_not_for_each_other() {
    expect(
        "node n1 cores=8
         job 1 user=a name=x run=100 t=10
         job 2 array=1-3 user=a name=x dep=singleton run=100 t=10
         job 3 user=a name=x dep=singleton run=100 t=10",
        "1    0             0..4           +100  COMPLETED  n1  *
         2_1  1.end+0..4    1.end+0..31    +100  COMPLETED  n1  *
         2_2  1.end+0..4    1.end+0..31    +100  COMPLETED  n1  *
         2_3  1.end+0..4    1.end+0..31    +100  COMPLETED  n1  *
         3    2_3.end+0..4  2_3.end+0..31  +100  COMPLETED  n1  *",
    );
}

#[test]
fn an_array_runs_as_many_tasks_as_it_allows() {
    expect(
        "node n1 cores=8
         job 1 array=1-5%2 run=100 t=10
         job 2 run=100 t=10",
        "1_1  0             0..4            +100  COMPLETED  n1  *
         1_2  0             0..4            +100  COMPLETED  n1  *
         1_3  1_1.end+0..4  1_1.end+0..31   +100  COMPLETED  n1  *
         1_4  1_2.end+0..31  1_2.end+0..31  +100  COMPLETED  n1  *
         1_5  1_3.end+0..31  1_3.end+0..31  +100  COMPLETED  n1  *
         2    0             0..4            +100  COMPLETED  n1  *",
    );
}

#[test]
fn array_tasks_without_a_limit_start_together() {
    expect(
        "node n1 cores=4
         job 1 array=1-3 run=100 t=10",
        "1_1  0  0..4  +100  COMPLETED  n1  *
         1_2  0  0..4  +100  COMPLETED  n1  *
         1_3  0  0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
pub(crate) fn a_node_that_is_down_serves_nobody() {
    expect(
        "node n1 cores=4 down
         node n2 cores=4
         job 1 run=100 t=10",
        "1  0  0..4  +100  COMPLETED  n2  *",
    );
}

/// Nothing else is left to happen when the minutes have passed.
#[test]
fn after_minutes_are_waited_for_on_an_idle_machine() {
    expect(
        "node n1 cores=4
         set min_job_age=0
         job 1 run=10 t=10
         job 2 dep=after:1+60 run=10 t=10",
        "1  0                   0..4                   +10  COMPLETED  n1  *
         2  1.start+3600..3661  1.start+3600..3692  +10  COMPLETED  n1  *",
    );
}

#[test]
pub(crate) fn a_successor_starts_when_a_job_ends_early() {
    expect(
        "node n1 cores=4
         job 1 n=4 run=100 t=60
         job 2 n=4 run=50 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +50   COMPLETED  n1  *",
    );
}

/// A year's reservation is not a million cycles: who cannot start for a week is not asked again before it ends.
#[test]
fn who_waits_for_a_year_is_not_looked_at_all_the_time() {
    let scenario = "node n[1-2] cores=4
        reservation class at=0 for=31536000 users=teacher nodes=n2
        qos small max_cpu_per_job=2
        set enforce=limits multifactor weight_age=1000
        job 1 n=8 N=2 user=a run=100
        job 2 at=5 n=4 qos=small user=b run=100
        job 3 at=10 n=4 user=b run=100";
    expect(
        scenario,
        "1  0  31536000..31536200  +100  COMPLETED  n1,n2  *
         2  5  -  -  PENDING  -  -
         3  10 10..70  +100  COMPLETED  n1  *",
    );
    let (_, outcome) = run(scenario, 0);
    assert!(outcome.counters.main_cycles < 11_000, "{}", outcome.counters.main_cycles);
    expect_equal_with_every_cycle(scenario, 0);
}

/// Nor do reservations that recur keep anybody busy who cannot start beside them.
#[test]
fn reservations_that_recur_do_not_keep_cycles_coming_for_ever() {
    let scenario = "node n[1-2] cores=4
        reservation lunch at=3600 for=3600 daily=60 users=teacher nodes=n2
        qos small max_cpu_per_job=2
        set enforce=limits
        job 1 at=5 n=4 qos=small user=b run=100
        job 2 at=10 n=8 N=2 user=a run=100 t=1440
        job 3 at=10 n=8 N=2 user=a run=100 t=1300";
    expect(
        scenario,
        "1  5   -  -  PENDING  -  -
         2  10  5104800..5104900  +100  COMPLETED  n1,n2  *
         3  10  7200..7300  +100  COMPLETED  n1,n2  *",
    );
    let (_, outcome) = run(scenario, 0);
    assert!(outcome.counters.main_cycles < 13_000, "{}", outcome.counters.main_cycles);
    expect_equal_with_every_cycle(scenario, 0);
}

/// Tasks wait for the task of their number; where there is none, for all of it.
#[test]
fn aftercorr_without_a_task_of_that_number_waits_for_the_whole_job() {
    expect(
        "node n1 cores=8
         job 1 run=100 t=5
         job 2 array=1-2 run=50 t=5 dep=aftercorr:1",
        "1    *  0..4        +100  COMPLETED  n1  *
         2_1  *  1.end+0..8  +50   COMPLETED  n1  *
         2_2  *  1.end+0..8  +50   COMPLETED  n1  *",
    );
}

/// Recorded (w2268): nor is a task there whose record has been purged (MinJobAge): the one of its number waits for those that are left.
#[test]
fn aftercorr_of_a_purged_task_waits_for_the_rest() {
    let scenario = |age: u32| {
        format!(
            "node n1 cores=8
             set min_job_age={age}
             job 1 array=1-2%1 run=300 t=10
             job 2 at=450 array=1-2 dep=aftercorr:1 run=50 t=5"
        )
    };
    let expected = |start: &str| {
        format!(
            "1_1 0 0..4 +300 COMPLETED n1 *\n 1_2 * * +300 COMPLETED n1 *
             2_1 * {start} +50 COMPLETED n1 *\n 2_2 * 1_2.end+0..64 +50 COMPLETED n1 *"
        )
    };
    expect(&scenario(60), &expected("1_2.end+0..64"));
    expect(&scenario(1000), &expected("450..460"));
}

/// Recorded (c1177): when the main scheduler has started as many tasks as may run, the next one that has a record of its own is asked, and its
/// age begins anew with the next room; the ones behind it are passed over, and go on ageing.
#[test]
fn the_task_behind_those_that_the_main_scheduler_starts_begins_to_age_anew() {
    let scenario = |enforce: &str| {
        format!(
            "node n1 cores=4
             set bf_interval=off multifactor weight_age=100000 max_age=10000 {enforce}
             job 1 array=1-3 run=50 t=5
             job 2 at=20 array=1-3%1 dep=aftercorr:1 n=4 run=700 t=20"
        )
    };
    let expected = |second: &str, third: &str| {
        format!(
            "1_1  *  *             +50   COMPLETED  n1  *
             1_2  *  *             +50   COMPLETED  n1  *
             1_3  *  *             +50   COMPLETED  n1  *
             2_1  *  1_1.end+0..64 +700  COMPLETED  n1  main
             2_2  *  {second}.end+0..64 +700  COMPLETED  n1  *
             2_3  *  {third}.end+0..64 +700  COMPLETED  n1  *"
        )
    };
    expect(&scenario(""), &expected("2_3", "2_1"));
    // Where limits are enforced, an age asks for no begin time (c1395).
    expect(&scenario("enforce=limits"), &expected("2_1", "2_2"));
}

/// Recorded (c1173): that waiting tasks have their array's limit for a reason is noted by the next queue that is built, backfill's own here, and
/// brings one more cycle in time (the eleventh).
#[test]
fn an_arrays_limit_is_noted_as_a_reason() {
    let cycles = |array: &str| {
        let text = format!("node n1 cores=4\n job 1 n=1 run=3000 t=60\n job 2 at=13 {array} n=1 run=600 t=20");
        run(&text, 0).1.counters.backfill_cycles
    };
    assert_eq!([cycles("array=1-1%1"), cycles("array=1-2%1")], [7, 11]);
}

/// What all holds when the array comes splits nothing: as many tasks of the common record are planned as `%1` lets run, and n5 is left to job 4
/// (rec c1224-24-11; docs/FACTS.md, facts 96 (a)). Tasks with records of their own would be planned on n5 and n6, too.
#[test]
fn aftercorr_that_holds_at_submission_splits_nothing() {
    let scenario = "node n[1-6] cores=4
         set bf_interval=30 version=24.11
         job 1 array=1-2 n=4 run=10 t=5
         job 2 at=60 N=4 n=16 run=1000 t=20
         job 3 at=100 array=1-3%1 dep=aftercorr:1 N=3 n=12 run=300 t=5
         job 4 at=110 n=4 run=2000 t=60";
    expect(
        scenario,
        "1_1  0    0..4          +10    *  n1        *
         1_2  0    0..4          +10    *  n2        *
         2    60   60..64        +1000  *  n1,n2,n3,n4  *
         3_1  100  2.end+0..34   +300   *  n1,n2,n3  *
         3_2  *    3_1.end+0..34 +300   *  n1,n2,n3  *
         3_3  *    3_2.end+0..34 +300   *  n1,n2,n3  *
         4    110  110..170      +2000  *  n5        backfill",
    );
    expect_equal_with_every_cycle(scenario, 3);
}

/// Recorded (t12; w2092 of 25.05): a dependency on a job whose record has been purged is lifted, whatever it would still wait for: within twenty seconds of
/// job 1's end (MinJobAge) and a purge, or with the hour after its start.
#[test]
fn a_dependency_on_a_purged_record_is_lifted() {
    let scenario = |age: u32| {
        format!(
            "node n1 cores=4
             set min_job_age={age}
             job 1 run=50 t=10
             job 2 dep=after:1+60 run=10 t=10"
        )
    };
    let expected = |eligible: &str| format!("1 0 0..4 +50 COMPLETED n1 *\n 2 {eligible} * +10 COMPLETED n1 *");
    expect(&scenario(10), &expected("60..106"));
    expect(&scenario(0), &expected("3600..3700"));
}
