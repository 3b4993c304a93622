//! Jobs that are cancelled, or wait, without having been eligible (rec ax-core: thirty rows without Eligible, each of a job that depended
//! on others).

use super::*;

const END: &str = "2024-01-01T02:00:00";
const CANCELLED: [(&str, &str); 5] =
    [("State", "CANCELLED by 0"), ("ElapsedRaw", "0"), ("Start", "None"), ("End", END), ("AllocTRES", "")];
const PENDING: [(&str, &str); 5] =
    [("State", "PENDING"), ("ElapsedRaw", "0"), ("Start", "Unknown"), ("End", "Unknown"), ("AllocTRES", "")];

/// Of a job beside another that ended at [`END`]: its release and the end of its wait [s after its submission], and what is said of it.
fn waits(changes: &[&[(&str, &str)]]) -> (i64, Option<i64>, Vec<(CaveatKind, u64)>) {
    let other = row(&[("JobID", "2"), ("End", END), ("ElapsedRaw", "6715")]);
    let trace = trace(&format!("{HEADER}\n{}\n{other}\n", row(&changes.concat())));
    let job = &trace.jobs[0];
    (job.release - SUBMIT, job.cancelled_at.map(|at| at - SUBMIT), caveats(&trace))
}

#[test]
fn who_left_the_queue_without_eligible_never_could_start() {
    let never = vec![(CaveatKind::NeverEligible, 1)];
    assert_eq!(waits(&[&CANCELLED, &[("Eligible", "Unknown")]]), (6720, Some(6720), never.clone()));
    // Who waits is held to the trace's end, whatever the command line says of a begin time: `scontrol hold` takes Eligible back.
    assert_eq!(waits(&[&PENDING, &[("Eligible", "Unknown")]]), (6720, Some(6720), never.clone()));
    let held = ("SubmitLine", "sbatch -t 0:11:00 -N 4 -n 48 --mem=24000 -H --begin=now+60");
    assert_eq!(waits(&[&PENDING, &[("Eligible", "Unknown"), held]]), (6720, Some(6720), never.clone()));
    assert_eq!(waits(&[&CANCELLED, &[("Eligible", "Unknown"), held]]), (6720, Some(6720), never));
}

#[test]
fn what_holds_a_job_is_simulated_where_it_is_told() {
    let depends = ("SubmitLine", "sbatch -t 0:11:00 -N 4 -n 48 --mem=24000 --dependency=afterok:2");
    assert_eq!(waits(&[&CANCELLED, &[("Eligible", "Unknown"), depends]]), (0, Some(6720), vec![]));
    assert_eq!(waits(&[&PENDING, &[("Eligible", "Unknown"), depends]]).1, None);
    // Nothing in the column tells nothing.
    assert_eq!(waits(&[&CANCELLED, &[("Eligible", "")]]), (0, Some(6720), vec![]));
}

#[test]
fn a_begin_time_after_the_trace_does_not_lengthen_it() {
    for year in ["2024-01-01T02:00:01", "2090-01-01", "2190-01-01"] {
        let line = format!("sbatch -t 0:11:00 -N 4 -n 48 --mem=24000 --begin={year}");
        let eligible = if year.len() > 10 { year.to_owned() } else { format!("{year}T00:00:00") };
        let (_, cancelled_at, said) = waits(&[&PENDING, &[("Eligible", &eligible), ("SubmitLine", &line)]]);
        assert_eq!((cancelled_at, said), (Some(6720), vec![(CaveatKind::NeverEligible, 1)]));
        // Who is cancelled before does not either.
        let cancelled = waits(&[&CANCELLED, &[("Eligible", &eligible), ("SubmitLine", &line)]]);
        assert_eq!(cancelled.1, Some(6720));
    }
    let line = "sbatch -t 0:11:00 -N 4 -n 48 --mem=24000 --begin=2024-01-01T02:00:00";
    assert_eq!(waits(&[&PENDING, &[("Eligible", END), ("SubmitLine", line)]]).1, None);
}

/// Which scheduler comes to it when is simulated; the recorded one may have come late.
#[test]
fn a_missed_deadline_is_nobodys_cancellation() {
    let missed = [("State", "DEADLINE"), ("End", "2024-01-01T01:00:24")];
    let line = ("SubmitLine", "sbatch -t 0:11:00 -N 4 -n 48 --mem=24000 --deadline=2024-01-01T00:59:03");
    assert_eq!(waits(&[&CANCELLED, &missed, &[line]]), (0, Some(6720), vec![]));
    // Where the deadline is not told, its end is.
    assert_eq!(waits(&[&CANCELLED, &missed]), (0, Some(3144), vec![]));
}

#[test]
fn who_was_queued_again_and_is_held_ran_before() {
    let first = row(&[("State", "REQUEUED")]);
    let again = row(&[&PENDING[..], &[("Submit", "2024-01-01T00:08:22"), ("Eligible", "Unknown")]].concat());
    let other = row(&[("JobID", "2"), ("End", END), ("ElapsedRaw", "6715")]);
    let trace = trace(&format!("{HEADER}\n{first}\n{again}\n{other}\n"));
    let job = &trace.jobs[0];
    assert_eq!((job.release, job.cancelled_at), (SUBMIT, Some(SUBMIT + 6720)));
    assert_eq!(job.extra.as_ref().unwrap().earlier_runs.len(), 1);
}

/// Exports of two days, put together: held in the first, let go, run, queued again and done by the second.
#[test]
fn who_was_held_in_one_export_and_ran_by_the_next_is_one_job() {
    let held = row(&[&PENDING[..], &[("Eligible", "Unknown")]].concat());
    let ran = row(&[("Submit", "2024-01-01T00:08:22"), ("Eligible", "2024-01-01T00:08:22")]);
    let trace = trace(&format!("{HEADER}\n{held}\n{ran}\n"));
    assert_eq!(trace.jobs.len(), 1);
    let job = &trace.jobs[0];
    assert_eq!((job.release - SUBMIT, job.cancelled_at), (22, None));
    assert_eq!(caveats(&trace), [(CaveatKind::Requeued, 1)]);
}

/// Overlapping exports, in either order: who is eligible in one of them is.
#[test]
fn who_was_held_in_one_export_and_waits_in_the_next_is_eligible() {
    let held = row(&[&PENDING[..], &[("JobID", "1_[1-2]"), ("Eligible", "Unknown")]].concat());
    let waits = row(&[&PENDING[..], &[("JobID", "1_[1-2]")]].concat());
    for rows in [[&held, &waits], [&waits, &held]] {
        let trace = trace(&format!("{HEADER}\n{}\n{}\n", rows[0], rows[1]));
        let found: Vec<_> = trace.jobs.iter().map(|job| (job.release, job.cancelled_at)).collect();
        assert_eq!(found, [(SUBMIT, None); 2]);
    }
}

#[test]
fn the_last_run_that_ended_with_its_node_is_named() {
    assert_eq!(caveats(&trace(&with(&[("State", "NODE_FAIL")]))), [(CaveatKind::NodeFailLast, 1)]);
    let line = "sbatch -t 0:11:00 -N 4 -n 48 --mem=24000 --no-requeue";
    assert_eq!(caveats(&trace(&with(&[("State", "NODE_FAIL"), ("SubmitLine", line)]))), []);
}
