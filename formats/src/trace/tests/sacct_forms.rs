//! `sacct --parsable2` in all its varieties, and what is wrong with it.

use super::*;

#[test]
fn local_times_without_a_zone_are_read_as_utc_and_said_so() {
    let (trace, diagnostics) = Trace::read("t", with(&[]).as_bytes(), &TraceOptions::default());
    assert_eq!(trace.unwrap().jobs[0].submit, SUBMIT);
    assert!(said(&diagnostics).contains("assumed: sacct writes local times without a zone: read as UTC"));
    let berlin =
        TraceOptions { time_zone: Some(TimeZone::get("Europe/Berlin").unwrap()), max_bytes: None, opens: None };
    let (trace, diagnostics) = Trace::read("t", with(&[]).as_bytes(), &berlin);
    assert_eq!((trace.unwrap().jobs[0].submit, diagnostics.len()), (SUBMIT - 3600, 0));
}

#[test]
fn rows_spread_over_lines_and_delimiters_in_fields_are_read_and_counted() {
    let wrapped = row(&[("SubmitLine", "sbatch -N 4 -n 48 --mem=24000 --wrap=env | grep X\necho; sleep 1")]);
    let trace = trace(&format!("{HEADER}\n{wrapped}\n{}\n", row(&[("JobID", "2"), ("Constraints", "cpu-a|cpu-b")])));
    assert_eq!(trace.jobs.len(), 2);
    assert_eq!(trace.strings.text(request(&trace, 1).constraints), "cpu-a|cpu-b");
    assert_eq!(caveats(&trace), [(CaveatKind::DelimiterInField, 2), (CaveatKind::JoinedLines, 1)]);
}

#[test]
fn a_torn_row_is_an_error_with_its_line_and_field_count() {
    let torn = &ROW[..150];
    let text = format!("{HEADER}\n{ROW}\n{torn}\n{}\n", row(&[("JobID", "3")]));
    let expected = "t:3: error: the row has 18 fields where 26 are expected";
    assert!(the_error(&text).starts_with(expected), "{}", the_error(&text));
    let last = format!("{HEADER}\n{ROW}\n{torn}");
    assert!(the_error(&last).starts_with(expected));
    let glued = format!("{HEADER}\n{torn}{ROW}\n{ROW}\n");
    assert!(the_error(&glued).starts_with("t:2: error: the row has 43 fields"), "{}", the_error(&glued));
}

#[test]
fn broken_fields_are_named() {
    for (field, value, message) in [
        ("Submit", "2024-01-0", "Submit: '2024-01-0' is no time"),
        ("Submit", "Unknown", "Submit: job 1 has no submit time"),
        ("JobID", "one", "JobID: 'one' is no job id"),
        ("ElapsedRaw", "long", "ElapsedRaw: 'long' is no number of seconds"),
        ("ElapsedRaw", "17.5", "ElapsedRaw: '17.5' is no number of seconds"),
        ("ReqTRES", "lots", "ReqTRES: 'lots' is no list of TRES counts"),
        ("ReqMem", "plenty", ""),
        ("TimelimitRaw", "soon", "TimelimitRaw: 'soon' is no time limit"),
        ("State", "", "State: the job has no state"),
    ] {
        if message.is_empty() {
            assert!(
                the_error(&with(&[(field, value), ("SubmitLine", "")]))
                    .contains("ReqMem: 'plenty' is no amount of memory")
            );
        } else {
            let error = the_error(&with(&[(field, value)]));
            assert!(error.contains(&format!("t:2: error: {message}")), "{error}");
        }
    }
}

/// R and pandas write the numbers of a column that has gaps with decimals.
#[test]
fn whole_numbers_with_decimals_are_read_as_they_are() {
    let columns = ["Submit", "Eligible", "End", "ElapsedRaw", "TimelimitRaw", "NNodes", "ReqNodes", "ReqCPUS"];
    let plain = [&SUBMIT.to_string(), &SUBMIT.to_string(), "1704068502", "17", "11", "4", "4", "48"];
    let decimal = plain.map(|number| format!("{number}.0"));
    let read = |values: &[&str]| {
        let changes: Vec<_> = columns.into_iter().zip(values.iter().copied()).collect();
        let trace = trace(&with(&changes));
        (trace.jobs.clone(), trace.requests.clone())
    };
    assert_eq!(read(&decimal.each_ref().map(String::as_str)), read(&plain));
}

/// Nothing tells the job id 1 that was made a decimal number from the job step 1.0.
#[test]
fn a_trace_of_steps_alone_is_refused_with_what_may_be_the_matter() {
    let error = the_error(&format!("{HEADER}\n{}\n{}\n", row(&[("JobID", "1.0")]), row(&[("JobID", "2.0")])));
    let words = "t: error: the trace holds no job: of its 2 rows all are of job steps; export with sacct --allocations";
    assert!(error.starts_with(words) && error.contains("the decimal number 1.0, export without"), "{error}");
}

#[test]
fn times_in_a_format_of_the_users_own_are_cured_by_another_export() {
    for time in ["Ystday 00:08", "31.01.2024 12:34:56", "00:18:00"] {
        let error = the_error(&with(&[("Submit", time)]));
        assert!(error.contains("; export with SLURM_TIME_FORMAT=standard or %s"), "{error}");
    }
}

#[test]
fn times_in_milliseconds_are_refused() {
    for time in ["1704067680000", "20240101000800"] {
        let error = the_error(&with(&[("Submit", time)]));
        assert!(
            error.contains("milliseconds") && error.contains("export with SLURM_TIME_FORMAT=standard or %s"),
            "{error}"
        );
    }
}

/// One wrong digit would make a simulation of centuries.
#[test]
fn a_time_far_from_all_others_is_refused() {
    let far = row(&[("JobID", "3"), ("Submit", "4048-01-01T00:08:00")]);
    let error = the_error(&format!("{HEADER}\n{ROW}\n{ROW}\n{far}\n"));
    assert!(error.contains("t:4: error: Submit: job 3 has a time 2023 years from that of most others"), "{error}");
}

/// Unix time 0 stands for no time where a table was converted.
#[test]
fn the_few_jobs_long_before_all_others_are_told() {
    let at = |day: &str| row(&[("JobID", &day.replace('-', "")), ("Submit", &format!("{day}T00:08:00"))]);
    let said = |days: &[&str], opens: Option<i64>| {
        let rows: Vec<String> = days.iter().map(|day| at(day)).collect();
        let text = format!("{HEADER}\n{}\n", rows.join("\n"));
        let (_, found) = Trace::read("t", text.as_bytes(), &TraceOptions { opens, ..utc() });
        found.iter().filter(|it| it.severity == Severity::Warning).map(ToString::to_string).collect::<Vec<_>>()
    };
    let days = ["2024-01-02", "2024-01-01", "1970-01-01", "2024-01-03"];
    let words = "t:4: warning: Submit: one job was submitted up to 19723 days before all others, and the simulation begins there; correct \
                 the time or remove the row, or simulate a part of the trace: `window` of a study";
    assert_eq!(said(&days, None), [words]);
    assert!(said(&days, Some(SUBMIT)).is_empty());
    assert!(said(&["2023-08-01", "2024-01-01", "2024-01-02"], None).is_empty());
    assert!(said(&["2023-01-01", "2024-01-01", "2024-01-02"], None)[0].contains("up to 365 days"));
    assert!(said(&["1970-01-01"], None).is_empty());
}

#[test]
fn a_task_list_that_was_cut_in_a_number_is_read_up_to_there() {
    let cells = [("JobID", "20_[7,15,127-128,29...]"), ("State", "PENDING"), ("ElapsedRaw", "0"), ("End", "Unknown")];
    let trace = trace(&with(&cells));
    let names: Vec<String> = trace.jobs.iter().map(|job| job.name.to_string()).collect();
    assert_eq!(names, ["20_7", "20_15", "20_127", "20_128"]);
    assert!(caveats(&trace).contains(&(CaveatKind::TaskListCut, 1)));
}

#[test]
fn faults_of_one_kind_are_shown_three_times_and_then_counted() {
    let rows: Vec<String> = (0..250).map(|_| row(&[("Submit", "never")])).collect();
    let one = row(&[("JobID", "one")]);
    let (_, diagnostics) = read(&format!("{HEADER}\n{}\n{one}\n", rows.join("\n")));
    let never =
        |line: u32| format!("t:{line}: error: Submit: 'never' is no time such as 2024-01-31T12:34:56 or Unknown");
    let cure = "; export with SLURM_TIME_FORMAT=standard or %s, or, if it is this one alone, correct it";
    let rest = "t:5: error: Submit: 247 more like these (no time), in lines 5 to 251";
    let id = "t:252: error: JobID: 'one' is no job id; export the trace again, or remove the row";
    let expected = [never(2) + cure, never(3), never(4), rest.to_owned(), id.to_owned()];
    let errors: Vec<String> = diagnostics.iter().filter(|it| it.is_error()).map(ToString::to_string).collect();
    assert_eq!(errors, expected);
}

#[test]
fn text_above_the_header_is_named_by_the_headers_line() {
    for above in [
        "# exported by ops\nLast login: Mon Jan  1 00:00:00 2024\n\n",
        "[root@ctl ~]# export\n\n[root@ctl ~]# sacct -a -P --format=JobID,User,Account,Submit,State\n",
        "JobID User State and more\nfollow\n\n",
    ] {
        let error = the_error(&format!("{above}{}", with(&[])));
        let words = "t:4: error: the header stands in line 4, below text that is none of sacct's; delete the lines above line 4";
        assert_eq!(error, words, "{above}");
    }
    let prompt = "[root@ctl ~]# sacct -a -P --format=JobID,User,Account,Submit,State\n";
    assert!(the_error(&format!("{prompt}{}", with(&[]))).starts_with("t:2: error: the header stands in line 2"));
}

#[test]
fn rows_without_a_header_are_told_to_be_exported_with_it() {
    let words = "t:1: error: these are rows of sacct without the header that names their columns; export without --noheader, or write \
                 the header line above the rows";
    // The times stand where the tools of Open XDMoD have them.
    let many = "1|1|j|c|u|1|g|a|p|q|2024-01-01T00:08:00|2024-01-01T00:08:00|2024-01-01T00:08:00|2024-01-01T00:08:17|17|COMPLETED|0:0|00:11:00\
                |11|1|4|4|48|48|48|1M|cpu=48|cpu=48|m[1-4]|||S|None|00:00:00|sbatch|/";
    for text in [format!("{ROW}\n{ROW}\n"), ROW.replace('|', ";"), format!("{many}\n{many}\n")] {
        assert_eq!(the_error(&text), words, "{text}");
    }
}

#[test]
fn utf_16_is_named() {
    let bytes: Vec<u8> = format!("\u{feff}{}", with(&[])).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (trace, diagnostics) = Trace::read("t", &*bytes, &utc());
    assert!(trace.is_none());
    let words = "t: error: the file is UTF-16, as PowerShell writes it, and not the text that Slurm printed; convert it: iconv -f utf-16 -t \
                 utf-8 t\n";
    assert_eq!(said(&diagnostics), words);
}

/// `cat` of exports with other columns: what follows the second header must not be read by the first one.
#[test]
fn a_second_header_with_other_columns_ends_the_reading() {
    let first = "JobID|User|Submit|ElapsedRaw|State|ReqCPUS|TimelimitRaw|SubmitLine";
    let good = "1|u|2024-01-01T00:08:00|10|COMPLETED|4|10|sbatch -n 4 x";
    let words = "t:3: error: line 3 is a header with other columns than line 1; hand over one export, or join exports made with the same \
                 --format";
    for second in [
        "SubmitLine|JobID|User|Submit|ElapsedRaw|State|ReqCPUS|TimelimitRaw",
        "JobID|User|Submit|State",
        "JobID|Submit|ElapsedRaw|State|ReqCPUS|TimelimitRaw|SubmitLine|User|Account|Partition",
    ] {
        assert_eq!(the_error(&format!("{first}\n{good}\n{second}\n{good}\nx|y\n")), words, "{second}");
    }
    let torn = the_error(&format!("{first}\n{good}\n{first}\n1|u\n{first}\n{good}\n"));
    assert!(torn.starts_with("t:4: error: the row has 2 fields"), "{torn}");
    // A command line over several lines may name columns, too.
    let script = format!("{first}\n{good} --wrap=a\nsacct --format=JobID,State,Submit\nJobID State\n2{}\n", &good[1..]);
    assert_eq!(trace(&script).jobs.len(), 2);
}

#[test]
fn what_is_no_trace_is_refused_with_a_cure() {
    assert!(the_error("").contains("the file is empty"));
    assert!(the_error("hello\n").contains("neither sacct --parsable2 output nor SWF"));
    assert!(the_error("JobID State End\n----- ----- -----\n").contains("fixed width"));
    let missing = the_error("JobID|State|End\n1|FAILED|2024-01-01T00:00:00\n");
    assert!(missing.contains("the columns Submit, ReqTRES are missing; export with sacct"), "{missing}");
    let one = the_error("JobID|State|End|ReqCPUS\n1|FAILED|2024-01-01T00:00:00|1\n");
    assert!(one.contains("the column Submit is missing; export with sacct"), "{one}");
    assert!(the_error(&format!("{HEADER}\n")).contains("the trace holds no job"));
    let text = "Cluster|JobID|Submit|ElapsedRaw|State|ReqCPUS\na|1|2024-01-01T00:00:00|1|FAILED|1\nb|2|2024-01-01T00:00:00|1|FAILED|1\n";
    assert!(the_error(text).contains("mixes jobs of the clusters a and b"));
}

#[test]
fn the_xdmod_form_other_delimiters_and_pairs_are_read() {
    let xdmod = "2|2|hpc|compute|normal|staff|g|1|u|1|2024-01-01T00:08:00|2024-01-01T00:08:00|2024-01-01T00:09:00|2024-01-01T00:12:01|\
                 00:03:01|0:0|COMPLETED|1|1|1|500M|billing=1,cpu=1,mem=500M,node=1|billing=1,cpu=1,mem=500M,node=1|00:05:00|cpn02|a|b\n";
    let pairs = "v=1,JobID=2,Submit=2024-01-01T01:08:00+01:00,State=COMPLETED,ElapsedRaw=181,TimelimitRaw=5,User=u,Account=staff,\
                 \"ReqTRES=billing=1,cpu=1,mem=500M,node=1\"\n";
    let wide = "JobID;|;Submit;|;State;|;Elapsed;|;Timelimit;|;ReqCPUS;|;User;|;Account\n\
                2;|;2024-01-01T00:08:00;|;COMPLETED;|;00:03:01;|;00:05:00;|;1;|;u;|;staff\n";
    let parsable = "JobID|Submit|State|ElapsedRaw|TimelimitRaw|ReqCPUS|User|Account|\n2|2024-01-01T00:08:00|COMPLETED|181|5|1|u|staff|\n";
    for text in [xdmod, pairs, wide, parsable] {
        let trace = trace(text);
        let job = &trace.jobs[0];
        assert_eq!((job.submit, job.run_time, job.time_limit), (SUBMIT, 181, Some(TimeLimit::Minutes(5))), "{text}");
        assert_eq!((trace.strings.text(job.user), trace.strings.text(job.account)), ("u", "staff"), "{text}");
        assert_eq!(request(&trace, 0).min_cpus, 1);
        let lost = trace.caveats.iter().find(|it| it.kind == CaveatKind::ConstraintsUnknown).map(|it| it.count);
        assert_eq!(lost, (text != pairs).then_some(1), "what the columns cannot tell is counted: {text}");
    }
}

/// Slurm joins the words of a command line as they are: `--wrap` over several lines is recorded over several lines.
#[test]
fn newlines_in_the_last_field_join_the_lines_behind_a_row_that_seems_complete() {
    let header = "JobID|User|Submit|ElapsedRaw|State|ReqCPUS|TimelimitRaw|SubmitLine";
    let start = |id: u32| format!("{id}|u|2024-01-01T00:08:00|10|COMPLETED|4|10|sbatch -N 1 -n 4 --wrap=a");
    let read = |text: &str| {
        let trace = trace(text);
        let said = trace.caveats.iter().find(|it| it.kind == CaveatKind::JoinedLines).map(|it| (it.count, it.line));
        (trace.jobs.iter().map(|job| (job.name.id, job.line)).collect::<Vec<_>>(), said)
    };
    let (one, two) = (start(1), start(2));
    let joined = (vec![(1, 2), (2, 6)], Some((2, 2)));
    assert_eq!(read(&format!("{header}\n{one} | b\n\n7\nc | d | e\n{two}\necho 3|4\nfi")), joined);
    assert_eq!(read(&format!("{header}|\n{one} | b\n\n7|\nc|d\n{two}|\necho 3|4\nfi|\n")), joined);
    let other = header.replace("SubmitLine", "Comment");
    assert_eq!(read(&format!("{other}\n{one} | b\n\n7\nc | d | e\n{two}\nx\n")), joined);
    let user = header.replace("JobID|User", "User|JobID");
    let swapped = |row: &str| row.replacen("1|u", "u|1", 1).replacen("2|u", "u|2", 1);
    assert_eq!(read(&format!("{user}\n{}\nb\nc | d | e\n\n{}\nc | x\n", swapped(&one), swapped(&two))), joined);
    assert_eq!(read(&format!("{header}\n{one}\n\n{header}\n\n{two}\n\n")), (vec![(1, 2), (2, 6)], None));
}

#[test]
fn a_torn_row_is_no_rest_of_the_field_before_it() {
    let header = "JobID|User|Submit|ElapsedRaw|State|ReqCPUS|TimelimitRaw|SubmitLine";
    let row = "1|u|2024-01-01T00:08:00|10|COMPLETED|4|10|sbatch -n 4 x";
    for torn in ["2", "2|", "2|u|2024-01-0"] {
        let error = the_error(&format!("{header}\n{row}\n{torn}"));
        assert!(error.starts_with("t:3: error: the row has"), "{torn}: {error}");
    }
    let error = the_error(&format!("{header}\n{row}\none|u|2024-01-01T00:08:00|10|COMPLETED|4|10|sbatch\n"));
    assert!(error.starts_with("t:3: error: JobID: 'one' is no job id"), "{error}");
    let error = the_error(
        "JobID|Submit|SubmitLine|ElapsedRaw|State|ReqCPUS\n1|2024-01-01T00:08:00|sbatch|1|FAILED|1\necho b\n",
    );
    assert!(error.starts_with("t:3: error: the row has 1 fields where 6 are expected"), "{error}");
}

/// `sacct --units=G` prints 257000M as 250.98G, which are more than a node of 257000M has.
#[test]
fn memory_that_was_rounded_is_the_least_that_is_printed_so_and_is_counted() {
    let header = "JobID|Submit|Elapsed|State|Timelimit|Constraints|ReqCPUS|ReqNodes|ReqMem|ReqTRES";
    let row = |memory: &str, tres: &str| {
        format!("{header}\n1|2024-01-01T00:08:00|00:00:05|COMPLETED|00:10:00||8|1|{memory}|cpu=8,mem={tres},node=1\n")
    };
    let read = |memory: &str, tres: &str| {
        let trace = trace(&row(memory, tres));
        let rounded = trace.caveats.iter().find(|caveat| caveat.kind == CaveatKind::MemoryRounded);
        (request(&trace, 0).memory, rounded.map_or(0, |caveat| caveat.count))
    };
    assert_eq!(read("250.98G", "250.98G"), (Memory::PerNode(256_999), 1));
    assert_eq!(read("", "250.98G"), (Memory::PerNode(256_999), 1));
    assert_eq!(read("3.91Gc", "31.25G"), (Memory::PerCpu(3999), 1));
    assert_eq!(read("62.50G", "62.50G"), (Memory::PerNode(64_000), 0));
    assert_eq!(read("257000M", "250.98G"), (Memory::PerNode(257_000), 0));
    let (_, diagnostics) = super::read(&row("250.98G", "250.98G"));
    let words = "t:2: assumed: ReqMem: memory rounded to two decimals (sacct --units): the least amount that is printed so taken: 1; \
                 export with --noconvert";
    assert!(said(&diagnostics).contains(words), "{}", said(&diagnostics));
}

#[test]
fn the_column_alloc_gres_counts_where_no_request_is_recorded() {
    let header = "JobID|Submit|Elapsed|State|Timelimit|Constraints|AllocCPUS|NNodes|AllocGRES|ReqGRES|ReqTRES";
    let read = |gres: &str, asked: &str, tres: &str| {
        let text = format!("{header}\n1|2017-01-05T12:02:55|00:00:05|COMPLETED|00:10:00||4|2|{gres}|{asked}|{tres}\n");
        let trace = trace(&text);
        let found = request(&trace, 0).gres.iter();
        let gres: Vec<_> = found.map(|it| (trace.strings.text(it.label).to_owned(), it.count, it.scope)).collect();
        (gres, trace.caveats.iter().any(|caveat| caveat.kind == CaveatKind::GresFromAllocation))
    };
    let gpu = |count, scope| vec![("gpu".to_owned(), count, scope)];
    assert_eq!(read("gpu:4", "", ""), (gpu(2, GresScope::PerNode), true));
    assert_eq!(read("gpu:3", "", ""), (gpu(3, GresScope::PerJob), true));
    assert_eq!(read("gpu:4", "gpu:1", ""), (gpu(1, GresScope::PerNode), false));
    // Whoever records `billing` records GRES among the TRES: none were asked for.
    assert_eq!(read("gpu:4", "", "billing=4,cpu=4,node=2"), (vec![], false));
    assert_eq!(read("", "", ""), (vec![], false));
}

/// R and pandas quote what they write.
#[test]
fn quotes_around_fields_of_comma_separated_files_are_none_of_theirs() {
    let plain = "JobID|User|JobName|Submit|Elapsed|State|Timelimit|ReqTRES|Constraints\n\
                 1|u|j|2024-01-01T00:08:00|00:01:00|COMPLETED|00:10:00|cpu=2,mem=4G,node=1|\n\
                 2|u|a \"b|2024-01-01T00:08:01|00:01:00|COMPLETED|00:10:00|cpu=1,mem=1G,node=1|\n";
    let all = "\"\",\"JobID\",\"User\",\"JobName\",\"Submit\",\"Elapsed\",\"State\",\"Timelimit\",\"ReqTRES\",\"Constraints\"\n\
               \"1\",1,\"u\",\"j\",\"2024-01-01T00:08:00\",\"00:01:00\",\"COMPLETED\",\"00:10:00\",\"cpu=2,mem=4G,node=1\",\"\"\n\
               \"2\",2,\"u\",\"a \"\"b\",\"2024-01-01T00:08:01\",\"00:01:00\",\"COMPLETED\",\"00:10:00\",\"cpu=1,mem=1G,node=1\",\"\"\n";
    let some = "JobID,User,JobName,Submit,Elapsed,State,Timelimit,ReqTRES,Constraints\n\
                1,u,j,2024-01-01T00:08:00,00:01:00,COMPLETED,00:10:00,\"cpu=2,mem=4G,node=1\",\n\
                2,u,\"a, \"\"b\",2024-01-01T00:08:01,00:01:00,COMPLETED,00:10:00,\"cpu=1,mem=1G,node=1\",\n";
    let expected = trace(plain);
    for text in [all, some, &all.replace(',', ";").replace(";mem", ",mem").replace(";node", ",node")] {
        let found = trace(text);
        assert_eq!((&found.jobs, &found.requests), (&expected.jobs, &expected.requests), "{text}");
        assert!(is_trace(text.lines().next().unwrap().as_bytes()));
    }
}
