//! The offline commands as a shell sees them: exit codes, standard output, files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/micro").join(name).to_string_lossy().into_owned()
}

fn foresite(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_foresite")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A study on the example's files, in a folder of its own.
fn study(folder: &Path, rest: &str) -> PathBuf {
    for name in ["slurm.conf", "gres.conf", "sacctmgr.cfg", "sacct.txt"] {
        fs::copy(example(name), folder.join(name)).unwrap();
    }
    let path = folder.join("study.yaml");
    let head = "name: test\nsite: {slurm_conf: slurm.conf, accounts: sacctmgr.cfg}\n\
                trace: {file: sacct.txt, timezone: UTC}\nreplications: 2\n";
    fs::write(&path, format!("{head}{rest}")).unwrap();
    path
}

const EXCLUSIVE: &str =
    "scenarios: [{name: Not shared!, changes: [{node_sharing: {partition: normal, mode: exclusive}}]}]\n";

/// The README shows what the program prints. Where this fails, the engine has changed: print the example anew, and the table beside it.
#[test]
fn the_readme_shows_what_the_example_prints() {
    let readme = fs::read_to_string(example("../../README.md")).unwrap();
    let shown = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let printed = text(&foresite(&["run", &example("study.yaml")]).stdout);
    assert!(printed.starts_with(shown), "README.md shows\n{shown}\nand the example prints\n{printed}");
}

#[test]
fn run_prints_json_and_writes_every_shape_of_the_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let study = study(folder.path(), EXCLUSIVE);
    let out = folder.path().join("out");
    let output =
        foresite(&["run", study.to_str().unwrap(), "--json", "--out", out.to_str().unwrap(), "--threads", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), fs::read_to_string(out.join("comparison.json")).unwrap());
    for name in ["comparison.csv", "comparison.md", "report.html", "junit.xml", "figures/wait-by-user-1.svg"] {
        assert!(out.join(name).is_file(), "{name}");
    }
    let schedule = fs::read_to_string(out.join("schedules/1-not-shared/1.csv")).unwrap();
    assert_eq!(schedule.lines().count(), 251);
    let one = foresite(&["run", study.to_str().unwrap(), "--json", "--threads", "1"]);
    assert_eq!(one.stdout, output.stdout);
}

#[test]
fn a_breached_gate_is_exit_code_99_only_where_asked() {
    let folder = tempfile::tempdir().unwrap();
    let gates = "gates: [{metric: wait_seconds.mean, max_increase: 1s}]\n";
    let path = study(folder.path(), &format!("{EXCLUSIVE}{gates}"));
    assert_eq!(foresite(&["run", path.to_str().unwrap(), "--gate"]).status.code(), Some(99));
    let output = foresite(&["run", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("BREACHED"));
}

#[test]
fn wrong_studies_are_exit_code_2_with_every_fault_and_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path =
        study(folder.path(), "scenarios: [{name: a, changes: [{node_sharing: {partition: nope, mode: cores}}]}]\n");
    let output = foresite(&["run", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.contains("study.yaml:5 ") && said.contains("partition nope is not in slurm.conf; it has normal"),
        "{said}"
    );
    fs::remove_file(folder.path().join("sacct.txt")).unwrap();
    fs::remove_file(folder.path().join("sacctmgr.cfg")).unwrap();
    let said = text(&foresite(&["run", path.to_str().unwrap()]).stderr);
    assert!(said.contains("sacct.txt") && said.contains("sacctmgr.cfg") && said.contains("2 errors"), "{said}");
    let nothing = foresite(&["run", "gone.yaml", "--json"]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(text(&nothing.stdout).contains("\"diagnostics\""));
}

#[test]
fn simulate_writes_schedule_and_summary_the_same_for_the_same_seed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (slurm_conf, accounts, trace) = (example("slurm.conf"), example("sacctmgr.cfg"), example("sacct.txt"));
    let run = |schedule: &str, more: &[&str]| {
        let mut arguments = vec!["simulate", "--slurm-conf", &slurm_conf, "--accounts", &accounts, "--trace", &trace];
        let (schedule, summary) = (path(schedule), path("summary.json"));
        arguments.extend(["--timezone", "UTC", "--schedule", &schedule, "--summary", &summary]);
        arguments.extend(more);
        let output = foresite(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        fs::read(schedule).unwrap()
    };
    let first = run("a.csv", &["--seed", "7"]);
    assert!(first == run("b.csv", &["--seed", "7"]));
    assert!(first != run("c.csv", &["--seed", "7", "--scheduler", "fcfs"]));
    run("d.csv", &["--boot-offset", "300", "--set", "SchedulerParameters.bf_max_job_user=2"]);
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(path("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["jobs"], 250);
    assert!(summary["engine"]["peak_rss_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn a_standard_workload_log_needs_no_slurm_conf() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.swf");
    let rows: String = (1..=20)
        .map(|job| {
            format!("{job} {} 0 100 {} -1 -1 {} 200 -1 1 1 1 1 1 -1 -1 -1\n", job * 10, job % 4 + 1, job % 4 + 1)
        })
        .collect();
    fs::write(&log, format!("; Version: 2.2\n; MaxNodes: 4\n; MaxProcs: 4\n; UnixStartTime: 1000\n{rows}")).unwrap();
    let schedule = folder.path().join("s.csv");
    let output = foresite(&[
        "simulate",
        "--trace",
        log.to_str().unwrap(),
        "--scheduler",
        "easy",
        "--schedule",
        schedule.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let header = "job_id,user,account,partition,qos,submit,eligible,start,end,state,nodes,cpus,node_list,started_by";
    assert!(fs::read_to_string(schedule).unwrap().starts_with(header));
}

#[test]
fn check_recognises_files_and_lists_faults() {
    let files = [example("slurm.conf"), example("sacctmgr.cfg"), example("sacct.txt")];
    let output = foresite(&["check", &files[0], &files[1], &files[2]]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("micro: 10 nodes, 120 CPUs"), "{}", text(&output.stdout));
    for file in &files {
        assert_eq!(foresite(&["check", file, "--json"]).status.code(), Some(0), "{file}");
    }
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("slurm.conf");
    fs::write(&conf, fs::read_to_string(example("slurm.conf")).unwrap() + "PriorityWeightAgee=1\n").unwrap();
    let output = foresite(&["check", conf.to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["checked"][0]["diagnostics"][0]["line"], 26);
    assert_eq!(foresite(&["check", &example("study.yaml")]).status.code(), Some(0));
}

#[test]
fn check_says_which_traces_were_not_checked_against_the_site() {
    let folder = tempfile::tempdir().unwrap();
    let further = folder.path().join("feb.txt");
    fs::copy(example("sacct.txt"), &further).unwrap();
    let (conf, trace, further) = (example("slurm.conf"), example("sacct.txt"), further.to_str().unwrap().to_owned());
    let output = foresite(&["check", &conf, &example("sacctmgr.cfg"), &trace, &further, "--timezone", "UTC", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let said = |index: usize| {
        let all = found["checked"][index]["diagnostics"].as_array().unwrap();
        all.iter().filter(|it| it["severity"] == "warning").cloned().collect::<Vec<_>>()
    };
    assert!(said(0).is_empty(), "{:?}", said(0));
    assert_eq!(said(1)[0]["message"], format!("not checked against {conf}, since {trace} was"));
    assert_eq!(
        said(1)[0]["cure"],
        format!(
            "join the traces into one file: cat {trace} {further} > joined.txt (a header that is repeated is fine)"
        )
    );
}

#[test]
fn check_counts_what_can_run_and_says_each_fault_once_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let said = |name: &str, content: &str, more: &[&str]| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        text(&foresite(&[&["check", path.to_str().unwrap()], more].concat()).stdout)
    };
    let conf =
        "ClusterName=x\nNodeName=n[1-4] CPUs=4\nNodeName=f[1-100] CPUs=4 State=FUTURE\nPartitionName=p Nodes=ALL\n";
    assert!(said("slurm.conf", conf, &[]).contains("x: 4 nodes, 16 CPUs (and 100 nodes DOWN, DRAIN, FAIL or FUTURE"));
    let trace = "JobID|Submit|ElapsedRaw|State|ReqCPUS\n1|2024-03-30T02:30:00|60|COMPLETED|1\n2|2024-03-31T02:30:00|60|COMPLETED|1\n";
    let found = said("sacct.txt", trace, &["--timezone", "Europe/Berlin"]);
    assert!(found.contains("sacct.txt:3  assumed") && !found.contains("sacct.txt:0"), "{found}");
    let found = said("sacct.txt", trace, &["--timezone", "Mars/Base"]);
    assert_eq!((found.matches("unknown time zone").count(), found.matches("--timezone ").count()), (1, 2), "{found}");
    fs::write(folder.path().join("sacct.xz"), b"\xfd7zXZ\0").unwrap();
    let found = text(&foresite(&["check", folder.path().join("sacct.xz").to_str().unwrap()]).stdout);
    assert!(found.contains("packed with xz; unpack it, or use gzip or zstd"), "{found}");
    assert!(said("usage.txt", "Account|User|RawUsage\na|u|x\n", &[]).contains("usage.txt:2  error"));
}

#[test]
fn included_files_are_read_from_beside_wherever_the_site_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("parts.d")).unwrap();
    write(
        "slurm.conf",
        "ClusterName=Foo\nSlurmctldHost=c\nGresTypes=gpu\nInclude /etc/foresite/nodes_%c.conf\nInclude parts.d/all.conf\n",
    );
    write("nodes_foo.conf", "NodeName=n[1-4] CPUs=4 Gres=gpu:2\n");
    write("parts.d/all.conf", "include p.conf\n");
    write("parts.d/p.conf", "PartitionName=p Nodes=ALL\n");
    write("gres.conf", "Include gpus.conf\n");
    write("gpus.conf", "NodeName=n[1-4] Name=gpu File=/dev/nvidia[0-1]\n");
    let output = foresite(&["check", folder.path().join("slurm.conf").to_str().unwrap()]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("Foo: 4 nodes, 16 CPUs; partitions p"), "{said}");
    assert!(said.contains("'/etc/foresite/nodes_foo.conf' is taken from"), "{said}");
    fs::remove_file(folder.path().join("gpus.conf")).unwrap();
    fs::remove_file(folder.path().join("nodes_foo.conf")).unwrap();
    let said = text(&foresite(&["check", folder.path().join("slurm.conf").to_str().unwrap()]).stdout);
    assert!(said.contains("put it beside slurm.conf, as nodes_foo.conf"), "{said}");
    assert!(said.contains("gres.conf:1") && said.contains("'gpus.conf' is not there"), "{said}");
}

#[test]
fn the_example_for_ci_passes_breaches_and_is_refused_as_its_readme_says() {
    let written = fs::read_to_string(example("../ci/study.yaml")).unwrap();
    let here = Path::new(&example("../ci/study.yaml")).parent().unwrap().canonicalize().unwrap();
    let absolute = written.replace("../micro", &here.join("../micro").to_string_lossy());
    let folder = tempfile::tempdir().unwrap();
    let gate = |text: String| {
        let path = folder.path().join("study.yaml");
        fs::write(&path, text).unwrap();
        foresite(&["run", path.to_str().unwrap(), "--gate"])
    };
    assert_eq!(gate(absolute.clone()).status.code(), Some(0));
    assert_eq!(gate(absolute.replace("max_decrease: 5%", "max_decrease: 0.1%")).status.code(), Some(99));
    let refused = gate(absolute.replace("metric: utilization", "metric: utilisation"));
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("study.yaml"), "{}", text(&refused.stderr));
}

#[test]
fn pseudonymous_files_give_the_same_schedule_under_other_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    fs::write(at("site.key"), "a key of at least thirty-two bytes\n").unwrap();
    let files = ["slurm.conf", "gres.conf", "sacctmgr.cfg", "sacct.txt"].map(example);
    let mut arguments = vec!["pseudonymize", "--key"];
    let (key, out, table) = (at("site.key"), at("out"), at("names.csv"));
    arguments.extend([key.as_str(), "--out", &out, "--table", &table]);
    arguments.extend(files.iter().map(String::as_str));
    let output = foresite(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));

    let schedule = |from: &dyn Fn(&str) -> String, to: &str| {
        let (conf, accounts, trace, to) = (from("slurm.conf"), from("sacctmgr.cfg"), from("sacct.txt"), at(to));
        let run = ["simulate", "--slurm-conf", &conf, "--accounts", &accounts, "--trace", &trace, "--timezone", "UTC"];
        let output = foresite(&[&run[..], &["--schedule", &to]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        fs::read_to_string(to).unwrap()
    };
    let before = schedule(&|name| example(name), "before.csv");
    let after = schedule(&|name| at(&format!("out/{name}")), "after.csv");
    assert!(!after.contains("user1") && !after.contains("acct1"));
    let renamed = fs::read_to_string(&table).unwrap();
    let mut expected = before;
    for row in renamed.lines().filter(|row| row.starts_with("user,") || row.starts_with("account,")) {
        let fields: Vec<&str> = row.split(',').collect();
        expected = expected.replace(&format!(",{},", fields[1].trim_matches('"')), &format!(",{},", fields[2]));
    }
    assert_eq!(expected, after);
    fs::write(&key, "short").unwrap();
    assert_eq!(foresite(&arguments).status.code(), Some(2));
}

#[test]
fn a_reader_that_has_gone_is_no_fault() {
    let mut check = Command::new(env!("CARGO_BIN_EXE_foresite"));
    let pipe = std::process::Stdio::piped;
    let mut running = check.args(["check", "--rules"]).stdout(pipe()).stderr(pipe()).spawn().unwrap();
    drop((running.stdout.take(), running.stderr.take()));
    assert_eq!(running.wait().unwrap().code(), Some(0));
}
