//! The fault table: real processes, real Redis, real PostgreSQL, and at the end every study's comparison is byte for byte that of
//! an undisturbed run, every replication exists once.
//!
//! `cargo test` runs each row small. `FORESITE_CHAOS=N` makes each row N times as large; `just chaos` does so and prints the table.

mod children;
mod clocks;
mod disk;
mod pool;
mod servers;
mod service;
mod webhooks;
mod workers;

use std::time::Instant;

/// What one fault did to some studies.
pub(crate) struct Row {
    fault: &'static str,
    disturbances: usize,
    studies: usize,
    lost: usize,
    doubled: usize,
    differing: usize,
    seconds: u64,
}

impl Row {
    pub(crate) fn new(fault: &'static str, disturbances: usize, verdict: &pool::Verdict, begin: Instant) -> Self {
        let pool::Verdict { studies, lost, doubled, differing } = *verdict;
        Self { fault, disturbances, studies, lost, doubled, differing, seconds: begin.elapsed().as_secs() }
    }

    fn assert(&self) {
        // On a line of its own: the harness has written the test's name, or a dot.
        println!("\n{}", self.line());
        assert_eq!((self.lost, self.doubled, self.differing), (0, 0, 0), "{}", self.line());
        assert!(self.disturbances > 0 && self.studies > 0, "nothing was disturbed: {}", self.line());
    }

    fn line(&self) -> String {
        let Self { fault, disturbances, studies, lost, doubled, differing, seconds } = self;
        format!("| {fault} | {disturbances} | {studies} | {lost} | {doubled} | {differing} | {seconds} |")
    }
}

/// How much larger than in `cargo test`.
pub(crate) fn scale() -> usize {
    std::env::var("FORESITE_CHAOS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Declares a test per fault, and the table of all.
macro_rules! faults {
    ($($name:ident = $run:path;)+) => {
        $(#[test]
        fn $name() {
            $run(scale()).assert();
        })+
    };
}

faults! {
    workers_killed_at_random_points_lose_nothing = workers::killed;
    a_worker_stopped_past_its_lease_is_fenced = workers::stopped_past_the_lease;
    results_that_come_after_the_lease_are_fenced = workers::late_results;
    a_redis_that_restarts_and_forgets_loses_nothing = servers::redis_restarts_and_forgets;
    a_redis_that_is_full_or_evicts_keys_loses_nothing = servers::redis_evicts;
    studies_submitted_while_redis_is_down_run_when_it_returns = servers::redis_down_at_submit;
    a_postgres_that_restarts_again_and_again_loses_nothing = servers::postgres_restarts;
    a_service_killed_around_a_submission_neither_loses_nor_doubles_it = service::killed_around_submit;
    a_hundred_parallel_submissions_with_one_key_are_one_study = service::one_key_in_parallel;
    cancelled_studies_end_at_once_and_the_others_are_not_touched = service::cancelled_at_random_points;
    a_poison_study_fails_alone = workers::poison;
    simulations_killed_or_stopped_are_done_again = children::killed_and_stopped;
    a_service_killed_before_it_rings_loses_nothing = service::killed_before_it_rings;
    a_postgres_that_stands_still_loses_nothing = servers::postgres_stands_still;
    clocks_that_differ_and_jump_lose_nothing = clocks::apart;
    a_receiver_that_was_away_is_told_everything_once = webhooks::receiver_away;
    a_rolling_restart_under_load_fails_no_request = service::rolling_restart;
    a_restored_backup_holds_every_study = servers::backup_and_restore;
    a_full_disk_loses_nothing = disk::full;
}
