//! One process, nothing prepared.

use crate::foresite::{Place, example, offline_comparison, token};

#[test]
fn submit_to_a_service_with_embedded_workers_prints_what_run_writes() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let study = example("study.yaml");
    let study = study.to_str().unwrap();
    let printed = place.must(&["submit", study, "--server", &service.url, "--token", &operator, "--wait", "--json"]);
    assert!(printed.as_bytes() == offline_comparison(), "the comparisons differ");
}

#[test]
fn the_demo_prints_what_run_writes() {
    let printed = Place::embedded().must(&["demo", "--once", "--json"]);
    assert!(printed.as_bytes() == offline_comparison(), "the comparisons differ");
}
