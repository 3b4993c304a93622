//! Which job goes to which controller, in one replication.

use std::sync::Arc;

use foresite_engine::ids::JobId;
use foresite_engine::job::{Before, Job, Request, TimeLimit, Workload};
use foresite_engine::rng::{Purpose, Stream};

use super::controllers::{Controller, Place, Split};
use crate::study_document::change::Either;

/// The jobs of each controller, and where each job went.
#[derive(Debug)]
pub(super) struct Assigned {
    /// By controller.
    pub(super) workloads: Vec<Arc<Workload>>,
    /// By job: the controller and the job's place there; `None` where it was refused.
    pub(super) places: Vec<Option<(usize, JobId)>>,
}

/// Assigns every job. O(jobs × controllers).
pub(super) fn assign(split: &Split, workload: &Workload, seed: u64) -> Assigned {
    let controllers = &split.controllers;
    let mut jobs: Vec<Vec<Job>> = vec![Vec::new(); controllers.len()];
    // Requested core-seconds assigned so far.
    let mut loads: Vec<u128> = vec![0; controllers.len()];
    let mut places = Vec::with_capacity(workload.jobs.len());
    for (index, job) in workload.jobs.iter().enumerate() {
        let place = split.places.get(job.request.index()).copied().unwrap_or(Place::Refused);
        let chosen = match split.either {
            Either::First => place.candidates().next(),
            Either::LeastLoaded => least_loaded(place, controllers, &loads),
            Either::Fraction => drawn(place, controllers, seed, index as u64),
        };
        let slot = chosen.and_then(|at| Some((at, jobs.get_mut(at)?, loads.get_mut(at)?)));
        places.push(slot.map(|(at, jobs, load)| {
            *load += workload.requests.get(job.request.index()).map_or(0, |request| core_seconds(job, request));
            jobs.push(own(job));
            (at, JobId::new(jobs.len() - 1))
        }));
    }
    let workloads = jobs
        .into_iter()
        .zip(controllers)
        .map(|(jobs, controller)| {
            Arc::new(Workload {
                trace_order: (0..jobs.len()).map(JobId::new).collect(),
                jobs,
                requests: controller.requests.clone(),
                users: workload.users.clone(),
            })
        })
        .collect();
    Assigned { workloads, places }
}

/// The job as its controller gets it: nodes have other numbers there, so a running job is placed anew.
fn own(job: &Job) -> Job {
    let mut job = job.clone();
    if let Some(Before::Running { nodes, .. }) = job.extra.as_mut().and_then(|extra| extra.before.as_mut()) {
        nodes.clear();
    }
    job
}

fn core_seconds(job: &Job, request: &Request) -> u128 {
    let cores = u128::from(request.min_cpus).max(u128::from(request.tasks) * u128::from(request.cpus_per_task));
    let seconds = match job.time_limit {
        Some(TimeLimit::Minutes(minutes)) => u128::from(minutes) * 60,
        _ => u128::from(if job.estimate > 0 { job.estimate } else { job.run_time }),
    };
    cores * seconds
}

fn least_loaded(place: Place, controllers: &[Controller], loads: &[u128]) -> Option<usize> {
    // a/b < c/d as a·d < c·b: exact, and ties go to the first.
    place.candidates().reduce(|best, at| {
        let load = |at: usize| loads.get(at).copied().unwrap_or(0);
        let capacity = |at: usize| u128::from(controllers.get(at).map_or(0, |controller| controller.capacity));
        if load(at).saturating_mul(capacity(best)) < load(best).saturating_mul(capacity(at)) { at } else { best }
    })
}

fn drawn(place: Place, controllers: &[Controller], seed: u64, job: u64) -> Option<usize> {
    let capacity = |at: usize| controllers.get(at).map_or(0, |controller| controller.capacity);
    let total: u64 = place.candidates().map(capacity).sum();
    let mut draw = Stream::new(seed, Purpose::Controller, job).below(total);
    place.candidates().find(|at| {
        let own = capacity(*at);
        let is_hit = draw < own;
        draw = draw.saturating_sub(own);
        is_hit
    })
}
