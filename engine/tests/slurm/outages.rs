//! Nodes that go down, are drained, and return (slurm-semantics 7.6).

use foresite_engine::scenario::ScenarioError;

use crate::dsl;
use crate::schedule::{expect, expect_equal_with_every_cycle, run};

#[test]
fn a_job_on_a_node_that_goes_down_ends_and_comes_back_after_two_minutes() {
    expect(
        "node n[1-2] cores=4
         outage n1 at=1000 for=3600
         job 1 at=0 run=2000 t=60 n=4",
        "1  1121  1121..1185  +2000  COMPLETED  n2  *",
    );
}

/// Recorded (c1425): with one component all end.
#[test]
fn a_heterogeneous_job_ends_whole_with_a_node_of_one_component() {
    expect(
        "node n[1-3] cores=4
         set no_requeue
         outage n2 at=1000 for=3600
         job 1+0 n=4 run=2000 t=60
         job 1+1 n=4 run=2000 t=60
         job 2 at=200 run=100 t=60 n=8 N=2",
        "1+0  *  0..31       1000   NODE_FAIL  n1     *
         1+1  *  1+0.start+0 1000   NODE_FAIL  n2     *
         2    *  1000..1065  +100   COMPLETED  n1,n3  *",
    );
}

#[test]
fn without_requeue_it_ends_with_the_node() {
    expect(
        "node n[1-2] cores=4
         set no_requeue
         outage n1 at=1000 for=3600
         job 1 at=0 run=2000 t=60 N=2 n=8
         job 2 at=1 run=100 t=60 n=4",
        "1  *  0..31       1000   NODE_FAIL  n1,n2  *
         2  *  1000..1065  +100   COMPLETED  n2     *",
    );
}

/// Recorded (ax-share, ax-qos, ax-dep): an administrator sets a busy node down, and its answer brings it back at once.
#[test]
fn a_node_that_is_back_in_the_same_second_has_lost_its_jobs() {
    expect(
        "node n1 cores=4
         outage n1 at=1000 for=0
         job 1 at=0 run=2000 t=60 n=4
         job 2 at=1 run=50 t=1 n=4",
        "1  1121  1121..1185  +2000  COMPLETED  n1  *
         2  1     1000..1004  +50    COMPLETED  n1  *",
    );
}

/// Recorded (c166): in TRES factors job 1, requeued since its only node went down, counts with the eight CPUs it had there, and stands before job 2's four.
#[test]
fn a_job_counts_with_what_it_had_when_its_nodes_went_down() {
    expect(
        "node n[1-2] cores=8
         set multifactor weight_tres_cpu=1000
         outage n1 at=500 for=36000
         job 0 w=n2 n=8 run=1000 t=60
         job 1 at=10 n=1 exclusive run=800 t=60
         job 2 at=600 n=4 run=300 t=60",
        "0  0    0..4        +1000  *  n2  *
         1  *    0.end+0..4  +800   *  n2  *
         2  600  1.end+0..4  +300   *  n2  *",
    );
}

/// Recorded (bc-tier, bc-share): somebody had the job queued again in the run after the one that its node ended.
#[test]
fn a_requeue_recorded_after_a_node_failure_ends_the_run_that_follows_it() {
    expect(
        "node n[1-2] cores=4
         outage n1 at=1000 for=3600
         job 1 at=0 run=2000 t=60 n=4 runs=1000:node_fail,50",
        "1  *  1292..1435  +2000  COMPLETED  n2  *",
    );
}

#[test]
pub(crate) fn a_drained_node_lets_its_jobs_finish_and_takes_no_new_ones() {
    expect(
        "node n1 cores=4
         outage n1 at=1000 for=3600 drain
         job 1 at=0 run=2000 t=60 n=2
         job 2 at=1100 run=100 t=5 n=2",
        "1  *  0..31       +2000  COMPLETED  n1  *
         2  *  4600..4604  +100   COMPLETED  n1  *",
    );
}

/// Recorded (c160 of 24.11.5): from 23.11 on the background loop wakes when a second begins, so a node that is resumed in it is asked a second later, and
/// has answered when the loop comes to the main scheduler the second time.
#[test]
fn a_resumed_node_is_asked_when_the_next_second_begins() {
    expect(
        "node n1 cores=4
         set version=24.05 bf_interval=off
         outage n1 at=1000 for=3600 drain
         job 1 at=0 run=2000 t=60 n=2
         job 2 at=1100 run=100 t=5 n=2",
        "1  *  0..31       +2000  COMPLETED  n1  *
         2  *  4602..4605  +100   COMPLETED  n1  *",
    );
}

#[test]
fn a_node_returns_when_its_last_outage_is_over() {
    expect(
        "node n1 cores=4
         outage n1 at=100 for=1000 drain
         outage n1 at=500 for=1000
         job 1 at=200 run=100 t=5 n=2",
        "1  *  1500..1504  +100  COMPLETED  n1  *",
    );
}

#[test]
fn a_node_that_never_returns_serves_nobody() {
    expect(
        "node n1 cores=4
         outage n1 at=100
         job 1 at=200 run=100 t=5 n=2",
        "1  *  -  -  PENDING  -  -",
    );
}

/// Each cycle of the main scheduler passes over job 2, and says so: the simulation ends all the same.
#[test]
fn jobs_that_wait_behind_each_other_for_a_node_that_never_returns_are_given_up() {
    for set in ["", "set bf_interval=off", "set multifactor"] {
        expect(
            &format!(
                "node n[1-2] cores=4
                 node n3 cores=4 down
                 {set}
                 job 1 at=0 run=100 t=5 N=3 n=3
                 job 2 at=5 run=100 t=5 N=3 n=3
                 job 3 at=9 run=100 t=5 N=3 n=3"
            ),
            "1  *  -  -  PENDING  -  -
             2  *  -  -  PENDING  -  -
             3  *  -  -  PENDING  -  -",
        );
    }
}

#[test]
fn a_node_that_is_down_in_slurm_conf_stays_down_after_an_outage() {
    expect(
        "node n1 cores=4 down
         node n2 cores=2
         outage n1 at=100 for=100
         job 1 at=300 run=100 t=5 n=2",
        "1  *  300..331  +100  COMPLETED  n2  *",
    );
}

#[test]
fn backfill_does_not_plan_on_nodes_that_are_out() {
    expect(
        "node n[1-2] cores=4
         outage n2 at=50 for=20000 drain
         job 1 at=0 run=1000 t=20 n=4
         job 2 at=100 run=1000 t=20 n=4
         job 3 at=101 run=100 t=5 n=4",
        "1  *  0..31   +1000         COMPLETED  n1  *
         2  *  1000..1070  +1000  COMPLETED  n1  *
         3  *  2000..2140  +100  COMPLETED  n1  *",
    );
}

#[test]
fn cycles_are_skipped_only_while_no_node_leaves_or_returns() {
    let text = "node n[1-4] cores=4
        outage n[1-2] at=1000 for=3600
        outage n3 at=1500 for=1000 drain
        job 1 run=2000 t=60 N=2 n=8
        job 2 at=10 run=2000 t=60 N=3 n=12
        job 3 at=20 run=300 t=10 n=4
        job 4 at=1600 run=300 t=10 n=4";
    for seed in 0..16 {
        expect_equal_with_every_cycle(text, seed);
    }
}

#[test]
fn what_happens_before_the_controller_starts_has_happened() {
    let (_, outcome) =
        run("node n1 cores=4\noutage n1 at=-90000 for=10\noutage n1 at=-80000 for=80100\njob 1 run=10", 1);
    let start = outcome.records[0].start.unwrap() - dsl::T0;
    assert!((100..105).contains(&start), "{start}");
}

#[test]
fn what_cannot_be_is_refused() {
    let mut scenario = dsl::parse("node n1 cores=4\noutage n1 at=600 for=900\njob 1").scenario;
    scenario.calendar.outages[0].end = scenario.calendar.outages[0].start - 1;
    let faults: Vec<String> = scenario.validate().unwrap_err().iter().map(ScenarioError::to_string).collect();
    assert_eq!(faults, [format!("outage from {}: it ends before it begins, or lies beyond all time", dsl::T0 + 600)]);
}

/// Recorded (ay-qos): who names a reserved node waits for it, though it could never run, and keeps the others that it names from the main scheduler
/// (`_pick_best_nodes`); once it is there, the job is held for good. One that is down it has found not to be had when it came, so it is passed
/// over, and keeps nothing (`_schedule`: WAIT_NODE_NOT_AVAIL).
#[test]
fn a_job_that_could_never_run_waits_for_a_node_that_it_names() {
    let of = |taken: &str| {
        format!(
            "node n[1-3] cores=4
             set select=core bf_interval=off
             {taken}
             job 1 at=200 n=9 N=2 w=n[1-2]
             job 2 at=210 n=4 run=100 t=5 w=n2"
        )
    };
    expect(
        &of("reservation r nodes=n1 at=100 for=5000 users=bob"),
        "1  *  -           -     PENDING    -   -
         2  *  5100..5270  +100  COMPLETED  n2  main",
    );
    for taken in ["outage n1 at=100 for=5000", ""] {
        expect(
            &of(taken),
            "1  *  -         -     PENDING    -   -
             2  *  210..215  +100  COMPLETED  n2  main",
        );
    }
}

/// Recorded (c1077): both nodes of job 1 go down, one after the other, so nobody submits it anew, and it starts again at once; job 2 of one
/// node waits two minutes. From 23.11 on both wait.
#[test]
fn a_job_whose_nodes_go_down_one_by_one_keeps_its_place() {
    for (version, first) in [("", "0     1000..1065"), ("set version=23.11", "1121  1121..1185")] {
        expect(
            &format!(
                "node n[1-4] cores=4
                 outage n[1-2] at=1000 for=600
                 {version}
                 job 1 N=2 n=5 run=2000 t=60
                 job 2 at=1 w=n2 n=3 run=1500 t=60"
            ),
            &format!(
                "1  {first}          +2000  COMPLETED  n3,n4  *
                 2  1121  1600..1665  +1500  COMPLETED  n2     *"
            ),
        );
    }
}

/// Queued again in its place, job 1 has the priority of its start until the next step, however long it ran (rec w2011): job 2, whose age the last
/// step has counted, comes first. Had it been reckoned anew, it would be the older one.
#[test]
fn a_job_that_keeps_its_place_keeps_its_priority_until_the_next_step() {
    expect(
        "node n[1-2] cores=4
         set version=23.02 multifactor weight_age=10000
         outage n1 at=400 for=20
         outage n2 at=400 for=20
         job 1 N=2 n=8 run=1000 t=60
         job 2 at=10 N=2 n=8 run=50 t=60",
        "1  *   2.end+0..61  +1000  COMPLETED  n1,n2  *
         2  10  420..450     +50    COMPLETED  n1,n2  *",
    );
}
