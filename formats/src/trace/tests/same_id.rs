//! Rows with the same job id.

use super::*;

/// The trace of two rows, which is the same in both orders, but for numbers that count what came first.
fn both_orders(one: &str, other: &str) -> Trace {
    let read = |one: &str, other: &str| trace(&format!("{HEADER}\n{one}\n{other}\n"));
    let (first, second) = (read(one, other), read(other, one));
    let told = |trace: &Trace| {
        let jobs = trace.jobs.iter().map(|job| {
            let unnumbered = TraceJob { line: 0, request: 0, qos: Symbol::EMPTY, ..job.clone() };
            (unnumbered, trace.requests[job.request as usize].min_cpus)
        });
        (jobs.collect::<Vec<_>>(), caveats(trace))
    };
    assert_eq!(told(&first), told(&second));
    first
}

#[test]
fn an_end_beats_an_earlier_state_of_the_same_job_in_whatever_order() {
    let ended = row(&[]);
    for (state, elapsed) in [("RUNNING", "5"), ("SUSPENDED", "5"), ("PENDING", "0")] {
        let open = row(&[("State", state), ("ElapsedRaw", elapsed), ("End", "Unknown"), ("SubmitLine", "")]);
        let trace = both_orders(&open, &ended);
        assert_eq!((trace.jobs.len(), trace.jobs[0].run_time), (1, 17));
        assert_eq!((trace.jobs[0].state, trace.jobs[0].run_time_is_bound), (TraceState::Completed, false));
        let kinds: Vec<_> = caveats(&trace).into_iter().filter(|it| it.0 != CaveatKind::LayoutUnknown).collect();
        assert_eq!(kinds, [(CaveatKind::DuplicateRow, 1)]);
    }
}

#[test]
fn tasks_that_waited_as_one_record_are_known_by_their_later_rows() {
    let rows = [
        row(&[("JobID", "3_[1-3]"), ("State", "PENDING"), ("ElapsedRaw", "0"), ("End", "Unknown")]),
        row(&[("JobID", "3_1")]),
        row(&[("JobID", "3_2"), ("State", "RUNNING"), ("ElapsedRaw", "9"), ("End", "Unknown")]),
    ];
    let trace = trace(&format!("{HEADER}\n{}\n", rows.join("\n")));
    let states: Vec<_> = trace.jobs.iter().map(|job| job.state).collect();
    assert_eq!(states, [TraceState::Completed, TraceState::Running, TraceState::Pending]);
    let expected = [(CaveatKind::StillPending, 1), (CaveatKind::StillRunning, 1), (CaveatKind::DuplicateRow, 2)];
    assert_eq!(caveats(&trace), expected);
}

/// Ids begin anew after the last, or when slurmctld loses its state.
#[test]
fn an_id_used_again_by_the_same_user_is_another_job() {
    let later = |changes: &[(&str, &str)]| {
        let times = [("Submit", "2024-06-01T20:00:00"), ("Eligible", "2024-06-01T20:00:00"), ("ElapsedRaw", "99")];
        row(&[&times[..], changes].concat())
    };
    for (state, end) in [("COMPLETED", "2024-06-01T20:02:00"), ("RUNNING", "Unknown")] {
        let trace = both_orders(&row(&[]), &later(&[("State", state), ("End", end)]));
        assert_eq!(trace.jobs.iter().map(|job| job.run_time).collect::<Vec<_>>(), [17, 99]);
        assert!(caveats(&trace).contains(&(CaveatKind::IdReused, 1)));
    }
    // A requeued run says itself that another one follows: it may have been held.
    let held = both_orders(&row(&[("State", "REQUEUED")]), &later(&[]));
    assert_eq!((held.jobs.len(), caveats(&held)), (1, vec![(CaveatKind::Requeued, 1)]));
}

#[test]
fn on_the_same_day_only_who_asks_for_something_else_is_another_job() {
    let other =
        [("Partition", "gpu"), ("ReqTRES", "cpu=2,node=1"), ("ReqNodes", "1"), ("ReqCPUS", "2"), ("SubmitLine", "")];
    let jobs = |state: &str, submit: &str, changes: &[(&str, &str)]| {
        let first = row(&[("State", state), ("SubmitLine", "")]);
        let second =
            row(&[&[("Submit", submit), ("End", "2024-01-01T09:00:00"), ("SubmitLine", "")], changes].concat());
        both_orders(&first, &second).jobs.len()
    };
    let (soon, later) = ("2024-01-01T00:08:22", "2024-01-01T05:00:00");
    assert_eq!(jobs("COMPLETED", later, &other), 2);
    assert_eq!(jobs("COMPLETED", soon, &other), 1);
    assert_eq!(jobs("NODE_FAIL", later, &other), 1);
    assert_eq!(jobs("FAILED", later, &[("Partition", "gpu")]), 1);
}

/// A row ends with each change of size, and the next one's Submit and Start are the moment of the change.
#[test]
fn a_job_that_changed_its_size_ran_once() {
    let first = row(&[("State", "RESIZING"), ("SubmitLine", "")]);
    let second = row(&[
        ("Submit", "2024-01-01T00:08:22"),
        ("Eligible", "2024-01-01T00:08:22"),
        ("Start", "2024-01-01T00:08:22"),
        ("End", "2024-01-01T00:09:02"),
        ("ElapsedRaw", "40"),
        ("State", "TIMEOUT"),
        ("AllocTRES", "billing=24,cpu=24,mem=48000M,node=2"),
        ("NNodes", "2"),
        ("SubmitLine", ""),
    ]);
    let trace = both_orders(&first, &second);
    let job = &trace.jobs[0];
    assert_eq!((trace.jobs.len(), job.submit, job.run_time), (1, SUBMIT, 57));
    assert_eq!((job.state, job.run_time_is_bound, &job.extra), (TraceState::Timeout, true, &None));
    assert_eq!(request(&trace, 0).min_nodes, 4);
    assert_eq!(caveats(&trace), [(CaveatKind::LayoutUnknown, 2), (CaveatKind::Resized, 1)]);
    // Without what followed it ran on.
    let alone = super::trace(&format!("{HEADER}\n{first}\n"));
    assert!(alone.jobs[0].run_time_is_bound);
    assert!(caveats(&alone).contains(&(CaveatKind::StillRunning, 1)));
}

#[test]
fn a_job_that_changed_its_size_while_the_simulated_part_began_stands_from_its_start() {
    let rows = [
        row(&[("State", "RESIZING")]),
        row(&[
            ("Submit", "2024-01-01T00:08:22"),
            ("Start", "2024-01-01T00:08:22"),
            ("End", "2024-01-01T00:09:02"),
            ("ElapsedRaw", "40"),
        ]),
    ];
    let options = TraceOptions { opens: Some(SUBMIT + 30), ..utc() };
    let (trace, _) = Trace::read("t", format!("{HEADER}\n{}\n", rows.join("\n")).as_bytes(), &options);
    let job = trace.unwrap().jobs.remove(0);
    let before = job.extra.unwrap().before;
    assert!(matches!(before, Some(TraceBefore::Running { since, .. }) if since == SUBMIT + 5), "{before:?}");
}
