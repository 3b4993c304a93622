#![allow(clippy::unwrap_used, clippy::panic)]
use super::{NameKind, PseudonymError, Pseudonyms};
use crate::sacctmgr::Sacctmgr;
use crate::trace::{Trace, TraceOptions};

const KEY: &[u8] = b"a key of at least thirty-two bytes";

fn pseudonyms() -> Pseudonyms {
    Pseudonyms::new(KEY).unwrap()
}

fn trace(text: &str) -> (String, Pseudonyms) {
    let (mut names, mut out) = (pseudonyms(), Vec::new());
    names.trace(text.as_bytes(), &mut out).unwrap();
    (String::from_utf8(out).unwrap(), names)
}

#[test]
fn a_name_is_the_same_in_every_file_and_different_under_another_key_or_as_another_kind() {
    let mut names = pseudonyms();
    let alice = names.of(NameKind::User, "alice");
    // HMAC-SHA-256 of "user\0alice", base32: changing this breaks every table that sites have kept.
    assert_eq!(alice, "u7h2vsjb5kkmm");
    assert_eq!(names.of(NameKind::User, "Alice"), alice);
    assert_ne!(names.of(NameKind::Account, "alice"), alice);
    assert_ne!(Pseudonyms::new(b"another key of thirty-two bytes ..").unwrap().of(NameKind::User, "alice"), alice);
    assert_eq!(names.of(NameKind::User, "root"), "root");
    assert_eq!(names.of(NameKind::Job, ""), "");
    assert!(matches!(Pseudonyms::new(b"short"), Err(PseudonymError::ShortKey(5))));
}

#[test]
fn slurm_conf_keeps_its_lines_and_loses_names_comments_and_secrets() {
    let mut names = pseudonyms();
    let text = "ClusterName=c # by alice\nAccountingStoragePass=hunter2\n\
                PartitionName=p Nodes=n[1-4] AllowAccounts=physics,chem AllowGroups=staff \\\n  MaxTime=60\n";
    let (physics, chem) = (names.of(NameKind::Account, "physics"), names.of(NameKind::Account, "chem"));
    let staff = names.of(NameKind::Group, "staff");
    assert_eq!(
        names.slurm_conf(text),
        format!(
            "ClusterName=c \nAccountingStoragePass=removed\n\
             PartitionName=p Nodes=n[1-4] AllowAccounts={physics},{chem} AllowGroups={staff} \\\n  MaxTime=60\n"
        )
    );
    assert_eq!(names.left_out().collect::<Vec<_>>(), ["AccountingStoragePass"]);
}

#[test]
fn a_dump_keeps_limits_and_loses_descriptions() {
    let mut names = pseudonyms();
    let text = "# made by alice\nCluster - 'c':Fairshare=1:QOS='normal'\nParent - 'root'\n\
                Account - 'physics':Description='the lab of Alice':Organization='x':Fairshare=5:GrpTRES=gres/gpu:a100=4:MaxJobs=3\n\
                Parent - 'physics'\nUser - 'alice':DefaultAccount='physics':AdminLevel='Administrator':Fairshare=1\n";
    let out = names.accounts(text);
    let (alice, physics) = (names.of(NameKind::User, "alice"), names.of(NameKind::Account, "physics"));
    assert_eq!(
        out,
        format!(
            "\nCluster - 'c':Fairshare=1:QOS='normal'\nParent - 'root'\n\
             Account - '{physics}':Fairshare=5:GrpTRES=gres/gpu:a100=4:MaxJobs=3\n\
             Parent - '{physics}'\nUser - '{alice}':DefaultAccount='{physics}':AdminLevel='Administrator':Fairshare=1\n"
        )
    );
    let (read, found) = Sacctmgr::read("sacctmgr.cfg", out.as_bytes());
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(read.account_names().collect::<Vec<_>>(), [physics.as_str()]);
}

#[test]
fn tables_keep_only_columns_that_are_known_to_be_harmless() {
    let mut names = pseudonyms();
    let out = names.accounts("Cluster|Account|User|Share|Description\nc| physics|alice|5|lab of Alice\n");
    let (alice, physics) = (names.of(NameKind::User, "alice"), names.of(NameKind::Account, "physics"));
    assert_eq!(out, format!("Cluster|Account|User|Share|Description\nc| {physics}|{alice}|5|\n"));
}

#[test]
fn a_trace_keeps_what_decides_and_loses_paths_scripts_comments_and_numbers_of_users() {
    let text = "JobID|JobName|User|UID|Account|WorkDir|Comment|Submit|State|ElapsedRaw|ReqTRES|Reservation|SubmitLine\n\
                1|alice's run|alice|1001|physics|/home/alice|hi|2026-01-01T00:00:00|COMPLETED|60|cpu=4|alice_3|\
                /usr/bin/sbatch -J alice_run -A physics --mail-user=alice@x.org -N 2 --exclusive -D /home/alice \
                --reservation alice_3 --dependency=singleton run.sh --for alice\n\
                2|a|b|not a row\n";
    let (out, mut names) = trace(text);
    let (alice, physics) = (names.of(NameKind::User, "alice"), names.of(NameKind::Account, "physics"));
    let (job, line_job) = (names.of(NameKind::Job, "alice's run"), names.of(NameKind::Job, "alice_run"));
    let reservation = names.of(NameKind::Reservation, "alice_3");
    assert_eq!(
        out,
        format!(
            "JobID|JobName|User|Account|Submit|ElapsedRaw|State|ReqTRES|Reservation|SubmitLine\n\
             1|{job}|{alice}|{physics}|2026-01-01T00:00:00|60|COMPLETED|cpu=4|{reservation}|sbatch --job-name={line_job} \
             --nodes=2 --exclusive --reservation={reservation} --dependency=singleton\n"
        )
    );
    assert_eq!(names.rows_left_out(), 1);
    assert!(!out.contains("alice"));
}

#[test]
fn the_example_gives_the_same_jobs_under_other_names() {
    let text = include_str!("../../../examples/micro/sacct.txt");
    let (out, _) = trace(text);
    let read = |text: &str| Trace::read("t", text.as_bytes(), &TraceOptions::default()).0.unwrap();
    let (before, after) = (read(text), read(&out));
    assert_eq!(before.jobs.len(), after.jobs.len());
    let requests = |trace: &Trace| trace.requests.len();
    assert_eq!(requests(&before), requests(&after));
    for (before, after) in before.jobs.iter().zip(&after.jobs) {
        assert_eq!((before.submit, before.name, before.state), (after.submit, after.name, after.state));
    }
    assert!(!out.contains("user3"));
}

/// What follows a header with other columns would have names where none are looked for.
#[test]
fn a_second_header_with_other_columns_is_refused() {
    let text = "JobID|User|Submit|State\n1|user3|2024-01-01T00:08:00|FAILED\nJobID|Submit|State|User\n2|2024-01-01T00:08:00|FAILED|user3\n";
    let Err(PseudonymError::Unknown(said)) = pseudonyms().trace(text.as_bytes(), &mut Vec::new()) else { panic!() };
    assert!(said.starts_with("line 3 is a header with other columns than line 1: hand over one export"), "{said}");
}

#[test]
fn an_swf_log_has_no_names() {
    let swf = "; Version: 2.2\n1 0 0 10 4 -1 -1 4 60 -1 1 1 1 1 1 -1 -1 -1\n";
    let refused = pseudonyms().trace(swf.as_bytes(), &mut Vec::new());
    assert!(matches!(refused, Err(PseudonymError::Unknown(_))));
}
