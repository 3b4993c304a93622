//! Limits hold jobs back without blocking others (slurm-semantics 5, 7.3).

use crate::schedule::expect;

#[test]
pub(crate) fn a_group_limit_holds_back_the_group_alone() {
    expect(
        "node n[1-2] cores=4
         set enforce=limits
         account x grp_cpu=4
         user a account=x
         user b account=x
         user c
         job 1 user=a n=3 run=100 t=10
         job 2 user=b n=2 run=100 t=10
         job 3 user=b n=1 run=200 t=10
         job 4 user=c n=4 run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +100  COMPLETED  *   *
         3  0  0..4        +200  COMPLETED  *   *
         4  0  0..4        +100  COMPLETED  *   *",
    );
}

#[test]
fn limits_are_nothing_where_they_are_not_enforced() {
    expect(
        "node n1 cores=4
         account x grp_cpu=1 max_jobs=1
         user a account=x
         job 1 user=a n=2 run=100 t=10
         job 2 user=a n=2 run=100 t=10",
        "1  0  0..4  +100  COMPLETED  n1  *
         2  0  0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
fn an_accounts_max_jobs_is_each_users_own() {
    expect(
        "node n1 cores=8
         set enforce=limits
         account x max_jobs=1
         user a account=x
         user b account=x
         job 1 user=a run=100 t=10
         job 2 user=a run=100 t=10
         job 3 user=b run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +100  COMPLETED  n1  *
         3  0  0..4        +100  COMPLETED  n1  *",
    );
}

#[test]
fn an_accounts_grp_jobs_is_shared_by_its_users() {
    expect(
        "node n1 cores=8
         set enforce=limits
         account x grp_jobs=1
         user a account=x
         user b account=x
         job 1 user=a run=100 t=10
         job 2 user=b run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
pub(crate) fn a_qos_limits_what_each_user_holds() {
    expect(
        "node n1 cores=8
         qos normal max_cpu_per_user=4
         set enforce=limits
         job 1 user=a n=3 run=100 t=10
         job 2 user=a n=2 run=100 t=10
         job 3 user=b n=4 run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +100  COMPLETED  n1  *
         3  0  0..4        +100  COMPLETED  n1  *",
    );
}

#[test]
fn the_partitions_qos_decides_before_the_jobs() {
    let scenario = |partition: &str| {
        format!(
            "node n1 cores=8
             qos normal max_jobs_per_user=1
             qos many max_jobs_per_user=2
             partition p {partition}
             set enforce=limits
             job 1 user=a run=100 t=10
             job 2 user=a run=100 t=10
             job 3 user=a run=100 t=10"
        )
    };
    expect(
        &scenario(""),
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +100  COMPLETED  n1  *
         3  0  2.end+0..4  +100  COMPLETED  n1  *",
    );
    expect(
        &scenario("qos=many"),
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  0..4        +100  COMPLETED  n1  *
         3  0  1.end+0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
fn a_job_over_its_own_limit_waits_for_ever_and_is_passed_by() {
    expect(
        "node n1 cores=8
         qos normal max_cpu_per_job=2 max_wall=60
         set enforce=limits
         job 1 n=3 run=100 t=10
         job 2 n=1 run=100 t=61
         job 3 n=2 run=100 t=60",
        "1  0  -     -     PENDING    -   -
         2  0  -     -     PENDING    -   -
         3  0  0..4  +100  COMPLETED  n1  *",
    );
}

/// Two jobs of 10 CPU minutes each under a limit of 15: what remains is counted down at the job's end.
#[test]
fn running_minutes_are_limited() {
    expect(
        "node n1 cores=8
         set enforce=limits
         account x grp_cpu_run_mins=15
         user a account=x
         job 1 user=a run=100 t=10
         job 2 user=a run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
fn a_job_longer_than_its_partition_allows_waits_and_is_passed_by() {
    expect(
        "node n1 cores=4
         partition p max=30
         job 1 run=100 t=31
         job 2 run=100 t=30",
        "1  0  -     -     PENDING    -   -
         2  0  0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
fn a_partition_for_other_accounts_is_closed() {
    expect(
        "node n1 cores=4
         account x
         account y
         user a account=x
         user b account=y
         partition p allow_accounts=y
         job 1 user=a run=100 t=30
         job 2 user=b run=100 t=30",
        "1  0  -     -     PENDING    -   -
         2  0  0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
fn a_job_without_its_licence_waits_and_blocks_nobody() {
    expect(
        "node n1 cores=4
         license matlab:1
         job 1 L=matlab:1 run=100 t=10
         job 2 L=matlab:1 run=100 t=10
         job 3 run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +100  COMPLETED  n1  *
         3  0  0..4        +100  COMPLETED  n1  *",
    );
}

#[test]
fn a_users_own_maximum_stands_before_the_accounts() {
    expect(
        "node n1 cores=8
         set enforce=limits
         account x max_cpu_per_job=1 max_wall=1
         user a account=x max_cpu_per_job=4 max_wall=60
         user b account=x
         job 1 user=a n=4 run=100 t=10
         job 2 user=b n=2 run=100 t=1",
        "1  0  0..4  +100  COMPLETED  n1  *
         2  0  -     -     PENDING    -   -",
    );
}
