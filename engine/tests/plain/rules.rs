//! The rules that `foresite_engine::plain` states, one by one, on workloads small enough to check by hand.

use std::ops::ControlFlow;

use foresite_engine::observer::Interrupted;
use foresite_engine::outcome::{JobState, Outcome, StartedBy};
use foresite_engine::plain::{
    Batching, Compression, ExtraProcessors, Overrun, PlainAlgorithm, PlainOptions, ShadowBound, ShadowRefresh, simulate,
};

use crate::build::{Row, run, scenario};

const ALL: [PlainAlgorithm; 4] =
    [PlainAlgorithm::Fcfs, PlainAlgorithm::Sjf, PlainAlgorithm::Easy, PlainAlgorithm::Conservative];

fn starts(outcome: &Outcome) -> Vec<Option<i64>> {
    outcome.records.iter().map(|record| record.start).collect()
}

fn easy(rows: &[Row], options: PlainOptions) -> Vec<Option<i64>> {
    starts(&run(&[1; 10], rows, PlainAlgorithm::Easy, &options))
}

#[test]
fn a_job_larger_than_the_machine_waits_for_ever_and_blocks_nobody() {
    let rows = [Row::new(0, 11, 5, 5), Row::new(1, 10, 5, 5)];
    for algorithm in ALL {
        let outcome = run(&[5, 5], &rows, algorithm, &PlainOptions::default());
        assert_eq!(starts(&outcome), [None, Some(1)]);
        let record = &outcome.records[0];
        assert_eq!((record.state, record.eligible, record.end), (JobState::Pending, Some(0), None));
    }
}

#[test]
fn a_cancelled_job_leaves_the_queue_and_makes_way() {
    let mut rows = [Row::new(0, 6, 100, 100), Row::new(1, 10, 5, 5), Row::new(2, 6, 5, 5), Row::new(3, 4, 300, 300)];
    rows[1].cancelled_at = 50;
    for algorithm in ALL {
        let outcome = run(&[1; 10], &rows, algorithm, &PlainOptions::default());
        let record = &outcome.records[1];
        assert_eq!((record.state, record.start, record.end), (JobState::Cancelled, None, Some(50)), "{algorithm:?}");
        assert_eq!(outcome.records[2].start, Some(100), "{algorithm:?}");
    }
    assert_eq!(easy(&rows, PlainOptions::default())[3], Some(50));
}

#[test]
fn a_job_cancelled_before_its_release_never_becomes_eligible() {
    let mut row = Row::new(0, 1, 5, 5);
    (row.release, row.cancelled_at) = (10, 4);
    let outcome = run(&[1], &[row], PlainAlgorithm::Fcfs, &PlainOptions::default());
    let record = &outcome.records[0];
    assert_eq!((record.eligible, record.end, record.state), (None, Some(4), JobState::Cancelled));
}

#[test]
fn a_job_is_considered_from_its_release_on() {
    let mut rows = [Row::new(0, 10, 5, 5), Row::new(1, 10, 5, 5)];
    rows[0].release = 3;
    for algorithm in ALL {
        let outcome = run(&[1; 10], &rows, algorithm, &PlainOptions::default());
        assert_eq!(starts(&outcome), [Some(6), Some(1)], "{algorithm:?}");
        assert_eq!(outcome.records[0].eligible, Some(3));
    }
}

#[test]
fn heads_are_started_by_main_and_others_by_backfill() {
    let rows = [Row::new(0, 6, 100, 100), Row::new(1, 10, 5, 5), Row::new(2, 4, 5, 5)];
    for algorithm in [PlainAlgorithm::Easy, PlainAlgorithm::Conservative] {
        let outcome = run(&[1; 10], &rows, algorithm, &PlainOptions::default());
        let by: Vec<_> = outcome.records.iter().map(|record| record.started_by.unwrap()).collect();
        assert_eq!(by, [StartedBy::Main, StartedBy::Main, StartedBy::Backfill]);
        assert_eq!((outcome.counters.main_started, outcome.counters.backfill_started), (2, 1));
    }
}

#[test]
fn a_job_that_ends_at_the_shadow_time_is_backfilled_unless_it_must_end_before() {
    let rows = [Row::new(0, 6, 100, 100), Row::new(0, 10, 5, 5), Row::new(0, 4, 100, 100)];
    let before = PlainOptions { shadow_bound: ShadowBound::Before, ..PlainOptions::default() };
    assert_eq!(easy(&rows, PlainOptions::default()), [Some(0), Some(100), Some(0)]);
    assert_eq!(easy(&rows, before), [Some(0), Some(100), Some(105)]);
}

#[test]
fn extra_processors_are_used_up_or_left_alone() {
    let rows = [Row::new(0, 6, 100, 100), Row::new(0, 8, 5, 5), Row::new(0, 2, 500, 500), Row::new(0, 2, 500, 500)];
    let unused = PlainOptions { extra_processors: ExtraProcessors::Unused, ..PlainOptions::default() };
    assert_eq!(easy(&rows, PlainOptions::default()), [Some(0), Some(100), Some(0), Some(105)]);
    assert_eq!(easy(&rows, unused), [Some(0), Some(100), Some(100), Some(105)]);
}

#[test]
fn extra_processors_taken_until_the_shadow_time_are_there_again_for_the_next_pass() {
    // The third job ends at the shadow time, 100, not before it, so it takes the two extra processors. It gives them
    // back by 100, so a plan made afresh one second later has two extra processors again.
    let rows = [Row::new(0, 6, 100, 100), Row::new(0, 8, 5, 5), Row::new(0, 2, 100, 100), Row::new(1, 2, 500, 500)];
    let before = PlainOptions { shadow_bound: ShadowBound::Before, ..PlainOptions::default() };
    assert_eq!(easy(&rows, before), [Some(0), Some(100), Some(0), Some(1)]);
}

#[test]
fn an_early_end_pulls_the_shadow_forward_unless_it_is_kept() {
    // The first job ends at 10 instead of 100; then the head waits for the second's expected end, 60, and the last
    // job (100 s) may be backfilled only where the shadow of the beginning, 200, is kept.
    let rows = [Row::new(0, 4, 10, 200), Row::new(0, 4, 60, 60), Row::new(0, 10, 5, 5), Row::new(20, 4, 100, 100)];
    let kept = PlainOptions { shadow_refresh: ShadowRefresh::OncePerHead, ..PlainOptions::default() };
    assert_eq!(easy(&rows, PlainOptions::default()), [Some(0), Some(0), Some(60), Some(65)]);
    assert_eq!(easy(&rows, kept), [Some(0), Some(0), Some(120), Some(20)]);
}

#[test]
fn events_of_a_second_come_in_one_batch_or_one_by_one() {
    // At 10 the machine empties while two jobs arrive. In one batch the wide one, first in line, starts. One by one,
    // submissions first, the narrow one is backfilled into the four processors that are free before the completion.
    let rows = [Row::new(0, 6, 10, 20), Row::new(10, 10, 5, 5), Row::new(10, 4, 10, 10)];
    let events = PlainOptions { batching: Batching::PerEvent, ..PlainOptions::default() };
    assert_eq!(easy(&rows, PlainOptions::default()), [Some(0), Some(10), Some(15)]);
    assert_eq!(easy(&rows, events), [Some(0), Some(20), Some(10)]);
}

#[test]
fn compression_moves_planned_starts_forward() {
    let rows = [Row::new(0, 10, 10, 100), Row::new(1, 10, 10, 10)];
    let conservative = |compression| {
        let options = PlainOptions { compression, ..PlainOptions::default() };
        starts(&run(&[1; 10], &rows, PlainAlgorithm::Conservative, &options))
    };
    assert_eq!(conservative(Compression::EveryCompletion), [Some(0), Some(10)]);
    assert_eq!(conservative(Compression::Never), [Some(0), Some(100)]);
}

#[test]
fn a_run_time_beyond_the_request_stands_unless_jobs_are_killed() {
    let rows = [Row::new(0, 1, 50, 20), Row::new(0, 1, 50, 50), Row::new(0, 1, 50, 0)];
    let outcome = run(&[3], &rows, PlainAlgorithm::Fcfs, &PlainOptions::default());
    assert!(outcome.records.iter().all(|record| (record.end, record.state) == (Some(50), JobState::Completed)));
    let kill = PlainOptions { overrun: Overrun::Kill, ..PlainOptions::default() };
    let outcome = run(&[3], &rows, PlainAlgorithm::Fcfs, &kill);
    let ends: Vec<_> = outcome.records.iter().map(|record| (record.end.unwrap(), record.state)).collect();
    assert_eq!(ends, [(20, JobState::Timeout), (50, JobState::Completed), (50, JobState::Completed)]);
}

#[test]
fn sjf_takes_the_shortest_request_first_and_skips_nobody() {
    let rows = [Row::new(0, 10, 10, 10), Row::new(1, 1, 5, 30), Row::new(2, 10, 20, 20), Row::new(3, 1, 5, 40)];
    let outcome = run(&[1; 10], &rows, PlainAlgorithm::Sjf, &PlainOptions::default());
    assert_eq!(starts(&outcome), [Some(0), Some(30), Some(10), Some(30)]);
}

#[test]
fn an_observer_can_stop_the_run() {
    let scenario = scenario(&[1], &[Row::new(0, 1, 1, 1)]);
    let mut stop = |_finished: usize, _total: usize| ControlFlow::Break(());
    let stopped = simulate(&scenario, PlainAlgorithm::Easy, &PlainOptions::default(), &mut stop);
    assert_eq!(stopped, Err(Interrupted));
}

#[test]
fn nothing_to_do_is_done_at_once() {
    for algorithm in ALL {
        assert!(run(&[], &[], algorithm, &PlainOptions::default()).records.is_empty());
        let outcome = run(&[], &[Row::new(0, 1, 1, 1)], algorithm, &PlainOptions::default());
        assert_eq!(starts(&outcome), [None]);
    }
}

#[test]
fn times_at_the_ends_of_the_range_do_no_harm() {
    let rows = [
        Row::new(i64::MIN, 2, u32::MAX, u32::MAX),
        Row::new(0, 1, 0, 0),
        Row::new(i64::MAX - 1, 2, u32::MAX, 1),
        Row::new(i64::MAX, 2, 1, u32::MAX),
    ];
    for algorithm in ALL {
        let outcome = run(&[2], &rows, algorithm, &PlainOptions::default());
        assert_eq!(outcome.counters.main_started + outcome.counters.backfill_started, 3, "{algorithm:?}");
    }
}
