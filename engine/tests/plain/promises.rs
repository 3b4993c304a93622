//! Promises on random workloads.

use foresite_engine::ids::JobId;
use foresite_engine::outcome::{Outcome, StartedBy};
use foresite_engine::plain::{
    Batching, Compression, ExtraProcessors, Overrun, PlainAlgorithm, PlainOptions, ShadowBound, ShadowRefresh,
};
use proptest::prelude::*;

use crate::build::{Row, run};
use crate::naive::{self, Start};

const ALGORITHMS: [PlainAlgorithm; 4] =
    [PlainAlgorithm::Fcfs, PlainAlgorithm::Sjf, PlainAlgorithm::Easy, PlainAlgorithm::Conservative];

/// Every combination of options.
fn options() -> impl Strategy<Value = PlainOptions> {
    let choices = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    choices.prop_map(|(events, before, unused, once, never, kill)| PlainOptions {
        batching: if events { Batching::PerEvent } else { Batching::PerTimestamp },
        shadow_bound: if before { ShadowBound::Before } else { ShadowBound::AtOrBefore },
        extra_processors: if unused { ExtraProcessors::Unused } else { ExtraProcessors::Consumed },
        shadow_refresh: if once { ShadowRefresh::OncePerHead } else { ShadowRefresh::EveryPass },
        compression: if never { Compression::Never } else { Compression::EveryCompletion },
        overrun: if kill { Overrun::Kill } else { Overrun::RaiseEstimate },
    })
}

/// A crowded machine with many ties: jobs of all widths, some too wide, some released late, some cancelled.
fn rows(n_jobs: std::ops::Range<usize>, longest: u32) -> impl Strategy<Value = Vec<Row>> {
    let row = (0i64..6, 1u32..14, 0..longest, 0..2 * longest, prop::option::weighted(0.1, 0i64..60), 0i64..8);
    prop::collection::vec(row, n_jobs).prop_map(|rows| {
        let mut submit = 0;
        let mut build = |(gap, procs, run_time, estimate, cancelled, delay): (_, _, _, _, Option<i64>, i64)| {
            submit += gap;
            let release = submit + (delay - 5).max(0);
            let cancelled_at = cancelled.map_or(i64::MAX, |after| submit + after);
            Row { submit, release, run_time, estimate, procs, cancelled_at }
        };
        rows.into_iter().map(&mut build).collect()
    })
}

fn starts(outcome: &Outcome) -> Vec<Option<(i64, StartedBy)>> {
    outcome.records.iter().map(|record| record.start.zip(record.started_by)).collect()
}

fn without_plan(starts: &[Start]) -> Vec<Option<(i64, StartedBy)>> {
    starts.iter().map(|start| start.map(|(at, by, _)| (at, by))).collect()
}

/// Each job's [start, end) with the nodes it stands on.
fn assert_no_node_twice(outcome: &Outcome, node_cpus: &[u32]) {
    let started = |job: &usize| outcome.records[*job].start.is_some();
    let jobs: Vec<usize> = (0..outcome.records.len()).filter(started).collect();
    for &job in &jobs {
        let at = outcome.records[job].start.unwrap();
        let running = jobs.iter().filter(|&&other| {
            let record = &outcome.records[other];
            record.start.unwrap() <= at && at < record.end.unwrap()
        });
        let mut cpus = 0;
        let mut jobs_on_node = vec![0; node_cpus.len()];
        for &other in running {
            cpus += outcome.records[other].cpus;
            outcome.nodes(JobId::new(other)).for_each(|node| jobs_on_node[node.index()] += 1);
        }
        assert!(cpus <= node_cpus.iter().sum(), "{cpus} processors in use at {at}");
        for (&jobs, &capacity) in jobs_on_node.iter().zip(node_cpus) {
            assert!(jobs <= capacity, "{jobs} jobs on a node of {capacity} processors");
        }
    }
}

proptest! {
    #[test]
    fn every_algorithm_and_option_agrees_with_the_naive_one(rows in rows(1..60, 30), options in options()) {
        for algorithm in ALGORITHMS {
            let fast = run(&[1; 12], &rows, algorithm, &options);
            let naive = naive::starts(&rows, 12, algorithm, &options);
            prop_assert_eq!(starts(&fast), without_plan(&naive), "{:?} {:?}", algorithm, options);
        }
    }

    #[test]
    fn never_more_processors_in_use_than_there_are(
        rows in rows(1..60, 30),
        options in options(),
        node_cpus in prop::collection::vec(1u32..5, 1..10),
    ) {
        for algorithm in ALGORITHMS {
            let outcome = run(&node_cpus, &rows, algorithm, &options);
            assert_no_node_twice(&outcome, &node_cpus);
            for (index, record) in outcome.records.iter().enumerate().filter(|(_, record)| record.start.is_some()) {
                prop_assert_eq!(record.cpus, rows[index].procs);
                let nodes: Vec<_> = outcome.nodes(JobId::new(index)).collect();
                prop_assert!(nodes.is_sorted_by(|a, b| a < b));
                prop_assert_eq!(nodes.len(), record.n_nodes as usize);
                let cpus: u32 = nodes.iter().map(|node| node_cpus[node.index()]).sum();
                prop_assert!(record.n_nodes <= record.cpus && record.cpus <= cpus);
            }
        }
    }

    #[test]
    fn fcfs_starts_in_order_of_arrival(rows in rows(1..80, 30)) {
        let outcome = run(&[1; 12], &rows, PlainAlgorithm::Fcfs, &PlainOptions::default());
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&job| rows[job].release);
        let starts: Vec<i64> = order.iter().filter_map(|&job| outcome.records[job].start).collect();
        prop_assert!(starts.is_sorted());
    }

    #[test]
    fn easys_head_starts_no_later_than_its_shadow(mut rows in rows(1..80, 30)) {
        // Whoever is cancelled has no start to compare; a job of 0 s ends in the second it starts.
        rows.retain(|row| row.procs <= 12);
        rows.iter_mut().for_each(|row| {
            (row.release, row.run_time, row.cancelled_at) = (row.submit, row.run_time.max(1), i64::MAX);
        });
        let outcome = run(&[1; 12], &rows, PlainAlgorithm::Easy, &PlainOptions::default());
        let start = |job: usize| outcome.records[job].start.unwrap();
        for head in 0..rows.len() {
            let headed = (0..head).map(start).max().unwrap_or(0).max(rows[head].submit);
            // What ran when it became head, jobs backfilled in that very pass apart.
            let ran = |job: &usize| start(*job) < headed || (start(*job) == headed && *job < head);
            let running: Vec<usize> = (0..rows.len())
                .filter(|job| *job != head && ran(job) && outcome.records[*job].end.unwrap() > headed)
                .collect();
            let expected_end = |job: usize| start(job) + i64::from(rows[job].estimate.max(rows[job].run_time));
            let used_at = |time: i64| -> u32 {
                running.iter().filter(|&&job| expected_end(job) > time).map(|&job| rows[job].procs).sum()
            };
            let mut times: Vec<i64> = running.iter().map(|&job| expected_end(job)).collect();
            times.push(headed);
            let fits = |time: &i64| used_at(*time) + rows[head].procs <= 12;
            let shadow = times.into_iter().filter(fits).min().unwrap();
            prop_assert!(start(head) <= shadow, "job {} starts at {}, shadow {}", head, start(head), shadow);
        }
    }

    #[test]
    fn conservative_starts_nobody_later_than_first_planned(rows in rows(1..60, 30), options in options()) {
        let fast = run(&[1; 12], &rows, PlainAlgorithm::Conservative, &options);
        let naive = naive::starts(&rows, 12, PlainAlgorithm::Conservative, &options);
        for (record, naive) in fast.records.iter().zip(&naive) {
            prop_assert_eq!(record.start.is_some(), naive.is_some());
            if let (Some(start), Some((_, _, first_planned))) = (record.start, naive) {
                prop_assert!(start <= *first_planned);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Long queues and many running jobs, so that every structure grows several levels or blocks.
    #[test]
    fn long_queues_agree_with_the_naive_implementation(mut rows in rows(280..360, 2000), options in options()) {
        rows.iter_mut().skip(1).step_by(3).for_each(|row| row.procs = 1);
        let node_cpus = [64, 64, 64, 8];
        for algorithm in ALGORITHMS {
            let naive = naive::starts(&rows, 200, algorithm, &options);
            let fast = run(&node_cpus, &rows, algorithm, &options);
            prop_assert_eq!(starts(&fast), without_plan(&naive), "{:?} {:?}", algorithm, options);
        }
    }
}
