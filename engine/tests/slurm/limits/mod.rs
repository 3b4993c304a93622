//! Limits hold jobs back without blocking others (slurm-semantics 5, 7.3).

mod minutes;
mod most_nodes;
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

/// Whole nodes: job 4 asks for two CPUs and would hold 16, of which its account may have 8 more. Whoever is behind it is not held up.
#[test]
fn what_the_last_test_would_have_charged_is_what_busy_nodes_are_weighed_against() {
    let scenario = |most: u32| {
        format!(
            "node n[1-3] cores=8
             set enforce=limits bf_interval=170
             account x grp_cpu={most}
             user a account=x
             user b
             job 1 user=a exclusive run=500 t=20
             job 2 user=b exclusive run=300 t=20
             job 3 user=b exclusive run=400 t=20
             job 4 at=10 user=a N=2 exclusive run=100 t=20
             job 5 at=20 user=b exclusive run=100 t=20"
        )
    };
    let before = "1  0  0..4  +500  *  *  *\n 2  0  0..4  +300  *  *  *\n 3  0  0..4  +400  *  *  *\n";
    let of = |rest: &str| format!("{before} {rest}");
    expect(&scenario(16), &of("4  10  1.end+0..4  +100  *  *  *\n 5  20  2.end+0..4  +100  *  *  *"));
    expect(&scenario(24), &of("4  10  3.end+0..4  +100  *  *  *\n 5  20  1.end+0..4  +100  *  *  *"));
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

/// Each job on a node of its own half: the second shares the node of the first, the third needs another one.
#[test]
fn a_node_with_two_jobs_of_a_group_is_one_node() {
    expect(
        "node n[1-3] cores=4
         set enforce=limits
         account x grp_node=1
         user a account=x
         job 1 user=a n=2 run=100 t=10
         job 2 user=a n=2 run=200 t=10
         job 3 user=a n=4 run=100 t=10
         job 4 n=4 run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  0..4        +200  COMPLETED  n1  *
         3  0  2.end+0..34  +100  COMPLETED  *   *
         4  0  0..4        +100  COMPLETED  *   *",
    );
}

#[test]
fn a_users_nodes_are_counted_once() {
    expect(
        "node n[1-2] cores=4
         qos normal max_node_per_user=1
         set enforce=limits
         job 1 user=a n=1 run=100 t=10
         job 2 user=a n=1 run=100 t=10
         job 3 user=a n=4 run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  0..4        +100  COMPLETED  n1  *
         3  0  1.end+0..34  +100  COMPLETED  *   *",
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

/// 9 CPUs on two nodes are 4 a node, in whole numbers.
#[test]
fn a_limit_on_each_node_is_compared_in_whole_numbers() {
    expect(
        "node n[1-2] cores=8
         qos normal max_cpu_per_node=4
         set enforce=limits
         job 1 N=2 n=9 run=100 t=10
         job 2 N=2 n=10 run=100 t=10",
        "1  0  0..4  +100  COMPLETED  n1,n2  *
         2  0  -     -     PENDING    -      -",
    );
}

#[test]
fn the_jobs_qos_decides_first_with_over_part_qos() {
    expect(
        "node n1 cores=8
         qos part max_jobs_per_user=1
         qos free max_jobs_per_user=2 flags=OverPartQOS
         partition p qos=part
         set enforce=limits
         job 1 user=a qos=free run=100 t=10
         job 2 user=a qos=free run=100 t=10
         job 3 user=b run=100 t=10
         job 4 user=b run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  0..4        +100  COMPLETED  n1  *
         3  0  0..4        +100  COMPLETED  n1  *
         4  0  3.end+0..4  +100  COMPLETED  n1  *",
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

#[test]
fn a_job_below_its_qos_minimum_waits() {
    expect(
        "node n1 cores=8
         qos large min_cpu_per_job=4
         set enforce=limits
         job 1 n=3 qos=large run=100 t=10
         job 2 n=4 qos=large run=100 t=10",
        "1  0  -     -     PENDING    -   -
         2  0  0..4  +100  COMPLETED  n1  *",
    );
}

/// 2 needs the whole node; unless its QOS says NoReserve, 3 may not run into the plan made for it.
#[test]
fn no_reserve_jobs_are_never_planned() {
    let scenario = |flags: &str| {
        format!(
            "node n1 cores=4
             qos normal {flags}
             qos low
             set bf_interval=10
             job 1 n=3 run=600 t=10
             job 2 n=4 run=100 t=10 at=5
             job 3 n=1 run=900 t=20 at=10 qos=low"
        )
    };
    expect(
        &scenario(""),
        "1  0   0..4          +600  *  n1  *
         2  5   1.end+0..14   +100  *  n1  *
         3  10  2.end+0..14   +900  *  n1  *",
    );
    expect(
        &scenario("flags=NoReserve"),
        "1  0   0..4         +600  *  n1  *
         2  5   3.end+0..14  +100  *  n1  *
         3  10  10..24       +900  *  n1  backfill",
    );
}

/// Priorities are 1000 and 0: what is below the threshold neither blocks its partition nor is planned.
#[test]
fn below_min_prio_threshold_a_job_is_not_planned() {
    let scenario = |limit: &str| {
        format!(
            "node n1 cores=4
             qos normal priority=1 {limit}
             qos low
             set enforce=limits multifactor weight_qos=1000 bf_interval=10
             job 1 n=3 run=600 t=10
             job 2 n=4 run=100 t=10 at=5
             job 3 n=1 run=900 t=20 at=10 qos=low"
        )
    };
    let planned = "1  0   0..4         +600  *  n1  *
         2  5   1.end+0..14  +100  *  n1  *
         3  10  2.end+0..14  +900  *  n1  *";
    expect(&scenario("min_prio_threshold=1000"), planned);
    expect(
        &scenario("min_prio_threshold=1001"),
        "1  0   0..4         +600  *  n1  *
         2  5   3.end+0..14  +100  *  n1  *
         3  10  10..24       +900  *  n1  *",
    );
}

/// Two users with equal shares; a's use puts it behind b, below the threshold of one half.
#[test]
fn a_usage_threshold_holds_heavy_users() {
    let scenario = |flags: &str| {
        format!(
            "node n1 cores=4
             qos normal usage_threshold=0.75 {flags}
             set multifactor weight_fairshare=1000
             user a usage=100000
             user b
             job 1 user=a run=100 t=10
             job 2 user=b run=100 t=10"
        )
    };
    expect(&scenario(""), "1  0  0..4  +100  *  n1  *\n 2  0  0..4  +100  *  n1  *");
    expect(&scenario("flags=EnforceUsageThreshold"), "1  0  -  -  PENDING  -  -\n 2  0  0..4  +100  *  n1  *");
}

/// Job 5 would fit n4 exactly.
#[test]
fn a_group_limited_in_nodes_prefers_those_it_has() {
    let scenario = |nodes: &str| {
        format!(
            "{nodes}
             set enforce=limits
             qos few grp_node=2
             job 1 n=4 run=300 t=10
             job 2 at=10 qos=few n=2 run=300 t=10
             job 3 at=20 n=4 run=100 t=10
             job 4 at=30 n=3 run=300 t=10
             job 5 at=150 qos=few n=1 run=100 t=10"
        )
    };
    let before = "1  0    0..4      +300  COMPLETED  n1  *
                  2  10   10..14    +300  COMPLETED  n2  *
                  3  20   20..24    +100  COMPLETED  n3  *
                  4  30   30..34    +300  COMPLETED  n4  *";
    let fifth = |node: &str| format!("{before}\n5  150  150..154  +100  COMPLETED  {node}  *");
    expect(&scenario("node n[1-4] cores=4"), &fifth("n2"));
    // Nodes of another NodeName line weigh no more than those the group has.
    expect(&scenario("node n[1-2] cores=4\nnode n[3-4] cores=4"), &fifth("n4"));
    // Where all nodes of a line are taken, or none, nobody is preferred.
    expect(&scenario("node n1 cores=4\nnode n2 cores=4\nnode n[3-4] cores=4"), &fifth("n4"));
}

#[test]
fn a_group_above_its_nodes_may_use_those_it_has() {
    expect(
        "node n[1-3] cores=4
         set enforce=limits
         account x grp_node=1
         user a account=x
         qos more grp_node=2
         job 1 user=a n=2 run=300 t=10
         job 2 at=10 user=a qos=more N=2 n=2 run=200 t=10
         job 3 at=20 user=a n=1 run=100 t=10
         job 4 at=30 user=a N=1 n=4 run=100 t=10",
        "1  0   0..4        +300  COMPLETED  n1     *
         2  10  10..41      +200  COMPLETED  n1,n2  *
         3  20  20..24      +100  COMPLETED  n1     *
         4  30  1.end+0..4  +100  COMPLETED  n1     *",
    );
}

/// Recorded (z-sock): what a job without a place is taken to want is the nodes it would get on an idle machine, here two, and a group at
/// its limit blocks nobody.
#[test]
fn a_busy_job_counts_the_nodes_of_an_idle_machine() {
    expect(
        "node n[1-3] cores=4
         set enforce=limits
         qos few grp_node=2
         job 1 qos=few n=4 run=300 t=10
         job 2 n=4 run=300 t=10
         job 3 at=10 qos=few n=8 run=100 t=10
         job 4 at=20 n=4 run=100 t=10",
        "1  0   0..4         +300  COMPLETED  n1  *
         2  0   0..4         +300  COMPLETED  n2  *
         3  10  1.end+0..34  +100  COMPLETED  *   *
         4  20  20..24       +100  COMPLETED  n3  main",
    );
}

/// Recorded (z-sock): nodes that the group uses already count in a plan, too, unless the job names them.
#[test]
fn a_plan_counts_all_its_nodes() {
    let scenario = |named: &str| {
        format!(
            "node n[1-2] cores=4
             set enforce=limits sched_interval=off
             qos few grp_node=2
             job 1 qos=few N=2 n=2 run=300 t=10
             job 2 at=40 qos=few N=2 n=8 run=100 t=10 {named}
             job 3 at=70 n=2 run=1000 t=20"
        )
    };
    expect(
        &scenario(""),
        "1  0   0..34        +300   COMPLETED  *      backfill
         2  40  3.end+0..34  +100   COMPLETED  n1,n2  backfill
         3  70  70..104      +1000  COMPLETED  *      backfill",
    );
    expect(
        &scenario("w=n1,n2"),
        "1  0   0..34        +300   COMPLETED  *      backfill
         2  40  1.end+0..34  +100   COMPLETED  n1,n2  backfill
         3  70  2.end+0..34  +1000  COMPLETED  *      backfill",
    );
}

/// With preemption backfill tests jobs of a NoReserve QOS as if they ran for a minute: 3 starts before the plan made for 2, and runs into
/// it. Observed (p-nores).
#[test]
fn no_reserve_jobs_are_tested_with_a_minute_where_there_is_preemption() {
    let scenario = |mode: &str| {
        format!(
            "node n1 cores=4
             qos low flags=NoReserve
             set bf_interval=10 preempt=qos preempt_mode={mode}
             job 1 n=3 run=600 t=10
             job 2 n=4 run=100 t=10 at=5
             job 3 n=1 run=900 t=20 at=10 qos=low"
        )
    };
    expect(
        &scenario("requeue"),
        "1  0   0..4         +600  *  n1  *
         2  5   3.end+0..14  +100  *  n1  *
         3  10  10..24       +900  *  n1  backfill",
    );
    expect(
        &scenario("off"),
        "1  0   0..4          +600  *  n1  *
         2  5   1.end+0..14   +100  *  n1  *
         3  10  2.end+0..14   +900  *  n1  *",
    );
}

/// `_part_access_check` (job_mgr.c of 22.05.8): whoever asks for fewer nodes than the partition's fewest, or might get more than its most, waits
/// there for ever, unless its QOS puts these counts aside.
#[test]
fn a_qos_puts_a_partitions_node_counts_aside() {
    expect(
        "node n1 cores=4
         node n2 cores=4
         node n3 cores=4
         qos wide flags=PartitionMaxNodes
         qos small flags=PartitionMinNodes
         partition p max_nodes=2
         partition q min_nodes=2
         job 1 p=p N=3 n=12 run=100 t=5
         job 2 p=p N=3 n=12 run=100 t=5 qos=wide
         job 3 p=q N=1-2 n=1 run=100 t=5 at=200
         job 4 p=q N=1 n=1 run=100 t=5 at=400 qos=small
         job 5 p=q N=1 n=1 run=100 t=5 at=400",
        "1  0    -          -     PENDING    -        -
         2  0    0..4       +100  COMPLETED  n1,n2,n3 *
         3  200  -          -     PENDING    -        -
         4  400  400..431   +100  COMPLETED  n1       *
         5  400  -          -     PENDING    -        -",
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
