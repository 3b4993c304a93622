//! From a trace's names to a site's ids: the engine's workload.

mod before;
mod features;
mod known;
mod past_limits;
mod people;
mod remarks;
mod requests;
mod swf_site;

use foresite_engine::cluster::UNLIMITED_OVER_TIME;
use foresite_engine::ids::{JobId, RequestId};
use foresite_engine::job::{EarlierRun, Job, JobExtra, Request, RunEnd, TimeLimit, Workload};

pub use swf_site::swf_site;

use super::maps::Map;
use super::model::{Trace, TraceFormat, TraceJob, TraceRun};
use super::states::TraceState;
use crate::diagnostic::{Diagnostic, Severity, any_error};
use crate::site::Site;
use before::Standing;
use known::Known;
use past_limits::PastLimits;
use people::People;
use remarks::{About, Remarks};
use requests::RequestLowering;

/// Makes a trace into the workload of `site`: names become ids, equal requests one, jobs stand in submit order.
///
/// Users, accounts and QOS that the site does not have are added to it (one share, priority 0) and named. A partition that
/// is not there is an error. O(jobs × log jobs).
pub fn lower(trace: &Trace, site: &mut Site) -> (Option<Workload>, Vec<Diagnostic>) {
    let mut remarks = Remarks::new(&trace.file, site.has_accounts);
    let (requests, ids) = lower_requests(trace, site, &mut remarks);
    let mut people = People::of(site);
    let known = Known::of(trace);
    let mut order: Vec<u32> = (0..u32::try_from(trace.jobs.len()).unwrap_or(u32::MAX)).collect();
    if !trace.jobs.is_sorted_by_key(|job| (job.submit, job.name)) {
        order.sort_by_key(|&index| trace.jobs.get(index as usize).map(|job| (job.submit, job.name)));
    }
    let mut workload = Workload { requests, trace_order: vec![JobId(0); trace.jobs.len()], ..Workload::default() };
    workload.jobs.reserve_exact(trace.jobs.len());
    let standing = Standing::new(trace, site);
    let mut past_limits = PastLimits::new(site);
    for &index in &order {
        let Some(job) = trace.jobs.get(index as usize) else { continue };
        let request = ids.get(job.request as usize).copied().unwrap_or(RequestId(0));
        let is_reserved = workload.requests.get(request.index()).is_some_and(|request| request.reservation.is_some());
        if let Some(place) = workload.trace_order.get_mut(index as usize) {
            *place = JobId::new(workload.jobs.len());
        }
        let mut lowered = lower_job(trace, job, (request, is_reserved), &known, &mut people, site, &mut remarks);
        let qos = site.qos.get(lowered.qos.index());
        lowered.request = past_limits.request(lowered.request, qos, &mut workload.requests);
        if let Some(opens) = trace.opens.filter(|&opens| job.submit < opens) {
            standing.stand(&mut lowered, job, opens, &mut remarks.of(1, job.line));
        }
        workload.jobs.push(lowered);
    }
    workload.users = people.finish(&mut remarks);
    let mut diagnostics = remarks.finish();
    if trace.format == TraceFormat::Swf {
        let message = "SWF's queue and partition numbers are ignored: every job goes to the default partition";
        diagnostics.push(Diagnostic::new(Severity::Assumed, &trace.file, message));
    }
    ((!any_error(&diagnostics)).then_some(workload), diagnostics)
}

/// Every request of the trace with its jobs counted; the id of each.
fn lower_requests(trace: &Trace, site: &mut Site, remarks: &mut Remarks) -> (Vec<Request>, Vec<RequestId>) {
    let mut uses = vec![(0u64, 0u64); trace.requests.len()];
    for job in &trace.jobs {
        if let Some((count, line)) = uses.get_mut(job.request as usize) {
            *line = if *count == 0 { job.line } else { *line };
            *count += 1;
        }
    }
    let mut lowering = RequestLowering::new(&trace.strings, site);
    let mut requests = Vec::new();
    let mut interned: Map<Request, RequestId> = Map::default();
    let mut ids = Vec::with_capacity(trace.requests.len());
    for (asked, &(count, line)) in trace.requests.iter().zip(&uses) {
        // Only rows that repeat a job asked for it.
        if count == 0 {
            ids.push(RequestId(0));
            continue;
        }
        let request = lowering.request(asked, &mut remarks.of(count, line));
        let id = *interned.entry(request).or_insert_with_key(|request| {
            requests.push(request.clone());
            RequestId::new(requests.len() - 1)
        });
        ids.push(id);
    }
    (requests, ids)
}

/// The first partition of a job, which decides about its association; the default one if it names none. Those that take no jobs are dropped from a
/// list before (rec w2326).
fn request_partition<'a>(trace: &'a Trace, job: &TraceJob, site: &'a Site) -> Option<&'a str> {
    let asked = trace.requests.get(job.request as usize)?;
    let mut names = trace.strings.text(asked.partitions).split(',').map(str::trim).filter(|name| !name.is_empty());
    let accepts = |name: &&str| {
        let known = site.cluster.partition_named(name).and_then(|id| site.cluster.partitions.get(id.index()));
        known.is_some_and(|partition| partition.state.accepts())
    };
    match names.clone().find(accepts).or_else(|| names.next()) {
        Some(name) => Some(name),
        None => site.cluster.partitions.get(site.cluster.default_partition()?.index()).map(|found| found.name.as_str()),
    }
}

fn lower_job(
    trace: &Trace,
    job: &TraceJob,
    (request, is_reserved): (RequestId, bool),
    known: &Known,
    people: &mut People,
    site: &mut Site,
    remarks: &mut Remarks,
) -> Job {
    let texts = &trace.strings;
    let mut about = remarks.of(1, job.line);
    let partition = || request_partition(trace, job, site);
    let association = match people.association_in(job.account, job.user, partition, texts) {
        Some(association) => association,
        None => people.association(job.account, job.user, texts, site, job.line),
    };
    let qos = people.qos(job.qos, association, texts, site, job.line);
    let names_one = trace.requests.get(job.request as usize).is_some_and(|asked| !asked.reservation.is_empty());
    let mut release = if names_one && !is_reserved { job.eligible } else { job.release };
    let extra = job.extra.as_ref().map(|extra| {
        let (mut dependencies, mut begin) = (extra.dependencies.clone(), extra.begin);
        if dependencies.as_ref().is_some_and(|dependencies| !known.has_all(dependencies, job)) {
            let asked = extra.dependencies.as_ref().filter(|asked| known.never_met(asked, job, begin));
            if let Some(asked) = asked {
                about.say(About::DependencyNever, "");
                dependencies = Some(known.unmet(asked, job));
            } else {
                about.say(About::DependencyOutside, "");
                // It was not eligible before its begin time either.
                (dependencies, begin) = (None, None);
                release = known.released(job);
            }
        }
        Box::new(JobExtra {
            begin,
            deadline: extra.deadline,
            time_min: extra.time_min,
            dependencies,
            array_task_limit: extra.array_task_limit,
            job_name: (!extra.job_name.is_empty()).then(|| texts.text(extra.job_name).to_owned()),
            earlier_runs: extra.earlier_runs.iter().map(earlier_run).collect(),
            requeue: extra.requeue,
            kill_on_invalid_dep: extra.kill_on_invalid_dep,
            prefer: (!extra.prefer.is_empty())
                .then(|| features::parse(texts.text(extra.prefer), &site.cluster.features, &mut about)),
            before: None,
        })
    });
    let limit_of_run = limit_of_run(trace, job, site);
    if limit_of_run.is_some() {
        about.say(About::LimitOfRun, "");
    }
    Job {
        name: job.name,
        submit: job.submit,
        release,
        cancelled_at: job.cancelled_at.unwrap_or(i64::MAX),
        run_time: job.run_time,
        estimate: job.estimate,
        time_limit: limit_of_run.or(job.time_limit),
        run_time_is_bound: job.run_time_is_bound,
        ends: job.state.ends(),
        user: people.user(job.user, texts),
        association,
        qos,
        request,
        nice: job.nice,
        extra,
    }
}

/// Minutes that a TIMEOUT may have run beyond its limit: until somebody looked and KillWait was over.
const OVERRUN: u32 = 5;

/// The limit of a job of which none is recorded, where its run cannot have had its partition's default: it timed out at another time, or ran
/// longer. `OverTimeLimit` is no part of it, and explains every run where it is UNLIMITED. O(partitions).
fn limit_of_run(trace: &Trace, job: &TraceJob, site: &Site) -> Option<TimeLimit> {
    let is_known = job.time_limit.is_some() || job.cancelled_at.is_some() || job.state == TraceState::Pending;
    if is_known || trace.format != TraceFormat::Sacct {
        return None;
    }
    let name = request_partition(trace, job, site)?;
    let partition = site.cluster.partitions.get(site.cluster.partition_named(name)?.index())?;
    let over = partition.over_time_limit.or(site.policy.over_time_limit).filter(|&over| over != UNLIMITED_OVER_TIME)?;
    let default = partition.default_time.or(partition.max_time).unwrap_or(u32::MAX);
    let whole = (job.run_time / 60).saturating_sub(over);
    let is_later = whole.saturating_sub(default) > OVERRUN;
    match job.state {
        TraceState::Timeout if is_later || whole < default => Some(whole.max(1)),
        TraceState::Timeout => None,
        _ => is_later.then_some(whole),
    }
    .map(TimeLimit::Minutes)
}

fn earlier_run(run: &TraceRun) -> EarlierRun {
    let ended_by = match run.state {
        TraceState::Preempted => RunEnd::Preempted,
        TraceState::NodeFail => RunEnd::NodeFail,
        _ => RunEnd::Requeued,
    };
    EarlierRun { run_time: run.run_time, ended_by }
}

#[cfg(test)]
mod tests;
