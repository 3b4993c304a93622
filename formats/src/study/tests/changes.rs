//! Every change a study may make, in one list: what it does to the schedule of a small cluster, and how a wrong one is refused.
//! A kind of change without a pair fails [`every_kind_of_change_has_a_pair`].

use super::{Diagnostic, FileSet, JobState, Study, Unobserved, Write, shown, study_document};

/// Four nodes with four cores on two sockets each.
const SLURM_CONF: &str = "\
ClusterName=pairs
SlurmctldHost=head
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits,qos
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairshare=1000
PriorityWeightQOS=100000
PriorityWeightPartition=5000
Licenses=matlab:2
NodeName=a[1-4] CPUs=4 Sockets=2 CoresPerSocket=2 RealMemory=8000
PartitionName=main Nodes=a[1-4] Default=YES MaxTime=10:00:00
PartitionName=short Nodes=a[1-2] MaxTime=1:00:00 PriorityJobFactor=10
";

const ACCOUNTS: &str = "\
Cluster - 'pairs':Fairshare=1:QOS='normal'
Parent - 'root'
Account - 'chem':Fairshare=1
Account - 'phys':Fairshare=1
Parent - 'chem'
User - 'ann':Fairshare=1
User - 'bob':Fairshare=1
Parent - 'phys'
User - 'cyd':Fairshare=1
Parent - 'root'
Account - 'math':Fairshare=1
QOS - 'idle':Priority=0
QOS - 'normal':Priority=0
QOS - 'high':Priority=0
";

/// Submit [min], user, account, partition, QOS, nodes, CPUs, limit [min], run time [min], state.
const JOBS: &str = "\
1 0 ann chem main normal 1 3 60 50 COMPLETED
2 0 ann chem main normal 1 3 60 50 COMPLETED
3 0 ann chem main normal 1 3 60 50 COMPLETED
4 1 bob chem main normal 1 4 120 30 COMPLETED
5 2 cyd phys main high 4 16 60 20 COMPLETED
6 3 ann chem main high 1 1 40 10 COMPLETED
7 4 bob chem short normal 1 1 30 25 COMPLETED
8 5 cyd phys short normal 2 8 60 15 COMPLETED
9 6 cyd phys main normal 1 1 45 5 COMPLETED
10 7 bob chem main normal 1 4 240 10 COMPLETED
";

/// What becomes of them without a change.
const BASELINE: &str = "\
1 ann main: 0 to 50 on a1
2 ann main: 0 to 50 on a2
3 ann main: 0 to 50 on a3
4 bob main: 1 to 31 on a4
5 cyd main: 65 to 85 on a[1-4]
6 ann main: 3 to 13 on a1
7 bob short: 4 to 29 on a2
8 cyd short: 50 to 65 on a[1-2]
9 cyd main: 6 to 11 on a3
10 bob main: 85 to 95 on a1
";

/// A change, what it does, and a wrong one.
struct Pair {
    /// Its words in the document: the change, and where there are several of a kind, which.
    kind: &'static str,
    change: &'static str,
    /// The rows of the schedule that differ from the baseline's.
    becomes: &'static str,
    refused: &'static str,
    because: &'static str,
}

const PAIRS: &[Pair] = &[
    Pair {
        kind: "set",
        change: "{set: {SchedulerType: sched/builtin}}",
        becomes: "\
6 ann main: 85 to 95 on a1
7 bob short: 4 to 29 on a1
9 cyd main: 85 to 90 on a1
10 bob main: 85 to 95 on a2
",
        refused: "{set: {SchedulerTipe: sched/builtin}}",
        because: "/scenarios/0/changes/0/set/SchedulerTipe: there is no parameter 'SchedulerTipe'; did you mean 'SchedulerType' or 'SchedulerAuth' or 'SchedulerPort'?",
    },
    Pair {
        kind: "scale",
        change: "{scale: {PriorityWeightPartition: 0}}",
        becomes: "\
5 cyd main: 50 to 70 on a[1-4]
8 cyd short: 70 to 85 on a[1-2]
10 bob main: 70 to 80 on a3
",
        refused: "{scale: {SchedulerType: 2}}",
        because: "/scenarios/0/changes/0/scale/SchedulerType: cannot be scaled: it is not a number; use set with a value",
    },
    Pair {
        kind: "partition",
        change: "{partition: {name: main, set: {MaxNodes: 2}}}",
        becomes: "\
5 cyd main: does not run, Pending
10 bob main: 31 to 41 on a4
",
        refused: "{partition: {name: mian, set: {MaxNodes: 2}}}",
        because: "/scenarios/0/changes/0/partition/set/MaxNodes: there is no partition 'mian'; name a partition of slurm.conf",
    },
    Pair {
        kind: "node_sharing",
        change: "{node_sharing: {mode: sockets}}",
        becomes: "\
5 cyd main: 90 to 110 on a[1-4]
6 ann main: 31 to 41 on a4
7 bob short: 65 to 90 on a1
9 cyd main: 31 to 36 on a4
10 bob main: 110 to 120 on a1
",
        refused: "{node_sharing: {partition: mian, mode: exclusive}}",
        because: "/scenarios/0/changes/0/node_sharing: partition mian is not in slurm.conf; it has main, short",
    },
    Pair {
        kind: "separate_controllers",
        change: "{separate_controllers: {controllers: {left: {nodes: 'a[1-2]'}, right: {nodes: 'a[3-4]'}}, either: first}}",
        becomes: "\
3 ann main: 75 to 125 on a2
4 bob main: 65 to 95 on a1
5 cyd main: does not run, Cancelled
9 cyd main: 14 to 19 on a1
10 bob main: 65 to 75 on a2
",
        refused: "{separate_controllers: {controllers: {left: {nodes: 'a[1-2]'}, right: {nodes: 'a[2-5]'}}}}",
        because: "/scenarios/0/changes/0/separate_controllers/controllers/right: in scenario `changed`: node a5 is not in slurm.conf; name partitions and nodes as slurm.conf does, each node once",
    },
    Pair {
        kind: "scheduler",
        change: "{scheduler: fcfs}",
        becomes: "\
2 ann main: 0 to 50 on a[1-2]
3 ann main: 0 to 50 on a[2-3]
4 bob main: 1 to 31 on a[3-4]
5 cyd main: 50 to 70 on a[1-4]
6 ann main: 70 to 80 on a1
7 bob short: 70 to 95 on a1
8 cyd short: 70 to 85 on a[1-3]
9 cyd main: 70 to 75 on a3
10 bob main: 70 to 80 on a[3-4]
",
        refused: "{scheduler: fifo}",
        because: "/scenarios/0/changes/0/scheduler: unknown variant `fifo`, expected one of `slurm`, `fcfs`, `sjf`, `easy`, `conservative`",
    },
    Pair {
        kind: "nodes add",
        change: "{nodes: {add: {nodes: a5, like: a4}}}",
        becomes: "\
10 bob main: 31 to 41 on a5
",
        refused: "{nodes: {add: {nodes: a5, like: b4}}}",
        because: "/scenarios/0/changes/0/nodes/add: there is no node 'b4'; did you mean 'a4'?",
    },
    Pair {
        kind: "nodes remove",
        change: "{nodes: {remove: a4}}",
        becomes: "\
4 bob main: 50 to 80 on a3
5 cyd main: does not run, Pending
10 bob main: 65 to 75 on a1
",
        refused: "{nodes: {remove: a5}}",
        because: "/scenarios/0/changes/0/nodes/remove: there is no node 'a5'; did you mean 'a1' or 'a2' or 'a3'?",
    },
    Pair {
        kind: "nodes resize",
        change: "{nodes: {resize: {nodes: a1, set: {CPUs: 8, CoresPerSocket: 4}}}}",
        becomes: "\
1 ann main: 0 to 50 on a2
2 ann main: 0 to 50 on a1
3 ann main: 0 to 50 on a1
4 bob main: 1 to 31 on a3
6 ann main: 3 to 13 on a2
7 bob short: 4 to 29 on a1
9 cyd main: 6 to 11 on a1
10 bob main: 85 to 95 on a2
",
        refused: "{nodes: {resize: {nodes: a1, set: {Cores: 8}}}}",
        because: "/scenarios/0/changes/0/nodes/resize/set/Cores: there is no parameter 'Cores'; see the table of parameters",
    },
    Pair {
        kind: "nodes drain",
        change: "{nodes: {drain: {nodes: a4, window: ['2026-01-01T00:00:00', '2026-01-01T02:00:00']}}}",
        becomes: "\
4 bob main: 50 to 80 on a3
5 cyd main: 120 to 140 on a[1-4]
10 bob main: 65 to 75 on a1
",
        refused: "{nodes: {drain: {nodes: a5, window: ['2026-01-01', '2026-01-02']}}}",
        because: "/scenarios/0/changes/0/nodes/drain/nodes: in scenario `changed`: node a5 of the drain is not in slurm.conf; did you mean 'a1' or 'a2' or 'a3'?",
    },
    Pair {
        kind: "reservation add",
        change: "{reservation: {add: {name: maint, nodes: a1, start: '2026-01-01T05:00:00', duration: 1h, flags: [MAINT]}}}",
        becomes: "\
10 bob main: 85 to 95 on a2
",
        refused: "{reservation: {add: {name: maint, nodes: a5, start: 2026-01-01, duration: 1h}}}",
        because: "/scenarios/0/changes/0/reservation/add/nodes: in scenario `changed`: node a5 of reservation maint is not in slurm.conf; did you mean 'a1' or 'a2' or 'a3'?",
    },
    Pair {
        kind: "reservation remove",
        change: "{reservation: {add: {name: maint, nodes: a4, start: '2026-01-01T01:00:00', duration: 1h}}}, {reservation: {remove: maint}}",
        becomes: "",
        refused: "{reservation: {remove: maint}}",
        because: "/scenarios/0/changes/0/reservation/remove: there is no reservation 'maint'; name one of the site's reservations, or one added before",
    },
    Pair {
        kind: "qos",
        change: "{qos: {name: high, set: {Priority: 10}}}",
        becomes: "\
5 cyd main: 50 to 70 on a[1-4]
8 cyd short: 70 to 85 on a[1-2]
10 bob main: 70 to 80 on a3
",
        refused: "{qos: {name: highest, set: {Priority: 10}}}",
        because: "/scenarios/0/changes/0/qos/set/Priority: no QOS 'highest' is described; describe it: add the output of sacctmgr show qos -P",
    },
    Pair {
        kind: "association",
        change: "{association: {account: chem, user: ann, set: {MaxJobs: 2}}}",
        becomes: "\
3 ann main: 85 to 135 on a2
4 bob main: 1 to 31 on a3
6 ann main: 50 to 60 on a3
7 bob short: 4 to 29 on a1
9 cyd main: 6 to 11 on a2
",
        refused: "{association: {account: chem, user: cyd, set: {MaxJobs: 2}}}",
        because: "/scenarios/0/changes/0/association/set/MaxJobs: there is no user 'cyd' in account 'chem'; name a user of that account",
    },
    Pair {
        kind: "workload scale_arrivals",
        change: "{workload: {scale_arrivals: {factor: 2, jobs: {user: bob}}}}",
        becomes: "\
104 bob main: 85 to 115 on a1
107 bob short: 13 to 38 on a1
10 bob main: 85 to 95 on a2
110 bob main: 85 to 95 on a3
",
        refused: "{workload: {scale_arrivals: {factor: 2, jobs: {user: dan}}}}",
        because: "/scenarios/0/changes/0/workload/scale_arrivals/jobs/user: in scenario `changed`: there is no user `dan`; name a user of the trace",
    },
    Pair {
        kind: "workload reassign",
        change: "{workload: {reassign: {from: ann, to: cyd, fraction: 0.5}}}",
        becomes: "\
2 cyd main: 0 to 50 on a2
3 cyd main: 0 to 50 on a3
6 cyd main: 3 to 13 on a1
10 bob main: 45 to 55 on a4
",
        refused: "{workload: {reassign: {from: ann, to: dan, fraction: 0.5}}}",
        because: "/scenarios/0/changes/0/workload/reassign/to: in scenario `changed`: there is no user `dan`; name a user of the trace or of the sacctmgr dump",
    },
    Pair {
        kind: "workload time_limit",
        change: "{workload: {time_limit: {cap: 30m, jobs: {user: ann}}}}",
        becomes: "\
1 ann main: 0 to 30 on a1, Timeout
2 ann main: 0 to 30 on a2, Timeout
3 ann main: 0 to 30 on a3, Timeout
5 cyd main: 45 to 65 on a[1-4]
8 cyd short: 30 to 45 on a[1-2]
10 bob main: 65 to 75 on a1
",
        refused: "{workload: {time_limit: {cap: 30m, factor: 2}}}",
        because: "/scenarios/0/changes/0/workload/time_limit: not exactly one of `limit`, `factor` and `cap`; write one, such as `factor: 0.5`",
    },
    Pair {
        kind: "workload estimates",
        change: "{workload: {estimates: {exact: true, jobs: {qos: normal}}}}",
        becomes: "\
10 bob main: 31 to 41 on a4
",
        refused: "{workload: {estimates: {exact: true, jobs: {account: phys, user: ann}}}}",
        because: "/scenarios/0/changes/0/workload/estimates: in scenario `changed`: the change is about no job of the trace; name jobs that the trace has in the window",
    },
    Pair {
        kind: "workload move",
        change: "{workload: {move: {from: main, to: short, jobs: {account: phys}}}}",
        becomes: "\
5 cyd short: does not run, Pending
9 cyd short: 13 to 18 on a1
10 bob main: 31 to 41 on a4
",
        refused: "{workload: {move: {from: main, to: long}}}",
        because: "/scenarios/0/changes/0/workload/move/to: in scenario `changed`: partition long is not in slurm.conf; it has main, short",
    },
];

fn sacct() -> String {
    let clock = |minutes: u32| format!("2026-01-01T{:02}:{:02}:00", minutes / 60, minutes % 60);
    let mut text =
        "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|State|Timelimit|NNodes|ReqCPUS|ReqMem\n".to_owned();
    for job in JOBS.lines() {
        let fields: Vec<&str> = job.split(' ').collect();
        let [id, submit, user, account, partition, qos, nodes, cpus, limit, run, state] = fields[..] else { panic!() };
        let (submit, run): (u32, u32) = (submit.parse().unwrap(), run.parse().unwrap());
        let (submit, start, end) = (clock(submit), clock(300), clock(300 + run));
        writeln!(
            text,
            "{id}|{user}|{account}|{partition}|{qos}|{submit}|{submit}|{start}|{end}|{state}|{limit}:00|{nodes}|{cpus}|0"
        )
        .unwrap();
    }
    text
}

fn prepared(change: &str) -> (Option<Study>, String) {
    let (study, diagnostics) = noted(change);
    (study, shown(&diagnostics.into_iter().filter(Diagnostic::is_error).collect::<Vec<_>>()))
}

/// As [`prepared`], with all that is said.
fn noted(change: &str) -> (Option<Study>, Vec<Diagnostic>) {
    let mut files = FileSet::default();
    files.insert("slurm.conf", SLURM_CONF.as_bytes());
    files.insert("accounts.cfg", ACCOUNTS.as_bytes());
    files.insert("trace.txt", sacct().into_bytes());
    let text = format!(
        "name: pairs\nsite: {{slurm_conf: slurm.conf, accounts: accounts.cfg}}\ntrace: {{file: trace.txt}}\nreplications: 2\n\
         scenarios: [{{name: changed, changes: [{change}]}}]\n"
    );
    let (document, mut diagnostics) = study_document::read("study.yaml", text.as_bytes());
    let study = document.and_then(|document| {
        let (study, found) = Study::prepare(&document, &files);
        diagnostics.extend(found);
        study
    });
    (study, diagnostics)
}

/// `job user partition: when and where it ran`, in minutes after midnight: seconds depend on the controller's phases.
fn rows(study: &Study, scenario: usize, replication: u32) -> Vec<String> {
    let schedule = study.replicate(scenario, replication, &mut Unobserved).unwrap().schedule;
    let minute = |at: i64| (at - 1_767_225_600 + 30).div_euclid(60);
    let row = |row: &crate::schedule_file::ScheduleRow| {
        let names = [row.user, row.partition].map(|label| schedule.labels.name(label));
        let ran = match (row.start, row.end) {
            (Some(start), Some(end)) => format!("{} to {} on {}", minute(start), minute(end), schedule.node_list(row)),
            _ => "does not run".to_owned(),
        };
        let state = if matches!(row.state, JobState::Completed) { String::new() } else { format!(", {:?}", row.state) };
        format!("{} {} {}: {ran}{state}", row.job, names[0], names[1])
    };
    schedule.rows.iter().map(row).collect()
}

fn differing(study: &Study, replication: u32) -> String {
    let (before, after) = (rows(study, 0, replication), rows(study, 1, replication));
    let mut text: String = after.iter().filter(|row| !before.contains(row)).map(|row| format!("{row}\n")).collect();
    let id = |row: &str| row.split(' ').next().map(str::to_owned);
    for gone in before.iter().filter(|row| !after.iter().any(|other| id(other) == id(row))) {
        writeln!(text, "{} is left out", id(gone).unwrap()).unwrap();
    }
    text
}

#[test]
fn the_baseline_of_all_pairs() {
    let (study, faults) = prepared("{scale: {PriorityWeightAge: 1}}");
    assert_eq!(rows(&study.unwrap_or_else(|| panic!("{faults}")), 0, 0).join("\n"), BASELINE.trim_end());
}

#[test]
fn each_change_changes_the_schedule_as_written() {
    for pair in PAIRS {
        let (study, faults) = prepared(pair.change);
        let study = study.unwrap_or_else(|| panic!("{}: {faults}", pair.kind));
        assert_eq!(differing(&study, 0), pair.becomes, "{}: {}", pair.kind, pair.change);
    }
}

#[test]
fn each_wrong_change_is_refused_as_written() {
    for pair in PAIRS {
        let (study, faults) = prepared(pair.refused);
        assert!(study.is_none(), "{}: {} should be refused", pair.kind, pair.refused);
        assert!(faults.contains(pair.because), "{}: {}\n{faults}", pair.kind, pair.because);
    }
}

/// The words a document may use at a place, as its reader lists them.
fn words_at(wrong: &str) -> Vec<String> {
    let (_, faults) = prepared(wrong);
    let listed = faults.split_once("expected ").unwrap_or_else(|| panic!("{faults}")).1;
    let listed = listed.lines().next().unwrap_or_default();
    listed.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_kind_of_change_has_a_pair() {
    for kind in words_at("{no_such_change: 1}") {
        let several = matches!(kind.as_str(), "nodes" | "reservation" | "workload");
        let words = if several { words_at(&format!("{{{kind}: {{no_such_change: 1}}}}")) } else { vec![String::new()] };
        for word in words {
            let kind = format!("{kind} {word}");
            let is_paired = PAIRS.iter().any(|pair| pair.kind == kind.trim());
            assert!(is_paired, "there is no pair for `{}`", kind.trim());
        }
    }
}

#[test]
fn values_that_only_the_whole_site_refutes_name_their_place_in_the_document() {
    for (change, because) in [
        (
            "{nodes: {resize: {nodes: a1, set: {CPUs: 64}}}}",
            "/scenarios/0/changes/0/nodes/resize/set/CPUs: in scenario `changed`: CPUs=64 matches neither 2 sockets nor 4 cores nor 4 \
             threads: slurmctld takes 4, and nothing changes; set CoresPerSocket (and Sockets)",
        ),
        (
            "{set: {SchedulerParameters.bf_interval: 0}}",
            "/scenarios/0/changes/0/set/SchedulerParameters.bf_interval: in scenario `changed`: 0 is not between 1 and 10800",
        ),
        (
            "{qos: {name: normal, set: {GrpTRES: 60}}}",
            "/scenarios/0/changes/0/qos/set/GrpTRES: in scenario `changed`: '60' is not resource=amount",
        ),
        (
            "{association: {account: chem, user: ann, set: {GrpTRES: 60}}}",
            "/scenarios/0/changes/0/association/set/GrpTRES: in scenario `changed`: '60' is not resource=amount",
        ),
    ] {
        let (study, faults) = prepared(change);
        assert!(study.is_none() && faults.contains(because), "{change}\n{faults}");
    }
}

#[test]
fn a_scenario_that_changes_no_schedule_says_so_and_why() {
    for (change, why) in [
        ("{scale: {PriorityWeightAge: 1}}", "in every replication."),
        (
            "{nodes: {drain: {nodes: a4, window: ['2027-01-01', '2027-01-02']}}}",
            "in every replication: the drain begins after the last job was submitted.",
        ),
        (
            "{reservation: {add: {name: m, nodes: ALL, start: 2025-01-01T00:00:00, duration: 8h}}}",
            "in every replication: reservation m ends before the first job was submitted.",
        ),
        ("{qos: {name: idle, set: {MaxJobsPU: 1}}}", "in every replication: no job asks for QOS idle."),
        (
            "{association: {account: math, set: {GrpJobs: 1}}}",
            "in every replication: no job is charged to account math.",
        ),
    ] {
        let (study, faults) = prepared(change);
        let (comparison, _) = super::on_threads(&study.expect(&faults), 1);
        let text = format!("Changed no schedule: every job runs as in the baseline, {why}");
        assert!(comparison.caveats.iter().any(|it| it.text == text), "{change}: {:?}", comparison.caveats);
    }
    let (study, faults) = prepared("{node_sharing: {mode: exclusive}}");
    let (comparison, _) = super::on_threads(&study.expect(&faults), 1);
    assert!(!comparison.caveats.iter().any(|it| it.text.starts_with("Changed no schedule")));
}

#[test]
fn a_reservation_of_a_bare_number_is_warned_of() {
    let of = |duration: &str| {
        noted(&format!(
            "{{reservation: {{add: {{name: m, nodes: ALL, start: 2026-01-01T01:00:00, duration: {duration}}}}}}}"
        ))
    };
    let words = "/scenarios/0/changes/0/reservation/add/duration: 120 taken as seconds (scontrol's would be minutes); write 2h or 120s";
    for (duration, is_warned) in [("120", true), ("120s", false), ("02:00:00", false), ("1-00:00:00", false)] {
        let (study, faults) = of(duration);
        let faults = shown(&faults);
        assert!(study.is_some(), "{faults}");
        assert_eq!(faults.contains(words), is_warned, "{duration}: {faults}");
    }
}
