#![allow(clippy::unwrap_used)]

use foresite_engine::calendar::Reservation;
use jiff::tz::TimeZone;

use super::{Fact, lower, read};
use crate::diagnostic::Diagnostic;
use crate::file_set::FileSet;
use crate::site::Site;
use crate::slurm_conf::SlurmConf;

/// As printed by scontrol 22.05.8 for the reservation of the recorded case `features`, names shortened.
const RECORDED: &str = "ReservationName=resv1 StartTime=2024-01-01T01:39:00 EndTime=2024-01-01T02:24:00 Duration=00:45:00 \
    Nodes=m[1-2] NodeCnt=2 CoreCnt=24 Features=(null) PartitionName=(null) Flags=SPEC_NODES TRES=cpu=24 \
    Users=user1,root Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n";

const CONF: &str = "ClusterName=c\nLicenses=matlab:4\nNodeName=m[1-4]\nNodeName=n[1-2]\nPartitionName=all Nodes=ALL Default=YES\nPartitionName=m Nodes=m[1-4]\n";

fn site() -> Site {
    let mut files = FileSet::default();
    files.insert("slurm.conf", CONF.as_bytes());
    SlurmConf::read(&files, "slurm.conf").0.lower(None).0.unwrap()
}

fn said(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|it| format!("{it}\n")).collect()
}

fn facts(text: &str) -> (Vec<Fact>, String) {
    let (facts, diagnostics) = read("resv", text.as_bytes(), TimeZone::get("Europe/Berlin").unwrap());
    (facts, said(&diagnostics))
}

fn one(rest: &str) -> String {
    format!("ReservationName=r StartTime=2024-01-01T00:00:00 EndTime=2024-01-01T06:00:00 {rest}")
}

fn lowered(text: &str, period: (i64, i64)) -> (Vec<Reservation>, String) {
    let (facts, mut found) = facts(text);
    let (reservations, diagnostics) = lower(&facts, &site().cluster, Some(period), &TimeZone::UTC);
    found += &said(&diagnostics);
    (reservations, found)
}

#[test]
fn a_recorded_line_is_read_whole_and_without_remark() {
    let (facts, found) = facts(RECORDED);
    assert_eq!(found, "");
    let fact = &facts[0];
    assert_eq!((fact.name.as_str(), fact.nodes.as_str(), fact.partition.as_str()), ("resv1", "m[1-2]", ""));
    // An hour before UTC's.
    assert_eq!((fact.start, fact.end - fact.start), (1_704_069_540, 2700));
    assert_eq!((fact.users.join(" "), fact.accounts.len(), fact.repeat), ("user1 root".to_owned(), 0, None));
}

#[test]
fn the_form_of_several_lines_reads_the_same() {
    let (_, line) = (facts(RECORDED), RECORDED.replace(" Nodes=", "\n   Nodes=").replace(" Users=", "\n   Users="));
    assert_eq!(facts(&line), facts(RECORDED));
    let two = facts(&format!("{RECORDED}\n{}", RECORDED.replace("resv1", "resv2"))).0;
    assert_eq!(
        two.iter().map(|fact| (fact.name.as_str(), fact.place.line)).collect::<Vec<_>>(),
        [("resv1", Some(1)), ("resv2", Some(3))]
    );
    assert_eq!(facts("No reservations in the system\n"), (Vec::new(), String::new()));
}

#[test]
fn what_is_left_out_is_named() {
    let text = one(
        "Nodes=m1 Flags=MAINT,REPLACE,PURGE_COMP=00:05:00,SPEC_NODES,FANCY BurstBuffer=big:2 NodeName=m1 CoreIDs=0-3",
    );
    let (facts, found) = facts(&text);
    assert_eq!(
        found,
        "resv:1: not modelled: Flags: REPLACE of r: nodes in use are not replaced by others\n\
         resv:1: not modelled: Flags: PURGE_COMP=00:05:00 of r: it lasts until its end, also when idle\n\
         resv:1: warning: Flags: 'FANCY' of r is no flag that is known; left out; see scontrol(1)\n\
         resv:1: not modelled: CoreIDs: r reserves some cores of its nodes: the whole nodes are taken\n\
         resv:1: not modelled: BurstBuffer: big:2 of r: burst buffers are not simulated\n"
    );
    assert!(facts[0].flags.maint);
}

#[test]
fn what_is_wrong_is_refused_with_its_line() {
    let (facts, found) = facts(
        "ReservationName=a StartTime=2024-01-02T00:00:00 EndTime=2024-01-01T06:00:00 Nodes=m1\n\
         ReservationName=b StartTime=soon EndTime=2024-01-01T06:00:00 Nodes=m1\n\
         ReservationName=c StartTime=2024-01-01T00:00:00 EndTime=2024-01-01T06:00:00 Nodes=m1 Flags=TIME_FLOAT\n\
         ReservationName=d StartTime=20240101000000 EndTime=2024-01-01T06:00:00 Nodes=m1\n",
    );
    assert!(facts.is_empty());
    assert_eq!(
        found,
        "resv:1: error: EndTime: a ends before it begins; correct StartTime or EndTime\n\
         resv:2: error: StartTime: 'soon' of b is no time; write 2024-01-31T12:34:56\n\
         resv:3: not modelled: Flags: c is left out: a start that moves with time is not simulated (TIME_FLOAT)\n\
         resv:4: error: StartTime: '20240101000000' of d is no time in seconds: it seems to count milliseconds, or to be a date without \
         dashes; write 2024-01-31T12:34:56\n"
    );
    assert!(read("x", b"hello\n", TimeZone::UTC).1[0].to_string().contains("x:1: error: this is no reservation"));
    assert!(read("x", b"", TimeZone::UTC).1[0].to_string().contains("x: error: the file holds no reservation"));
}

#[test]
fn names_become_ids_and_unknown_ones_are_named() {
    let text = format!(
        "{}\n{}\n{}\n{}\n",
        one("Nodes=m[3-5] Users=-eve"),
        one("Nodes=m1"),
        one("PartitionName=m").replace("=r ", "=p "),
        one("Nodes=x1 Users=a,-b").replace("=r ", "=q ")
    );
    let (reservations, found) = lowered(&text, (0, 0));
    assert_eq!(
        found,
        "resv:1: warning: Nodes: node m5 of reservation r is not in slurm.conf; did you mean 'm1' or 'm2' or 'm3'?\n\
         resv:2: warning: Name: there is a reservation 'r' already; give another name; the first one is taken\n\
         resv:4: warning: Nodes: node x1 of reservation q is not in slurm.conf; did you mean 'm1' or 'n1'?\n\
         resv:4: warning: Nodes: reservation q has no node of slurm.conf: left out\n"
    );
    let nodes: Vec<usize> = reservations.iter().map(|reservation| reservation.nodes.len()).collect();
    assert_eq!(nodes, [2, 4]);
    assert_eq!((reservations[0].users.join(" "), reservations[0].users_denied), ("eve".to_owned(), true));
    assert!(reservations[1].flags.part_nodes && reservations[1].partition.is_some());
}

#[test]
fn licences_are_reserved_with_nodes_or_alone() {
    let text = format!(
        "{}\n{}\n",
        one("Nodes=(null) NodeCnt=0 Flags=ANY_NODES PartitionName=(null) Licenses=matlab:2,ansys:1"),
        one("Nodes=m1 Licenses=matlab:1").replace("=r ", "=q ")
    );
    let (reservations, found) = lowered(&text, (0, 0));
    assert_eq!(
        found,
        "resv:1: warning: Licenses: 'ansys:1' of reservation r is no licence of slurm.conf: left out; write for example matlab:10\n"
    );
    let kept: Vec<_> = reservations.iter().map(|it| (it.nodes.len(), it.licenses[0].1, it.licenses.len())).collect();
    assert_eq!(kept, [(0, 2, 1), (1, 1, 1)]);
}

#[test]
fn reservations_of_no_node_and_no_known_licence_are_left_out() {
    let (facts, found) = facts(&one("Nodes=(null) PartitionName=m Flags=ANY_NODES BurstBuffer=big:2"));
    assert!(facts.is_empty());
    assert_eq!(
        found,
        "resv:1: not modelled: Flags: r is left out: it names no licence, and burst buffers are not simulated (ANY_NODES)\n"
    );
    // Nor does it close the partition.
    let unknown = one("Nodes=(null) PartitionName=m Flags=LICENSE_ONLY Licenses=ansys:1");
    let (reservations, found) = lowered(&unknown, (0, 0));
    assert!(reservations.is_empty());
    assert!(found.contains("'ansys:1' of reservation r is no licence of slurm.conf"), "{found}");
    assert!(found.contains("reservation r has no node of slurm.conf: left out"), "{found}");
}

#[test]
fn recurring_ones_recur_by_the_local_clock_from_before_the_trace_to_a_month_after() {
    let day = 86_400;
    // 2024-03-28 to 2024-04-02, over the change of clocks in Berlin on Sunday 2024-03-31.
    let period = (1_711_584_000, 1_711_584_000 + 5 * day);
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let windows = |flag: &str| {
        let (facts, _) = facts(&one(&format!("Nodes=m1 Flags={flag}")));
        let (reservations, _) = lower(&facts, &site().cluster, Some(period), &zone);
        reservations[0].windows.clone()
    };
    let daily = windows("DAILY");
    let local: Vec<String> = daily
        .iter()
        .take(6)
        .map(|&(start, end)| {
            let at = |time| {
                jiff::Timestamp::from_second(time).unwrap().to_zoned(zone.clone()).strftime("%d %H:%M").to_string()
            };
            format!("{} {}", at(start), at(end))
        })
        .collect();
    assert_eq!(
        local,
        [
            "28 00:00 28 06:00",
            "29 00:00 29 06:00",
            "30 00:00 30 06:00",
            "31 00:00 31 07:00",
            "01 00:00 01 06:00",
            "02 00:00 02 06:00"
        ]
    );
    assert_eq!(daily.len(), 36);
    // 2024-01-01 was a Monday.
    assert_eq!(windows("WEEKLY").len(), 5);
    assert_eq!((windows("WEEKDAY").len(), windows("WEEKEND").len()), (26, 10));
    // An hour that lasts six recurs when it has ended.
    let hourly = windows("HOURLY");
    assert!(hourly.windows(2).all(|pair| pair[1].0 == pair[0].1));
}

/// Recorded (av-dep): one asked for by a number of nodes has others for those that become unusable; whoever writes a file names nodes.
#[test]
fn nodes_of_a_reservation_by_number_are_replaced() {
    let replaces = |text: &str| facts(text).0[0].flags.replaces_nodes;
    let by_number = RECORDED.replace("SPEC_NODES", "OVERLAP");
    assert_eq!([RECORDED, &by_number, &RECORDED.replace("SPEC_NODES", "STATIC")].map(replaces), [false, true, false]);
    assert!(!replaces(&one("Nodes=m1")) && !replaces(&one("Nodes=m1 Flags=OVERLAP")));
}

/// The comment is the last that scontrol prints of one, whatever it says.
#[test]
fn a_comment_says_nothing_of_the_reservation() {
    let line = RECORDED.trim_end();
    let text = format!(
        "{line} Comment=RT#77: firmware, nodes=all back by EndTime=18:00 users=all ReservationName=no\n{line}\n"
    );
    assert_eq!(facts(&text).0[0], facts(line).0[0]);
    assert_eq!(facts(&text).0.len(), 2);
    let lines =
        text.replace(" Nodes=", "\n   Nodes=").replace(" Comment=", "\n   Comment=").replace(", nodes=", "\nnodes=");
    assert_eq!(facts(&lines).0[0], facts(line).0[0]);
    assert_eq!(facts(&lines).0.len(), 2);
    // Who writes a file may say it first.
    assert_eq!(facts(&one("Comment=what nobody reads Nodes=m1")).0[0].nodes, "m1");
}

#[test]
fn qos_and_partitions_of_newer_releases_are_named() {
    let (_, found) = facts(&one("Nodes=m1 AllowedPartitions=compute QOS=training Groups=(null)"));
    assert_eq!(
        found,
        "resv:1: not modelled: QOS: training of r: nobody is let in for a QOS, or kept out\n\
         resv:1: not modelled: AllowedPartitions: compute of r: jobs of all partitions may use it\n"
    );
    assert_eq!(facts(&one("Nodes=m1 AllowedPartitions=(null) QOS=(null)")).1, "");
}
