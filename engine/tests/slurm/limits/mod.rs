//! Limits hold jobs back without blocking others (slurm-semantics 5, 7.3).

mod minutes;
mod most_nodes;
mod nodes;
pub(crate) mod qos;
mod submission;

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

/// Recorded (au-tier): a part of a constraint that counts nodes is a test of its own. It finds a CPU on n3, which is what the limit is asked for
/// when job 3 does not start: it waits for nodes, and blocks its partition. Backfill plans it with all of its CPUs, which the limit forbids.
#[test]
fn a_part_that_counts_nodes_is_what_limits_see_of_a_job_that_does_not_fit() {
    let scenario = |feature: &str| {
        format!(
            "node n[1-3] cores=4 features=a
             set enforce=limits
             account x grp_cpu=10
             account y
             user a account=x
             user b account=y
             job 1 user=a w=n1 n=4 run=590 t=10
             job 2 user=b w=n2 n=4 run=590 t=10
             job 3 at=10 user=a N=2 n=8 {feature} run=100 t=10
             job 4 at=20 user=b n=4 run=100 t=60"
        )
    };
    let schedule = |fourth: &str| {
        format!(
            "1  0   0..4         +590  COMPLETED  n1  *
             2  0   0..4         +590  COMPLETED  n2  *
             3  10  1.end+0..40  +100  COMPLETED  *   *
             4  20  {fourth}"
        )
    };
    expect(&scenario("C=a*1"), &schedule("20..61  +100  COMPLETED  n3  backfill"));
    expect(&scenario("C=a"), &schedule("20..24  +100  COMPLETED  n3  main"));
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

/// Recorded (w2032): backfill asks of the partition's MaxTime what `--time-min` says, and starts job 1 with that. The main scheduler asks for its
/// limit, and passes it by.
#[test]
fn backfill_starts_a_job_whose_least_time_its_partition_allows() {
    let scenario = |least: &str| {
        format!(
            "node n1 cores=4
             partition p max=10
             set bf_interval=30
             job 1 n=4 run=900 t=20 {least}
             job 2 at=10 n=4 run=100 t=5"
        )
    };
    expect(&scenario("time_min=5"), "1 0 0..34 +300..332 TIMEOUT n1 backfill\n 2 10 1.end+0..34 +100 * n1 *");
    expect(&scenario("time_min=15"), "1 0 - - PENDING - -\n 2 10 10..14 +100 * n1 main");
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

#[test]
fn a_limit_factor_multiplies_the_associations_limits() {
    let scenario = |factor: &str| {
        format!(
            "node n1 cores=8
             qos normal {factor}
             set enforce=limits
             account x grp_cpu=4
             user a account=x
             job 1 user=a n=4 run=100 t=10
             job 2 user=a n=4 run=100 t=10"
        )
    };
    expect(&scenario(""), "1  0  0..4  +100  *  n1  *\n 2  0  1.end+0..4  +100  *  n1  *");
    expect(&scenario("limit_factor=2"), "1  0  0..4  +100  *  n1  *\n 2  0  0..4  +100  *  n1  *");
}

/// `LimitFactor` multiplies what the association may hold, not what it may spend.
#[test]
fn a_limit_factor_leaves_run_minutes_alone() {
    expect(
        "node n1 cores=8
         qos normal limit_factor=2
         set enforce=limits
         account x grp_cpu_run_mins=50
         user a account=x
         job 1 user=a n=4 run=100 t=10
         job 2 user=a n=4 run=100 t=10",
        "1  0  0..4        +100  *  n1  *
         2  0  1.end+0..4  +100  *  n1  *",
    );
}

#[test]
fn kinds_of_limits_are_decided_one_by_one() {
    // The partition's QOS limits users, the job's own QOS jobs: both hold.
    expect(
        "node n1 cores=8
         qos normal max_cpu_per_job=2
         qos part max_cpu_per_user=8
         partition p qos=part
         set enforce=limits
         job 1 n=3 run=100 t=10
         job 2 n=2 run=100 t=10",
        "1  0  -     -     PENDING    -   -
         2  0  0..4  +100  COMPLETED  n1  *",
    );
    // A QOS that limits each user's jobs stands in for the association's MaxJobs.
    expect(
        "node n1 cores=8
         qos normal max_jobs_per_user=2
         set enforce=limits
         account x max_jobs=1
         user a account=x
         job 1 user=a run=100 t=10
         job 2 user=a run=100 t=10",
        "1  0  0..4  +100  COMPLETED  n1  *
         2  0  0..4  +100  COMPLETED  n1  *",
    );
}

/// A QOS with PartitionTimeLimit exceeds the partition's MaxTime, but is planned for no more: 3 is taken to end before the plan made for
/// 2. Observed (p-nores).
#[test]
fn beyond_the_partitions_limit_jobs_are_planned_for_that() {
    expect(
        "node n1 cores=4
         qos long flags=PartitionTimeLimit
         partition p max=5
         set bf_interval=10
         job 1 n=3 run=600 t=10 qos=long
         job 2 n=4 run=100 t=5 at=5
         job 3 n=1 run=900 t=20 at=10 qos=long",
        "1  0   0..4         +600  *  n1  *
         2  5   3.end+0..14  +100  *  n1  *
         3  10  10..24       +900  *  n1  backfill",
    );
}

/// Without `EnforcePartLimits` queues hold the job all the same: backfill does not ask its account before it plans, and plans it from
/// now on in every cycle (docs/FACTS.md, facts 79).
#[test]
fn a_job_whose_account_is_refused_keeps_nodes_for_itself_in_vain() {
    expect(
        "node n[1-2] cores=4
         account x
         account y
         user a account=x
         user b account=y
         partition p allow_accounts=y
         set bf_interval=30
         job 1 user=b n=4 run=1000 t=30
         job 2 user=b N=2 n=8 run=100 t=30 at=5
         job 3 user=a n=4 run=100 t=60 at=10 nice=-100
         job 4 user=b n=4 run=100 t=10 at=100",
        "1  0    0..4        +1000  COMPLETED  n1     *
         2  5    1.end+0..5  +100   COMPLETED  n1,n2  *
         3  10   -           -      PENDING    -      -
         4  100  2.end+0..5  +100   COMPLETED  *      main",
    );
}
