//! The run time of backfill cycles: yields, `bf_max_time`, `bf_continue` (slurm-semantics 3.6, 8).

use foresite_engine::outcome::SchedulerCounters;

use crate::schedule::{expect, expect_equal_with_every_cycle, run};

/// Job 4 stands third in the queue and fits at once; the main scheduler is held by job 2, so that only backfill can start it.
fn third_in_queue(options: &str, more: &str) -> String {
    format!(
        "node n[1-2] cores=4
         set {options}
         job 1 n=4 run=590 t=10
         job 2 at=10 N=2 n=8 run=50 t=10
         job 3 at=10 N=2 n=8 run=50 t=10
         job 4 at=10 n=4 run=100 t=5
         {more}"
    )
}

/// Jobs that come every five seconds, as long as job 1 runs: something changes in every sleep.
fn arrivals() -> String {
    (0..118).map(|index| format!("job {} at={} N=2 n=8 run=5 t=10\n", index + 5, 11 + 5 * index)).collect()
}

fn counters(text: &str, seed: u64) -> SchedulerCounters {
    run(text, seed).1.counters
}

/// When job 4 starts, after job 1 [s].
fn fourth(text: &str, seed: u64) -> i64 {
    let (scenario, outcome) = run(text, seed);
    let start = |id: u64| {
        let index = scenario.workload.jobs.iter().position(|job| job.name.id == id).unwrap();
        outcome.records[index].start.unwrap()
    };
    start(4) - start(1)
}

#[test]
pub(crate) fn a_cycle_starts_its_third_record_after_the_time_of_two() {
    let quick = third_in_queue("bf_yield_interval=10000000", "");
    let slow = third_in_queue("bf_yield_interval=10000000 base_us=1000000 record_us=3000000", "");
    expect(
        &quick,
        "1  0   0..4        +590  COMPLETED  n1     *
         2  10  1.end+0..4  +50   COMPLETED  n1,n2  *
         3  10  2.end+0..4  +50   COMPLETED  n1,n2  *
         4  10  10..41      +100  COMPLETED  n2     backfill",
    );
    expect(
        &slow,
        "1  0   0..4        +589..600  COMPLETED  n1     *
         2  10  1.end+0..10 +49..60   COMPLETED  n1,n2  *
         3  10  2.end+0..10 +49..60   COMPLETED  n1,n2  *
         4  10  17..52      +99..110  COMPLETED  n2     backfill",
    );
}

/// Start and end times of a trace are cut off to seconds, so a run of 100 s took 99 to 101.
#[test]
pub(crate) fn runs_take_the_fractions_of_seconds_that_a_trace_leaves_out() {
    let lengths = |text: &str| -> Vec<i64> {
        let of = |seed| {
            let record = &run(text, seed).1.records[0];
            record.end.unwrap() - record.start.unwrap()
        };
        let mut lengths: Vec<i64> = (0..64).map(of).collect();
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    };
    let job = |more: &str| format!("node n1 cores=4\n set {more}\n job 1 n=4 run=120 t=3");
    assert_eq!(lengths(&job("base_us=0")), [120]);
    assert_eq!(lengths(&job("base_us=300")), [119, 120, 121]);
}

#[test]
pub(crate) fn a_cycle_that_yields_goes_on_after_its_sleep_if_nothing_changed() {
    let text = third_in_queue("record_us=1000000 bf_yield_sleep=8000000", "");
    expect(
        &text,
        "1  0   0..4        +589..591  COMPLETED  n1     *
         2  10  1.end+0..4  +49..51   COMPLETED  n1,n2  *
         3  10  2.end+0..4  +49..51   COMPLETED  n1,n2  *
         4  10  20..100     +99..101  COMPLETED  n2     backfill",
    );
}

#[test]
pub(crate) fn a_change_during_a_yield_ends_the_cycle() {
    let text = third_in_queue("record_us=1000000 bf_yield_sleep=8000000", &arrivals());
    for seed in 0..16 {
        assert!(fourth(&text, seed) >= 590, "seed {seed}");
        assert!(counters(&text, seed).backfill_exit_state_changed > 5, "seed {seed}");
    }
}

#[test]
pub(crate) fn with_bf_continue_a_cycle_goes_on_whatever_changed() {
    let text = third_in_queue("record_us=1000000 bf_yield_sleep=8000000 bf_continue", &arrivals());
    for seed in 0..16 {
        assert!((10..90).contains(&fourth(&text, seed)), "seed {seed}");
        assert_eq!(counters(&text, seed).backfill_exit_state_changed, 0, "seed {seed}");
    }
}

#[test]
pub(crate) fn bf_max_time_ends_a_cycle_sleeps_included() {
    let short = third_in_queue("record_us=1000000 bf_max_time=2", "");
    // Two records and the sleep after them.
    let asleep = third_in_queue("record_us=1000000 bf_yield_sleep=8000000 bf_max_time=9", "");
    let long = third_in_queue("record_us=1000000 bf_yield_sleep=8000000 bf_max_time=11", "");
    for seed in 0..16 {
        for text in [&short, &asleep] {
            assert!(fourth(text, seed) >= 590, "seed {seed}");
            assert!(counters(text, seed).backfill_exit_max_time > 5, "seed {seed}");
        }
        assert!(fourth(&long, seed) < 100, "seed {seed}");
    }
}

#[test]
pub(crate) fn noise_is_the_seeds_and_stays_within_its_bounds() {
    let text = third_in_queue("bf_yield_interval=10000000 base_us=4000000 noise=50", "");
    let exact = third_in_queue("bf_yield_interval=10000000 base_us=4000000", "");
    let delays: Vec<i64> = (0..16).map(|seed| fourth(&text, seed)).collect();
    assert_ne!(delays, (0..16).map(|seed| fourth(&exact, seed)).collect::<Vec<_>>());
    assert_eq!(delays, (0..16).map(|seed| fourth(&text, seed)).collect::<Vec<_>>());
    assert!(delays.iter().all(|delay| (8..60).contains(delay)), "{delays:?}");
}

/// Six jobs wait for job 1's end. At a second a start, a run ends after the third, and the rest come with the next.
#[test]
fn max_sched_time_ends_a_run_of_the_main_scheduler() {
    let starts = |options: &str, seed: u64| {
        let jobs: String = (2..8).map(|id| format!("job {id} at=10 run=500 t=10\n")).collect();
        let first = "job 1 n=6 run=100 t=5";
        let (_, outcome) = run(&format!("node n1 cores=6\nset bf_interval=off {options}\n{first}\n{jobs}"), seed);
        let mut starts: Vec<i64> = outcome.records[1..].iter().map(|record| record.start.unwrap()).collect();
        starts.dedup();
        starts.len()
    };
    for seed in 0..8 {
        assert_eq!(starts("", seed), 1, "seed {seed}");
        assert_eq!(starts("main_start_us=1000000", seed), 2, "seed {seed}");
        assert_eq!(starts("main_start_us=1000000 max_sched_time=6", seed), 1, "seed {seed}");
    }
    let text = "node n1 cores=6\nset main_start_us=1000000 max_sched_time=1\n".to_owned()
        + &(1..7).map(|id| format!("job {id} run=500 t=10\n")).collect::<String>();
    expect_equal_with_every_cycle(&text, 3);
}

/// Slurm takes any number of microseconds: one that is less than a cycle's own work must not hold it for ever.
#[test]
fn yields_shorter_than_a_record_pass_one_at_a_time() {
    let text = third_in_queue("bf_yield_interval=100 bf_yield_sleep=100 base_us=300 record_us=200", "");
    for seed in 0..8 {
        assert!(fourth(&text, seed) < 100, "seed {seed}");
        expect_equal_with_every_cycle(&text, seed);
    }
}

/// Forty records take the cycle's time, but for the sleep that would follow them; user b's job stands behind the fiftieth.
/// It comes when the first cycles, which are counted whole, are over.
#[test]
fn records_that_take_no_time_are_reached_as_the_time_ends() {
    let held: String = (2..52).map(|id| format!("job {id} at=10 N=2 n=8 user=a run=500 t=10\n")).collect();
    let text = format!(
        "node n[1-2] cores=4
         set bf_max_job_test=40 bf_max_job_user=5 bf_max_time=5 record_us=100000 bf_interval=1
         job 1 n=4 run=3990 t=70 user=a
         {held}
         job 52 at=3000 n=4 run=100 t=3 user=b"
    );
    for seed in 0..4 {
        expect_equal_with_every_cycle(&text, seed);
    }
}

#[test]
fn skipped_cycles_take_their_own_time() {
    for options in
        ["base_us=300000 record_us=90000 noise=40", "record_us=1000000 noise=20", "record_us=1200000 bf_continue"]
    {
        for seed in 0..8 {
            expect_equal_with_every_cycle(&third_in_queue(options, ""), seed);
            expect_equal_with_every_cycle(&third_in_queue(options, &arrivals()), seed);
        }
    }
}

/// A job ends after the search for candidates stood still at one record, and before it goes on to the next.
#[test]
fn what_ends_between_two_records_is_free_for_the_second() {
    expect_equal_with_every_cycle(include_str!("fixtures/ends_between_two_records.txt"), 379);
}

/// Nodes that come free while a cycle sleeps are none of its: 5 stands third in the queue, nine seconds after the cycle's begin, and no
/// cycle that had begun when 2 left starts it (backfill.c, `bf_ignore_node_bitmap`, of 22.05.8).
#[test]
fn nodes_freed_in_a_sleep_wait_for_the_next_cycle() {
    for second in 0..40 {
        let text = format!(
            "node n[1-2] cores=4
             set record_us=1000000 bf_yield_sleep=8000000 bf_continue
             job 1 n=4 run=590 t=10
             job 2 n=4 run={} t=10
             job 3 at=10 N=2 n=8 run=50 t=10
             job 4 at=10 N=2 n=8 run=50 t=10
             job 5 at=10 n=4 run=100 t=3",
            280 + second
        );
        let records = run(&text, 1).1.records;
        let waited = records[4].start.unwrap() - records[1].end.unwrap();
        assert!(waited >= 9, "{second}: {waited} s");
    }
}

/// Records that a cap passes over take less time: user b's job stands behind twelve of user a, of which one is tested.
#[test]
fn records_that_a_cap_passes_over_take_their_own_time() {
    let held: String = (2..14).map(|id| format!("job {id} at=10 N=2 n=8 user=a run=50 t=10\n")).collect();
    let start = |passed_us: u32| {
        let text = format!(
            "node n[1-2] cores=4
             set bf_max_job_user=1 bf_max_time=5 bf_yield_interval=60000000 record_us=1000000 passed_us={passed_us}
             job 1 n=4 run=590 t=10 user=a
             {held}
             job 14 at=10 n=4 run=100 t=5 user=b"
        );
        expect_equal_with_every_cycle(&text, 3);
        run(&text, 3).1.records[13].start.unwrap()
    };
    assert!(start(1_000_000) - start(100_000) > 500, "{} and {}", start(1_000_000), start(100_000));
}
