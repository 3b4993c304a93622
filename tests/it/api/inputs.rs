//! Wrong input: the right status, a message that names file, line, field and cure, and nothing stored.

use foresite_tests::servers::RedisServer;
use serde_json::{Value, json};

use crate::foresite::{Place, Service, example, expect, text_of, token};

fn count(service: &Service, token: &str, path: &str) -> usize {
    expect(service.get(token, path).send().unwrap(), 200)["items"].as_array().unwrap().len()
}

fn one_error<'a>(problem: &'a Value, code: &str) -> &'a Value {
    assert_eq!(problem["code"], code, "{problem}");
    let errors = problem["errors"].as_array().unwrap();
    assert!(!errors.is_empty(), "{problem}");
    &errors[0]
}

#[test]
fn a_slurm_conf_with_an_unknown_parameter_is_refused_and_not_stored() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let site = service.site(&operator);
    let text = std::fs::read_to_string(example("slurm.conf")).unwrap();
    let line = text.lines().count() + 1;
    let files = [("slurm.conf".to_owned(), format!("{text}\nSchedulerTypo=sched/backfill\n").into_bytes())];
    let line = if text.ends_with('\n') { line + 1 } else { line };
    let problem = expect(service.config_of(&operator, &site, &files), 422);
    let error = one_error(&problem, "invalid_config");
    assert_eq!(error["file"], "slurm.conf");
    assert_eq!(error["line"], json!(line), "{problem}");
    assert!(error.to_string().contains("SchedulerTypo"), "{problem}");
    assert!(!text_of(error, "cure").is_empty(), "{problem}");
    assert_eq!(count(&service, &operator, &format!("/v1/sites/{site}/configs")), 0);
}

#[test]
fn a_configuration_sent_again_is_the_same_version() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let site = service.site(&operator);
    let first = expect(service.config(&operator, &site), 201);
    assert_eq!(expect(service.config(&operator, &site), 200), first);
    assert_eq!(count(&service, &operator, &format!("/v1/sites/{site}/configs")), 1);
}

#[test]
fn a_configuration_of_very_many_files_is_refused() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let site = service.site(&operator);
    let files: Vec<_> = (0..1001).map(|number| (format!("{number}.conf"), Vec::new())).collect();
    let problem = expect(service.config_of(&operator, &site, &files), 422);
    assert!(text_of(one_error(&problem, "invalid_config"), "message").contains("more than 1000 files"), "{problem}");
}

#[test]
fn a_torn_trace_line_is_refused_and_not_stored() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let site = service.site(&operator);
    let text = std::fs::read_to_string(example("sacct.txt")).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let half = lines[7].len() / 2;
    lines[7].truncate(half);
    let problem = expect(service.trace(&operator, &site, lines.join("\n").into_bytes()), 422);
    let error = one_error(&problem, "invalid_trace");
    assert_eq!((&error["file"], &error["line"]), (&json!("sacct.txt"), &json!(8)), "{problem}");
    assert!(!text_of(error, "cure").is_empty(), "{problem}");
    assert_eq!(count(&service, &operator, &format!("/v1/sites/{site}/traces")), 0);
}

#[test]
fn a_study_with_faults_gets_all_of_them_and_is_not_stored() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let mut document = service.example_study(&operator);
    document["scenarios"] =
        json!([{"name": "x", "changes": [{"node_sharing": {"partition": "nowhere", "mode": "exclusive"}}]}]);
    let problem = expect(service.post(&operator, "/v1/studies").json(&document).send().unwrap(), 422);
    let error = one_error(&problem, "invalid_study");
    assert!(text_of(error, "message").contains("nowhere"), "{problem}");
    assert!(text_of(error, "pointer").starts_with("/scenarios/0/changes/0"), "{problem}");
    assert!(!text_of(error, "cure").is_empty(), "{problem}");

    document["site"]["config"] = json!("00000000-0000-7000-8000-000000000000");
    document["trace"]["trace"] = json!("nothing");
    let problem = expect(service.post(&operator, "/v1/studies").json(&document).send().unwrap(), 422);
    let pointers: Vec<&Value> = problem["errors"].as_array().unwrap().iter().map(|error| &error["pointer"]).collect();
    assert_eq!(pointers, [&json!("/site/config"), &json!("/trace/trace")], "{problem}");
    assert_eq!(count(&service, &operator, "/v1/studies"), 0);
}

#[test]
fn text_that_a_database_cannot_keep_is_refused_in_words() {
    let redis = RedisServer::start();
    let place = Place::shared(&crate::fixtures::postgres().create_database(), &redis.url());
    place.must(&["migrate", "up"]);
    let service = place.serve();
    let admin = token("t", "admin");
    let document = service.example_study(&admin);
    let mut nameless = document.clone();
    nameless["name"] = json!("a\0b");
    nameless["scenarios"][1]["name"] = json!("x\ny");
    let problem = expect(service.post(&admin, "/v1/studies").json(&nameless).send().unwrap(), 422);
    let pointers: Vec<&Value> = problem["errors"].as_array().unwrap().iter().map(|error| &error["pointer"]).collect();
    assert_eq!(pointers, [&json!("/name"), &json!("/scenarios/1/name")], "{problem}");
    for (path, body) in [
        ("/v1/sites", json!({"name": "a\0b"})),
        ("/v1/tokens", json!({"name": "a\0b", "role": "viewer"})),
        ("/v1/webhooks", json!({"url": "https://example.org/\0", "events": ["study.failed"]})),
    ] {
        expect(service.post(&admin, path).json(&body).send().unwrap(), 422);
    }
    for path in ["/v1/audit?actor=%00", "/v1/audit?action=a%00", "/v1/audit?resource=%00", "/v1/studies?state=%00"] {
        expect(service.get(&admin, path).send().unwrap(), 400);
    }
    for path in ["/v1/sites/%00", "/v1/studies/%00", "/v1/webhooks/%00", "/v1/tokens/%00"] {
        expect(service.get(&admin, path).send().unwrap(), 404);
    }
    expect(service.get(&crate::foresite::token("t\0", "admin"), "/v1/sites").send().unwrap(), 401);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        use foresite_api::grpc::v1::{CreateStudyRequest, study_service_client::StudyServiceClient};
        let mut client = StudyServiceClient::connect(service.grpc.clone()).await.unwrap();
        let wish = CreateStudyRequest { document: document.to_string(), idempotency_key: "a\0b".to_owned() };
        let mut request = tonic::Request::new(wish);
        request.metadata_mut().insert("authorization", format!("Bearer {admin}").parse().unwrap());
        assert_eq!(client.create(request).await.unwrap_err().code(), tonic::Code::InvalidArgument);
    });
    assert_eq!(count(&service, &admin, "/v1/studies"), 0);
}

#[test]
fn another_tenants_files_cannot_be_studied() {
    let place = Place::embedded();
    let service = place.serve();
    let document = service.example_study(&token("ours", "operator"));
    let problem =
        expect(service.post(&token("theirs", "operator"), "/v1/studies").json(&document).send().unwrap(), 422);
    assert_eq!(problem["errors"].as_array().unwrap().len(), 2, "{problem}");
}

#[test]
fn what_needs_too_much_to_be_read_is_refused_and_the_service_lives() {
    let place = Place::embedded();
    let operator = token("t", "operator");
    let document = place.serve().example_study(&operator);
    let mut strict = place.command(&["serve"]);
    strict.env("FORESITE_TASK_MEMORY_BYTES", "1000000");
    let service = Service::of(strict);
    let refused = |answer, code: &str| {
        let problem = expect(answer, 413);
        assert_eq!(problem["code"], code, "{problem}");
        assert!(text_of(&problem, "detail").contains("memory"), "{problem}");
    };
    refused(service.post(&operator, "/v1/studies").json(&document).send().unwrap(), "study_too_large");
    let site = service.site(&operator);
    refused(service.trace(&operator, &site, std::fs::read(example("sacct.txt")).unwrap()), "payload_too_large");
    refused(service.config(&operator, &site), "payload_too_large");
    assert_eq!(count(&service, &operator, "/v1/studies"), 0);
    assert_eq!(count(&service, &operator, &format!("/v1/sites/{site}/traces")), 0);
    assert_eq!(count(&service, &operator, &format!("/v1/sites/{site}/configs")), 0);
}

#[test]
fn submit_names_uploaded_files_as_the_user_does() {
    let place = Place::embedded();
    let service = place.serve();
    let folder = place.folder().join("site");
    std::fs::create_dir(&folder).unwrap();
    for name in ["gres.conf", "sacctmgr.cfg", "sacct.txt"] {
        std::fs::copy(example(name), folder.join(name)).unwrap();
    }
    let conf = std::fs::read_to_string(example("slurm.conf")).unwrap();
    std::fs::write(folder.join("base.conf"), format!("{conf}\nSchedulerTypo=x\n")).unwrap();
    let mut study = std::fs::read_to_string(example("study.yaml")).unwrap();
    for name in ["slurm.conf", "sacctmgr.cfg", "sacct.txt"] {
        study = study.replace(name, &format!("site/{}", name.replace("slurm.conf", "base.conf")));
    }
    std::fs::write(place.folder().join("study.yaml"), study).unwrap();
    let operator = token("t", "operator");
    let submit = || {
        let output = place.run(&["submit", "study.yaml", "--server", &service.url, "--token", &operator]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = submit();
    assert!(said.contains("site/base.conf:") && said.contains("SchedulerTypo"), "{said}");
    std::fs::write(folder.join("base.conf"), conf).unwrap();
    let trace = std::fs::read_to_string(folder.join("sacct.txt")).unwrap();
    std::fs::write(folder.join("sacct.txt"), &trace[..trace.len() / 2]).unwrap();
    let said = submit();
    assert!(said.contains("site/sacct.txt:"), "{said}");
}

#[test]
fn a_gate_ends_submit_with_99_and_leaves_files_for_people_and_ci() {
    let place = Place::embedded();
    let service = place.serve();
    for name in ["slurm.conf", "gres.conf", "sacctmgr.cfg", "sacct.txt"] {
        std::fs::copy(example(name), place.folder().join(name)).unwrap();
    }
    let study = std::fs::read_to_string(example("study.yaml")).unwrap();
    let without: String = study.split("gates:").next().unwrap().to_owned();
    let operator = token("t", "operator");
    for (limit, code) in [("0%", 99), ("100000%", 0)] {
        let gate =
            format!("gates:\n  - {{metric: wait_seconds.mean, by: overall, max_increase: {limit}, min_jobs: 1}}\n");
        std::fs::write(place.folder().join("study.yaml"), format!("{without}{gate}")).unwrap();
        let gated = |command: &[&str], out: &str| {
            let output = place.run(&[command, &["study.yaml", "--gate", "--out", out]].concat());
            assert_eq!(output.status.code(), Some(code), "{command:?} {}", String::from_utf8_lossy(&output.stderr));
        };
        gated(&["submit", "--server", &service.url, "--token", &operator], "by-service");
        gated(&["run"], "by-hand");
        for name in ["comparison.json", "comparison.md", "comparison.csv", "junit.xml", "report.html"] {
            let read = |out: &str| std::fs::read(place.folder().join(out).join(name)).unwrap();
            assert!(read("by-service") == read("by-hand"), "{name} differs");
        }
    }
    let unknown = format!("{without}gates:\n  - {{metric: wait.mean, by: overall, max_increase: 5%}}\n");
    std::fs::write(place.folder().join("study.yaml"), unknown).unwrap();
    let output = place.run(&["submit", "study.yaml", "--gate", "--server", &service.url, "--token", &operator]);
    assert_eq!(output.status.code(), Some(2), "a gate that names no metric");
}

#[test]
fn submit_lists_the_services_faults_and_ends_with_2() {
    let place = Place::embedded();
    let service = place.serve();
    let text =
        std::fs::read_to_string(example("study.yaml")).unwrap().replace("partition: normal", "partition: nowhere");
    for name in ["slurm.conf", "gres.conf", "sacctmgr.cfg", "sacct.txt"] {
        std::fs::copy(example(name), place.folder().join(name)).unwrap();
    }
    std::fs::write(place.folder().join("study.yaml"), text).unwrap();
    let operator = token("t", "operator");
    let output = place.run(&["submit", "study.yaml", "--server", &service.url, "--token", &operator]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("study.yaml") && said.contains("nowhere"), "{said}");
}
