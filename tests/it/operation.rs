//! What operators are given beside the program must speak of things that the program has: metrics, settings, probes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use foresite_api::config::Config;

use crate::foresite::{Place, token};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn text(path: &str) -> String {
    std::fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every word of `text` that begins with `prefix`.
fn words<'a>(text: &'a str, prefix: &str) -> BTreeSet<&'a str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| word.starts_with(prefix))
        .collect()
}

/// Every metric named in a query.
fn metrics_named(text: &str) -> BTreeSet<&str> {
    let mut found = words(text, "foresite_");
    found.extend(words(text, "process_"));
    found
}

#[test]
fn every_metric_of_the_dashboard_and_the_alerts_is_exported() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let study = service.submit(&operator, &service.example_study(&operator));
    service.await_success(&operator, &study);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        use foresite_api::grpc::v1::{ListStudiesRequest, study_service_client::StudyServiceClient};
        let mut client = StudyServiceClient::connect(service.grpc.clone()).await.unwrap();
        // Refused, which counts as well.
        client.list(ListStudiesRequest::default()).await.unwrap_err();
    });
    let exported = service.http.get(&service.metrics).send().unwrap().text().unwrap();
    let exported: BTreeSet<&str> = exported
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(['{', ' ']).next())
        .collect();
    for file in ["helm/foresite/files/alerts.yaml", "helm/foresite/files/dashboard.json"] {
        let queries = text(file);
        // The rest of these files is prose and labels.
        let queries: String =
            queries.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n");
        let named = metrics_named(&queries);
        assert!(named.len() > 5, "{file} names {named:?}");
        let missing: Vec<_> = named.difference(&exported).collect();
        assert!(missing.is_empty(), "{file} names {missing:?}, which nobody exports");
    }
}

#[test]
fn workers_answer_probes_beside_their_metrics() {
    let place = Place::embedded();
    let service = place.serve();
    let healthz = service.metrics.replace("/metrics", "/healthz");
    assert_eq!(service.http.get(healthz).send().unwrap().status(), 200);
}

#[test]
fn every_setting_that_the_chart_and_the_pages_name_exists() {
    let mut files: Vec<String> = std::fs::read_dir(repository("helm/foresite/templates"))
        .unwrap()
        .map(|entry| format!("helm/foresite/templates/{}", entry.unwrap().file_name().to_string_lossy()))
        .collect();
    files.extend(["helm/values/production.yaml", "helm/foresite/values.yaml"].map(str::to_owned));
    files.extend(["README.md", "docs/OPERATIONS.md", "Dockerfile", "examples/ci/github.yml"].map(str::to_owned));
    for file in files {
        let text = text(&file);
        let named = words(&text, "FORESITE_")
            .into_iter()
            // Patterns, and what CI keeps for itself.
            .filter(|name| !name.ends_with('_') && !["FORESITE_IMAGE", "FORESITE_PORT", "FORESITE_MAX"].contains(name));
        let read = Config::read(&|_| None, named.map(str::to_owned)).unwrap();
        assert!(read.unknown.is_empty(), "{file} names {:?}", read.unknown);
    }
}

#[test]
fn what_a_killed_service_left_in_temporary_files_goes_with_the_next_one() {
    let place = Place::embedded();
    let temporary = place.folder().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let serve = || {
        let mut command = place.command(&["serve"]);
        command.env("TMPDIR", &temporary);
        crate::foresite::Service::of(command)
    };
    let files = || std::fs::read_dir(&temporary).unwrap().count();
    let mut service = serve();
    let operator = token("t", "operator");
    let mut document = service.example_study(&operator);
    document["replications"] = serde_json::json!(500);
    let study = service.submit(&operator, &document);
    let path = format!("/v1/studies/{study}");
    foresite_tests::servers::wait_until("a simulation runs", std::time::Duration::from_secs(60), || {
        service.get(&operator, &path).send().unwrap().text().unwrap().contains("running")
    });
    service.process.kill();
    assert_eq!(files(), 1, "the killed service's folder");
    let service = serve();
    assert_eq!(files(), 1, "only the new service's folder");
    service.post(&operator, &format!("{path}/cancel")).send().unwrap();
    assert!(service.process.terminate().success());
    assert_eq!(files(), 0, "nothing is left by a service that ends in order");
}

/// A script of `tests/` without any of the programs it might want.
fn script(name: &str, list: &Path, folder: &Path) -> std::process::Output {
    std::process::Command::new("/bin/bash")
        .arg(repository("tests").join(name))
        .env("PATH", folder)
        .env("CARGO_TARGET_DIR", folder)
        .env("SKIPPED_LIST", list)
        .env_remove("FORESITE_TESTS_STRICT")
        .output()
        .unwrap()
}

#[test]
fn what_ci_cannot_do_on_a_machine_is_on_the_list_it_ends_with() {
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for tool in ["dirname", "basename", "mkdir", "tee"] {
        let found = std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|file| file.is_file());
        std::os::unix::fs::symlink(found.unwrap(), folder.path().join(tool)).unwrap();
    }
    let list = folder.path().join("list");
    for name in ["helm.sh", "drill.sh"] {
        let output = script(name, &list, folder.path());
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let listed = std::fs::read_to_string(list).unwrap();
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(
        lines,
        ["helm.sh: SKIPPED: neither helm nor go is installed", "drill.sh: SKIPPED: python3 is not installed"]
    );
    assert!(text("tests/run.sh").contains("cat \"$SKIPPED_LIST\""));
}

#[test]
fn measuring_tools_hide_no_failure() {
    // A pipe ends as its last part does, unless told otherwise; fuzzing finds no overflow that wraps.
    assert!(text("justfile").contains("\"pipefail\""));
    let fuzzed = text("fuzz/Cargo.toml");
    assert!(fuzzed.contains("overflow-checks = true") && fuzzed.contains("debug-assertions = true"));
}
