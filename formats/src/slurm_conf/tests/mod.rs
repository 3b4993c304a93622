#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod as_slurmctld;
mod editing;
mod honesty;
mod left_out;
mod lowering;
mod reading;

use crate::diagnostic::Diagnostic;
use crate::file_set::FileSet;
use crate::sacctmgr::Sacctmgr;
use crate::site::Site;
use crate::slurm_conf::SlurmConf;

/// The ten-node cluster of the recordings.
const MICRO: &str = include_str!("../testdata/micro.conf");

/// `("slurm.conf", text)` pairs as a file set.
fn files(list: &[(&str, &str)]) -> FileSet {
    let mut files = FileSet::default();
    for (name, text) in list {
        files.insert(*name, text.as_bytes());
    }
    files
}

fn read(text: &str) -> SlurmConf {
    SlurmConf::read(&files(&[("slurm.conf", text)]), "slurm.conf").0
}

/// Everything said, one remark a line, without what every file without release and cluster name gets.
fn said(diagnostics: &[Diagnostic]) -> String {
    let is_usual = |text: &String| text.contains("SlurmVersion") || text.contains("ClusterName: not set");
    let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).filter(|text| !is_usual(text)).collect();
    lines.join("\n")
}

fn read_and_lower(list: &[(&str, &str)], accounts: Option<&str>) -> (Option<Site>, String) {
    let (conf, mut diagnostics) = SlurmConf::read(&files(list), "slurm.conf");
    let accounts = accounts.map(|text| {
        let (accounts, remarks) = Sacctmgr::read("sacctmgr.cfg", text.as_bytes());
        diagnostics.extend(remarks);
        accounts
    });
    let (site, remarks) = conf.lower(accounts.as_ref());
    diagnostics.extend(remarks);
    (site, said(&diagnostics))
}

/// One node and one partition, so that a test need only add what it is about.
fn small(extra: &str) -> String {
    format!("NodeName=n[1-4] CPUs=4 RealMemory=4000\nPartitionName=p Nodes=ALL Default=YES\n{extra}\n")
}

fn site(text: &str) -> Site {
    let (site, said) = read_and_lower(&[("slurm.conf", text)], None);
    site.unwrap_or_else(|| panic!("{said}"))
}

/// What is said about a small cluster with these lines added.
fn remarks(extra: &str) -> String {
    read_and_lower(&[("slurm.conf", &small(extra))], None).1
}
