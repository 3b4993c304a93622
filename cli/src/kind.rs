//! What a file is, told by its content.

use foresite_formats::sacctmgr::is_command;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A study document.
    Study,
    /// slurm.conf.
    SlurmConf,
    /// `sacctmgr dump`, or a script of its commands.
    Accounts,
    /// `sacct --parsable2` or SWF.
    Trace,
    /// `scontrol show reservation`.
    Reservations,
    /// `sacctmgr show event -P`.
    Events,
    /// None of these.
    Unknown,
}

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Recognises a file by its first 64 KiB; a name ending in `.yaml`, `.yml` or `.json` is a study's.
pub(crate) fn recognised(name: &str, bytes: &[u8]) -> Kind {
    if [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending)) {
        return Kind::Study;
    }
    if bytes.starts_with(&GZIP) || bytes.starts_with(&ZSTD) {
        return Kind::Trace;
    }
    let head = String::from_utf8_lossy(bytes.get(..65_536).unwrap_or(bytes));
    let lines = || head.lines().map(str::trim).filter(|line| !line.is_empty());
    if lines().next().is_some_and(|line| line.starts_with(';') || is_swf(line)) {
        return Kind::Trace;
    }
    for line in lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with("Cluster - '") || line.starts_with("Parent - '") || is_command(line) {
            return Kind::Accounts;
        }
        if line.starts_with("ReservationName=") || line.starts_with("No reservations in the system") {
            return Kind::Reservations;
        }
        if line.contains("|NodeName|TimeStart|") {
            return Kind::Events;
        }
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

/// A row of the Standard Workload Format: eighteen numbers.
fn is_swf(line: &str) -> bool {
    let mut fields = line.split_ascii_whitespace();
    fields.clone().count() == 18 && fields.all(|field| field.parse::<f64>().is_ok())
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
        assert_eq!(recognised("a", b"JobID,JobName,ReqTRES\n1,job1,cpu=1\n"), Kind::Unknown);
        assert_eq!(recognised("a", b"hello\n"), Kind::Unknown);
        assert_eq!(recognised("a", b""), Kind::Unknown);
    }
}
