//! What jobs are made of rows of `sacct --parsable2`.

use foresite_engine::outcome::JobState;

use super::*;

#[test]
fn a_row_becomes_a_job_with_its_request() {
    let trace = trace(&with(&[]));
    let job = &trace.jobs[0];
    assert_eq!((job.name.to_string().as_str(), job.submit, job.release, job.run_time), ("1", SUBMIT, SUBMIT, 17));
    assert_eq!((job.time_limit, job.estimate, job.state), (Some(TimeLimit::Minutes(11)), 660, TraceState::Completed));
    assert_eq!((job.cancelled_at, job.run_time_is_bound, job.line), (None, false, 2));
    let asked = request(&trace, 0);
    assert_eq!((asked.min_nodes, asked.max_nodes, asked.tasks, asked.min_cpus), (4, Some(4), 48, 48));
    assert_eq!((asked.memory, asked.memory_is_recorded), (Memory::PerNode(24_000), false));
    assert_eq!(trace.strings.text(job.user), "user5");
    assert!(trace.caveats.is_empty());
}

#[test]
fn the_recorded_schedule_is_never_taken() {
    let timeout = [("JobID", "2"), ("State", "TIMEOUT"), ("ElapsedRaw", "660"), ("SubmitLine", "")];
    let killed =
        [("JobID", "3"), ("State", "CANCELLED by 7"), ("ElapsedRaw", "5"), ("SubmitLine", "sbatch -n 48 job.sh")];
    let waiting = [
        ("JobID", "4"),
        ("State", "CANCELLED by 7"),
        ("ElapsedRaw", "0"),
        ("End", "2024-01-01T03:00:00"),
        ("Start", "2024-01-01T03:00:00"),
    ];
    let all = [&[][..], &timeout, &killed, &waiting];
    let rows: Vec<String> = all.iter().map(|changes| row(changes)).collect();
    let blanks = [("Start", ""), ("NodeList", ""), ("Flags", ""), ("Priority", ""), ("Reason", "")];
    let ends = ["2024-01-01T00:08:17", "2024-01-01T00:19:00", "2024-01-01T00:08:05", "2024-01-01T03:00:00"];
    let blanked: Vec<String> =
        all.iter().zip(ends).map(|(changes, end)| row(&[changes, &blanks[..], &[("End", end)]].concat())).collect();
    let (mut with, without) =
        (trace(&format!("{HEADER}\n{}", rows.join("\n"))), trace(&format!("{HEADER}\n{}", blanked.join("\n"))));
    // Beside what is simulated, starts are kept.
    let started: Vec<_> =
        with.jobs.iter_mut().map(|job| job.started.take().map(|start| (start.wait, start.cpus.get()))).collect();
    assert_eq!(started, [Some((5, 48)), Some((5, 48)), Some((5, 48)), None]);
    assert_eq!(with.jobs, without.jobs);
    assert_eq!(with.requests, without.requests);
    assert_eq!(with.jobs[3].cancelled_at, Some(SUBMIT + 10_320));
    assert!(with.jobs[1].run_time_is_bound);
}

#[test]
fn without_an_elapsed_column_the_run_time_is_end_less_start() {
    let text = "JobID|Submit|Start|End|State|ReqCPUS\n\
                1|2024-01-01T00:08:00|2024-01-01T00:10:00|2024-01-01T00:11:00|COMPLETED|1\n\
                2|2024-01-01T00:08:00||2024-01-01T00:09:00|COMPLETED|1\n\
                3|2024-01-01T00:08:00|None|2024-01-01T00:09:30|CANCELLED by 1|1\n";
    let trace = trace(text);
    let times: Vec<_> = trace.jobs.iter().map(|job| (job.run_time, job.cancelled_at)).collect();
    assert_eq!(times, [(60, None), (60, None), (0, Some(SUBMIT + 90))]);
}

#[test]
fn an_end_before_the_start_is_named_where_no_elapsed_time_is_recorded() {
    let text = "JobID|Submit|Start|End|State|ReqCPUS\n\
                1|2024-01-01T00:08:00|2024-01-01T00:10:00|2024-01-01T00:11:00|COMPLETED|1\n\
                2|2024-01-01T00:08:00|2024-01-01T01:00:00|2024-01-01T00:30:00|FAILED|1\n\
                3|2024-01-01T00:08:00||2024-01-01T00:07:00|COMPLETED|1\n";
    let trace = trace(text);
    let found = trace.caveats.iter().find(|it| it.kind == CaveatKind::EndBeforeStart);
    assert_eq!(found.map(|it| (it.count, it.line)), Some((2, 3)));
    assert_eq!(trace.jobs.iter().map(|job| job.run_time).collect::<Vec<_>>(), [60, 0, 0]);
}

#[test]
fn steps_are_left_out_and_arrays_are_one_job_a_task() {
    let rows = [
        row(&[("JobID", "38_5")]),
        row(&[("JobID", "38_5.batch"), ("State", "")]),
        row(&[("JobID", "38_[6-8%2]"), ("State", "PENDING"), ("ElapsedRaw", "0"), ("End", "Unknown")]),
        row(&[("JobID", "40+1")]),
        row(&[("JobID", "40+1.extern")]),
    ];
    let trace = trace(&format!("{HEADER}\n{}\n", rows.join("\n")));
    let names: Vec<String> = trace.jobs.iter().map(|job| job.name.to_string()).collect();
    assert_eq!(names, ["38_5", "38_6", "38_7", "38_8", "40+1"]);
    assert_eq!(trace.jobs[1].extra.as_ref().unwrap().array_task_limit, Some(2));
    assert!(trace.jobs[1].run_time_is_bound);
    assert_eq!(trace.jobs[4].name.part, JobPart::Component(1));
    // The command line has no second component, so what that asks for was said in its script.
    assert_eq!(caveats(&trace), [(CaveatKind::ScriptOptions, 1), (CaveatKind::StillPending, 3)]);
}

#[test]
fn incarnations_after_a_requeue_are_runs_of_one_job() {
    let rows = [
        row(&[("State", "NODE_FAIL"), ("ElapsedRaw", "100")]),
        row(&[("Submit", "2024-01-01T01:00:00"), ("ElapsedRaw", "200"), ("State", "REQUEUED")]),
        row(&[("Submit", "2024-01-01T02:00:00"), ("ElapsedRaw", "300"), ("State", "TIMEOUT")]),
        row(&[("Submit", "2024-01-01T02:00:00"), ("ElapsedRaw", "300"), ("State", "TIMEOUT")]),
    ];
    let trace = trace(&format!("{HEADER}\n{}\n", rows.join("\n")));
    assert_eq!(trace.jobs.len(), 1);
    let job = &trace.jobs[0];
    assert_eq!((job.submit, job.run_time, job.run_time_is_bound), (SUBMIT, 300, true));
    let run = |submit, run_time, state| TraceRun { submit, run_time, state, before: None };
    let runs = [run(SUBMIT, 100, TraceState::NodeFail), run(SUBMIT + 3120, 200, TraceState::Requeued)];
    assert_eq!(job.extra.as_ref().unwrap().earlier_runs, runs);
    assert_eq!(caveats(&trace), [(CaveatKind::Requeued, 2), (CaveatKind::DuplicateRow, 1)]);
}

/// From 24.11 on; a job that was refused has its first row alone, and keeps its name.
#[test]
fn components_that_never_started_are_known_by_their_command_line() {
    let ended = |id: &str, state: &str, line: &str| {
        row(&[("JobID", id), ("State", state), ("ElapsedRaw", "0"), ("Partition", ""), ("SubmitLine", line)])
    };
    let never = |id: &str, line: &str| ended(id, "CANCELLED by 7", line);
    let of_two = "sbatch -p fast -N 2 : -n 4 job.sh";
    let rows = [
        never("53", of_two),
        never("54", of_two),
        never("55", of_two),
        never("56", "sbatch -N 1 job.sh : -n 4"),
        never("57", of_two),
        never("58", of_two),
        ended("59", "DEADLINE", of_two),
        ended("60", "DEADLINE", of_two),
    ];
    let trace = trace(&format!("{HEADER}\n{}\n", rows.join("\n")));
    let names: Vec<String> = trace.jobs.iter().map(|job| job.name.to_string()).collect();
    assert_eq!(names, ["53+0", "53+1", "55", "56", "57+0", "57+1", "59+0", "59+1"]);
    // Two jobs that ran are two jobs, whatever stands in their command lines.
    let ran = |id: &str| row(&[("JobID", id), ("SubmitLine", "sbatch --comment a : b job.sh")]);
    let jobs = self::trace(&format!("{HEADER}\n{}\n{}\n", ran("60"), ran("61"))).jobs;
    assert_eq!(jobs.iter().map(|job| job.name.to_string()).collect::<Vec<_>>(), ["60", "61"]);
    let of = |at: usize| &trace.requests[trace.jobs[at].request as usize];
    assert_eq!((of(0).partitions == of(2).partitions, of(0).partitions == of(1).partitions), (true, false));
}

#[test]
fn a_component_keeps_off_the_nodes_that_another_one_names() {
    let line = "sbatch -n 4 -w n3 -x n7 : -n 4 job.sh";
    let rows = ["40+0", "40+1"].map(|id| row(&[("JobID", id), ("SubmitLine", line)]));
    let trace = trace(&format!("{HEADER}\n{}\n", rows.join("\n")));
    let excluded = [0, 1].map(|at| trace.strings.text(request(&trace, at).excluded_nodes));
    assert_eq!(excluded, ["n7", "n7,n3"]);
}

/// What sacct writes of a component after slurmctld's `Deallocate JobId=40+1 due to hetjob start failure`; Eligible is when it was queued again.
#[test]
fn a_component_whose_job_could_not_start_whole_did_not_run() {
    let late = ("Eligible", "2024-01-01T02:02:00");
    let rows = [
        row(&[("JobID", "40+1"), ("State", "PENDING"), ("ElapsedRaw", "0"), ("SubmitLine", ""), late]),
        row(&[("JobID", "40+1"), ("Submit", "2024-01-01T02:00:00"), ("ElapsedRaw", "300")]),
    ];
    let trace = trace(&format!("{HEADER}\n{}\n", rows.join("\n")));
    let job = &trace.jobs[0];
    assert_eq!((job.submit, job.release, job.run_time), (SUBMIT, SUBMIT, 300));
    assert_eq!(job.extra.as_ref().unwrap().earlier_runs, []);
}

#[test]
fn the_order_of_incarnations_in_the_file_does_not_matter() {
    let first = row(&[("State", "PREEMPTED"), ("ElapsedRaw", "100")]);
    let second = row(&[("Submit", "2024-01-01T01:00:00"), ("ElapsedRaw", "200"), ("State", "REQUEUED")]);
    let last = row(&[
        ("Submit", "2024-01-01T02:00:00"),
        ("ElapsedRaw", "0"),
        ("State", "CANCELLED by 7"),
        ("End", "2024-01-01T03:00:00"),
    ]);
    let mut jobs = Vec::new();
    for rows in [[&first, &second, &last], [&last, &second, &first], [&second, &last, &first]] {
        let [one, two, three] = rows;
        let trace = trace(&format!("{HEADER}\n{one}\n{two}\n{three}\n{two}\n"));
        assert_eq!(trace.jobs.len(), 1);
        assert_eq!(caveats(&trace), [(CaveatKind::Requeued, 2), (CaveatKind::DuplicateRow, 1)]);
        jobs.extend(trace.jobs);
    }
    assert_eq!((jobs[0].submit, jobs[0].run_time, jobs[0].cancelled_at), (SUBMIT, 0, Some(1_704_078_000)));
    assert_eq!((jobs[0].eligible, jobs[0].state), (SUBMIT, TraceState::Cancelled));
    let runs: Vec<_> = jobs[0].extra.as_ref().unwrap().earlier_runs.iter().map(|run| run.run_time).collect();
    assert_eq!(runs, [100, 200]);
    assert_eq!(jobs[0], jobs[1]);
    assert_eq!(jobs[0], jobs[2]);
}

#[test]
fn a_job_that_failed_without_ever_holding_a_node_was_refused() {
    let refused = [("State", "FAILED"), ("ElapsedRaw", "0"), ("AllocTRES", "")];
    let first = trace(&with(&refused));
    assert_eq!(caveats(&first), [(CaveatKind::Refused, 1)]);
    assert_eq!(first.jobs[0].cancelled_at, Some(SUBMIT));
    let held = trace(&with(&[("State", "FAILED"), ("ElapsedRaw", "0"), ("AllocTRES", "cpu=1,node=1")]));
    assert_eq!((caveats(&held), held.jobs[0].cancelled_at), (vec![], None));
}

#[test]
fn a_job_that_preemption_ended_would_have_run_on() {
    let trace = trace(&with(&[("State", "PREEMPTED")]));
    assert_eq!(caveats(&trace), [(CaveatKind::Preempted, 1)]);
    assert!(trace.jobs[0].run_time_is_bound);
}

#[test]
fn a_requeue_without_a_later_row_is_named() {
    let trace = trace(&with(&[("State", "REQUEUED")]));
    assert_eq!(caveats(&trace), [(CaveatKind::RequeuedLast, 1)]);
    assert_eq!(trace.jobs[0].state.ends(), JobState::Failed);
}

#[test]
fn tasks_that_the_trace_does_not_hold_are_counted() {
    let missing = |rows: &[(&str, &str)]| {
        let rows = rows.iter().map(|&(id, line)| row(&[("JobID", id), ("SubmitLine", line)])).collect::<Vec<_>>();
        let trace = trace(&format!("{HEADER}\n{}\n", rows.join("\n")));
        trace.caveats.iter().find(|it| it.kind == CaveatKind::TasksMissing).map(|it| (it.count, it.line))
    };
    let (five, two) = ("sbatch --array=1-5 -n 48 j.sh", "sbatch -a 0,7%1 -n 48 j.sh");
    assert_eq!(missing(&[("7_1", five), ("7_3", five), ("7_[4-5]", five), ("8_0", two), ("8_7", two)]), Some((1, 2)));
    assert_eq!(missing(&[("7_[1-5]", five), ("8_7", two), ("8_7", two)]), Some((1, 3)));
    assert_eq!(missing(&[("7_[1-5]", five), ("9", two)]), None);
}

/// Recorded (av-dep 5, at-share 120, r-lin 151): of an array that `%N` holds back, sacct leaves out the record of the tasks that wait.
#[test]
fn tasks_that_waited_for_others_of_their_array_have_no_row_and_are_known_by_that() {
    let read = |rows: &[(&str, &str, &str)]| {
        let row =
            |&(raw, id, line): &(&str, &str, &str)| format!("{raw}|{}", row(&[("JobID", id), ("SubmitLine", line)]));
        let trace = trace(&format!("JobIDRaw|{HEADER}\n{}\n", rows.iter().map(row).collect::<Vec<_>>().join("\n")));
        let count = |kind| trace.caveats.iter().find(|it| it.kind == kind).map_or(0, |it| it.count);
        let counts = (count(CaveatKind::ArrayRest), count(CaveatKind::TasksMissing));
        let rest = trace.jobs.iter().filter(|job| job.state == TraceState::Cancelled);
        let rest: Vec<String> = rest.map(|job| job.name.to_string()).collect();
        (rest.join(" "), counts)
    };
    let (held, free) = ("sbatch --array=1-5%2 -n 48 j.sh", "sbatch --array=1-5 -n 48 j.sh");
    assert_eq!(read(&[("29", "5_1", held), ("31", "5_2", held)]), ("5_3 5_4 5_5".to_owned(), (3, 0)));
    assert_eq!(read(&[("29", "5_1", held), ("31", "5_3", held)]), ("5_4 5_5".to_owned(), (2, 1)));
    assert_eq!(read(&[("29", "5_1", held), ("5", "5_5", held)]), (String::new(), (0, 3)));
    assert_eq!(read(&[("29", "5_1", free), ("31", "5_2", free)]), (String::new(), (0, 3)));
    let strided = "sbatch --array=9,1-8:3%1 -n 48 j.sh";
    assert_eq!(read(&[("29", "5_1", strided)]), ("5_4 5_7 5_9".to_owned(), (3, 0)));
}

/// What an export without ReqTRES tells of a job whose size stands in its script.
#[test]
fn without_a_recorded_request_what_was_allocated_stands_for_directives_in_the_script() {
    let shape = |row: &[(&str, &str)]| {
        let trace =
            trace(&with(&[&[("ReqTRES", ""), ("ReqMem", ""), ("ReqNodes", "0"), ("ReqCPUS", "0")], row].concat()));
        let request = request(&trace, 0).clone();
        (request.min_nodes, request.max_nodes, request.min_cpus)
    };
    assert_eq!(shape(&[("SubmitLine", "sbatch job.sh")]), (4, Some(4), 48));
    assert_eq!(shape(&[("SubmitLine", "sbatch -t 5 --exclusive job.sh")]), (4, Some(4), 1));
    assert_eq!(shape(&[("SubmitLine", "sbatch -N 4 job.sh")]), (4, Some(4), 48));
    // What the command line says was asked for, however much was given.
    assert_eq!(shape(&[("SubmitLine", "sbatch -n 40 job.sh")]), (1, None, 40));
    // CPUs asked for are known without nodes.
    assert_eq!(shape(&[("SubmitLine", "sbatch -n 4 job.sh"), ("ReqCPUS", "8")]), (1, None, 8));
}

/// Recorded (w2319 156, c1330 1): whoever comes to an array of which `%N` run marks the task that it has at hand as not eligible, though it runs.
#[test]
fn tasks_that_ran_without_a_row_are_made_up_from_the_next_one() {
    let early = row(&[
        ("JobID", "1"),
        ("Submit", "2024-01-01T00:00:00"),
        ("Eligible", "2024-01-01T00:00:00"),
        ("End", "2024-01-01T00:08:10"),
    ]);
    let read = |ids: &[&str], line: &str| {
        let rows = ids
            .iter()
            .map(|id| row(&[("JobID", id), ("SubmitLine", line), ("State", "COMPLETED"), ("ElapsedRaw", "60")]));
        let trace = trace(&format!("{HEADER}\n{early}\n{}\n", rows.collect::<Vec<_>>().join("\n")));
        let count = |kind| trace.caveats.iter().find(|it| it.kind == kind).map_or(0, |it| it.count);
        let made = trace.jobs.iter().skip(1 + ids.len()).filter(|job| job.run_time == 60);
        let made: Vec<String> = made.map(|job| job.name.to_string()).collect();
        (made.join(" "), count(CaveatKind::TasksLost), count(CaveatKind::TasksMissing))
    };
    let held = "sbatch --array=1-6%2 -n 48 j.sh";
    assert_eq!(read(&["5_1", "5_3", "5_6"], held), ("5_2 5_4 5_5".to_owned(), 3, 0));
    assert_eq!(read(&["5_2", "5_3", "5_4", "5_5", "5_6"], held), ("5_1".to_owned(), 1, 0));
    // Of two that start one is marked, not more.
    assert_eq!(read(&["5_1", "5_6"], held), (String::new(), 0, 4));
    // Of those that run one by one all may be, but only where the array waits in several partitions.
    assert_eq!(read(&["5_6"], "sbatch --array=4-6%1 -n 48 j.sh"), (String::new(), 0, 2));
    assert_eq!(read(&["5_6"], "sbatch --array=4-6%1 -p fast,normal -n 48 j.sh"), ("5_4 5_5".to_owned(), 2, 0));
    // Without `%N` nobody is.
    assert_eq!(read(&["5_1", "5_3", "5_6"], "sbatch --array=1-6 -n 48 j.sh"), (String::new(), 0, 3));
    // Tasks of `aftercorr` can be cancelled one by one.
    assert_eq!(read(&["5_1", "5_3", "5_6"], "sbatch --array=1-6%2 -n 48 -d aftercorr:1 j.sh"), (String::new(), 0, 3));
}

/// Before the first end of the trace others may have ended that its period does not hold.
#[test]
fn tasks_that_may_have_ended_before_the_period_are_not_made_up() {
    let line = "sbatch --array=1-6%2 -n 48 j.sh";
    let rows = ["5_1", "5_3", "5_6"].map(|id| row(&[("JobID", id), ("SubmitLine", line), ("ElapsedRaw", "10")]));
    let trace = trace(&format!("{HEADER}\n{}\n", rows.join("\n")));
    assert_eq!(trace.jobs.len(), 3);
}

/// Recorded (at-share 120): who cancels an array cancels its tasks that run, too.
#[test]
fn tasks_that_waited_for_others_of_their_array_are_cancelled_while_as_many_ran_as_may() {
    let cancelled = |state: &str| {
        let line = "sbatch --array=1-3%1 -n 48 j.sh";
        let text = format!("29|{}", row(&[("JobID", "5_1"), ("State", state), ("SubmitLine", line)]));
        let trace = trace(&format!("JobIDRaw|{HEADER}\n{text}\n"));
        trace.jobs[1..].iter().map(|job| job.cancelled_at.map(|at| at - SUBMIT)).collect::<Vec<_>>()
    };
    assert_eq!(cancelled("CANCELLED by 7"), [Some(22), Some(22)]);
    // Or before it ended: after that the next one would have a row.
    assert_eq!(cancelled("FAILED"), [Some(22), Some(22)]);
    // Of two, when the first ended (rec c139-24-05).
    let line = "sbatch --array=1-3%2 -n 48 j.sh";
    let task = |id: &str, end: &str| row(&[("JobID", id), ("End", end), ("SubmitLine", line)]);
    let rows = [task("5_1", "2024-01-01T00:09:00"), task("5_2", "2024-01-01T00:08:30")];
    let trace = trace(&format!("JobIDRaw|{HEADER}\n29|{}\n31|{}\n", rows[0], rows[1]));
    assert_eq!(trace.jobs[2].cancelled_at.map(|at| at - SUBMIT), Some(30));
}

#[test]
fn preferred_features_and_switches_are_kept_and_no_caveat() {
    let count = |line: &str| {
        let trace = trace(&with(&[("SubmitLine", line)]));
        caveats(&trace)
            .into_iter()
            .map(|(kind, _)| kind)
            .filter(|kind| *kind != CaveatKind::ScriptOptions)
            .collect::<Vec<_>>()
    };
    assert_eq!(count("sbatch -N 4 -n 48 --mem=24000 --prefer=fast --switches=1@10 job.sh"), []);
}

/// Recorded (s-sel): of a job that started with the features it prefers, these are what `Constraints` tells.
#[test]
fn preferred_features_are_not_taken_for_required_ones() {
    let constraints = |recorded: &str, line: &str| {
        let trace = trace(&with(&[("Constraints", recorded), ("SubmitLine", line)]));
        trace.strings.text(request(&trace, 0).constraints).to_owned()
    };
    assert_eq!(constraints("fast", "sbatch -N 4 --prefer=fast job.sh"), "");
    assert_eq!(constraints("fast", "sbatch -N 4 -C ib --prefer=fast job.sh"), "ib");
    assert_eq!(constraints("ib", "sbatch -N 4 -C ib --prefer=fast job.sh"), "ib");
    assert_eq!(constraints("fast", "sbatch -N 4 job.sh"), "fast");
}

#[test]
fn eligible_is_the_release_time_only_where_nothing_better_is_known() {
    let later = ("Eligible", "2024-01-01T00:18:00");
    let release = |line: &str, id: &str| {
        let trace = trace(&with(&[later, ("SubmitLine", line), ("JobID", id)]));
        let extra = trace.jobs[0].extra.clone().unwrap_or_default();
        (trace.jobs[0].release - SUBMIT, extra.begin, extra.dependencies.map(|it| it.on.len()), extra.array_task_limit)
    };
    assert_eq!(release("", "1"), (600, None, None, None));
    assert_eq!(release("sbatch -n 48 j.sh", "1"), (600, None, None, None));
    assert_eq!(release("sbatch -n 48 --begin=now+600 j.sh", "1"), (0, Some(SUBMIT + 600), None, None));
    assert_eq!(release("sbatch -n 48 --begin 0:18 AM j.sh", "1"), (0, Some(SUBMIT + 600), None, None));
    assert_eq!(release("sbatch -n 48 -d afterok:7:8 j.sh", "1"), (0, None, Some(2), None));
    assert_eq!(release("sbatch -n 48 -a 1-9%2 j.sh", "1_3"), (0, None, None, Some(2)));
    assert_eq!(release("sbatch -n 48 --begin=doomsday j.sh", "1"), (600, None, None, None));
    assert_eq!(release("sbatch -n 48 -d expand:4 j.sh", "1"), (600, None, None, None));
    assert_eq!(release("sbatch -n 48 -H --begin=now+60 j.sh", "1"), (600, None, None, None));
}

/// Recorded (ax-tier): nobody let it go.
#[test]
fn who_was_submitted_held_and_left_the_queue_was_never_eligible() {
    let of = |line: &str, eligible: &str| {
        let cells = [
            ("State", "CANCELLED by 0"),
            ("ElapsedRaw", "0"),
            ("Start", "None"),
            ("NodeList", "None assigned"),
            ("Eligible", eligible),
            ("SubmitLine", line),
        ];
        let job = trace(&with(&cells)).jobs[0].clone();
        (job.release == job.cancelled_at.unwrap(), job.release - SUBMIT)
    };
    let (at_once, later) = ("2024-01-01T00:08:00", "2024-01-01T00:08:10");
    assert_eq!(of("sbatch -n 48 -H j.sh", later), (false, 10));
    assert!(of("sbatch -n 48 --hold j.sh", at_once).0);
    assert_eq!(of("sbatch -n 48 j.sh", at_once), (false, 0));
}

/// Recorded (h-core): an array is stamped when a scheduler first comes to it, and was in the queue before.
#[test]
fn an_array_waits_from_its_submission_unless_something_held_it() {
    let release = |eligible: &str, line: &str, id: &str| {
        let trace = trace(&with(&[("Eligible", eligible), ("SubmitLine", line), ("JobID", id)]));
        trace.jobs[0].release - SUBMIT
    };
    let (soon, later) = ("2024-01-01T00:08:02", "2024-01-01T00:18:00");
    assert_eq!(release(soon, "sbatch -n 48 -a 1-9 j.sh", "1_3"), 0);
    assert_eq!(release(soon, "", "1_3"), 0);
    assert_eq!(release(soon, "sbatch -n 48 j.sh", "1"), 2);
    assert_eq!(release(later, "sbatch -n 48 -a 1-9 j.sh", "1_3"), 600);
    assert_eq!(release(soon, "sbatch -n 48 -a 1-9 -d expand:4 j.sh", "1_3"), 2);
}

/// Recorded (y-gpu): `DefCpuPerGPU` does not apply to jobs with `-c 1`.
#[test]
fn who_says_how_many_cpus_a_task_has_gets_no_default_of_gpus() {
    let cpus = |line: &str| request(&trace(&with(&[("SubmitLine", line)])), 0).cpus_per_gpu;
    assert_eq!(cpus("sbatch -N 4 -n 48 --gpus-per-node=1 j.sh"), None);
    assert_eq!(cpus("sbatch -N 4 -n 48 -c 1 --gpus-per-node=1 j.sh"), Some(0));
    assert_eq!(cpus("sbatch -N 4 -n 48 -c 1 --gpus-per-node=1 --cpus-per-gpu=3 j.sh"), Some(3));
}

/// Recorded (az-gpu1): with `--ntasks-per-gpu`, tasks are counted by GPUs, else GPUs by tasks; CPUs are those of the tasks that `-n` and `-N` say, where
/// these are as many as there are tasks.
#[test]
fn tasks_and_gpus_are_counted_by_each_other() {
    let asked = |nodes: u32, cpus: u32, gpus: u32, line: &str| {
        let total = format!("billing={cpus},cpu={cpus},gres/gpu={gpus},mem=16000M,node={nodes}");
        let (nodes, cpus, line) = (nodes.to_string(), cpus.to_string(), format!("sbatch {line} j.sh"));
        let trace = trace(&with(&[
            ("ReqTRES", &total),
            ("ReqNodes", &nodes),
            ("NNodes", &nodes),
            ("ReqCPUS", &cpus),
            ("SubmitLine", &line),
        ]));
        let asked = request(&trace, 0);
        let gpus: Vec<_> = asked.gres.iter().map(|gres| (gres.count, gres.scope)).collect();
        (asked.tasks, asked.min_cpus, gpus)
    };
    assert_eq!(asked(1, 8, 2, "-n 4 -c 2 --ntasks-per-gpu=2"), (4, 8, vec![(2, GresScope::PerJob)]));
    assert_eq!(asked(1, 2, 2, "-c 2 -G 2 --ntasks-per-gpu=1"), (2, 2, vec![(2, GresScope::PerJob)]));
    assert_eq!(asked(1, 8, 2, "-c 2 -G 2 --ntasks-per-gpu=2"), (4, 8, vec![(2, GresScope::PerJob)]));
    assert_eq!(asked(1, 2, 1, "-N 1 -c 2 --gpus-per-node=1 --ntasks-per-gpu=2"), (2, 2, vec![(1, GresScope::PerNode)]));
    assert_eq!(asked(2, 4, 4, "-N 2 -c 2 --gres=gpu:2 --ntasks-per-gpu=1"), (4, 4, vec![(2, GresScope::PerNode)]));
    assert_eq!(asked(2, 4, 2, "-N 2 -c 1 --ntasks-per-gpu=2"), (4, 4, vec![(2, GresScope::PerJob)]));
}

/// Recorded (ax-pre): sbatch asks for as many of the named nodes as there are tasks, the first in their order.
#[test]
fn no_more_nodes_are_named_than_there_are_tasks() {
    let of = |line: &str| {
        let least = [("ReqNodes", "1"), ("NNodes", "1"), ("ReqCPUS", "1"), ("ReqTRES", "cpu=1,node=1")];
        let trace = trace(&with(&[&least[..], &[("SubmitLine", line)]].concat()));
        let request = request(&trace, 0);
        (trace.strings.text(request.required_nodes).to_owned(), request.min_nodes, request.max_nodes)
    };
    assert_eq!(of("sbatch -n 1 -w a2,a3 -N 2 j.sh"), ("a2".to_owned(), 1, Some(1)));
    assert_eq!(of("sbatch -n 1 -w a10,a9 j.sh"), ("a9".to_owned(), 1, Some(1)));
    assert_eq!(of("sbatch -n 8 -w a[2-3],a2 j.sh"), ("a[2-3],a2".to_owned(), 2, None));
    assert_eq!(of("srun -n 8 -N 1 -w a3,a2 j.sh"), ("a2".to_owned(), 1, Some(1)));
    assert_eq!(of("sbatch -n 8 -w ./hosts j.sh"), ("./hosts".to_owned(), 1, None));
    assert_eq!(of("sbatch -n 8 -w a[ j.sh"), ("a[".to_owned(), 1, None));
}

#[test]
fn without_a_command_line_the_recorded_totals_count() {
    let trace = trace(&with(&[
        ("SubmitLine", ""),
        ("ReqTRES", "billing=8,cpu=8,gres/gpu=4,gres/gpu:a100=2,mem=64G,node=2"),
        ("NNodes", "2"),
    ]));
    let asked = request(&trace, 0);
    assert_eq!((asked.min_nodes, asked.max_nodes, asked.tasks, asked.min_cpus), (2, Some(2), 8, 8));
    assert_eq!((asked.memory, asked.memory_is_recorded), (Memory::PerNode(48_000), true));
    let gres: Vec<_> = asked.gres.iter().map(|gres| (trace.strings.text(gres.label), gres.count)).collect();
    assert_eq!(gres, [("gpu", 1), ("gpu:a100", 1)]);
    assert_eq!(caveats(&trace), [(CaveatKind::LayoutUnknown, 1)]);
}

/// Slurm compares names and types of GRES without case.
#[test]
fn gres_are_called_in_small_letters() {
    let labels = |line: &str| {
        let total = "cpu=48,gres/gpu=4,gres/gpu:A100=4,gres/Tmp=8,mem=96000M,node=4";
        let trace = trace(&with(&[("SubmitLine", line), ("ReqTRES", total)]));
        let gres = &request(&trace, 0).gres;
        gres.iter().map(|gres| trace.strings.text(gres.label)).collect::<Vec<_>>().join(" ")
    };
    let mut recorded: Vec<String> = labels("").split(' ').map(str::to_owned).collect();
    recorded.sort();
    assert_eq!(recorded, ["gpu:a100", "tmp"]);
    assert_eq!(labels("sbatch -N 4 -n 48 --gres=GPU:A100:2 j.sh"), "gpu:a100");
    assert_eq!(labels("sbatch -N 4 -n 48 --gpus-per-node=A100:2 j.sh"), "gpu:a100");
}

#[test]
fn memory_that_grew_with_the_allocation_was_meant_per_cpu_or_per_node() {
    let memory = |alloc: &str| {
        let changes = [
            ("SubmitLine", ""),
            ("ReqMem", "64000M"),
            ("ReqTRES", "billing=64,cpu=64,mem=64000M,node=1"),
            ("ReqNodes", "1"),
            ("NNodes", "2"),
            ("AllocTRES", alloc),
        ];
        let trace = trace(&with(&changes));
        (request(&trace, 0).memory, request(&trace, 0).max_nodes)
    };
    assert_eq!(memory("billing=64,cpu=64,mem=64000M,node=2"), (Memory::PerCpu(1000), None));
    assert_eq!(memory("billing=64,cpu=64,mem=128000M,node=2"), (Memory::PerNode(64_000), None));
    assert_eq!(memory("billing=128,cpu=128,mem=128000M,node=2"), (Memory::PerNode(64_000), None), "both fit");
    let trace = trace(&with(&[("SubmitLine", ""), ("ReqMem", "2800Mc")]));
    assert_eq!(request(&trace, 0).memory, Memory::PerCpu(2800));
}

#[test]
fn directives_in_the_script_show_in_the_recorded_request() {
    let trace = trace(&with(&[("SubmitLine", "sbatch -N 4 --exclusive job.sh")]));
    let asked = request(&trace, 0);
    assert_eq!((asked.min_nodes, asked.tasks, asked.min_cpus, asked.sharing), (4, 48, 48, Sharing::Exclusive));
    assert_eq!(caveats(&trace), [(CaveatKind::ScriptOptions, 1)]);
    let line = "sbatch -n 5 --ntasks-per-node=2 -c 3 job.sh";
    let trace = super::trace(&with(&[("SubmitLine", line), ("ReqTRES", "cpu=15,node=3")]));
    let asked = request(&trace, 0);
    assert_eq!((asked.min_nodes, asked.max_nodes, asked.cpus_per_task, asked.min_cpus), (3, None, 3, 15));
}

#[test]
fn overcommit_asks_for_a_cpu_a_node_and_nodes_that_only_the_record_names_are_known() {
    let line = "sbatch -N 2 -n 9 --ntasks-per-socket=2 --overcommit job.sh";
    let shared = trace(&with(&[("SubmitLine", line), ("ReqTRES", "cpu=2,node=2")]));
    let asked = request(&shared, 0);
    assert_eq!((asked.min_nodes, asked.tasks, asked.min_cpus, asked.ntasks_per_socket), (2, 2, 2, None));
    let over_tasks = trace(&with(&[("SubmitLine", "sbatch -n 9 -O --spread-job job.sh"), ("ReqTRES", "cpu=1,node=1")]));
    let asked = request(&over_tasks, 0);
    assert_eq!((asked.max_nodes, asked.tasks, asked.min_cpus, asked.nodes_are_recorded), (Some(9), 1, 1, false));
    let raised = trace(&with(&[("SubmitLine", "sbatch -n 24 job.sh"), ("ReqTRES", "cpu=24,node=2")]));
    assert!(request(&raised, 0).nodes_are_recorded);
    let named = trace(&with(&[("SubmitLine", "sbatch -N 2 -n 24 job.sh"), ("ReqTRES", "cpu=24,node=2")]));
    assert!(!request(&named, 0).nodes_are_recorded);
}

#[test]
fn sbatch_asks_for_no_more_nodes_than_tasks() {
    let nodes = |line: &str, recorded: &str| {
        let trace = trace(&with(&[("SubmitLine", line), ("ReqTRES", recorded)]));
        (request(&trace, 0).min_nodes, request(&trace, 0).max_nodes)
    };
    assert_eq!(nodes("sbatch -N 1-3 -n 2 -c 3 job.sh", "cpu=6,node=1"), (1, Some(2)));
    assert_eq!(nodes("sbatch -N 5 -n 2 job.sh", "cpu=2,node=2"), (2, Some(2)));
    assert_eq!(nodes("sbatch -N 1-3 job.sh", "cpu=1,node=1"), (1, Some(3)));
}

#[test]
fn limits_and_states_are_read_in_every_wording() {
    let limit = |text: &str| trace(&with(&[("TimelimitRaw", text), ("SubmitLine", "")])).jobs[0].time_limit;
    assert_eq!(limit("Partition_Limit"), None);
    assert_eq!(limit("UNLIMITED"), Some(TimeLimit::Unlimited));
    assert_eq!(limit("4320"), Some(TimeLimit::Minutes(4320)));
    let unknown = trace(&with(&[("State", "EXPLODED")]));
    assert_eq!(caveats(&unknown), [(CaveatKind::StateUnknown, 1)]);
}
