//! Start for start the schedules on which independent simulators agree (`fixtures/README.md`).

use std::io::Read;

use flate2::read::GzDecoder;
use foresite_engine::plain::{PlainAlgorithm, PlainOptions};

use crate::build::{Row, run};

const TRACE: &[u8] = include_bytes!("fixtures/lublin.swf.gz");
const FCFS: &[u8] = include_bytes!("fixtures/lublin.fcfs.txt.gz");
const SJF: &[u8] = include_bytes!("fixtures/lublin.sjf.txt.gz");
const EASY: &[u8] = include_bytes!("fixtures/lublin.easy.per_timestamp.pyss.txt.gz");
const CONSERVATIVE: &[u8] = include_bytes!("fixtures/lublin.conservative_compress.pyss.txt.gz");

/// The numbers of each line that is not a comment (`;` in SWF, `#` in schedules).
fn numbers(gzipped: &[u8]) -> Vec<Vec<i64>> {
    let mut text = String::new();
    GzDecoder::new(gzipped).read_to_string(&mut text).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with([';', '#']));
    lines.map(|line| line.split_ascii_whitespace().map(|field| field.parse().unwrap()).collect()).collect()
}

fn lublin() -> Vec<Row> {
    // SWF: job, submit, wait, run time, allocated, CPU time, memory, requested processors, requested time, …
    numbers(TRACE).iter().map(|row| Row::new(row[1], row[7] as u32, row[3] as u32, row[8] as u32)).collect()
}

fn assert_schedule(algorithm: PlainAlgorithm, node_cpus: &[u32], expected: &[u8]) {
    let outcome = run(node_cpus, &lublin(), algorithm, &PlainOptions::default());
    let expected = numbers(expected);
    assert_eq!(outcome.records.len(), expected.len());
    for (record, row) in outcome.records.iter().zip(&expected) {
        assert_eq!((record.start, record.end), (Some(row[2]), Some(row[3])), "job {}", row[0]);
    }
}

#[test]
fn fcfs_is_what_four_simulators_say() {
    assert_schedule(PlainAlgorithm::Fcfs, &[1; 256], FCFS);
}

#[test]
fn sjf_is_what_three_simulators_say() {
    assert_schedule(PlainAlgorithm::Sjf, &[1; 256], SJF);
}

#[test]
fn easy_is_what_two_simulators_say() {
    assert_schedule(PlainAlgorithm::Easy, &[1; 256], EASY);
}

#[test]
fn conservative_is_what_two_simulators_say() {
    assert_schedule(PlainAlgorithm::Conservative, &[1; 256], CONSERVATIVE);
}

#[test]
fn how_processors_stand_on_nodes_changes_no_start() {
    assert_schedule(PlainAlgorithm::Easy, &[16; 16], EASY);
    assert_schedule(PlainAlgorithm::Conservative, &[7, 100, 149], CONSERVATIVE);
}
