//! Study documents: text in, document or every fault out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::change::{Either, NodesChange, SharingMode, TooLarge};
use super::gate::OnInconclusive;
use super::units::{Moment, Setting, Span, Threshold};
use super::{Change, StudyDocument, locate, read};
use crate::comparison::{Dimension, Metric};
use crate::diagnostic::Diagnostic;

const WHOLE: &str = r#"name: share nodes, or split the controllers?
site:  {slurm_conf: site/slurm.conf, accounts: site/sacctmgr.cfg}
trace: {file: site/sacct.txt.zst, window: [2026-01-01, 2026-02-01], warmup: 7d, timezone: Europe/Berlin}
replications: 20
seed: 7
scenarios:
  - name: exclusive nodes
    changes: [{node_sharing: {partition: general, mode: exclusive}}]
  - name: two controllers
    changes: [{separate_controllers: {controllers: {skx: {partitions: [skx, skx-dev]}, knl: {nodes: "c[1-4200]"}}, either: least_loaded, too_large: largest}}]
  - name: backfill, 10 jobs a user
    changes: [{set: {SchedulerParameters.bf_max_job_user: 10, SchedulerParameters.bf_continue: true}}]
  - name: fair-share +20 %
    changes:
      - scale: {PriorityWeightFairshare: 1.2}
      - scheduler: easy
      - nodes: {remove: "c[1-2]"}
gates:
  - {metric: wait_seconds.mean, by: account, max_increase: 5%, ignore_below: 60s, min_jobs: 30, on_inconclusive: pass}
"#;

const LEAST: &str = "name: x\nsite: {slurm_conf: a}\ntrace: {file: b}\n";

fn document(text: &str) -> StudyDocument {
    let (document, diagnostics) = read("study.yaml", text.as_bytes());
    document.unwrap_or_else(|| panic!("{}", shown(&diagnostics)))
}

fn shown(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|it| format!("{it}\n")).collect()
}

fn faults(text: &str) -> String {
    let (document, diagnostics) = read("study.yaml", text.as_bytes());
    assert!(document.is_none(), "the document should be refused");
    shown(&diagnostics)
}

#[test]
fn the_document_of_the_design_is_read() {
    let document = document(WHOLE);
    assert_eq!((document.replications, document.seed, document.scenarios.len()), (20, 7, 4));
    assert_eq!(document.trace.warmup, Some(Span(7 * 86_400)));
    let zone = jiff::tz::TimeZone::get("Europe/Berlin").unwrap();
    assert_eq!(document.trace.window.unwrap().0.unix_seconds(&zone), 1_767_222_000);
    let Change::NodeSharing(sharing) = &document.scenarios[0].changes[0] else { panic!() };
    assert_eq!(sharing.mode, SharingMode::Exclusive);
    let Change::SeparateControllers(separate) = &document.scenarios[1].changes[0] else { panic!() };
    assert_eq!((separate.either, separate.too_large), (Either::LeastLoaded, TooLarge::Largest));
    let Change::Set(settings) = &document.scenarios[2].changes[0] else { panic!() };
    assert_eq!(settings["SchedulerParameters.bf_max_job_user"], Setting("10".to_owned()));
    assert_eq!(settings["SchedulerParameters.bf_continue"], Setting("true".to_owned()));
    assert_eq!(document.scenarios[3].changes[2], Change::Nodes(NodesChange::Remove("c[1-2]".to_owned())));
    let gate = &document.gates[0];
    assert_eq!((gate.metric, gate.by), (Metric::WaitMean, Dimension::Account));
    assert_eq!((gate.max_increase, gate.on_inconclusive), (Some(Threshold::Percent(5.0)), OnInconclusive::Pass));
}

#[test]
fn what_is_left_out_has_defaults() {
    let document = document(LEAST);
    assert_eq!((document.replications, document.seed), (10, 1));
    assert!(document.scenarios.is_empty() && document.gates.is_empty());
}

#[test]
fn yaml_and_json_give_the_same_document_and_canonical_form() {
    let from_yaml = document(WHOLE);
    let json = serde_json::to_string_pretty(&from_yaml).unwrap();
    let from_json = document(&json);
    assert_eq!(from_yaml, from_json);
    assert_eq!(from_yaml.canonical_json(), from_json.canonical_json());
    let tabs = json.replace("  ", "\t");
    assert_eq!(document(&tabs), from_yaml);
}

#[test]
fn the_canonical_form_does_not_know_where_files_came_from() {
    let file = document(LEAST);
    let stored = document("name: x\nsite: {site: s1, config: c1}\ntrace: {trace: t1}\n");
    assert_eq!(file.canonical_json(), stored.canonical_json());
    assert_ne!(file.canonical_json(), document(&LEAST.replace("name: x", "name: y")).canonical_json());
}

#[test]
fn several_traces_are_to_be_joined() {
    let text = "name: x\nsite: {slurm_conf: a}\ntrace: {file: [jan.txt, feb.txt]}\n";
    let found = read("study.yaml", text.as_bytes()).1;
    let words = "study.yaml:3: error: /trace/file: invalid type: sequence, expected a string; join the files into one, such as with cat: a \
                 header that is repeated is fine";
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [words]);
}

#[test]
fn every_fault_is_listed_at_once_with_pointer_and_line() {
    let text = r"name: ''
site: {slurm_conf: a, acounts: b}
trace: {file: b, warmup: soon}
replications: many
scenarios:
  - name: one
    changes:
      - node_sharing: {partition: p, mode: exklusive}
      - sett: {A: 1}
      - scale: {A: fast}
      - scheduler: easy
  - nam: two
    changes: []
  - name: three
gates:
  - {metric: wait, max_increase: 5%}
  - {metric: utilization, by: everybody, max_decrease: 5}
";
    let expected = "\
study.yaml:2: error: /site/acounts: unknown field `acounts`, expected one of `slurm_conf`, `accounts`, `reservations`, `usage`, `events`, `sdiag`, `site`, `config`
study.yaml:3: error: /trace/warmup: `soon` is not a duration; write a number and s, m, h, d or w, such as 7d, or 1-00:00:00
study.yaml:4: error: /replications: invalid type: string \"many\", expected u32
study.yaml:8: error: /scenarios/0/changes/0/node_sharing/mode: unknown variant `exklusive`, expected one of `exclusive`, `sockets`, `cores`
study.yaml:9: error: /scenarios/0/changes/1: unknown variant `sett`, expected one of `set`, `scale`, `partition`, `node_sharing`, `separate_controllers`, `scheduler`, `nodes`, `qos`, `association`, `reservation`, `workload`
study.yaml:10: error: /scenarios/0/changes/2/scale/A: invalid type: string \"fast\", expected f64
study.yaml:12: error: /scenarios/1/nam: unknown field `nam`, expected `name` or `changes`
study.yaml:12: error: /scenarios/1: missing field `name`
study.yaml:14: error: /scenarios/2: missing field `changes`
study.yaml:16: error: /gates/0/metric: unknown variant `wait`, expected one of `bounded_slowdown.mean`, `jobs_unstarted`, `makespan_seconds`, `response_seconds.mean`, `utilization`, `wait_seconds.mean`, `wait_seconds.median`, `wait_seconds.p95`
study.yaml:17: error: /gates/1/by: unknown variant `everybody`, expected one of `overall`, `user`, `account`, `partition`, `qos`
";
    let mut found: Vec<String> = faults(text).lines().map(str::to_owned).collect();
    found.sort_by_key(|line| line.split(':').nth(1).and_then(|line| line.parse::<u32>().ok()));
    assert_eq!(found.join("\n") + "\n", expected);
}

#[test]
fn an_array_does_not_stand_for_names_and_values() {
    let said = faults("name: x\nsite: [slurm.conf]\ntrace: {file: b}\nscenarios:\n  - [one, [{scheduler: easy}]]\n");
    for expected in ["study.yaml:2: error: /site: ", "study.yaml:5: error: /scenarios/0: "] {
        assert!(said.contains(expected), "{said}");
    }
    assert!(faults("[x, {slurm_conf: a}, {file: b}, 1, 1, [], []]").contains("names and values"));
}

#[test]
fn faults_of_meaning_are_listed_together() {
    let text = "name: x
site: {slurm_conf: a, config: c}
trace: {window: [2026-02-01, 2026-01-01], timezone: Mars/Olympus}
replications: 1001
scenarios:
  - {name: baseline, changes: [{scale: {A: -1}}]}
  - {name: twice, changes: []}
  - {name: twice, changes: [{workload: {scale_arrivals: -2}}, {separate_controllers: {controllers: {a: {}}}}]}
gates:
  - {metric: utilization, by: user, max_increase: 5s}
  - {metric: wait_seconds.mean}
  - {metric: jobs_unstarted, max_increase: 5s}
  - {metric: utilization, max_increase: 5}
";
    let found = faults(text);
    for (line, words) in [
        (2, "files and ids are mixed"),
        (3, "no trace is named"),
        (3, "unknown time zone"),
        (3, "ends before it begins"),
        (4, "1001 replications"),
        (6, "`baseline` is always there"),
        (6, "not a factor"),
        (7, "changes nothing"),
        (8, "scenario 1 has that name too"),
        (8, "not a factor of arrivals"),
        (8, "fewer than two controllers"),
        (8, "the controller has no nodes"),
        (10, "utilization exists for all jobs together only"),
        (10, "utilization is not a duration"),
        (11, "the gate has no limit"),
        (12, "jobs_unstarted is not a duration"),
        (13, "utilization is not a duration"),
    ] {
        let prefix = format!("study.yaml:{line}: ");
        assert!(found.lines().any(|it| it.starts_with(&prefix) && it.contains(words)), "{line} {words}\n{found}");
    }
}

#[test]
fn keys_given_twice_are_refused() {
    assert!(
        faults("{\"name\": \"x\", \"name\": \"y\", \"site\": {\"slurm_conf\": \"a\"}, \"trace\": {\"file\": \"b\"}}")
            .contains("given twice")
    );
    assert!(faults(&format!("{LEAST}name: y\n")).contains("duplicate"));
}

#[test]
fn broken_text_is_refused_with_its_line() {
    assert!(faults("name: x\nsite: [\n").starts_with("study.yaml:"));
    assert!(faults("").contains("empty"));
    assert!(faults("- 1\n- 2\n").contains("invalid type"));
    let (document, diagnostics) = read("s", &[0xff, 0xfe]);
    assert!(document.is_none() && diagnostics[0].message.contains("not UTF-8"));
}

#[test]
fn spans_print_as_they_are_written() {
    for (text, seconds) in [("7d", 604_800), ("90m", 5_400), ("60s", 60), ("2w", 1_209_600), ("1h", 3_600), ("45", 45)]
    {
        assert_eq!(text.parse::<Span>().unwrap().0, seconds, "{text}");
        let printed = Span(seconds).to_string();
        assert_eq!(printed.parse::<Span>().unwrap().0, seconds, "{printed}");
    }
    for text in ["", "d", "-1d", "1.5h", "7 days", "99999999999999999999w"] {
        assert!(text.parse::<Span>().is_err(), "{text}");
    }
}

#[test]
fn moments_are_dates_times_and_unix_seconds() {
    let utc = jiff::tz::TimeZone::UTC;
    for (text, seconds) in [
        ("1970-01-02", 86_400),
        ("1970-01-01T01:00:00", 3_600),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T00:00:01Z", 1),
        ("12345", 12_345),
    ] {
        assert_eq!(text.parse::<Moment>().unwrap().unix_seconds(&utc), seconds, "{text}");
    }
    assert!("yesterday".parse::<Moment>().is_err());
}

#[test]
fn later_faults_are_told_the_file_and_line_of_their_pointer() {
    let mut diagnostics = vec![
        Diagnostic::error("study", "wrong").field("/scenarios/0/changes/0/node_sharing"),
        Diagnostic::error("slurm.conf", "wrong").at(3),
    ];
    locate(&mut diagnostics, "my.yaml", WHOLE.as_bytes());
    assert_eq!(diagnostics[0].to_string(), "my.yaml:8: error: /scenarios/0/changes/0/node_sharing: wrong");
    assert_eq!(diagnostics[1].to_string(), "slurm.conf:3: error: wrong");
}

#[test]
fn a_document_nested_too_deep_is_refused_unread() {
    for text in [
        "[".repeat(400_000),
        format!("name: {}x", "{a: ".repeat(100_000)),
        format!("{}x", "- ".repeat(100_000)),
        (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect(),
    ] {
        let (document, diagnostics) = super::read("study.yaml", text.as_bytes());
        assert!(document.is_none());
        assert!(diagnostics.iter().any(|it| it.message.contains("nested deeper")), "{diagnostics:?}");
    }
}

#[test]
fn aliases_spare_writing_things_twice() {
    let text = "name: x
site: {slurm_conf: a}
trace: {file: b}
scenarios:
  - {name: one, changes: &all [{scheduler: easy}, {scale: {PriorityWeightAge: 2}}]}
  - {name: two, changes: *all}
";
    let document = document(text);
    assert_eq!(document.scenarios[0].changes, document.scenarios[1].changes);
}

#[test]
fn aliases_that_stand_for_too_much_are_refused_before_they_are_expanded() {
    let long = |text: &str| format!("a: &a \"{}\"\nb: [{}]\n", text.repeat(50_000), "*a,".repeat(50_000));
    let wide = format!("a: &a [{}]\nb: [{}]\n", "1,".repeat(100_000), "*a,".repeat(100_000));
    let deep: String =
        (1..30).map(|level| format!("k{level}: &k{level} [{}]\n", format!("*k{},", level - 1).repeat(9))).collect();
    for text in [long("x"), wide, format!("k0: &k0 [1]\n{deep}"), format!("!tag {{{}}}", long("x").replace('\n', ","))]
    {
        let said = faults(&text);
        // Of few values that are repeated in many levels the reader itself complains.
        assert!(said.contains("aliases stand for too much") || said.contains("repetition limit"), "{said}");
    }
}

#[test]
fn a_long_key_costs_no_more_than_its_length() {
    // As pointers these would be tens of gigabytes.
    let key = "k".repeat(200_000);
    let text = format!("{{\"{key}\": [{}1]}}", "1,".repeat(100_000));
    let said = faults(&text);
    assert!(said.contains("unknown field") && said.len() < 5_000, "{}", said.len());
    let said = faults(&format!("{{\"{key}\": {{{}\"a\": 1}}}}", "\"a\": 1,".repeat(1_000)));
    assert!(said.contains("given twice") && said.len() < 200_000, "{}", said.len());
}

#[test]
fn more_arrivals_are_more_jobs() {
    let text = format!(
        "{LEAST}replications: 2
scenarios:
  - {{name: plain, changes: [{{scheduler: easy}}]}}
  - {{name: half, changes: [{{workload: {{scale_arrivals: 0.5}}}}]}}
  - {{name: much, changes: [{{workload: {{scale_arrivals: 100}}}}, {{workload: {{scale_arrivals: 2.5}}}}]}}
  - {{name: none of one, changes: [{{workload: {{scale_arrivals: {{factor: 0, jobs: {{user: u}}}}}}}}]}}
"
    );
    assert_eq!(document(&text).jobs_at_most(10), 10 * 2 * 2 + 10 + 5000 + 20);
    assert_eq!(document(&text).jobs_at_most(u64::MAX), u64::MAX);
}

#[test]
fn a_reservation_that_cannot_be_is_refused_with_all_that_is_wrong() {
    let found = faults(&format!(
        "{LEAST}scenarios:
  - {{name: a, changes: [{{reservation: {{add: {{name: '', start: 2026-01-01, flags: [MANT, REPLACE, DAILY, WEEKLY, LICENSE_ONLY]}}}}}}]}}
  - {{name: b, changes: [{{reservation: {{add: {{name: r, nodes: n1, start: 2026-01-01, end: 2026-01-02, duration: 1h}}}}}}]}}
  - {{name: c, changes: [{{reservation: {{add: {{name: r, nodes: n1, start: 2026-01-01, duration: 0}}}}}}, {{reservation: {{remove: ''}}}}]}}
"
    ));
    for words in [
        "/scenarios/0/changes/0/reservation/add/name: the reservation has no name",
        "/scenarios/0/changes/0/reservation/add/nodes: the reservation has no node",
        "/scenarios/0/changes/0/reservation/add: the reservation has no end",
        "/scenarios/0/changes/0/reservation/add/flags/0: there is no flag 'MANT'; did you mean 'MAINT'?",
        "/scenarios/0/changes/0/reservation/add/flags/1: the flag 'REPLACE' is not modelled",
        "/scenarios/0/changes/0/reservation/add/flags/4: the flag 'LICENSE_ONLY' is not modelled",
        "/scenarios/0/changes/0/reservation/add/flags: the reservation recurs in several ways",
        "/scenarios/1/changes/0/reservation/add: an end and a duration are given",
        "/scenarios/2/changes/0/reservation/add/duration: the reservation lasts no time",
        "/scenarios/2/changes/1/reservation/remove: no reservation is named",
    ] {
        assert!(found.contains(words), "{words}\n{found}");
    }
}

#[test]
fn a_hostlist_without_quotes_has_its_cure() {
    for (remove, cure) in [
        (
            "n[1-2]",
            "line 5 column 47, while parsing a flow mapping at line 5 column 37; put hostlists in quotes: \"n[1-2]\"",
        ),
        ("n1,n2", "expected map with a single key; give one key; put hostlists in quotes: \"n[1-2]\", \"n1,n2\""),
        ("\"n[1-2]", "correct the YAML or JSON syntax"),
    ] {
        let found =
            faults(&format!("{LEAST}scenarios:\n  - {{name: \"a b\", changes: [{{nodes: {{remove: {remove}}}}}]}}\n"));
        assert!(found.contains(cure), "{found}");
    }
}

#[test]
fn durations_are_read_in_slurms_words_too() {
    for (text, seconds) in [
        ("90", Some(90)),
        ("2h", Some(7200)),
        ("02:00:00", Some(7200)),
        ("1-00:00:00", Some(86_400)),
        ("10:30", None),
        ("-1", None),
    ] {
        assert_eq!(text.parse::<super::units::Span>().ok().map(|span| span.0), seconds, "{text}");
    }
}
