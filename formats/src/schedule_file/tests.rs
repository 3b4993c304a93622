//! Schedule files: text in, the same text out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::{read, write, write_to};

const TEXT: &str = "\
job_id,user,account,partition,qos,submit,eligible,start,end,state,nodes,cpus,node_list,started_by
1,ann,physics,general,normal,100,100,110,210,COMPLETED,2,48,\"n[1-2,5]\",main
2_7,bob,physics,general,normal,101,101,101,401,TIMEOUT,1,1,n3,backfill
3+1,bob,\"a \"\"b\"\", c\",general,high,102,,,150,CANCELLED,0,0,,
4,ann,physics,general,normal,103,104,,,PENDING,0,0,,
5,ann,physics,general,normal,-5,0,5,,RUNNING,1,1,n4,submit
";

#[test]
fn a_schedule_file_read_and_written_is_the_same() {
    let (schedule, diagnostics) = read("s.csv", TEXT.as_bytes());
    assert_eq!(diagnostics, []);
    let schedule = schedule.unwrap();
    assert_eq!(String::from_utf8(write(&schedule)).unwrap(), TEXT);
    assert_eq!(schedule.labels.len(), 7);
    assert_eq!(schedule.node_list(&schedule.rows[0]), "n[1-2,5]");
}

#[test]
fn a_schedule_streamed_is_the_same() {
    let mut schedule = read("s.csv", TEXT.as_bytes()).0.unwrap();
    schedule.rows = schedule.rows.iter().copied().cycle().take(5_000).collect();
    let mut streamed = Vec::new();
    write_to(&schedule, &mut streamed).unwrap();
    assert_eq!(streamed, write(&schedule));
}

#[test]
fn waits_slowdowns_and_cpu_seconds_are_as_defined() {
    let schedule = read("s.csv", TEXT.as_bytes()).0.unwrap();
    let row = &schedule.rows[0];
    assert_eq!((row.wait(), row.response()), (Some(10), Some(110)));
    assert!((row.bounded_slowdown().unwrap() - 1.1).abs() < 1e-12);
    assert_eq!(row.cpu_seconds(0, 1_000), 4_800);
    assert_eq!(row.cpu_seconds(150, 160), 480);
    assert_eq!(row.cpu_seconds(300, 400), 0);
    let cancelled = &schedule.rows[2];
    assert_eq!((cancelled.wait(), cancelled.response(), cancelled.bounded_slowdown()), (None, None, None));
}

#[test]
fn every_field_that_cannot_be_read_is_named_with_its_line() {
    let text = TEXT.replace("110,210", "soon,210").replace("TIMEOUT", "TIMEDOUT").replace("3+1", "3+x");
    let (schedule, diagnostics) = read("s.csv", text.as_bytes());
    assert!(schedule.is_none());
    let shown: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "s.csv:2: error: start: `soon` cannot be read",
            "s.csv:3: error: state: `TIMEDOUT` cannot be read",
            "s.csv:4: error: job_id: `3+x` cannot be read",
        ]
    );
}

#[test]
fn torn_rows_huge_times_and_other_headers_are_refused() {
    assert!(read("s.csv", format!("{TEXT}6,ann\n").as_bytes()).1[0].to_string().starts_with("s.csv:7: error: "));
    let huge = TEXT.replace("110,210", "9223372036854775807,210");
    assert!(read("s.csv", huge.as_bytes()).0.is_none());
    assert!(read("s.csv", b"a,b\n1,2\n").1[0].message.contains("not a schedule file"));
    assert!(read("s.csv", b"").1[0].message.contains("not a schedule file"));
}
