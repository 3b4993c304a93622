//! One replication of one scenario: engine outcomes to a schedule and a summary.

use std::sync::Arc;

use foresite_engine::ids::JobId;
use foresite_engine::job::Workload;
use foresite_engine::moments::Moments;
use foresite_engine::observer::{Interrupted, Observer};
use foresite_engine::outcome::{JobRecord, JobState, Outcome, PendingReason, SchedulerCounters};
use foresite_engine::scenario::Scenario;
use foresite_engine::{Draws, simulate, simulate_at};

use super::assign::assign;
use super::{Prepared, Study};
use crate::hostlist::NodeNames;
use crate::schedule_file::{self, Label, Labels, Schedule, ScheduleRow};
use crate::summary_file::Summary;

/// What one replication produced.
#[derive(Clone, Debug, PartialEq)]
pub struct Replicated {
    /// A row per simulated job, in the trace's order.
    pub schedule: Schedule,
    /// The replication in figures; its speed is for the caller to fill in ([`Summary::timed`]).
    pub summary: Summary,
}

impl Replicated {
    /// The schedule file.
    pub fn schedule_csv(&self) -> Vec<u8> {
        schedule_file::write(&self.schedule)
    }
}

/// The seed of a replication (from 0) of a study: replication 0 has the study's own, so that `simulate --seed N` repeats it.
/// Others are mixed from both (splitmix64), so that neighbouring seeds share none.
pub fn replication_seed(seed: u64, replication: u32) -> u64 {
    if replication == 0 {
        return seed;
    }
    mixed(seed, u64::from(replication))
}

pub(super) fn mixed(seed: u64, number: u64) -> u64 {
    let mut bits = mix(seed ^ 0x5851_F42D_4C95_7F2D).wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    bits = mix(bits);
    bits
}

fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

impl Study {
    /// Simulates replication `replication` (from 0) of scenario `scenario` (0 is the baseline).
    /// Baseline and scenarios share the draws of a replication.
    ///
    /// # Errors
    /// [`Interrupted`] when the observer asked to stop, or if there is no such scenario.
    pub fn replicate(
        &self,
        scenario: usize,
        replication: u32,
        observer: &mut impl Observer,
    ) -> Result<Replicated, Interrupted> {
        let draws = Draws { seed: replication_seed(self.document.seed, replication), boot_offset: None };
        self.replicate_with(scenario, draws, observer)
    }

    /// As [`Self::replicate`], with the draws given.
    ///
    /// # Errors
    /// [`Interrupted`] when the observer asked to stop, or if there is no such scenario.
    pub fn replicate_with(
        &self,
        scenario: usize,
        draws: Draws,
        observer: &mut impl Observer,
    ) -> Result<Replicated, Interrupted> {
        self.replicate_at(scenario, draws, None, observer)
    }

    /// As [`Self::replicate_with`], at a recorded controller's moments. They are left aside where the scenario has several
    /// controllers.
    ///
    /// # Errors
    /// [`Interrupted`] when the observer asked to stop, or if there is no such scenario.
    pub fn replicate_at(
        &self,
        scenario: usize,
        draws: Draws,
        moments: Option<&Moments>,
        observer: &mut impl Observer,
    ) -> Result<Replicated, Interrupted> {
        let prepared = self.scenarios.get(scenario).ok_or(Interrupted)?;
        let run = match &prepared.edits {
            None => run(prepared, &prepared.site, draws, moments, observer)?,
            Some(edits) => {
                let workload = Arc::new(edits.apply(&prepared.site, draws.seed));
                run(prepared, &Scenario { workload, ..Scenario::clone(&prepared.site) }, draws, moments, observer)?
            }
        };
        let summary = Summary::of(&run.schedule, prepared.horizon, &run.counters, run.simulated_seconds);
        let pending = run.pending.iter().filter(|(submit, _)| prepared.horizon.counts(*submit));
        let summary = summary.under(&prepared.site.policy).pending_for(pending.map(|&(_, reason)| reason));
        Ok(Replicated { schedule: run.schedule, summary })
    }
}

struct Run {
    schedule: Schedule,
    counters: SchedulerCounters,
    simulated_seconds: i64,
    /// Why jobs of these submit times are left PENDING.
    pending: Vec<(i64, PendingReason)>,
}

/// `site` is the scenario's, its jobs those of this replication.
fn run(
    prepared: &Prepared,
    site: &Scenario,
    draws: Draws,
    moments: Option<&Moments>,
    observer: &mut impl Observer,
) -> Result<Run, Interrupted> {
    let Some(split) = &prepared.split else {
        let outcome = match moments {
            Some(moments) => simulate_at(site, draws, moments, observer)?,
            None => simulate(site, draws, observer)?,
        };
        let schedule = schedule(site, |job| Some((&outcome, &prepared.names, job)));
        let pending = reasons(&outcome, &site.workload).collect();
        return Ok(Run { schedule, simulated_seconds: outcome.simulated_seconds, counters: outcome.counters, pending });
    };
    let assigned = assign(split, &site.workload, draws.seed);
    let total = site.workload.jobs.len();
    let mut before = 0;
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(split.controllers.len());
    for (index, (controller, workload)) in split.controllers.iter().zip(&assigned.workloads).enumerate() {
        let own = Scenario { workload: workload.clone(), ..controller.site.clone() };
        let seed = if index == 0 { draws.seed } else { mixed(draws.seed, (index as u64) << 32) };
        let mut part = |finished: usize, _: usize| observer.progress(before + finished, total);
        outcomes.push(simulate(&own, Draws { seed, ..draws }, &mut part)?);
        before += workload.jobs.len();
    }
    let schedule = schedule(site, |job| {
        let (controller, own) = assigned.places.get(job.index()).copied().flatten()?;
        let names = &split.controllers.get(controller)?.names;
        Some((outcomes.get(controller)?, names, own))
    });
    let counters = outcomes.iter().fold(SchedulerCounters::default(), |sum, outcome| add(sum, &outcome.counters));
    let simulated_seconds = outcomes.iter().map(|outcome| outcome.simulated_seconds).sum();
    let parts = outcomes.iter().zip(&assigned.workloads);
    let pending = parts.flat_map(|(outcome, workload)| reasons(outcome, workload)).collect();
    Ok(Run { schedule, counters, simulated_seconds, pending })
}

fn reasons<'a>(outcome: &'a Outcome, workload: &'a Workload) -> impl Iterator<Item = (i64, PendingReason)> + 'a {
    outcome.pending.iter().filter_map(|&(id, reason)| Some((workload.jobs.get(id.index())?.submit, reason)))
}

/// The rows of all jobs in the trace's order; `found` tells whose outcome holds a job and under which id.
fn schedule<'a>(site: &Scenario, found: impl Fn(JobId) -> Option<(&'a Outcome, &'a NodeNames, JobId)>) -> Schedule {
    let workload = &site.workload;
    let mut schedule = Schedule { rows: Vec::with_capacity(workload.trace_order.len()), ..Schedule::default() };
    let mut known = [
        vec![None; workload.users.len()],
        vec![None; site.associations.rows.len()],
        vec![None; site.cluster.partitions.len()],
        vec![None; site.qos.len()],
    ];
    let [users, accounts, partitions, qos] = &mut known;
    for &id in &workload.trace_order {
        let Some(job) = workload.jobs.get(id.index()) else { continue };
        let held = found(id).filter(|(outcome, _, own)| own.index() < outcome.records.len());
        let record = match held {
            Some((outcome, _, own)) => *outcome.record(own),
            None => JobRecord { state: JobState::Cancelled, end: Some(job.submit), ..JobRecord::PENDING },
        };
        let node_list_begin = schedule.node_lists.len();
        if let Some((outcome, names, own)) = held.filter(|_| record.start.is_some()) {
            names.hostlist(outcome.node_ranges_of(own), &mut schedule.node_lists);
        }
        let node_list_len = schedule.node_lists.len() - node_list_begin;
        let request = workload.requests.get(job.request.index());
        let partition = request.and_then(|request| request.partitions.get(usize::from(record.partition)));
        let partition = partition.map_or(usize::MAX, |it| it.index());
        let labels = &mut schedule.labels;
        let row = ScheduleRow {
            job: job.name,
            user: label(labels, users, job.user.index(), |user| workload.users.get(user)),
            account: label(labels, accounts, job.association.index(), |row| {
                Some(&site.associations.rows.get(row)?.account)
            }),
            partition: label(labels, partitions, partition, |it| Some(&site.cluster.partitions.get(it)?.name)),
            qos: label(labels, qos, job.qos.index(), |it| Some(&site.qos.get(it)?.name)),
            submit: job.submit,
            eligible: record.eligible,
            start: record.start,
            end: record.end,
            state: record.state,
            nodes: record.n_nodes,
            cpus: record.cpus,
            node_list_begin,
            node_list_len,
            started_by: record.started_by,
        };
        schedule.rows.push(row);
    }
    schedule
}

/// The label of thing number `index`; its name is looked up the first time only.
fn label<'a>(
    labels: &mut Labels,
    known: &mut [Option<Label>],
    index: usize,
    name: impl FnOnce(usize) -> Option<&'a String>,
) -> Label {
    if let Some(label) = known.get(index).copied().flatten() {
        return label;
    }
    let label = labels.intern(name(index).map_or("", String::as_str));
    if let Some(known) = known.get_mut(index) {
        *known = Some(label);
    }
    label
}

fn add(sum: SchedulerCounters, other: &SchedulerCounters) -> SchedulerCounters {
    SchedulerCounters {
        main_cycles: sum.main_cycles + other.main_cycles,
        main_depth: sum.main_depth + other.main_depth,
        main_started: sum.main_started + other.main_started,
        backfill_cycles: sum.backfill_cycles + other.backfill_cycles,
        backfill_depth: sum.backfill_depth + other.backfill_depth,
        backfill_tests: sum.backfill_tests + other.backfill_tests,
        backfill_started: sum.backfill_started + other.backfill_started,
        queue_length_max: sum.queue_length_max.max(other.queue_length_max),
        backfill_exit_end: sum.backfill_exit_end + other.backfill_exit_end,
        backfill_exit_max_test: sum.backfill_exit_max_test + other.backfill_exit_max_test,
        backfill_exit_max_start: sum.backfill_exit_max_start + other.backfill_exit_max_start,
        backfill_exit_table_size: sum.backfill_exit_table_size + other.backfill_exit_table_size,
        backfill_exit_max_time: sum.backfill_exit_max_time + other.backfill_exit_max_time,
        backfill_exit_state_changed: sum.backfill_exit_state_changed + other.backfill_exit_state_changed,
        backfill_unexplained: sum.backfill_unexplained + other.backfill_unexplained,
        backfill_foregone: sum.backfill_foregone + other.backfill_foregone,
        priority_steps: sum.priority_steps + other.priority_steps,
        requeued: sum.requeued + other.requeued,
        preempted: sum.preempted + other.preempted,
    }
}
