//! Figures of a run: how congested it was, and what the schedulers did.

use foresite_engine::job::Job;
use foresite_engine::outcome::{Outcome, SchedulerCounters};
use foresite_engine::scenario::Scenario;
use foresite_formats::study::Replicated;

/// How congested a simulation was.
#[derive(Clone, Debug, Default)]
pub(crate) struct Congestion {
    /// Requested CPU-seconds over what all CPUs could do while jobs were submitted.
    pub(crate) offered_load: f64,
    /// Allocated CPU-seconds over the same.
    pub(crate) allocated_load: f64,
    /// Jobs that started.
    pub(crate) started: u64,
    /// Mean wait of those that started [s].
    pub(crate) mean_wait: f64,
    /// Eligible jobs waiting, mean over the time from the first submission to the last start.
    pub(crate) mean_queue: f64,
    /// The most that waited at once.
    pub(crate) peak_queue: u64,
    /// Time in which jobs were submitted [s].
    pub(crate) submit_span: i64,
    /// What the schedulers counted.
    pub(crate) counters: SchedulerCounters,
    /// Simulated time [s].
    pub(crate) simulated: i64,
}

/// One job's way through the queue.
struct Passage {
    submit: i64,
    eligible: Option<i64>,
    start: Option<i64>,
    end: Option<i64>,
    cpus: u32,
    requested: u32,
}

impl Congestion {
    /// Measures an outcome. O(jobs log jobs), after the engine's memory has been read.
    pub(crate) fn of(scenario: &Scenario, outcome: &Outcome) -> Self {
        let jobs = scenario.workload.jobs.iter().zip(&outcome.records).map(|(job, record)| Passage {
            submit: job.submit,
            eligible: record.eligible,
            start: record.start,
            end: record.end,
            cpus: record.cpus,
            requested: requested(scenario, job),
        });
        let passages = Self::of_passages(scenario, jobs);
        Self { counters: outcome.counters.clone(), simulated: outcome.simulated_seconds, ..passages }
    }

    /// Measures a schedule that several controllers made; their counters are not in it.
    pub(crate) fn of_schedule(scenario: &Scenario, replicated: &Replicated) -> Self {
        let workload = &scenario.workload;
        let jobs = workload.trace_order.iter().zip(&replicated.schedule.rows).filter_map(|(id, row)| {
            let job = workload.jobs.get(id.index())?;
            let (eligible, start, end) = (row.eligible, row.start, row.end);
            Some(Passage {
                submit: row.submit,
                eligible,
                start,
                end,
                cpus: row.cpus,
                requested: requested(scenario, job),
            })
        });
        Self { simulated: replicated.summary.engine.simulated_seconds, ..Self::of_passages(scenario, jobs) }
    }

    fn of_passages(scenario: &Scenario, passages: impl Iterator<Item = Passage>) -> Self {
        let (mut requested, mut allocated, mut waits) = (0u128, 0u128, 0i128);
        let (mut started, mut last_start) = (0u64, i64::MIN);
        let (mut first_submit, mut last_submit) = (i64::MAX, i64::MIN);
        let mut edges: Vec<(i64, bool)> = Vec::new();
        for job in passages {
            (first_submit, last_submit) = (first_submit.min(job.submit), last_submit.max(job.submit));
            let Some(eligible) = job.eligible else { continue };
            let left = job.start.or(job.end).unwrap_or(job.submit);
            // Those that left come before those that came: true sorts last.
            edges.extend([(eligible, true), (left.max(eligible), false)]);
            let (Some(start), Some(end)) = (job.start, job.end) else { continue };
            started += 1;
            last_start = last_start.max(start);
            waits += i128::from((start - eligible).max(0));
            let run = (end - start).max(0) as u128;
            allocated += run * u128::from(job.cpus);
            requested += run * u128::from(job.requested);
        }
        edges.sort_unstable();
        let (mut queue, mut peak, mut area) = (0i64, 0i64, 0i128);
        let first = edges.first().map_or(0, |edge| edge.0);
        let mut before = first;
        for (at, came) in edges {
            area += i128::from(queue) * i128::from(at - before);
            before = at;
            queue += if came { 1 } else { -1 };
            peak = peak.max(queue);
        }
        let submit_span = last_submit.saturating_sub(first_submit).max(1);
        let possible = scenario.cluster.total_cpus() as f64 * submit_span as f64;
        Self {
            offered_load: requested as f64 / possible,
            allocated_load: allocated as f64 / possible,
            started,
            mean_wait: waits as f64 / started.max(1) as f64,
            mean_queue: area as f64 / last_start.saturating_sub(first).max(1) as f64,
            peak_queue: peak.max(0) as u64,
            submit_span,
            ..Self::default()
        }
    }
}

/// CPUs that a job asked for.
fn requested(scenario: &Scenario, job: &Job) -> u32 {
    scenario.workload.requests.get(job.request.index()).map_or(1, |request| {
        request.min_cpus.max(request.tasks.saturating_mul(request.cpus_per_task)).max(request.min_nodes)
    })
}
