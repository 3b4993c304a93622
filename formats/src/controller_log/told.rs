//! What one line of slurmctld.log tells.

/// What a line tells.
pub(super) enum Told<'l> {
    Main {
        full: bool,
    },
    Backfill,
    BackfillDone {
        us: i64,
    },
    /// The agent of `sched/builtin` begins.
    Builtin,
    Decay,
    Arrives(&'l str),
    Starts(&'l str),
    Ends {
        job: &'l str,
        killed: bool,
    },
    /// scancel asks for this job, which may be an array.
    Asks(&'l str),
    /// A running job gets SIGKILL: from scancel, if that asked for it (by its id, or by its record's).
    Struck {
        job: &'l str,
        raw: &'l str,
    },
    Returns(&'l str),
    /// This node is about to answer.
    Answers(&'l str),
    /// A node has answered that a job has left it.
    Left(&'l str),
    /// That which returned last was done before.
    WasDone(&'l str),
    Reserves(&'l str),
    /// `scontrol hold`, or `release`.
    Holds {
        job: &'l str,
        held: bool,
    },
    Fails(&'l str),
    Serves(&'l str),
    /// A node that was let serve again answers: only now it does.
    Responds(&'l str),
    /// Somebody has a job that runs queued again.
    Requeued(&'l str),
    /// Preemption has struck a job, or ends it, its grace time being over.
    Preempted {
        job: &'l str,
        by_scan: bool,
    },
}

/// The id after `JobId=`, without the raw id in parentheses.
fn job_id(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("JobId=")?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '_' || c == '+')).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|id| !id.is_empty())
}

/// The raw id in parentheses.
fn raw_id(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("JobId=")?;
    rest.split_once('(')?.1.split_once(')').map(|(raw, _)| raw)
}

/// What one line tells, if anything. O(its length).
pub(super) fn told(text: &str) -> Option<Told<'_>> {
    if text.contains("Running job scheduler for") {
        Some(Told::Main { full: text.contains("full queue") })
    } else if text.contains("_attempt_backfill: beginning") {
        Some(Told::Backfill)
    } else if text.contains("_attempt_backfill: completed testing") {
        let us = text.rsplit_once("usec=")?.1.trim().parse().ok()?;
        Some(Told::BackfillDone { us })
    } else if text.contains("Built-in scheduler plugin loaded") {
        Some(Told::Builtin)
    } else if text.contains("_read_last_decay_ran") {
        Some(Told::Decay)
    } else if text.contains("_submit_batch_job: JobId=") || text.contains("_submit_batch_het_job: JobId=") {
        job_id(text).map(Told::Arrives)
    } else if text.contains("sched: Allocate JobId=")
        || text.contains("_start_job: Started JobId=")
        // From 26.05 on backfill says it only so (backfill.c of 26.05.3, `_start_job`).
        || (text.contains("select_nodes: [JobId=") && text.contains("change state: PENDING -> RUNNING"))
    {
        job_id(text).map(Told::Starts)
    } else if text.contains("_job_complete: JobId=") && !text.trim_end().ends_with("done") {
        job_id(text).map(|job| Told::Ends { job, killed: false })
    } else if text.contains("Time limit exhausted for JobId=")
        || text.contains("Reservation ended for JobId=")
        || text.contains(" timed out, ")
    {
        job_id(text).map(|job| Told::Ends { job, killed: true })
    } else if text.contains("_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=") {
        job_id(text).map(Told::Asks)
    } else if text.contains("job_signal: 9 of running JobId=") {
        job_id(text).map(|job| Told::Struck { job, raw: raw_id(text).unwrap_or(job) })
    } else if text.contains("job_epilog_complete: enter JobId=") {
        job_id(text).map(Told::Left)
    } else if let Some((_, rest)) = text.split_once("_slurm_rpc_epilog_complete: node_name = ") {
        rest.split_once(',').map(|(node, _)| Told::Answers(node))
    } else if text.trim_start().starts_with("Requeuing JobId=") {
        job_id(text).map(Told::Returns)
    } else if text.contains("_job_requeue_op: JobId=") && text.contains(" state 0x0 ") {
        job_id(text).map(Told::WasDone)
    } else if text.contains("_hold_job_rec: hold on JobId=") {
        job_id(text).map(|job| Told::Holds { job, held: true })
    } else if text.contains("_release_job_rec: release hold on JobId=") {
        job_id(text).map(|job| Told::Holds { job, held: false })
    } else if let Some((_, rest)) = text.split_once("sched: Created reservation=") {
        rest.split_whitespace().next().map(Told::Reserves)
    } else if let Some((_, node)) =
        text.split_once(" due to failure of node ").or_else(|| text.split_once(" on failed node "))
    {
        // It is down before its jobs are queued again, though the log says so after that.
        Some(Told::Fails(node.trim_end()))
    } else if let Some((_, rest)) = text.split_once("update_node: node ") {
        let (node, state) = rest.split_once(" state set to ")?;
        match state.trim_end() {
            "DOWN" => Some(Told::Fails(node)),
            "IDLE" | "ALLOCATED" | "MIXED" => Some(Told::Serves(node)),
            _ => None,
        }
    } else if let Some((_, rest)) = text.split_once("node_did_resp: node ") {
        rest.split_once(" returned to service").map(|(node, _)| Told::Serves(node))
    } else if let Some(rest) = text.trim_start().strip_prefix("Node ") {
        rest.split_once(" now responding").map(|(node, _)| Told::Responds(node))
    } else if text.contains("_job_requeue_op: JobId=") && text.contains(" state 0x8000 ") {
        job_id(text).map(Told::Requeued)
    } else if text.contains("to reclaim resources for JobId=") {
        // If its grace time was over: it is killed or requeued.
        job_id(text).map(|job| Told::Preempted { job, by_scan: text.contains("for JobId=Invalid") })
    } else {
        None
    }
}
