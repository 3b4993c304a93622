//! Summaries of small schedules.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use foresite_engine::outcome::{PendingReason, SchedulerCounters};

use super::{Horizon, Summary};
use crate::schedule_file::{COLUMNS, read};

fn summary(rows: &str, window: Option<(i64, i64)>) -> Summary {
    let schedule = read("s.csv", format!("{}\n{rows}", COLUMNS.join(",")).as_bytes()).0.unwrap();
    let counters = SchedulerCounters {
        main_cycles: 4,
        main_depth: 10,
        backfill_started: 3,
        preempted: 2,
        requeued: 5,
        ..Default::default()
    };
    Summary::of(&schedule, Horizon { window, cpus: 10 }, &counters, 500)
}

const ROWS: &str = "\
1,a,x,p,q,0,0,0,100,COMPLETED,1,5,n1,main
2,a,x,p,q,10,10,30,130,COMPLETED,1,5,n1,main
3,b,x,p,q,20,20,100,200,COMPLETED,1,10,n1,backfill
4,b,x,p,q,30,30,,50,CANCELLED,0,0,,
";

#[test]
fn the_figures_are_those_of_the_jobs_that_started() {
    let summary = summary(ROWS, None).timed(0.5, 4, 1024);
    assert_eq!((summary.jobs, summary.jobs_started, summary.makespan_seconds), (4, 3, 200));
    let waits = summary.wait_seconds;
    assert_eq!((waits.mean, waits.median, waits.p95, waits.max), (33.333, 20.0, 80.0, 80.0));
    assert_eq!(summary.response_seconds.mean, 133.333);
    assert_eq!(summary.bounded_slowdown.mean, 1.333333);
    assert_eq!(summary.utilization, 1.0);
    assert_eq!((summary.engine.jobs_per_second, summary.engine.speedup), (8.0, 1000.0));
    assert_eq!((summary.scheduler.main.depth_mean, summary.scheduler.backfill.backfilled_jobs), (2.5, 3));
}

#[test]
fn a_window_counts_its_own_jobs_and_all_allocations_within() {
    let summary = summary(ROWS, Some((10, 110)));
    assert_eq!((summary.jobs, summary.jobs_started), (3, 2));
    // 90 s and 80 s of 5 CPUs, 10 s of 10, of 100 s of 10.
    assert_eq!(summary.utilization, 0.95);
}

#[test]
fn nothing_at_all_is_zero_and_not_a_fault() {
    let summary = summary("", None);
    assert_eq!((summary.jobs, summary.utilization, summary.wait_seconds.mean), (0, 0.0, 0.0));
    assert!(summary.to_json().contains("\"p95\": 0.0"));
}

#[test]
fn the_fields_are_those_of_the_design() {
    let json: serde_json::Value = serde_json::from_str(&summary(ROWS, None).to_json()).unwrap();
    for pointer in [
        "/jobs",
        "/jobs_started",
        "/wait_seconds/mean",
        "/wait_seconds/median",
        "/wait_seconds/p95",
        "/wait_seconds/max",
        "/bounded_slowdown/mean",
        "/response_seconds/mean",
        "/utilization",
        "/makespan_seconds",
        "/engine/wall_seconds",
        "/engine/simulated_seconds",
        "/engine/jobs_per_second",
        "/engine/speedup",
        "/engine/peak_rss_bytes",
        "/engine/version",
        "/scheduler/main/cycles",
        "/scheduler/backfill/exits/bf_max_time",
    ] {
        assert!(json.pointer(pointer).is_some(), "{pointer}");
    }
}

#[test]
fn victims_and_returns_are_counted_and_an_ideal_controller_is_named() {
    use foresite_engine::policy::{CostModel, Policy, Scheduler};

    let figures = summary(ROWS, None).scheduler;
    assert_eq!((figures.preempted_jobs, figures.requeued_jobs), (2, 5));
    let caveats = |policy: Policy| summary(ROWS, None).under(&policy).caveats.len();
    assert_eq!(caveats(Policy::default()), 1);
    assert_eq!(caveats(Policy { cost: CostModel::RECORDED, ..Policy::default() }), 0);
    assert_eq!(caveats(Policy { scheduler: Scheduler::Easy, ..Policy::default() }), 0);
}

#[test]
fn who_is_left_pending_is_counted_by_reason_and_told() {
    let reasons = [PendingReason::Limit, PendingReason::BadConstraints, PendingReason::Limit];
    let summary = summary(ROWS, None).pending_for(reasons.into_iter());
    assert_eq!(
        summary.jobs_pending.into_iter().collect::<Vec<_>>(),
        [("BadConstraints".to_owned(), 1), ("Limit".to_owned(), 2)]
    );
    assert_eq!(
        summary.caveats,
        [
            "1 job left PENDING, BadConstraints: no partition of theirs has the nodes they ask for",
            "2 jobs left PENDING, Limit: at or above a limit of their association or QOS",
        ]
    );
}
