#![allow(clippy::unwrap_used)]

use foresite_engine::calendar::OutageKind;
use jiff::tz::TimeZone;

use super::{lower, read};
use crate::diagnostic::Diagnostic;
use crate::file_set::FileSet;
use crate::slurm_conf::SlurmConf;

const HEADER: &str = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n";

fn said(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|it| format!("{it}\n")).collect()
}

/// Node, seconds from 2024-01-01 to its leaving and return, what becomes of its jobs.
type Event = (String, i64, Option<i64>, OutageKind);

/// Events, and what was said of them.
fn events(rows: &str) -> (Vec<Event>, String) {
    let (events, found) = read("ev", format!("{HEADER}{rows}").as_bytes(), TimeZone::UTC);
    let at = |time: i64| time - 1_704_067_200;
    let rows = events.into_iter().map(|it| (it.nodes, at(it.start), it.end.map(at), it.kind)).collect();
    (rows, said(&found))
}

/// What is said of DRAIN rows, the first of them on a line.
fn drains_late(line: u64, rows: u64) -> String {
    format!(
        "ev:{line}: not modelled: State: a DRAIN row begins when the node's last job has ended, not when it was drained; until then the \
         node takes jobs: {rows} rows\n"
    )
}

#[test]
fn down_drained_and_open_rows_become_outages() {
    let (events, found) = events(
        "c|n1|2024-01-01T00:00:00|2024-01-01T01:00:00|DOWN*|Not responding|slurm(64030)\n\
         c|n2|2024-01-01T00:00:10|Unknown|IDLE+DRAIN|disk | bad|root(0)\n\
         c|n[3-4]|2024-01-01T00:00:10|2024-01-01T00:00:20|DRAINING|x|root(0)\n\
         c|n1|2024-01-01T00:00:10|2024-01-01T00:00:10|DOWN|back at once|root(0)\n\
         c|n2|2024-01-01T00:00:10|2024-01-01T00:00:10|DRAIN|nothing|root(0)\n",
    );
    assert_eq!(found, drains_late(3, 2));
    assert_eq!(
        events,
        [
            ("n1".to_owned(), 0, Some(3600), OutageKind::Down),
            ("n2".to_owned(), 10, None, OutageKind::Drain),
            ("n[3-4]".to_owned(), 10, Some(20), OutageKind::Drain),
            // Its jobs are lost all the same.
            ("n1".to_owned(), 10, Some(10), OutageKind::Down),
        ]
    );
}

#[test]
fn rows_of_the_cluster_and_other_states_are_counted_not_taken() {
    let (events, found) = events(
        "c||2024-01-01T00:00:00|Unknown||Cluster Registered TRES|\n\
         c||2024-01-01T00:00:00|2024-01-01T01:00:00|DOWN|slurmctld disconnect|slurm(64030)\n\
         c||2024-01-02T00:00:00|2024-01-02T01:00:00|DOWN|slurmctld disconnect|slurm(64030)\n\
         c|n1|2024-01-01T00:00:00|2024-01-01T01:00:00|IDLE+POWERED_DOWN||\n\
         c|n1|2024-01-01T00:00:00|2024-01-01T01:00:00|MAINT||\n",
    );
    assert!(events.is_empty());
    assert_eq!(
        found,
        "ev:6: warning: State: MAINT: no state that takes a node out of service; left out: 1 rows\n\
         ev:5: not modelled: State: IDLE+POWERED_DOWN: power saving is not simulated: the nodes are always on: 1 rows\n\
         ev:3: not modelled: State: slurmctld disconnect: the controller was not connected to slurmdbd; it is taken to have gone on \
         scheduling: 2 rows\n"
    );
}

/// As sacctmgr shortens them.
#[test]
fn short_names_of_states_are_known() {
    let row = |state: &str| format!("c|n1|2024-01-01T00:00:00|2024-01-01T01:00:00|{state}||\n");
    let (taken, found) = events(&["INVAL", "FAILG", "FAILG*", "DRNG^", "DRAIN~"].map(row).concat());
    assert_eq!((taken.len(), found), (5, drains_late(2, 5)));
    assert!(taken.iter().all(|event| event.3 == OutageKind::Drain));
    let (taken, found) = events(
        &["BOOT", "BOOT^", "BOOT*", "POW_DN", "POWRING_DN", "POWERED_DN", "POW_UP", "POWERING_UP"].map(row).concat(),
    );
    assert!(taken.is_empty());
    assert_eq!(found.matches("not modelled: State: BOOT").count(), 3, "{found}");
    assert_eq!(found.matches("power saving is not simulated").count(), 5, "{found}");
}

#[test]
fn what_is_wrong_is_refused_with_its_line() {
    let (events, found) = events(
        "c|n1|2024-01-01T01:00:00|2024-01-01T00:00:00|DOWN||\n\
         c|n1|soon|Unknown|DOWN||\n\
         c|n1|Unknown|Unknown|DOWN||\n\
         c|n1|1704067200000|Unknown|DOWN||\n",
    );
    assert!(events.is_empty());
    assert_eq!(
        found,
        "ev:2: error: TimeEnd: n1 returns before it leaves; correct TimeStart or TimeEnd\n\
         ev:3: error: TimeStart: 'soon' is no time; write 2024-01-31T12:34:56, or Unknown\n\
         ev:4: error: TimeStart: 'Unknown' says no time; remove the row, or say when it began\n\
         ev:5: error: TimeStart: '1704067200000' is no time in seconds: it seems to count milliseconds, or to be a date without dashes; \
         write 2024-01-31T12:34:56, or Unknown\n"
    );
    let only = |text: &str| said(&read("ev", text.as_bytes(), TimeZone::UTC).1);
    assert!(only("").starts_with("ev: error: the file is empty"));
    assert!(only("NodeName|State\n").starts_with("ev:1: error: the columns TimeStart, TimeEnd are missing"));
}

#[test]
fn nodes_are_those_of_the_cluster_and_unknown_ones_are_named() {
    let mut files = FileSet::default();
    files.insert("slurm.conf", b"ClusterName=c\nNodeName=n[1-4]\nPartitionName=p Nodes=ALL\n".as_slice());
    let site = SlurmConf::read(&files, "slurm.conf").0.lower(None).0.unwrap();
    let rows = "C|n[1-2]|2024-01-01T00:00:00|Unknown|DOWN||\nother|n3|2024-01-01T00:00:00|Unknown|DOWN||\n\
                c|n[4-6]|2024-01-01T00:00:00|Unknown|DOWN||\n";
    let (events, _) = read("ev", format!("{HEADER}{rows}").as_bytes(), TimeZone::UTC);
    let (outages, found) = lower(&events, &site.cluster);
    assert_eq!(
        outages.iter().map(|outage| (outage.nodes.len(), outage.end)).collect::<Vec<_>>(),
        [(2, i64::MAX), (1, i64::MAX)]
    );
    let found = said(&found);
    assert!(
        found.starts_with("ev:4: warning: Nodes: node n5 (and 1 more) of an event is not in slurm.conf"),
        "{found}"
    );
    let other = "ev:3: warning: Cluster: 1 rows of the cluster 'other' are left out: slurm.conf is that of 'c'; \
                 export with sacctmgr show event Clusters=c -P\n";
    assert!(found.ends_with(other), "{found}");
}
