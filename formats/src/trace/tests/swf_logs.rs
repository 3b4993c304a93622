//! SWF in all its varieties.

use super::*;

fn line(fields: &[(usize, &str)]) -> String {
    let mut all: Vec<&str> = "1 10 5 100 8 -1 -1 8 3600 2048 1 3 4 -1 1 -1 -1 -1".split(' ').collect();
    for (index, value) in fields {
        all[*index] = value;
    }
    all.join(" ")
}

#[test]
fn a_line_becomes_a_job_of_processors() {
    let header = "; UnixStartTime: 1000\n; MaxNodes: 4\n; MaxProcs: 8 (4, 4)\n\n";
    let trace = trace(&format!("{header}  {}\n", line(&[])));
    let job = &trace.jobs[0];
    assert_eq!((trace.format, trace.unix_start, trace.header.max_procs), (TraceFormat::Swf, 1000, Some(8)));
    assert_eq!(
        (job.submit, job.run_time, job.estimate, job.time_limit),
        (1010, 100, 3600, Some(TimeLimit::Minutes(60)))
    );
    let asked = request(&trace, 0);
    assert_eq!((asked.tasks, asked.min_cpus, asked.min_nodes, asked.max_nodes), (8, 8, 1, None));
    assert_eq!(asked.memory, Memory::PerCpu(2));
    assert_eq!((trace.strings.text(job.user), trace.strings.text(job.account)), ("3", "4"));
    assert!(trace.caveats.is_empty());
}

#[test]
fn what_is_minus_one_is_replaced_and_counted() {
    let first = |fields: &[(usize, &str)]| {
        let trace = trace(&line(fields));
        (trace.jobs[0].clone(), request(&trace, 0).min_cpus, caveats(&trace))
    };
    let (_, cpus, said) = first(&[(7, "-1")]);
    assert_eq!((cpus, said), (8, vec![(CaveatKind::SwfAllocated, 1)]));
    let (_, cpus, said) = first(&[(7, "-1"), (4, "-1")]);
    assert_eq!((cpus, said), (1, vec![(CaveatKind::SwfNoProcessors, 1)]));
    let (job, _, said) = first(&[(8, "-1")]);
    assert_eq!(
        (job.time_limit, job.estimate, said),
        (Some(TimeLimit::Minutes(2)), 0, vec![(CaveatKind::SwfRunTimeAsLimit, 1)])
    );
    let (job, _, said) = first(&[(3, "4000")]);
    assert_eq!((job.run_time, job.estimate, said), (4000, 3600, vec![(CaveatKind::SwfOverRun, 1)]));
    let (job, _, _) = first(&[(3, "-1"), (10, "5"), (2, "50")]);
    assert_eq!((job.cancelled_at, job.run_time, job.state), (Some(60), 0, TraceState::Cancelled));
    let (job, _, said) = first(&[(3, "-1"), (4, "-1"), (2, "-1"), (10, "0")]);
    assert_eq!((job.cancelled_at, said), (Some(10), vec![(CaveatKind::SwfNoWait, 1)]));
    let (job, _, _) = first(&[(10, "265"), (3, "12.7")]);
    assert_eq!((job.state, job.run_time), (TraceState::Failed, 13));
}

#[test]
fn semicolons_names_and_extra_fields_are_read() {
    let text = "1001;0;-1;15;12;-1;-1;-1;420;-1;-1;user5;account2;-1;normal;normal;;-1;\n1002;49;-1;-1;2;-1;-1;-1;60;-1;1;t;-1;-1;0;ESB;afterok:1001;1\n";
    let trace = trace(text);
    assert_eq!((trace.jobs.len(), request(&trace, 0).min_cpus), (2, 12));
    assert_eq!(trace.strings.text(trace.jobs[0].user), "user5");
    assert_eq!((trace.jobs[1].run_time, trace.jobs[1].run_time_is_bound), (60, true));
    assert_eq!(trace.jobs[1].extra.as_ref().unwrap().dependencies.as_ref().unwrap().on[0].id, 1001);
    let extended =
        "0 1356996147 0 56011 64 1 1 64 86400 -1 1 5 1 -1 1 1 -1 -1 {1241,1241} q_1d 1:ppn=64:x86_64:cl_zewura#excl";
    let trace = super::trace(extended);
    assert_eq!((trace.jobs[0].name.id, trace.jobs[0].submit), (0, 1_356_996_147));
    assert_eq!(caveats(&trace), [(CaveatKind::SwfExtended, 1)]);
}

#[test]
fn a_job_larger_than_the_machine_is_named() {
    let (trace, diagnostics) = read(&format!("; MaxProcs: 4\n{}", line(&[])));
    assert!(trace.is_some());
    assert!(
        said(&diagnostics)
            .contains("t:2: warning: requested processors: larger than the machine (MaxProcs): never start: 1")
    );
}

#[test]
fn a_number_in_the_header_that_cannot_be_read_is_named_with_its_line() {
    let (trace, diagnostics) =
        read(&format!("; MaxNodes: 1,024\n; MaxProcs: 2.048\n; UnixStartTime: 5\n{}", line(&[])));
    let header = trace.unwrap().header;
    assert_eq!((header.max_nodes, header.max_procs), (Some(1024), None));
    let words = "t:2: warning: MaxNodes, MaxProcs, UnixStartTime: numbers in the header that are not understood: left out: 1; write";
    assert!(said(&diagnostics).contains(words), "{}", said(&diagnostics));
}

#[test]
fn torn_and_broken_lines_are_errors() {
    let torn = the_error(&format!("{}\n2 20 5 100\n", line(&[])));
    assert!(torn.starts_with("t:2: error: the line has 4 fields where 18 are expected"), "{torn}");
    assert!(the_error(&format!("; x\n{}", line(&[(3, "soon")]))).contains("t:2: error: run time: 'soon' is no number"));
    assert!(the_error(&format!("; x\n{}", line(&[(1, "-1")]))).contains("job 1 has no submit time"));
    assert!(the_error("; only a header\n").contains("the log holds no job"));
}

#[test]
fn a_torn_gzip_names_the_byte() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for id in 0..2000 {
        writeln!(encoder, "{}", line(&[(0, &id.to_string())])).unwrap();
    }
    let whole = encoder.finish().unwrap();
    let (trace, diagnostics) = Trace::read("log.gz", &whole[..], &utc());
    assert_eq!((trace.unwrap().jobs.len(), said(&diagnostics).contains("error")), (2000, false));
    let (trace, diagnostics) = Trace::read("log.gz", &whole[..whole.len() - 20], &utc());
    assert!(trace.is_none());
    assert!(said(&diagnostics).contains("the gzip stream is torn at byte"), "{}", said(&diagnostics));
}

/// R writes NaN for what is missing, and 1e+05 for 100000.
#[test]
fn what_is_not_used_need_be_no_number_and_exponents_are_numbers() {
    let trace = trace(&format!("; UnixStartTime: 0\n{}", line(&[(0, "1e+05"), (1, "2.5E4"), (5, "NaN"), (6, "NA")])));
    assert_eq!((trace.jobs[0].name.id, trace.jobs[0].submit), (100_000, 25_000));
    assert!(trace.caveats.is_empty());
    for (index, text, field) in [
        (3, "NaN", "run time"),
        (8, "1e400", "requested time"),
        (9, "e5", "requested memory"),
        (0, "1.5", "job number"),
    ] {
        let error = the_error(&format!("; x\n{}", line(&[(index, text)])));
        assert!(error.starts_with(&format!("t:2: error: {field}: '{text}' is no ")), "{error}");
    }
}
