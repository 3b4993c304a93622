//! Options of the two schedulers and of releases, one by one (slurm-semantics 1.2, 2.5, 3.1, 6.4, 11).

use crate::schedule::{expect, expect_equal_with_every_cycle, run};

/// With either setting; the outcome must not depend on skipping cycles.
#[track_caller]
fn compare(scenario: impl Fn(&str) -> String, option: &str, without: &str, with: &str) {
    for (option, expected) in [("", without), (option, with)] {
        let text = scenario(&format!("set {option}"));
        expect(&text, expected);
        expect_equal_with_every_cycle(&text, 5);
    }
}

/// Job 2 needs the licence that job 1 holds until 600; job 3 would hold it until 1,200 or later.
#[test]
fn bf_licenses_plans_licences_ahead() {
    compare(
        |option| {
            format!(
                "node n[1-3] cores=4
                 license matlab:2
                 set bf_interval=10 bf_max_job_test=20
                 {option}
                 job 1 L=matlab:1 n=4 run=600 t=10
                 job 2 L=matlab:2 n=4 run=100 t=10 at=10
                 job 3 L=matlab:1 n=4 run=1200 t=20 at=20"
            )
        },
        "bf_licenses",
        "1  0   0..4         +600   *  n1  *
         2  10  3.end+0..14  +100   *  *   *
         3  20  20..34       +1200  *  *   *",
        "1  0   0..4         +600   *  n1  *
         2  10  1.end+0..64  +100   *  *   *
         3  20  2.end+0..64  +1200  *  *   *",
    );
}

/// Recorded (c1058): while a reservation exists, whose nodes nobody here asks for, job 2 is not planned, and job 3 takes its licence.
#[test]
fn bf_licenses_plans_nobody_without_licences_beside_a_reservation() {
    let text = "node n[1-4] cores=4
         license matlab:2
         set bf_interval=10 bf_max_job_test=20 bf_licenses
         reservation r nodes=n4 at=3000 for=60 users=x
         job 1 L=matlab:1 n=4 run=600 t=10
         job 2 L=matlab:2 n=4 run=100 t=10 at=10
         job 3 L=matlab:1 n=4 run=1200 t=20 at=20";
    expect(
        text,
        "1  0   0..4         +600   *  n1  *
         2  10  3.end+0..64  +100   *  *   *
         3  20  20..34       +1200  *  *   *",
    );
    expect_equal_with_every_cycle(text, 5);
}

/// Job 2 waits for a licence; with the option nobody behind it is looked at in that run.
#[test]
fn bf_licenses_ends_a_run_at_a_job_without_licences() {
    let scenario = |option: &str| {
        format!(
            "node n[1-3] cores=4
             license matlab:1
             set bf_interval=off {option}
             job 1 L=matlab:1 n=4 run=600 t=10
             job 2 L=matlab:1 n=4 run=100 t=10 at=10
             job 3 n=4 run=100 t=10 at=20"
        )
    };
    let expected = |third: &str| {
        format!(
            "1  0   0..4        +600  *  n1  main
             2  10  1.end+0..4  +100  *  n1  main
             3  20  {third}     +100  *  n2  main"
        )
    };
    expect(&scenario(""), &expected("20..24"));
    expect(&scenario("bf_licenses"), &expected("2.start+0"));
}

/// Job 1 waits in both partitions; its plan in the second would keep job 2 away from there.
#[test]
fn bf_one_resv_per_job_plans_a_job_in_one_partition() {
    compare(
        |option| {
            format!(
                "node n[1-2] cores=4
                 partition p nodes=n1 tier=2
                 partition q nodes=n2
                 set bf_interval=10
                 {option}
                 job 8 p=p n=3 run=600 t=10
                 job 9 p=q n=3 run=900 t=15
                 job 10 p=p,q n=4 run=100 t=10 at=10
                 job 11 p=q n=1 run=1200 t=20 at=20"
            )
        },
        "bf_one_resv_per_job",
        "8   0   0..4              +600   *  n1  *
         9   0   0..4              +900   *  n2  *
         10  10  8.end+0..14       +100   *  n1  *
         11  20  8.end+0..34       +1200  *  n2  *",
        "8   0   0..4              +600   *  n1  *
         9   0   0..4              +900   *  n2  *
         10  10  8.end+0..14       +100   *  n1  *
         11  20  20..34            +1200  *  n2  *",
    );
}

/// The limit of p's QOS refuses job 10 its plan there, but it has a time of start: in q it may only start at once, so job 11 does.
/// Source: `_attempt_backfill` of 22.05.8 (a limit behind the overlap test leaves `start_time`); rec bd-g5.
#[test]
fn a_plan_that_a_limit_refuses_counts_for_bf_one_resv_per_job() {
    compare(
        |option| {
            format!(
                "node n[1-2] cores=4
                 qos lim grp_cpu=5
                 partition p nodes=n1 tier=2 qos=lim
                 partition q nodes=n2
                 set enforce=limits bf_interval=10
                 {option}
                 job 8 p=p n=3 run=600 t=10
                 job 9 p=q n=3 run=900 t=15
                 job 10 p=p,q n=4 run=100 t=10 at=10
                 job 11 p=q n=1 run=1200 t=20 at=20"
            )
        },
        "bf_one_resv_per_job",
        "8   0   0..4              +600   *  n1  *
         9   0   0..4              +900   *  n2  *
         10  10  8.end+0..14       +100   *  n1  *
         11  20  8.end+0..34       +1200  *  n2  *",
        "8   0   0..4              +600   *  n1  *
         9   0   0..4              +900   *  n2  *
         10  10  8.end+0..14       +100   *  n1  *
         11  20  20..34            +1200  *  n2  *",
    );
}

/// The tasks of an array are planned one after the other at one record, whose time of start was asked for before: those of job 8, whom the
/// partition refuses to start, get a node each, so nothing is left to job 9. Source: `_attempt_backfill` of 22.05.8 (`orig_start_time` stands
/// before `next_task`); rec c154.
#[test]
fn bf_one_resv_per_job_plans_every_task_at_one_record() {
    let scenario = |option: &str| {
        format!(
            "node n[1-2] cores=4
             account a
             account b
             user a parent=a
             user b parent=b
             partition p allow_accounts=b
             set sched_interval=off bf_interval=10 bf_min_age_reserve=3600 {option}
             job 8 user=a array=1-2 n=4 run=100 t=10
             job 9 at=10 user=b n=4 run=100 t=10"
        )
    };
    let expected = "8_1  0   -  -  PENDING  -  -
                    8_2  0   -  -  PENDING  -  -
                    9    10  -  -  PENDING  -  -";
    expect(&scenario(""), expected);
    expect(&scenario("bf_one_resv_per_job"), expected);
}

/// Nodes n2 … n6 end at 10, 11, … 14 minutes; job 7 needs five nodes. The will-run test releases the last two together
/// and says 14 minutes; with running jobs in the table it is asked again at 13, and job 8 is a minute too long for n1.
#[test]
fn bf_running_job_reserve_finds_earlier_starts() {
    compare(
        |option| {
            format!(
                "node n[1-6] cores=4
                 partition p over=exclusive
                 boot 300
                 set bf_interval=10
                 {option}
                 job 2 w=n2 run=600 t=10
                 job 3 w=n3 run=660 t=11
                 job 4 w=n4 run=720 t=12
                 job 5 w=n5 run=780 t=13
                 job 6 w=n6 run=840 t=14
                 job 7 N=5 run=100 t=10 at=10
                 job 8 N=1 run=100 t=13 at=20"
            )
        },
        "bf_running_job_reserve",
        "2  0   0..4         +600  *  n2  *
         3  0   0..4         +660  *  n3  *
         4  0   0..4         +720  *  n4  *
         5  0   0..4         +780  *  n5  *
         6  0   0..4         +840  *  n6  *
         7  10  5.end+0..14  +100  *  *   *
         8  20  20..34       +100  *  n1  *",
        "2  0   0..4         +600  *  n2  *
         3  0   0..4         +660  *  n3  *
         4  0   0..4         +720  *  n4  *
         5  0   0..4         +780  *  n5  *
         6  0   0..4         +840  *  n6  *
         7  10  5.end+0..14  +100  *  *   *
         8  20  6.end+0..14  +100  *  *   *",
    );
}

/// Job 2 is planned on n1 to n3, or with the option on n3, n4 and n1: then n2 is left to job 3.
#[test]
fn bf_busy_nodes_plans_on_nodes_in_use() {
    compare(
        |option| {
            format!(
                "node n[1-4] cores=4
                 partition p over=exclusive
                 set bf_interval=10
                 {option}
                 job 1 w=n3,n4 N=2 run=600 t=10
                 job 2 N=3 run=100 t=10 at=10
                 job 3 N=1 run=3000 t=50 at=20"
            )
        },
        "bf_busy_nodes",
        "1  0   0..4         +600   *  n3,n4     *
         2  10  1.end+0..14  +100   *  n1,n2,n3  *
         3  20  1.end+0..34  +3000  *  n4        *",
        "1  0   0..4         +600   *  n3,n4     *
         2  10  1.end+0..14  +100   *  n1,n3,n4  *
         3  20  20..34       +3000  *  n2        *",
    );
}

#[test]
fn kill_invalid_depend_cancels_what_can_never_run() {
    let scenario = |option: &str| {
        format!(
            "node n1 cores=4
             set {option}
             job 1 run=100 t=10 fails
             job 2 run=100 t=10 dep=afterok:1"
        )
    };
    expect(&scenario(""), "1  0  0..4  +100  FAILED  n1  *\n 2  -  -  -  PENDING  -  -");
    let cancelled = "1  0  0..4  +100  FAILED  n1  *\n 2  -  -  100..110  CANCELLED  -  -";
    expect(&scenario("kill_invalid_depend"), cancelled);
}

/// `--kill-on-invalid-dep` goes before what holds for all.
#[test]
fn jobs_say_themselves_whether_an_invalid_dependency_kills_them() {
    let scenario = |option: &str| {
        format!(
            "node n1 cores=4
             set {option}
             job 1 run=100 t=10 fails
             job 2 run=100 t=10 dep=afterok:1 kill_on_invalid_dep
             job 3 run=100 t=10 dep=afterok:1 kill_on_invalid_dep=no"
        )
    };
    let only_the_second = "1  0  0..4  +100  FAILED  n1  *
                           2  -  -  100..110  CANCELLED  -  -
                           3  -  -  -  PENDING  -  -";
    expect(&scenario(""), only_the_second);
    expect(&scenario("kill_invalid_depend"), only_the_second);
}

/// Job 1 fails at 100: who comes before 100 + MinJobAge waits for ever, who comes later does not know it any more.
#[test]
fn a_purged_job_fulfils_every_dependency() {
    let scenario = |option: &str| {
        format!(
            "node n1 cores=4
             set {option}
             job 1 run=100 t=10 fails
             job 2 run=100 t=10 dep=afterok:1 at=390
             job 3 run=100 t=10 dep=afterok:1 at=420"
        )
    };
    expect(
        &scenario(""),
        "1  0    0..4      +100  FAILED     n1  *
         2  -    -         -     PENDING    -   -
         3  420  420..424  +100  COMPLETED  n1  *",
    );
    expect(
        &scenario("min_job_age=0"),
        "1  0  0..4  +100  FAILED   n1  *
         2  -  -     -     PENDING  -   -
         3  -  -     -     PENDING  -   -",
    );
}

/// Every end wakes the main scheduler at once; with a minute between its runs, the second has to wait.
#[test]
fn sched_min_interval_spaces_runs_of_the_main_scheduler() {
    let scenario = |option: &str| {
        format!(
            "node n1 cores=2
             set epilog bf_interval=off {option}
             job 1 run=200 t=10
             job 2 run=210 t=10
             job 3 run=300 t=10
             job 4 run=300 t=10"
        )
    };
    expect(
        &scenario(""),
        "1  0  0..4        +200  *  n1  main
         2  0  0..4        +210  *  n1  main
         3  0  1.end+0..1  +300  *  n1  main
         4  0  2.end+0..1  +300  *  n1  main",
    );
    for seed in 0..8 {
        let (_, outcome) = crate::schedule::run(&scenario("sched_min_interval=100000000"), seed);
        let mut starts: Vec<i64> = outcome.records.iter().filter_map(|record| record.start).collect();
        starts.sort_unstable();
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= 99 || pair[1] == pair[0]), "{seed}: {starts:?}");
        assert_eq!(starts.len(), 4);
    }
}

/// It is not refused, but waits for ever (rec at-site); nor does it keep others from starting.
#[test]
fn more_memory_per_node_than_allowed_waits_for_ever() {
    expect(
        "node n1 cores=4 memory=8000
         set memory max_mem_per_node=4000
         job 1 mem=4001 run=100 t=10
         job 2 mem=4000 run=100 t=10",
        "1  0  -     -     PENDING    -   -
         2  0  0..4  +100  COMPLETED  n1  *",
    );
}

/// One task of %2 runs. All three others are planned, the third of them on n5 and n6; from 23.11 on one only, so that n5 is left to
/// job 9.
#[test]
fn the_limit_of_running_tasks_is_one_of_planned_tasks_from_23_11_on() {
    let scenario = |option: &str| {
        format!(
            "node n[1-7] cores=4
             partition p over=exclusive
             set bf_interval=10 {option}
             job 3 w=n3 run=600 t=10
             job 4 w=n4 run=600 t=10
             job 5 w=n5 run=100 t=10
             job 6 w=n6 run=600 t=10
             job 7 w=n7 run=600 t=10
             job 8 array=1-4%2 N=2 run=600 t=10
             job 9 N=1 run=900 t=15 at=300"
        )
    };
    let expected = |start: &str, nodes: &str| {
        format!(
            "3    0  0..4  +600  *  n3     *
             4    0  0..4  +600  *  n4     *
             5    0  0..4  +100  *  n5     *
             6    0  0..4  +600  *  n6     *
             7    0  0..4  +600  *  n7     *
             8_1  0  0..4  +600  *  n1,n2  *
             8_2  *  600..640  +600  *  *  *
             8_3  *  *     +600  *  *      *
             8_4  *  *     +600  *  *      *
             9    *  {start}  +900  *  {nodes}  *"
        )
    };
    for version in ["", "version=23.02"] {
        expect(&scenario(version), &expected("600..640", "*"));
    }
    for version in ["version=23.11", "version=25.05"] {
        expect(&scenario(version), &expected("300..314", "n5"));
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
}

/// Two records a run: the array, of which one task is tried, and job 9. Counted one by one, the tasks would use up the
/// depth, and job 9 would wait for a full run.
#[test]
fn siblings_of_a_rejected_task_are_not_counted() {
    expect(
        "node n[1-2] cores=4
         partition p nodes=n1
         partition q nodes=n2
         set bf_interval=off default_queue_depth=1 sched_interval=1000
         job 1 p=p n=4 run=600 t=10
         job 2 p=p array=1-5 n=4 run=100 t=10 at=10
         job 9 p=q n=4 run=100 t=10 at=20",
        "1    0   0..4    +600  *  n1  *
         2_1  10  *       *     *  n1  *
         2_2  10  *       *     *  n1  *
         2_3  10  *       *     *  n1  *
         2_4  10  *       *     *  n1  *
         2_5  10  *       *     *  n1  *
         9    20  20..24  +100  *  n2  main",
    );
}

/// Job 2 has ten minutes and must be through by 850: from 251 on it cannot be, and whoever comes to it next cancels it.
#[test]
fn a_job_that_cannot_meet_its_deadline_is_cancelled() {
    let scenario = |deadline: u32| {
        format!(
            "node n1 cores=4
             job 1 n=4 run=300 t=10
             job 2 n=4 run=100 t=10 at=10 deadline={deadline}"
        )
    };
    expect(
        &scenario(850),
        "1  0   0..4  +300  COMPLETED  n1  *
         2  10  -     251..311  DEADLINE   -   -",
    );
    expect(
        &scenario(950),
        "1  0   0..4         +300  COMPLETED  n1  *
         2  10  1.end+0..14  +100  COMPLETED  n1  *",
    );
}

/// Recorded (w2271): backfill plans a job with all of its limit, whatever its deadline leaves of it, and starts it with what is left. Job 3 is planned on n1 from
/// the end of job 1's limit on, where job 2 would not be over by then; had it nothing but its `--time-min` to run, it would.
#[test]
fn a_deadline_does_not_shorten_plans() {
    let scenario = |wish: &str| {
        format!(
            "node n[1-2] cores=4
             job 1 n=4 w=n1 run=600 t=10
             job 3 at=5 N=2 n=8 run=100 t=60
             job 2 at=10 n=4 run=1000 t=60 {wish}"
        )
    };
    let first = "1 0 0..4 +600 COMPLETED n1 *\n";
    expect(
        &scenario("time_min=5"),
        &format!("{first} 3 5 1.end+0..34 +100 COMPLETED n1,n2 *\n 2 10 10..44 300..364 TIMEOUT n2 backfill"),
    );
    expect(
        &scenario("time_min=5 deadline=900"),
        &format!("{first} 3 5 1.end+0..34 +100 COMPLETED n1,n2 *\n 2 10 - 601..664 DEADLINE - -"),
    );
}

/// Recorded (docs/FACTS.md, facts 41): nothing happens for half an hour but that the record of job 1 is purged, 300 to 360 s
/// after its end. Backfill has a cycle after it.
#[test]
fn a_purged_record_brings_a_cycle_of_backfill() {
    let cycles = |age: &str| {
        let text = format!("node n1 cores=4\n set {age}\n job 1 run=100 t=10\n job 2 at=2000 run=100 t=10");
        run(&text, 1).1.counters.backfill_cycles
    };
    let never = cycles("min_job_age=0");
    // A cycle that ends in the second of the change has another one follow it.
    assert!((1..=2).contains(&(cycles("") - never)));
    assert!((1..=2).contains(&(cycles("min_job_age=1500") - never)));
    assert_eq!(cycles("min_job_age=3000"), never);
}

/// Under CALCULATE_RUNNING every step rates jobs that run or have ended, too, as long as their records are there (MinJobAge), which brings a cycle
/// though nobody waits. Source: `decay_apply_weighted_factors` of 22.05.8; rec c174.
#[test]
fn calculate_running_brings_cycles_while_a_record_is_there() {
    let cycles = |flag: &str| {
        let jobs = "job 1 run=30000 t=600\n job 2 at=31000 run=10 t=10";
        let text = format!("node n1 cores=4\n set multifactor {flag}\n {jobs}");
        run(&text, 1).1.counters.backfill_cycles
    };
    let steps = (30_000 + 300) / 300;
    let more = cycles("calculate_running") - cycles("");
    assert!((steps - 8..=2 * steps).contains(&more), "{more} for {steps} steps");
}

/// Recorded (bf-c71): backfill starts a task of job 3 with its least time, and the rest of the array's record keeps that, though the main
/// scheduler starts it, where the cycle does not come to test it (docs/FACTS.md, facts 86 (d)); where it does, the rest gets its limit back (rec c174).
#[test]
fn the_rest_of_an_array_keeps_the_least_time_unless_it_is_tested_in_turn() {
    let scenario = |most: &str| {
        format!(
            "node n[1-2] cores=4
             set epilog bf_interval=120
             job 1 w=n1 n=4 run=900 t=20
             job 2 at=10 n=8 run=100 t=10
             job 3 at=20 array=1-2{most} n=4 run=1000 t=60 time_min=10"
        )
    };
    let expected = |last: &str| {
        format!(
            "1    0   0..4         +900       COMPLETED  n1     *
             2    10  1.end+0..4   +100       COMPLETED  n1,n2  main
             3_1  20  20..150      +600..632  TIMEOUT    n2     backfill
             3_2  *   2.end+0..4   {last}     n1     main"
        )
    };
    expect(&scenario("%1"), &expected("+600..632  TIMEOUT"));
    expect(&scenario(""), &expected("+1000  COMPLETED"));
}

/// Nobody comes to job 2, which waits for job 1, before that ends; from 23.11 on whoever purges records finds it too late (rec w2083-24-11).
#[test]
fn a_job_that_waits_for_others_misses_its_deadline_when_records_are_purged() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=4
             set version={version}
             job 1 n=1 run=500 t=10
             job 2 n=1 run=100 t=10 at=10 dep=afterok:1 deadline=850"
        )
    };
    let cancelled = |when: &str| format!("1  0  0..4  +500  COMPLETED  n1  *\n 2  *  -  {when}  DEADLINE  -  -");
    expect(&scenario("23.02"), &cancelled("1.end+0..60"));
    expect(&scenario("23.11"), &cancelled("251..312"));
}
