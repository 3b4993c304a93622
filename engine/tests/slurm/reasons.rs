//! Why jobs never started: one scenario each (squeue(1), "Job reason codes").

use crate::schedule::run;

/// Job names with their reasons.
fn reasons(text: &str) -> Vec<String> {
    let (scenario, outcome) = run(text, 0);
    let name = |id: foresite_engine::ids::JobId| scenario.workload.jobs[id.index()].name;
    outcome.pending.iter().map(|&(id, reason)| format!("{} {}", name(id), reason.words().0)).collect()
}

#[test]
fn every_job_that_never_starts_has_a_reason() {
    for (text, expected) in [
        ("node n1 cores=4\n job 1 n=8 run=100", "1 PartitionLimit"),
        ("node n1 cores=4\n job 1 C=gpu run=100", "1 BadConstraints"),
        ("node n1 cores=4\n partition a down\n job 1 p=a run=100", "1 PartitionDown"),
        ("node n1 cores=4\n partition a max=10\n job 1 p=a run=100 t=60", "1 PartitionLimit"),
        (
            "node n1 cores=4\n partition a max=10\n set enforce_part_limits=all\n job 1 p=a run=100 t=60",
            "1 PartitionLimit",
        ),
        ("node n1 cores=4\n qos normal max_cpu_per_job=2\n set enforce=limits\n job 1 n=4 run=100", "1 Limit"),
        (
            "node n1 cores=4\n qos normal max_submit_jobs_per_user=1\n set enforce=limits\n job 1 run=9\n job 2 run=9",
            "2 Limit",
        ),
        ("node n1 cores=4\n partition a drain\n job 1 p=a run=100", "1 PartitionDown"),
        ("node n1 cores=4\n license a:2\n job 1 L=a:3 run=100", "1 Licenses"),
        ("node n1 cores=4\n reservation r at=-7200\n job 1 at=5 resv=r run=100", "1 Reservation"),
        ("node n1 cores=4\n job 1 run=100 fails\n job 2 dep=afterok:1 run=100", "2 DependencyNeverSatisfied"),
        ("node n[1-2] cores=4\n outage n2 at=0\n job 1 N=2 run=100", "1 ReqNodeNotAvail"),
        ("node n1 cores=4\n set bf_interval=off\n job 1+0 run=100\n job 1+1 run=100", "1+0 Resources,1+1 Resources"),
        ("node n1 cores=4\n job 1 n=8 run=100 cancel=50\n job 2 run=100", ""),
    ] {
        assert_eq!(reasons(text).join(","), expected, "{text}");
    }
}

#[test]
fn a_dependency_on_a_job_that_waits_itself_has_not_happened() {
    let text = "node n[1-2] cores=4\n outage n2 at=0\n job 1 N=2 run=100\n job 2 dep=afterany:1 run=100";
    assert_eq!(reasons(text), ["1 ReqNodeNotAvail", "2 Dependency"]);
}
