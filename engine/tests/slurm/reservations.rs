//! Advance reservations (slurm-semantics 7.2; oracle case features).

use foresite_engine::scenario::ScenarioError;

use crate::dsl;
use crate::schedule::{expect, expect_equal_with_every_cycle, run};

#[test]
pub(crate) fn no_job_starts_whose_limit_would_cross_a_maintenance() {
    // Job 1's limit ends at 3000 at the latest, job 2's would reach into the maintenance.
    expect(
        "node n[1-2] cores=4
         reservation maint at=3600 for=1800 maint
         job 1 at=0 run=600 t=45 n=4
         job 2 at=1 run=600 t=65 n=4",
        "1  0..5  0..31    600..631    COMPLETED  n1  *
         2  1..6  5400..5470  6000..6070  COMPLETED  n1  *",
    );
}

#[test]
fn a_job_that_waits_for_the_end_of_a_maintenance_does_not_block_the_others() {
    expect(
        "node n1 cores=4
         set bf_interval=off
         reservation maint at=3600 for=1800 maint
         job 1 at=0 run=100 t=120 n=4
         job 2 at=10 run=100 t=10 n=4",
        "1  0..5    5400..5470  +100  COMPLETED  n1  main
         2  10..15  10..20      +100  COMPLETED  n1  main",
    );
}

#[test]
fn shorter_jobs_drain_in_front_of_a_reservation_and_long_ones_use_other_nodes() {
    expect(
        "node n[1-2] cores=4
         reservation r nodes=n1 at=3600 for=1800 users=bob
         job 1 at=0 run=300 t=100 n=4
         job 2 at=1 run=300 t=50 n=4",
        "1  0..5  0..31  +300  COMPLETED  n2  *
         2  1..6  1..32  +300  COMPLETED  n1  *",
    );
}

#[test]
fn a_job_of_a_reservation_waits_for_it_and_runs_inside_before_all_others() {
    expect(
        "node n[1-2] cores=4
         partition p
         partition q tier=10
         reservation r nodes=n1 at=600 for=1800 users=bob
         job 1 at=0 run=300 t=10 n=4 user=bob resv=r
         job 2 at=500 run=3000 t=60 n=4 p=q
         job 3 at=510 run=3000 t=60 n=4 p=q",
        "1  600..605  600..609    +300  COMPLETED  n1  *
         2  *         500..531    +3000 COMPLETED  n2  *
         3  *         2400..2530  +3000 COMPLETED  n1  *",
    );
}

#[test]
fn a_job_that_outlasts_its_reservation_is_ended_by_the_next_limit_scan() {
    expect(
        "node n1 cores=4
         reservation r at=600 for=900 users=bob
         job 1 at=700 run=1297 t=24 n=4 user=bob resv=r",
        "1  700..705  700..731  1500..1532  TIMEOUT  n1  *",
    );
}

#[test]
fn resv_over_run_lets_it_outlast_the_reservation() {
    let scenario = |over: &str| {
        format!(
            "node n1 cores=4
             set resv_over_run={over}
             reservation r at=600 for=900 users=bob
             job 1 at=700 run=1200 t=24 n=4 user=bob resv=r"
        )
    };
    expect(&scenario("5"), "1  700..705  700..731  1800..1832  TIMEOUT  n1  *");
    expect(&scenario("off"), "1  700..705  700..731  +1200  COMPLETED  n1  *");
}

#[test]
fn jobs_still_waiting_at_the_end_are_held_or_freed() {
    let scenario = |flag: &str| {
        format!(
            "node n[1-2] cores=4
             reservation r nodes=n1 at=600 for=900 users=bob {flag}
             job 1 at=0 run=900 t=15 n=4 user=bob resv=r
             job 2 at=1 run=100 t=5 n=4 user=bob resv=r"
        )
    };
    expect(
        &scenario(""),
        "1  *  600..640  *  *  n1  *
         2  *  -         -  PENDING  -  -",
    );
    expect(
        &scenario("no_hold"),
        "1  *  600..640  *  *  n1  *
         2  *  1500..1575  +100  COMPLETED  *  *",
    );
}

#[test]
fn a_requeued_job_whose_reservation_has_ended_is_held_too() {
    expect(
        "node n1 cores=4
         reservation r at=600 for=900 users=bob
         job 1 at=1300 run=100 t=5 runs=40 user=bob resv=r
         job 2 at=1300 run=100 t=5 runs=150:node_fail user=bob resv=r cancel=1700",
        "1  1461..1500  *  *  *          n1  *
         2  -           -  *  CANCELLED  -   -",
    );
}

/// Recorded (c1292): job 1 is held at once, though another reservation reaches into its time; it does not keep job 2 from being tried.
#[test]
fn who_names_a_node_outside_of_its_reservation_is_held() {
    expect(
        "node n[1-3] cores=4
         set bf_interval=600
         reservation r at=600 for=2000 nodes=n1 users=bob
         reservation later at=3000 for=900 nodes=n1 maint users=root
         job 1 at=0 run=100 t=60 n=1 user=bob resv=r w=n2
         job 2 at=5 run=100 t=10 n=1 user=bob resv=r",
        "1  600..605  -         -     PENDING    -   -
         2  600..605  600..640  +100  COMPLETED  n1  main",
    );
}

#[test]
fn a_reservation_refuses_who_is_not_named() {
    expect(
        "node n1 cores=4
         account a
         user bob account=a
         user eve account=a
         reservation r at=600 for=900 users=bob
         reservation s at=2000 for=900 accounts=-a
         job 1 at=0 run=10 t=5 user=bob resv=r
         job 2 at=0 run=10 t=5 user=eve resv=r
         job 3 at=0 run=10 t=5 user=bob resv=s
         job 4 at=0 run=10 t=5 user=root resv=s
         job 5 at=4000 run=10 t=5 user=bob resv=r",
        "1  600..605  600..640    +10  COMPLETED  n1  *
         2  -         -           -    PENDING    -   -
         3  -         -           -    PENDING    -   -
         4  2000..2005 2000..2040 +10  COMPLETED  n1  *
         5  -         -           -    PENDING    -   -",
    );
}

#[test]
fn an_account_lets_in_the_accounts_below_it() {
    expect(
        "node n1 cores=4
         account a
         account b parent=a
         user bob account=b
         reservation r at=600 for=900 accounts=a
         job 1 at=0 run=10 t=5 user=bob resv=r",
        "1  600..605  600..640  +10  COMPLETED  n1  *",
    );
}

#[test]
fn a_flex_reservation_prefers_its_nodes_and_binds_nobody() {
    expect(
        "node n[1-2] cores=4
         reservation r nodes=n2 at=600 for=900 users=bob flex
         job 1 at=0 run=2000 t=60 n=4 user=bob resv=r
         job 2 at=1 run=2000 t=60 n=4 user=bob resv=r",
        "1  *  0..31  +2000  COMPLETED  n2  *
         2  *  1..32  +2000  COMPLETED  n1  *",
    );
}

/// Recorded (ay-tier, ay-qos): nodes outside of a FLEX reservation stand behind its own, whatever they weigh (`_set_sched_weight`): the
/// second job fills n3 before it takes n1.
#[test]
fn a_flex_reservation_weighs_more_than_weight() {
    let of = |options: &str| {
        format!(
            "node n[1-2] cores=4
             node n[3-4] cores=4 weight=5
             set select=core {options}
             reservation r nodes=n[3-4] at=600 for=900 users=bob flex
             job 1 at=0 run=2000 t=60 n=3 N=1 w=n4 user=bob resv=r
             job 2 at=10 run=2000 t=60 n=6 user=bob resv=r
             job 3 at=20 run=2000 t=60 n=3"
        )
    };
    for options in ["", "bf_interval=off"] {
        expect(
            &of(options),
            "1  *  0..31   +2000  COMPLETED  n4       *
             2  *  10..41  +2000  COMPLETED  n1,n3,n4  *
             3  *  20..51  +2000  COMPLETED  n1       *",
        );
    }
}

/// Recorded (ay-site): a FLEX reservation without a node of the job's partition leaves it to backfill, and stands in nobody's way.
#[test]
fn the_main_scheduler_passes_over_who_has_no_node_of_its_flex_reservation() {
    let of = |options: &str| {
        format!(
            "node n[1-2] cores=4
             partition p nodes=n1
             partition q nodes=n2
             set {options}
             reservation r nodes=n2 at=600 for=900 users=bob flex
             job 1 at=0 run=1 t=60 n=4 p=p user=bob resv=r
             job 2 at=1 run=2000 t=60 n=4 p=q user=bob resv=r"
        )
    };
    expect(
        &of("bf_interval=off"),
        "1  0  -     -      PENDING    -   -
         2  *  1..5  +2000  COMPLETED  n2  *",
    );
    expect(
        &of(""),
        "1  *  0..35  +1     COMPLETED  n1  backfill
         2  *  1..5   +2000  COMPLETED  n2  *",
    );
}

#[test]
fn jobs_that_run_where_a_reservation_begins_go_on() {
    expect(
        "node n1 cores=4
         reservation r at=600 for=600 created=100 users=bob
         job 1 n=4 run=2000 t=40
         job 2 user=bob resv=r n=4 run=100 t=5 at=200",
        "1  0         0..4  +2000  COMPLETED  n1  *
         2  600..610  -     -      PENDING    -   -",
    );
}

/// n1 is reserved for bob. His second job does not name the reservation, and is drawn into it; a job of another user is not.
#[test]
fn a_magnetic_reservation_draws_jobs_that_do_not_name_it() {
    let scenario = |flag: &str| {
        format!(
            "node n[1-2] cores=4
             reservation r nodes=n1 at=600 for=3600 users=bob {flag}
             job 1 n=4 w=n2 run=3000 t=60
             job 2 at=700 n=4 user=bob run=100 t=10
             job 3 at=700 n=4 user=ann run=100 t=10"
        )
    };
    let expected = |second: &str, third: &str, node: &str| {
        format!(
            "1  0    0..4      +3000  COMPLETED  n2      *
             2  700  {second}  +100   COMPLETED  {node}  *
             3  700  {third}   +100   COMPLETED  n2      *"
        )
    };
    expect(&scenario(""), &expected("1.end+0..4", "2.end+0..4", "n2"));
    expect(&scenario("magnetic"), &expected("700..705", "1.end+0..4", "n1"));
    expect_equal_with_every_cycle(&scenario("magnetic"), 2);
}

/// Drawn in, a job is bound as if it had named the reservation: it ends with it.
#[test]
fn who_was_drawn_in_ends_with_the_reservation() {
    expect(
        "node n1 cores=4
         reservation r at=600 for=600 users=bob magnetic
         job 1 at=700 n=4 user=bob run=5000 t=100",
        "1  700  700..705  1200..1232  TIMEOUT  n1  *",
    );
}

#[test]
fn nobody_minds_a_reservation_before_it_is_created() {
    expect(
        "node n1 cores=4
         reservation r at=1000 for=1000 created=500 maint
         job 1 at=0 run=900 t=60 n=4
         job 2 at=600 run=50 t=60 n=4",
        "1  *  0..31       +900  COMPLETED  n1  *
         2  *  2000..2070  +50   COMPLETED  n1  *",
    );
}

#[test]
fn a_recurring_reservation_takes_its_jobs_one_occurrence_after_the_other() {
    expect(
        "node n1 cores=4
         reservation r at=600 for=900 daily=3 users=bob
         job 1 at=0 run=1000 t=20 n=4 user=bob resv=r
         job 2 at=1 run=800 t=14 n=4 user=bob resv=r",
        "1  600..605      600..640      1500..1532  TIMEOUT  n1  *
         2  87000..87005  87000..87040  +800  COMPLETED  n1  *",
    );
}

/// Recorded (c1292): job 2 is tested in the second in which the reservation ends, which gives that its next time before the scan of limits looks.
#[test]
fn a_recurring_reservation_lets_its_jobs_go_on_once_any_job_is_tested_after_its_end() {
    let scenario = |settings: &str, came: u32| {
        format!(
            "node n[1-2] cores=4
             set {settings}
             reservation r nodes=n1 at=600 for=900 daily=3 users=bob
             job 1 at=0 run=3000 t=60 n=4 user=bob resv=r
             job 2 at={came} run=10 t=1 n=1 w=n2"
        )
    };
    let expected = |end: &str, state: &str, came: u32| {
        format!(
            "1  600..605  600..640  {end}  {state}    n1  *
             2  {came}    *         +10    COMPLETED  n2  *"
        )
    };
    expect(&scenario("", 1500), &expected("+3000", "COMPLETED", 1500));
    expect(&scenario("", 1600), &expected("1500..1532", "TIMEOUT", 1600));
    // From one scan to the next it moves on by itself.
    expect(&scenario("resv_over_run=1", 1600), &expected("+3000", "COMPLETED", 1600));
}

#[test]
fn backfill_plans_a_job_one_second_after_the_reservation_that_takes_its_nodes() {
    // features/run1, job 109: planned and started at the reservation's end + 1 s, where main's run did not come first.
    expect(
        "node n[1-2] cores=4
         set sched_interval=off
         reservation r nodes=n1 at=600 for=900 users=bob
         job 1 at=0 run=100 t=30 N=2 n=2
         job 2 at=5 run=100 t=5 n=4",
        "1  *  1500..1535  +100  COMPLETED  n1,n2  backfill
         2  *  5..70       +100  COMPLETED  n1     backfill",
    );
}

#[test]
fn a_required_node_waits_for_the_reservation_to_end_and_blocks_nobody() {
    expect(
        "node n[1-2] cores=4
         reservation r nodes=n1 at=600 for=900 users=bob
         job 1 at=0 run=100 t=30 n=1 w=n1
         job 2 at=1 run=100 t=30 n=1",
        "1  *  1500..1570  +100  COMPLETED  n1  *
         2  *  1..32       +100  COMPLETED  n2  *",
    );
}

#[test]
fn a_partition_reserved_whole_closes_that_partition_alone() {
    expect(
        "node n[1-2] cores=4
         partition p nodes=n1
         partition all
         reservation r nodes=n1 p=p at=600 for=900 users=bob part_nodes
         job 1 at=0 run=100 t=30 p=p
         job 2 at=1 run=100 t=30 p=all",
        "1  *  1500..1570  +100  COMPLETED  n1  *
         2  *  1..32       +100  COMPLETED  n2  *",
    );
}

#[test]
fn skipped_cycles_know_when_a_reservation_comes_into_reach() {
    // Job 2's limit reaches the reservation only after a while; from then on it blocks nobody any more.
    let text = "node n[1-3] cores=4
        set bf_interval=off
        reservation r at=4000 for=1000 maint
        reservation s nodes=n1 at=9000 for=500 users=bob flex
        job 1 at=0 run=3000 t=60 N=2 n=8
        job 2 at=1 run=500 t=50 N=3 n=12
        job 3 at=2 run=500 t=20 n=4
        job 4 at=3 run=10 t=500 n=4 user=bob resv=s";
    for seed in 0..16 {
        expect_equal_with_every_cycle(text, seed);
    }
    expect_equal_with_every_cycle(&text.replace(" bf_interval=off", ""), 1);
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let mut scenario = dsl::parse("node n1 cores=4\nreservation r at=600 for=900\njob 1").scenario;
    let reservation = scenario.calendar.reservations[0].clone();
    scenario.calendar.reservations.push(reservation.clone());
    scenario.calendar.reservations[0].windows = vec![(10, 10)];
    let faults: Vec<String> = scenario.validate().unwrap_err().iter().map(ScenarioError::to_string).collect();
    assert_eq!(
        faults,
        [
            "reservation r: it ends before it begins, or lies beyond all time",
            "reservation r: there is another one of that name"
        ]
    );
}

/// Of three licences two are reserved for job 4 from 1000 s to 2000 s. Job 2 would still run then: it starts when the reservation
/// ends, though its licences are free, and its plan keeps nobody out. Job 3 ends before.
#[test]
fn licences_are_reserved_too() {
    let scenario = "node n[1-2] cores=4
         license mat:3
         reservation lic at=1000 for=1000 licenses=mat:2 users=u
         job 1 n=4 w=n2 L=mat:1 run=3000 t=60
         job 2 at=10 n=4 L=mat:2 run=100 t=20
         job 3 at=10 n=4 L=mat:2 run=100 t=10
         job 4 at=500 user=u n=4 L=mat:2 resv=lic run=100 t=5";
    expect(
        scenario,
        "1  0    0..4         +3000  COMPLETED  n2  *
         2  10   2000..2062   +100   COMPLETED  n1  *
         3  10   10..14       +100   COMPLETED  n1  *
         4  *    1000..1007   +100   COMPLETED  n1  *",
    );
    expect_equal_with_every_cycle(scenario, 3);
}

/// Recorded: ba-core. Who looks at the reservations is the background loop, in its next pass: a node that is back by then keeps its place.
#[test]
fn a_node_that_failed_for_a_moment_stays_reserved() {
    expect(
        "node n[1-2] cores=4
         reservation r nodes=n1 at=100 for=1900 users=bob by_number
         outage n1 at=500 for=0
         job 1 at=600 run=100 t=60 n=4
         job 2 at=601 run=100 t=60 n=4",
        "1  *  600..670    +100  COMPLETED  n2  *
         2  *  700..800    +100  COMPLETED  n2  *",
    );
}

/// Recorded: bc-mix. What jobs keep from a reservation is looked for again with each scan of limits.
#[test]
fn a_lacking_node_is_looked_for_with_each_scan() {
    // n2 is free from 300 on, and reserved before job 2 comes.
    expect(
        "node n[1-2] cores=4
         reservation r nodes=n1 at=1000 for=4000 users=bob by_number
         job 1 at=0 run=300 t=90 n=4 w=n2
         outage n1 at=100 for=6000 drain
         job 2 at=700 run=100 t=30 n=4",
        "1  *  *           +300  COMPLETED  n2  *
         2  *  5000..5100  +100  COMPLETED  n2  *",
    );
}

/// A job of a reservation waits for nodes that would serve it were they free, is held where none would, but not for what it only prefers.
#[test]
fn preferred_features_do_not_hold_a_job_of_a_reservation() {
    let scenario = |options: &str| {
        format!(
            "node n1 cores=4 features=fast
             node n2 cores=4
             reservation r nodes=n2 at=100 for=4000 users=bob
             job 1 at=200 run=100 t=10 n=4 user=bob resv=r {options}"
        )
    };
    expect(&scenario("prefer=fast"), "1  *  200..240  +100  COMPLETED  n2  *");
    expect(&scenario("C=fast"), "1  *  -  -  PENDING  -  -");
}

/// Recorded: av-dep, ay-dep. The first idle node stands in for one that is drained, and keeps the place when that is back.
#[test]
fn nodes_of_a_reservation_by_number_are_replaced_when_they_become_unusable() {
    let scenario = |flag: &str| {
        format!(
            "node n[1-4] cores=4
             reservation r nodes=n1 at=1000 for=1000 users=bob {flag}
             outage n1 at=100 for=600 drain
             job 1 at=0 run=5000 t=90 n=4 w=n2
             job 2 at=200 run=100 t=60 n=4
             job 3 at=800 run=100 t=60 n=4 w=n1"
        )
    };
    // Job 1 is on n2, so n3 takes the place of n1.
    expect(
        &scenario("by_number"),
        "1  *  *           +5000 COMPLETED  n2  *
         2  *  200..270    +100  COMPLETED  n4  *
         3  *  800..870    +100  COMPLETED  n1  *",
    );
    expect(
        &scenario(""),
        "1  *  *           +5000 COMPLETED  n2  *
         2  *  200..270    +100  COMPLETED  n3  *
         3  *  2000..2070  +100  COMPLETED  n1  *",
    );
}

/// Recorded (c1108): a FLEX reservation keeps its jobs in the queue until the scan of limits deletes it, up to 30 s after its end: job 2 starts
/// in between, job 3 is held then.
#[test]
fn jobs_of_a_flex_reservation_may_start_until_it_is_deleted() {
    let scenario = |flex: &str| {
        format!(
            "boot 605
             node n1 cores=4
             reservation r nodes=n1 at=600 for=900 users=bob {flex}
             job 1 user=bob resv=r at=601 n=4 run=904 t=60
             job 2 user=bob resv=r at=610 n=4 run=50 t=5
             job 3 user=bob resv=r at=620 n=4 run=50 t=5"
        )
    };
    expect(
        &scenario("flex"),
        "1  601  601..605   +904  COMPLETED  n1  *
         2  610  1.end+0..4 +50   COMPLETED  n1  *
         3  620  -          -     PENDING    -   -",
    );
    let bound = "1  601  601..605  +899..904  *        n1  *
         2  610  -         -          PENDING  -   -
         3  620  -         -          PENDING  -   -";
    expect(&scenario(""), bound);
}

/// Recorded (c1456): a plan may begin in the second in which its reservation ends. Job 4's does so, and keeps n1 from job 5, whose plan on n2 keeps job 6
/// from the cores that are free there.
#[test]
fn a_plan_may_begin_when_its_reservation_ends() {
    let start = |ends: i64, seed: u64, job: usize| {
        let text = format!(
            "node n[1-2] cores=4
             set sched_interval=off bf_resolution=1
             reservation r nodes=n1 at=60 for={} users=bob
             job 1 at=0 run=1600 t=28 n=2 w=n2
             job 2 at=61 run=1100 t=20 n=4 user=bob resv=r
             job 3 at=62 run=100 t=5 n=4 user=bob resv=r
             job 4 at=63 run=100 t=5 n=4 user=bob resv=r
             job 5 at=130 run=100 t=20 n=4
             job 6 at=140 run=100 t=60 n=2",
            ends - 60
        );
        let (scenario, outcome) = run(&text, seed);
        outcome.records[job - 1].start.unwrap() - scenario.workload.jobs[0].submit
    };
    for seed in 0..5 {
        // Job 3's plan ends when the limits of both are over.
        let ends = start(4000, seed, 2) + 1200 + 300;
        let (at_end, before) = (start(ends, seed, 6), start(ends - 1, seed, 6));
        assert!(at_end > 1000 && before < 200, "seed {seed}: {at_end}, {before}");
    }
}
