//! What is fuzzed: each target takes any bytes, must end soon, and may not panic. Used by `main.rs` here (deterministic mutations,
//! any compiler) and by `fuzz/fuzz_targets` (libFuzzer, coverage-guided).

use std::io::Read;
use std::sync::OnceLock;

use foresite_formats::file_set::FileSet;
use foresite_formats::hostlist::{compress, expand, split_top_level};
use foresite_formats::sacctmgr::Sacctmgr;
use foresite_formats::slurm_conf::SlurmConf;
use foresite_formats::study::Study;
use foresite_formats::study_document;
use foresite_formats::trace::{self, Trace, TraceOptions};
use foresite_formats::{compression, schedule_file};

/// A target: its name is its corpus' folder.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// All targets.
pub(crate) const TARGETS: [Target; 12] = [
    ("slurm_conf", slurm_conf),
    ("hostlist", hostlist),
    ("sacct", trace_file),
    ("swf", trace_file),
    ("sacctmgr", sacctmgr),
    ("reservations", reservations),
    ("events", events),
    ("usage", usage),
    ("sdiag", sdiag),
    ("study_document", study),
    ("schedule_file", schedule),
    ("compression", unpack),
];

const CONF: &str = include_str!("../../../examples/micro/slurm.conf");
const GRES: &str = include_str!("../../../examples/micro/gres.conf");
const ACCOUNTS: &str = include_str!("../../../examples/micro/sacctmgr.cfg");
const SACCT: &str = include_str!("../../../examples/micro/sacct.txt");
/// Names a hostlist may expand to; the readers' own bounds are of this size.
const MAX_HOSTS: usize = 1 << 16;
/// Bytes an unpacked input may have.
const MAX_UNPACKED: u64 = 1 << 20;

fn files(conf: &[u8]) -> FileSet {
    let mut files = FileSet::default();
    files.insert("slurm.conf", conf);
    files.insert("gres.conf", GRES.as_bytes());
    files
}

/// The example's slurm.conf, read once.
fn micro() -> &'static SlurmConf {
    static MICRO: OnceLock<SlurmConf> = OnceLock::new();
    MICRO.get_or_init(|| SlurmConf::read(&files(CONF.as_bytes()), "slurm.conf").0)
}

/// slurm.conf to a site.
pub(crate) fn slurm_conf(bytes: &[u8]) {
    let (conf, _) = SlurmConf::read(&files(bytes), "slurm.conf");
    let _ = conf.lower(None);
}

/// Expanding, splitting and compressing; what was expanded survives a round trip.
pub(crate) fn hostlist(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = split_top_level(&text);
    if let Ok(names) = expand(&text, MAX_HOSTS) {
        assert!(names.len() <= MAX_HOSTS, "more names than allowed");
        let short = compress(names.iter().map(String::as_str));
        if let Ok(mut again) = expand(&short, MAX_HOSTS) {
            let mut names = names;
            names.sort_unstable();
            names.dedup();
            again.sort_unstable();
            again.dedup();
            assert_eq!(names, again, "{text} became {short}");
        }
    }
}

/// A trace (sacct or SWF, told apart by content) to a workload of the example's site.
pub(crate) fn trace_file(bytes: &[u8]) {
    let options = TraceOptions { max_bytes: Some(MAX_UNPACKED), ..TraceOptions::default() };
    let (read, _) = Trace::read("trace", bytes, &options);
    let Some(read) = read else { return };
    if let (Some(mut site), _) = micro().lower(None) {
        let _ = trace::lower(&read, &mut site);
    }
}

/// A dump of accounts to associations.
pub(crate) fn sacctmgr(bytes: &[u8]) {
    let (accounts, _) = Sacctmgr::read("sacctmgr.cfg", bytes);
    let _ = micro().lower(Some(&accounts));
}

/// `scontrol show reservation`, down to the example's calendar.
pub(crate) fn reservations(bytes: &[u8]) {
    beside("reservations", bytes);
}

/// `sacctmgr show event`, likewise.
pub(crate) fn events(bytes: &[u8]) {
    beside("events", bytes);
}

/// `sshare`, to the initial usage of the example's associations.
pub(crate) fn usage(bytes: &[u8]) {
    beside("usage", bytes);
}

/// `sdiag`, to the example's cost model.
pub(crate) fn sdiag(bytes: &[u8]) {
    beside("sdiag", bytes);
}

/// The example with one more file of its site.
fn beside(kind: &str, bytes: &[u8]) {
    let text = format!(
        "name: x\nsite: {{slurm_conf: slurm.conf, accounts: sacctmgr.cfg, {kind}: more}}\ntrace: {{file: sacct.txt}}\n"
    );
    let (document, found) = study_document::read("study.yaml", text.as_bytes());
    assert!(found.is_empty(), "{found:?}");
    let mut files = example();
    files.insert("more", bytes);
    if let Some(document) = document {
        let _ = Study::prepare(&document, &files);
    }
}

/// The example's files.
fn example() -> FileSet {
    let mut files = files(CONF.as_bytes());
    files.insert("sacctmgr.cfg", ACCOUNTS.as_bytes());
    files.insert("sacct.txt", SACCT.as_bytes());
    files
}

/// A study document, and whatever it changes on the example.
pub(crate) fn study(bytes: &[u8]) {
    let (document, mut found) = study_document::read("study.yaml", bytes);
    study_document::locate(&mut found, "study.yaml", bytes);
    let Some(document) = document else { return };
    let _ = document.canonical_json();
    let _ = Study::prepare(&document, &example());
}

/// A schedule file.
pub(crate) fn schedule(bytes: &[u8]) {
    let _ = schedule_file::read("schedule.csv", bytes);
}

/// gzip, zstd or plain, under a cap.
pub(crate) fn unpack(bytes: &[u8]) {
    if let Ok(mut unpacked) = compression::open(bytes, Some(MAX_UNPACKED)) {
        let mut chunk = [0_u8; 4096];
        let mut total = 0;
        while let Ok(read @ 1..) = unpacked.read(&mut chunk) {
            total += read as u64;
        }
        assert!(total <= MAX_UNPACKED, "the cap does not hold");
    }
}
