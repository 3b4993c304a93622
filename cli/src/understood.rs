//! What was understood of a site, in a few lines.

use foresite_engine::policy::Scheduler;
use foresite_engine::scenario::Scenario;
use foresite_formats::trace::{Trace, TraceFormat};

/// Cluster, scheduling, accounts and jobs, a line each.
pub(crate) fn of(site: &Scenario) -> Vec<String> {
    let cluster = &site.cluster;
    let name = if cluster.name.is_empty() { "cluster" } else { &cluster.name };
    let partitions: Vec<&str> = cluster.partitions.iter().map(|partition| partition.name.as_str()).take(12).collect();
    let more = if cluster.partitions.len() > partitions.len() { ", …" } else { "" };
    let in_service = cluster.nodes.iter().filter(|node| node.schedulable);
    let cpus: u64 = in_service.clone().map(|node| u64::from(node.cpus)).sum();
    let nodes = in_service.count();
    let others = match cluster.nodes.len() - nodes {
        0 => String::new(),
        others => format!(" (and {others} nodes DOWN, DRAIN, FAIL or FUTURE, which run nothing)"),
    };
    let partitions = partitions.join(", ");
    let mut lines =
        vec![format!("cluster     {name}: {nodes} nodes, {cpus} CPUs{others}; partitions {partitions}{more}")];
    let policy = &site.policy;
    let scheduler = match policy.scheduler {
        Scheduler::SlurmBackfill => "main and backfill scheduler",
        Scheduler::SlurmBuiltin => "main scheduler only",
        Scheduler::Fcfs => "first come, first served",
        Scheduler::Sjf => "shortest job first",
        Scheduler::Easy => "EASY backfilling",
        Scheduler::Conservative => "conservative backfilling",
    };
    let priority = if policy.priority.multifactor { "multifactor priority" } else { "basic priority" };
    lines.push(format!("scheduling  {scheduler}, {priority}"));
    let rows = &site.associations.rows;
    let users = rows.iter().filter(|row| row.user.is_some()).count();
    lines.push(format!("accounts    {} accounts, {users} users in them, {} QOS", rows.len() - users, site.qos.len()));
    let calendar = &site.calendar;
    if !calendar.is_empty() {
        let (reservations, outages) = (calendar.reservations.len(), calendar.outages.len());
        lines.push(format!("calendar    {reservations} reservations, {outages} outages of nodes"));
    }
    let workload = &site.workload;
    let submits = workload.jobs.iter().map(|job| job.submit);
    if let Some(period) = period(submits) {
        let (jobs, users, kinds) = (workload.jobs.len(), workload.users.len(), workload.requests.len());
        lines.push(format!("jobs        {jobs} of {users} users, {period}, {kinds} kinds of request"));
    }
    lines
}

/// The jobs of a trace without a cluster, in a line.
pub(crate) fn of_trace(trace: &Trace) -> String {
    let format = match trace.format {
        TraceFormat::Sacct => "sacct",
        TraceFormat::Swf => "Standard Workload Format",
    };
    let period = period(trace.jobs.iter().map(|job| job.submit)).unwrap_or_default();
    format!("jobs        {} in {format}, {period}", trace.jobs.len())
}

fn period(submits: impl Iterator<Item = i64> + Clone) -> Option<String> {
    let (first, last) = (submits.clone().min()?, submits.max()?);
    let time = |seconds: i64| jiff::Timestamp::from_second(seconds).map(|at| at.to_string()).unwrap_or_default();
    let days = (last - first) as f64 / 86_400.0;
    Some(format!("submitted {} to {} ({days:.1} days)", time(first), time(last)))
}
