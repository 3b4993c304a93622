//! The compact form keeps everything, and nothing that is not one is taken for one.

use proptest::prelude::*;
use sha2::Digest as _;

use super::*;
use crate::trace::compact::{self, Origin};

fn written(trace: &Trace, diagnostics: &[Diagnostic], options: &TraceOptions) -> Vec<u8> {
    compact::write(&Origin::new(&trace.file, "0".repeat(64), options), trace, diagnostics).unwrap()
}

/// Writes a trace and reads it again.
pub(super) fn assert_kept(trace: &Trace, diagnostics: &[Diagnostic], options: &TraceOptions) {
    let bytes = written(trace, diagnostics, options);
    let read = compact::read(&bytes).unwrap();
    assert_eq!(read.origin, compact::origin(&bytes).unwrap());
    assert_eq!(read.origin, Origin::new(&trace.file, "0".repeat(64), options));
    assert_eq!(read.diagnostics, diagnostics);
    let again = read.trace;
    assert_eq!((&again.file, again.format, &again.cluster), (&trace.file, trace.format, &trace.cluster));
    assert_eq!(again.time_zone, trace.time_zone);
    assert_eq!((again.opens, again.unix_start, &again.header), (trace.opens, trace.unix_start, &trace.header));
    assert_eq!((&again.jobs, &again.requests, &again.caveats), (&trace.jobs, &trace.requests, &trace.caveats));
    assert!(again.strings.texts().eq(trace.strings.texts()));
}

/// Many jobs, and of everything that few have some.
fn rich() -> (Trace, Vec<Diagnostic>, TraceOptions) {
    let line = "sbatch -N1-2 -n4 -c 2 --mem-per-cpu=3G -C a&b --gres=gpu:2 -d afterok:1?after:2+5 -b now+5 -a 1-3%2 -w n[1-3] \
                --exclusive=user --prefer=c --switches=1@5 -L x:2 --deadline=2024-01-02T00:00:00 --nice=7 --reservation=r x.sh";
    let id = |number: u32| number.to_string();
    let mut rows: Vec<String> = (10..3_000).map(|number| row(&[("JobID", &id(number))])).collect();
    rows.push(row(&[("JobID", "7_2"), ("SubmitLine", line)]));
    rows.push(row(&[("JobID", "8"), ("State", "REQUEUED")]));
    rows.push(row(&[("JobID", "8"), ("Submit", "2024-01-01T00:08:20"), ("Eligible", "2024-01-01T00:08:25")]));
    rows.push(row(&[("JobID", "9"), ("State", "CANCELLED by 7"), ("ElapsedRaw", "0"), ("SubmitLine", "")]));
    rows.push(row(&[("JobID", "5+1"), ("State", "RUNNING"), ("End", "Unknown")]));
    let text = format!("{HEADER}\n{}", rows.join("\n"));
    let options = TraceOptions { opens: Some(SUBMIT + 10), ..utc() };
    let (trace, diagnostics) = Trace::read("t", text.as_bytes(), &options);
    (trace.unwrap(), diagnostics, options)
}

#[test]
fn everything_is_kept() {
    let (trace, diagnostics, options) = rich();
    assert!(!diagnostics.is_empty() && !trace.caveats.is_empty());
    assert!(trace.jobs.iter().any(|job| job.extra.as_ref().is_some_and(|extra| !extra.earlier_runs.is_empty())));
    assert!(trace.jobs.iter().any(|job| job.extra.as_ref().is_some_and(|extra| extra.before.is_some())));
    assert!(trace.jobs.iter().any(|job| job.extra.as_ref().is_some_and(|extra| extra.dependencies.is_some())));
    assert_kept(&trace, &diagnostics, &options);
}

/// A stored trace is not read again for as long as the reader is called the same: this fails where the form or the readers have
/// changed. Raise `FORM` in `trace/compact.rs` then, and take over the new sum.
#[test]
fn the_form_and_what_is_read_change_with_the_readers_version() {
    let swf = "; MaxProcs: 8\n; UnixStartTime: 835823160\n1 10 5 100 8 -1 -1 8 3600 2048 1 3 4 -1 1 -1 -1 -1\n\
               2 11 5 100 -1 -1 -1 16 -1 -1 5 3 4 -1 1 -1 -1 -1\n3 12 -1 -1 4 -1 -1 -1 60 -1 1 3 4 -1 1 -1 1 5\n";
    let swf = Trace::read("t", swf.as_bytes(), &TraceOptions::default());
    let mut unpacked = Vec::new();
    for (trace, diagnostics, options) in [rich(), (swf.0.unwrap(), swf.1, TraceOptions::default())] {
        let origin = Origin { reader: "1.0.0+1".to_owned(), ..Origin::new("t", String::new(), &options) };
        let bytes = compact::write(&origin, &trace, &diagnostics).unwrap();
        unpacked.extend(zstd::stream::decode_all(&bytes["FORESITE TRACE\n".len()..]).unwrap());
    }
    let sum =
        sha2::Sha256::digest(&unpacked).iter().take(8).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    assert_eq!((compact::reader().rsplit('+').next().unwrap(), sum.as_str()), ("33", "d413677ca741ad2d"));
}

#[test]
fn a_log_in_the_standard_format_is_kept() {
    let text = "; MaxProcs: 8\n; Queue: 1 DSI\n; UnixStartTime: 835823160\n1 10 5 100 8 -1 -1 8 3600 2048 1 3 4 -1 1 -1 -1 -1\n";
    let options = TraceOptions { opens: Some(5), ..TraceOptions::default() };
    let (trace, diagnostics) = Trace::read("log.swf", text.as_bytes(), &options);
    assert_kept(&trace.unwrap(), &diagnostics, &options);
}

#[test]
fn the_text_itself_is_no_compact_form() {
    let text = with(&[]);
    let said = compact::read(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(said, "no compact trace: its first bytes are another's");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn damaged_bytes_never_panic(cut in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let (trace, diagnostics) = read(&with(&[("SubmitLine", "sbatch -n 48 -d singleton -J x a.sh")]));
        let mut bytes = written(&trace.unwrap(), &diagnostics, &utc());
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _either = compact::read(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(compact::read(&bytes).is_err());
    }
}
