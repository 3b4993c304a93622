//! What a file is, told by its content.

use foresite_formats::{compression, events, sacctmgr, sdiag, trace, usage, utf16};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A study document.
    Study,
    /// slurm.conf.
    SlurmConf,
    /// `sacctmgr dump`, `sacctmgr show assoc -P` or `show qos -P`, or a script of its commands.
    Accounts,
    /// `sacct --parsable2` or SWF.
    Trace,
    /// `scontrol show reservation`.
    Reservations,
    /// `sacctmgr show event -P`.
    Events,
    /// `sshare -alP`.
    Usage,
    /// `sdiag`.
    Sdiag,
    /// Any text in UTF-16.
    Utf16,
    /// What another command prints: which, and what to hand over in its place.
    Other(&'static str, &'static str),
    /// What stands beside slurm.conf, and is read with it where it tells something: its name.
    Neighbour(&'static str),
    /// None of these.
    Unknown,
}

/// Outputs that are handed over by mistake.
fn other(head: &str) -> Option<Kind> {
    let first = head.trim_start_matches('\u{feff}').trim_start().lines().next()?.trim_end();
    let has = |words: &[&str]| words.iter().all(|word| first.contains(word));
    let conf = "hand over slurm.conf itself, or what scontrol write config writes";
    let jobs = "hand over sacct --parsable2 --allusers --duplicates of a period";
    // Whichever key comes first: lists are longer than what is looked at.
    let first_key = head.split('"').nth(1).unwrap_or_default();
    let is_list =
        ["jobs", "nodes", "partitions", "reservations", "accounts", "associations", "qos"].contains(&first_key);
    let (what, cure) = match first {
        _ if first.starts_with('{') && (is_list || head.contains("\"meta\"") && head.contains("\"plugin\"")) => (
            "a Slurm command with --json",
            "hand over its text: sacct --parsable2, scontrol show reservation, sshare -alP",
        ),
        _ if first.starts_with("Configuration data as of") => ("scontrol show config", conf),
        _ if first.starts_with("JobId=") && has(&[" JobName="]) => ("scontrol show job", jobs),
        _ if first.starts_with("JobId=") => ("jobcomp/filetxt", jobs),
        _ if first.starts_with("NodeName=") && has(&[" Arch=", "CoresPerSocket="]) => ("scontrol show node", conf),
        _ if first.starts_with("PartitionName=") && !first.contains(' ') && head.contains("\n   AllowGroups=") => {
            ("scontrol show partition", conf)
        }
        _ if has(&["JOBID", "PARTITION", "NODELIST(REASON)"]) => ("squeue", jobs),
        _ if has(&["RawShares", "NormShares"]) && !first.contains('|') => {
            ("sshare as a table", "hand over sshare -alP")
        }
        _ => return None,
    };
    Some(Kind::Other(what, cure))
}

/// Names of files that stand beside slurm.conf.
const NEIGHBOURS: [&str; 4] = ["topology.conf", "gres.conf", "cgroup.conf", "slurmdbd.conf"];

/// Files that stand beside slurm.conf, by their name or their first key.
fn neighbour(name: &str, line: &str) -> Option<Kind> {
    if let Some(named) = NEIGHBOURS.iter().find(|&&named| name.rsplit('/').next() == Some(named)) {
        return Some(Kind::Neighbour(named));
    }
    let (key, _) = line.split_once('=')?;
    let has = |word: &str| line.to_ascii_lowercase().contains(word);
    let name = match key.trim().to_ascii_lowercase().as_str() {
        "switchname" | "blockname" => "topology.conf",
        "autodetect" => "gres.conf",
        "name" if [" file=", " count=", " type=", " cores=", " autodetect="].into_iter().any(has) => "gres.conf",
        "nodename" if has(" autodetect=") || (has(" name=") && (has(" file=") || has(" count="))) => "gres.conf",
        "cgroupplugin" | "cgroupmountpoint" | "cgroupautomount" | "constraincores" | "constraindevices"
        | "constrainramspace" => "cgroup.conf",
        "dbdhost" | "dbdaddr" | "storagetype" => "slurmdbd.conf",
        _ => return None,
    };
    Some(Kind::Neighbour(name))
}

/// Recognises a file by its first 64 KiB, as its reader would; a name ending in `.yaml`, `.yml` or `.json` is a study's.
pub(crate) fn recognised(name: &str, bytes: &[u8]) -> Kind {
    if utf16::is_utf16(bytes) {
        return Kind::Utf16;
    }
    let head = String::from_utf8_lossy(bytes.get(..65_536).unwrap_or(bytes));
    if let Some(other) = other(&head) {
        return other;
    }
    if [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending)) {
        return Kind::Study;
    }
    if compression::is_packed(bytes) {
        return Kind::Trace;
    }
    let lines = || head.trim_start_matches('\u{feff}').lines().map(str::trim).filter(|line| !line.is_empty());
    if lines().next().is_some_and(|line| trace::is_trace(line.as_bytes())) {
        return Kind::Trace;
    }
    if let Some(found) = lines().find(|line| !line.starts_with('#')).and_then(|line| neighbour(name, line)) {
        return found;
    }
    for line in lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with("ReservationName=") || line.starts_with("No reservations in the system") {
            return Kind::Reservations;
        }
        if events::is_header(line) {
            return Kind::Events;
        }
        if usage::is_header(line) {
            return Kind::Usage;
        }
        if sdiag::is_section(line) {
            return Kind::Sdiag;
        }
        if sacctmgr::is_record(line) || sacctmgr::is_command(line) || sacctmgr::is_header(line) {
            return Kind::Accounts;
        }
        // Rows without a header, which the reader of traces asks for.
        if line.matches('|').count() >= 3 {
            return Kind::Trace;
        }
        let word = line.split(['=', ' ', '\t', ':']).next().unwrap_or_default();
        // Else rows of comma-separated tables would be parameters of slurm.conf.
        let is_name = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_assignment = is_name && line.strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with('='));
        if is_assignment || word.eq_ignore_ascii_case("include") {
            return Kind::SlurmConf;
        }
        if ["name", "site", "trace", "scenarios", "replications", "gates", "seed"].contains(&word) {
            return Kind::Study;
        }
    }
    Kind::Unknown
}

#[cfg(test)]
mod tests {
    use super::{Kind, recognised};

    #[test]
    fn files_are_recognised_by_content() {
        assert_eq!(recognised("a", b"# comment\nClusterName = x\n"), Kind::SlurmConf);
        assert_eq!(recognised("a", b"Include other.conf\n"), Kind::SlurmConf);
        assert_eq!(recognised("a", b"# head\nCluster - 'x':Fairshare=1\n"), Kind::Accounts);
        assert_eq!(recognised("a", b"sacctmgr -i add qos long GrpTRES=cpu=40\n"), Kind::Accounts);
        assert_eq!(recognised("a", b"JobID|User|Submit|Start\n"), Kind::Trace);
        assert_eq!(recognised("a", b"Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"), Kind::Events);
        assert_eq!(recognised("a", b"ReservationName=r StartTime=x\n"), Kind::Reservations);
        assert_eq!(recognised("a", b"; Version: 2.2\n"), Kind::Trace);
        assert_eq!(recognised("a", b"1 0 0 10 4 -1 -1 4 60 -1 1 1 1 1 1 -1 -1 -1\n"), Kind::Trace);
        assert_eq!(recognised("a", &[0x1f, 0x8b, 8]), Kind::Trace);
        assert_eq!(recognised("a", b"name: x\nsite: {}\n"), Kind::Study);
        assert_eq!(recognised("a.json", b"{}"), Kind::Study);
        assert_eq!(recognised("a", b"cpu,4\nmem,8\n"), Kind::Unknown);
        assert_eq!(recognised("a", b"PartitionName=debug Nodes=ALL QOS=normal State=UP\n"), Kind::SlurmConf);
        assert_eq!(recognised("a", b"# see\nCluster - x:Fairshare=1:QOS=normal\n"), Kind::Accounts);
        assert_eq!(recognised("a", b"Cluster|Account|User|Partition|Share|QOS|\nx|root|||1|normal|\n"), Kind::Accounts);
        assert_eq!(recognised("a", b"Name|Priority|GraceTime|\nnormal|0|00:00:00|\n"), Kind::Accounts);
        assert_eq!(recognised("a", b"NodeName|TimeStart|TimeEnd|State|Reason|User\n"), Kind::Events);
        assert_eq!(recognised("a", b"Account|User|RawShares|NormShares|RawUsage|FairShare\n"), Kind::Usage);
        assert_eq!(recognised("a", b"*****\nsdiag output at x\nBackfilling stats\n"), Kind::Sdiag);
        for delimiter in [";", "\t", "^", ",", "  "] {
            let header = ["User", "Account", "JobID", "Submit"].join(delimiter);
            assert_eq!(recognised("a", header.as_bytes()), Kind::Trace, "{delimiter:?}");
        }
        assert_eq!(recognised("a", "\u{feff}JobID|State".as_bytes()), Kind::Trace);
        assert_eq!(recognised("a", b"v=0.1,JobID=1,User=u,State=FAILED\n"), Kind::Trace);
        assert_eq!(recognised("a", b"\xfd7zXZ\0"), Kind::Trace);
        for (text, command) in [
            ("{\n \"meta\": {\n \"plugin\": {}}, \"jobs\": []}", "a Slurm command with --json"),
            ("{\n  \"jobs\": [\n    {\"account\": \"a\"}", "a Slurm command with --json"),
            ("Configuration data as of 2022-05-26T10:41:42\nClusterName = x\n", "scontrol show config"),
            ("JobId=7 JobName=x\n", "scontrol show job"),
            ("JobId=7 UserId=x(7) ProcCnt=4\n", "jobcomp/filetxt"),
            ("NodeName=c1 Arch=x86_64 CoresPerSocket=16\n", "scontrol show node"),
            ("PartitionName=debug\n   AllowGroups=ALL\n", "scontrol show partition"),
            ("             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n", "squeue"),
            ("Account User RawShares NormShares RawUsage\n", "sshare as a table"),
        ] {
            let found = recognised("a.json", text.as_bytes());
            assert!(matches!(found, Kind::Other(named, _) if named == command), "{text}: {found:?}");
        }
        let continued = b"PartitionName=p \\\n   AllowGroups=ALL \\\n   Nodes=ALL\n";
        assert_eq!(recognised("a", continued), Kind::SlurmConf);
        for (text, name) in [
            ("# ours\nSwitchName=s1 Nodes=n[1-4]\n", "topology.conf"),
            ("NodeName=g[1-3] Name=gpu File=/dev/nvidia[0-3]\n", "gres.conf"),
            ("AutoDetect=nvml\nName=gpu Type=a100\n", "gres.conf"),
            ("CgroupAutomount=yes\n", "cgroup.conf"),
            ("AuthType=auth/munge\nDbdHost=db\n", "slurm.conf"),
            ("DbdHost=db\n", "slurmdbd.conf"),
            ("NodeName=n1 CPUs=8 Gres=gpu:4\n", "slurm.conf"),
        ] {
            let expected = if name == "slurm.conf" { Kind::SlurmConf } else { Kind::Neighbour(name) };
            assert_eq!(recognised("a", text.as_bytes()), expected, "{text}");
        }
        assert_eq!(recognised("etc/slurmdbd.conf", b"ArchiveEvents=yes\n"), Kind::Neighbour("slurmdbd.conf"));
        assert_eq!(recognised("a.yaml", b"\xff\xfen\0a\0"), Kind::Utf16);
        assert_eq!(recognised("a", b"hello\n"), Kind::Unknown);
        assert_eq!(recognised("a", b""), Kind::Unknown);
    }
}
