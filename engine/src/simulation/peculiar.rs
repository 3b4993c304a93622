//! Jobs that the shorter ways to a decision know nothing of: while one waits, every cycle is gone through.

use crate::ids::JobId;
use crate::job::{GresScope, Job, Request};
use crate::scenario::Scenario;
use crate::select::{first_that_fits, last_looked_at, past_tasks};
use crate::simulation::{Controller, becomes_sharing, becomes_whole, gpu_memory};

/// Which jobs those are.
#[derive(Debug)]
pub(crate) struct Peculiar {
    /// All, so also while nobody waits: every cycle was asked for, or reservations draw jobs (`MAGNETIC`).
    always: bool,
    /// By request.
    requests: Box<[bool]>,
}

impl Peculiar {
    /// The jobs of a scenario. O(requests × partitions).
    pub(super) fn of(scenario: &Scenario, every_cycle: bool) -> Self {
        let draws = scenario.calendar.reservations.iter().any(|reservation| reservation.flags.magnetic);
        let requests = scenario.workload.requests.iter().map(|request| is_peculiar(scenario, request));
        Self { always: every_cycle || draws, requests: requests.collect() }
    }
}

/// Whether it waits for switches, asks for contiguous nodes or for GRES of few sockets (of which more may serve a job worse), may become one of
/// whole nodes or one that shares, has a memory that its last test decides, may have more nodes than tasks, may be held by a test, or
/// has its GPUs summed over nodes (so that fewer nodes may serve it better).
fn is_peculiar(scenario: &Scenario, request: &Request) -> bool {
    let select = &scenario.policy.select;
    (select.topology_tree && request.switches.is_some())
        || request.contiguous
        || binds_to_sockets(request)
        || becomes_whole::may_become_whole(scenario, request)
        || becomes_sharing::may_become_sharing(scenario, request)
        || gpu_memory::lags(scenario, request)
        || last_looked_at::may_hold(&scenario.cluster, &scenario.policy, request)
        || first_that_fits::counted_over_nodes(&scenario.policy, request).is_some()
        || past_tasks::may_start_on_more(&scenario.cluster, &scenario.policy, request)
}

/// Whether sockets with more units free take others away from it (`--gres-flags=enforce-binding`; [`crate::select::near`]).
fn binds_to_sockets(request: &Request) -> bool {
    let of_job = |scope: GresScope| matches!(scope, GresScope::PerJob | GresScope::PerTask);
    let cpus = request.min_cpus.max(request.tasks.saturating_mul(request.cpus_per_task.max(1)));
    request.enforces_binding
        && (request.ntasks_per_socket.is_some() || cpus / request.min_nodes.max(1) <= 1)
        && request.gres.iter().any(|wanted| of_job(wanted.scope))
}

/// Whether it prefers features, or is cancelled when somebody comes to it too late.
fn is_extra(job: &Job) -> bool {
    job.extra.as_ref().is_some_and(|extra| extra.prefer.is_some() || extra.deadline.is_some())
}

impl Controller<'_> {
    /// Whether a job is one of them. O(1).
    pub(super) fn is_peculiar(&self, id: JobId) -> bool {
        let job = self.job(id);
        self.peculiar.requests[job.request.index()] || is_extra(job) || self.came_untested(id)
    }

    /// Whether cycles that provably repeat the one before are gone through all the same. O(1).
    pub(crate) fn every_cycle(&self) -> bool {
        self.peculiar.always || self.queue.any_peculiar()
    }

    /// Whether every test of when and where is made as it is defined: then, and where cores are used twice. O(1).
    pub(crate) fn by_definition(&self) -> bool {
        self.shares_cores || self.every_cycle()
    }
}
