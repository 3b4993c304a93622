//! The plain algorithms on logs in the Standard Workload Format, one counter of processors.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, bail};
use flate2::read::MultiGzDecoder;
use foresite_formats::study::Machine;

use crate::input::Input;
use crate::process::Stopwatch;

/// A log, normalised as the reference schedules' inputs are (`../shared/reference/README.md`): requested processors, else allocated ones;
/// run time above 0; requested time at least the run time; sorted by submit time, renumbered from 1, beginning at 0.
/// Jobs larger than the machine are left out. `Ok(None)` where the log is not there.
pub(crate) fn input(data: &Path, log: &str, processors: Option<u32>) -> anyhow::Result<Option<Input>> {
    let watch = Stopwatch::start();
    let folders = [data.join("swf"), data.join("../reference/traces"), data.to_owned()];
    let names = [log.to_owned(), format!("{log}.swf"), format!("{log}.swf.gz")];
    let paths = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
    let Some(path) = paths.into_iter().find(|path| path.is_file()) else { return Ok(None) };
    let file = File::open(&path).with_context(|| path.display().to_string())?;
    let bytes: Box<dyn Read> = if path.extension().is_some_and(|it| it == "gz") {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut rows: Vec<[i64; 4]> = Vec::new();
    let mut header = None;
    for line in BufReader::new(bytes).lines() {
        let line = line?;
        if let Some(comment) = line.trim_start().strip_prefix(';') {
            let value = comment.trim().strip_prefix("MaxProcs:").and_then(|value| value.trim().parse().ok());
            header = header.or(value);
            continue;
        }
        let fields: Vec<i64> =
            line.split_ascii_whitespace().map(|field| field.parse::<f64>().unwrap_or(-1.0) as i64).collect();
        let [_, submit, _, run, allocated, _, _, requested, time, ..] = fields[..] else { continue };
        let cpus = if requested > 0 { requested } else { allocated };
        if run > 0 && cpus > 0 {
            rows.push([submit, run, cpus, time.max(run)]);
        }
    }
    let Some(processors) = processors.or(header) else { bail!("{log} does not say how many processors there were") };
    rows.retain(|row| row[2] <= i64::from(processors));
    rows.sort_by_key(|row| row[0]);
    let first = rows.first().map_or(0, |row| row[0]);
    let mut text = format!("; MaxProcs: {processors}\n; UnixStartTime: 0\n");
    for (index, [submit, run, cpus, time]) in rows.iter().enumerate() {
        let id = index + 1;
        let _ = writeln!(text, "{id} {} -1 {run} {cpus} -1 -1 {cpus} {time} -1 1 1 1 -1 -1 -1 -1 -1", submit - first);
    }
    let machine = Machine { nodes: Some(processors), cpus_per_node: Some(1) };
    Ok(Some(Input { files: vec![("trace.swf", text.into_bytes())], machine, made_in: watch.read().wall }))
}
