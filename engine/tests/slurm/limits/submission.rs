//! What is decided when a job comes: refusals, the default time limit, age (slurm-semantics 4.3, 5.2, 5.3).

use crate::schedule::{expect, run};

#[test]
fn a_job_beyond_the_submit_limit_is_refused_for_good() {
    expect(
        "node n1 cores=1
         set enforce=limits
         account x max_submit_jobs=2
         user a account=x
         user b account=x
         job 1 user=a run=100 t=10
         job 2 user=a run=100 t=10
         job 3 user=a run=100 t=10
         job 4 user=b run=100 t=10
         job 5 at=150 user=a run=100 t=10",
        "1  0    0..4        +100  COMPLETED  n1  *
         2  0    1.end+0..4  +100  COMPLETED  n1  *
         3  -    -           -     PENDING    -   -
         4  0    2.end+0..4  +100  COMPLETED  n1  *
         5  150  4.end+0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
fn a_groups_submit_limit_is_shared_and_the_qos_decides_first() {
    let scenario = |qos: &str| {
        format!(
            "node n1 cores=4
             qos normal {qos}
             set enforce=limits
             account x grp_submit_jobs=1
             user a account=x
             user b account=x
             job 1 user=a run=100 t=10
             job 2 user=b run=100 t=10"
        )
    };
    expect(&scenario(""), "1  0  0..4  +100  COMPLETED  n1  *\n 2  -  -  -  PENDING  -  -");
    expect(&scenario("grp_submit_jobs=2"), "1  0  0..4  +100  *  n1  *\n 2  0  0..4  +100  *  n1  *");
}

/// Recorded (c134): where no partition could serve a job, the answer of the last one asked stands, by tier. `low` does not look at nodes for a job of
/// more than its MaxNodes, so job 1 waits, and takes its account's only place, though no node of `high` has so much memory.
#[test]
fn a_job_that_the_last_partition_asked_keeps_out_waits() {
    let scenario = |bound: &str| {
        format!(
            "node n[1-3] cores=4 memory=1000
             partition low {bound} tier=1
             partition high tier=5
             set enforce=limits
             account x max_submit_jobs=1
             user a account=x
             job 1 p=low,high user=a N=3 n=3 mem=2000 run=100 t=10
             job 2 at=10 p=low user=a run=100 t=10"
        )
    };
    expect(&scenario("max_nodes=2"), "1  0  -  -  PENDING  -  -\n 2  -  -  -  PENDING  -  -");
    expect(&scenario(""), "1  -  -  -  PENDING  -  -\n 2  10  10..14  +100  COMPLETED  n1  *");
}

/// Refused, it does not count; without the flag it waits for ever and takes the group's only place.
#[test]
fn deny_on_limit_refuses_what_could_never_run() {
    let scenario = |flags: &str| {
        format!(
            "node n1 cores=4
             qos normal {flags} max_cpu_per_job=2 grp_submit_jobs=1
             set enforce=limits
             job 1 n=3 run=100 t=10
             job 2 n=2 run=100 t=10"
        )
    };
    expect(&scenario("flags=DenyOnLimit"), "1  -  -  -  PENDING  -  -\n 2  0  0..4  +100  COMPLETED  n1  *");
    expect(&scenario(""), "1  0  -  -  PENDING  -  -\n 2  -  -  -  PENDING  -  -");
}

#[test]
fn enforce_part_limits_refuses_for_any_or_all_partitions() {
    let scenario = |enforce: &str| {
        format!(
            "node n[1-2] cores=1
             partition short max=30 nodes=n1
             partition long nodes=n2
             set {enforce}
             job 1 p=short,long run=100 t=60
             job 2 p=short run=100 t=60"
        )
    };
    expect(&scenario(""), "1  0  0..4  +100  COMPLETED  n2  *\n 2  0  -  -  PENDING  -  -");
    expect(&scenario("enforce_part_limits=any"), "1  0  0..4  +100  COMPLETED  n2  *\n 2  -  -  -  PENDING  -  -");
    expect(&scenario("enforce_part_limits=all"), "1  -  -  -  PENDING  -  -\n 2  -  -  -  PENDING  -  -");
}

/// Without --time and DefaultTime: MaxWall; with DenyOnLimit also 40 CPU minutes over 4 CPUs. The scan comes within 31 s.
#[test]
fn limits_give_the_time_limit_of_a_job_that_names_none() {
    expect(
        "node n1 cores=8
         qos normal max_wall=10
         qos mins max_cpu_mins_per_job=40 flags=DenyOnLimit
         set enforce=limits
         job 1 t=none run=5000
         job 2 t=none run=5000 n=4 qos=mins",
        "1  0  0..4  +600..632  TIMEOUT  n1  *
         2  0  0..4  +600..632  TIMEOUT  n1  *",
    );
}

/// All of one user: only one of the three gains age, so the job of the other user overtakes the rest.
#[test]
fn jobs_beyond_the_accrue_limit_gain_no_age() {
    let scenario = |limit: &str| {
        format!(
            "node n1 cores=1
             qos normal {limit}
             set enforce=limits multifactor weight_age=1000000 max_age=10000
             job 1 user=c run=2000 t=40
             job 2 user=a run=1000 t=20 at=10
             job 3 user=a run=1000 t=20 at=20
             job 4 user=b run=1000 t=20 at=900"
        )
    };
    let order = |text: &str| {
        let (_, outcome) = run(text, 3);
        let mut order: Vec<usize> = (0..4).collect();
        order.sort_by_key(|&job| outcome.records[job].start);
        order.iter().map(|job| job + 1).collect::<Vec<_>>()
    };
    assert_eq!(order(&scenario("")), [1, 2, 3, 4]);
    assert_eq!(order(&scenario("max_jobs_accrue=1")), [1, 2, 4, 3]);
}
