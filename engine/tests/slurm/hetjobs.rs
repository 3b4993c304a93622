//! Heterogeneous jobs: components start together, by backfill alone (slurm-semantics 3.8, 1.5 step 4).

use crate::schedule::{expect, expect_equal_with_every_cycle, run};

#[test]
fn components_start_together_in_backfill() {
    expect(
        "node n[1-3] cores=4
         job 1+0 N=1 n=4 run=100 t=10
         job 1+1 N=2 n=8 run=200 t=10",
        "1+0  0  0..32        +100  COMPLETED  n1     backfill
         1+1  0  1+0.start+0  +200  COMPLETED  n2,n3  backfill",
    );
}

/// Plans are whole nodes, so components never share one.
#[test]
fn components_get_nodes_of_their_own() {
    expect(
        "node n[1-2] cores=4
         job 1+0 n=1 run=100 t=10
         job 1+1 n=1 run=100 t=10",
        "1+0  0  0..32        +100  COMPLETED  n1  backfill
         1+1  0  1+0.start+0  +100  COMPLETED  n2  backfill",
    );
}

/// The second component's node is busy until 600: nothing starts before. Every cycle forgets that, comes to the first component, and keeps
/// its node from now on, even from job 3, which would end in time.
#[test]
fn no_component_starts_before_all_can() {
    expect(
        "node n1 cores=4 features=a
         node n2 cores=4 features=b
         job 1 n=4 C=b run=590 t=10
         job 2+0 at=5 n=4 C=a run=100 t=20
         job 2+1 at=5 n=4 C=b run=100 t=20
         job 3 at=40 n=4 C=a run=50 t=5
         job 4 at=40 n=4 C=a run=50 t=20",
        "1    0   0..4          +590  COMPLETED  n2  *
         2+0  5   1.end+0..100  +100  COMPLETED  n1  backfill
         2+1  5   2+0.start+0   +100  COMPLETED  n2  backfill
         3    40  2+0.end+0..62 +50   COMPLETED  n1  *
         4    40  3.end+0..62   +50   COMPLETED  n1  *",
    );
}

/// Recorded (w2075 of 25.05): with `--time-min` components get the limit that they have in common, but not beyond the first plan on their nodes, be it
/// their own, which begins with the cycle's minute; only one that is started in its own turn has none yet. Up to 25.05.2 what they have in common is the
/// shortest `--time-min` (c1384).
#[test]
fn components_of_time_min_get_what_plans_leave_of_their_common_limit() {
    for version in ["", "version=25.05"] {
        expect(
            &format!(
                "node n[1-2] cores=4
                 set {version}
                 job 1+0 n=4 run=700 t=20 time_min=2
                 job 1+1 n=4 run=700 t=10 time_min=5"
            ),
            "1+0  0  0..32        120..154  TIMEOUT  n1  backfill
             1+1  0  1+0.start+0  300..364  TIMEOUT  n2  backfill",
        );
    }
    // At once, before the last component is planned.
    for (version, end) in [("", "120..152"), ("version=24.11", "120..152"), ("version=25.05", "600..632")] {
        expect(
            &format!(
                "node n[1-2] cores=4
                 set bf_hetjob_immediate {version}
                 job 1+0 n=4 run=700 t=20 time_min=5
                 job 1+1 n=4 run=700 t=10 time_min=2"
            ),
            &format!(
                "1+0  0  0..32        300..332  TIMEOUT  n1  backfill
                 1+1  0  1+0.start+0  {end}  TIMEOUT  n2  backfill"
            ),
        );
    }
}

/// Recorded (w2331): limits are asked of a component's plan with its own limit, whatever its `--time-min`. Those of job 2 would take four CPUs an hour each, and
/// get no plan that keeps job 3 from n2; with limits of ten minutes they would.
#[test]
fn limits_ask_of_components_in_plans_what_they_asked_for() {
    let scenario = |minutes: u32| {
        format!(
            "node n[1-2] cores=4
             account x
             user a account=x max_cpu_mins_per_job=100
             user b account=x
             set enforce=limits sched_interval=off
             job 1 user=b n=4 run=600 t=10
             job 2+0 at=10 user=a n=4 run=100 t={minutes} time_min=10
             job 2+1 at=10 user=a n=4 run=100 t={minutes} time_min=10
             job 3 at=40 user=b n=4 run=100 t=30"
        )
    };
    let all = |job3: &str| format!("1 * * * * n1 *\n2+0 * * * * * *\n2+1 * * * * * *\n3 * {job3} *");
    expect(&scenario(60), &all("40..72 * * n2"));
    expect(&scenario(10), &all("600..1000 * * n1"));
}

#[test]
fn components_in_several_partitions_start_together() {
    expect(
        "node n[1-2] cores=4
         node g1 cores=4 gres=gpu:2
         partition cpu nodes=n[1-2]
         partition gpu nodes=g1
         job 1 p=gpu n=1 gres=gpu:2 run=300 t=5
         job 2+0 at=10 p=cpu N=2 n=8 run=100 t=10
         job 2+1 at=10 p=gpu n=1 gres=gpu:1 run=100 t=10",
        "1    0   0..4         +300  COMPLETED  g1     *
         2+0  10  1.end+0..95  +100  COMPLETED  n1,n2  backfill
         2+1  10  2+0.start+0  +100  COMPLETED  g1     backfill",
    );
}

/// sched/builtin and bf_interval=-1: there is nobody to start them.
#[test]
fn without_backfill_they_wait_for_ever() {
    expect(
        "node n1 cores=4\n set bf_interval=off\n job 1+0 run=100\n job 1+1 run=100",
        "1+0  0  -  -  PENDING  -  -\n 1+1  0  -  -  PENDING  -  -",
    );
}

/// One component is too large for its user's limit: the others wait with it, and the simulation ends all the same.
#[test]
fn a_component_at_a_limit_keeps_the_others_waiting() {
    expect(
        "node n[1-2] cores=4
         qos normal max_cpu_per_job=2
         set enforce=limits multifactor
         job 1+0 n=1 run=100
         job 1+1 n=4 run=100
         job 2 at=50 n=1 run=100",
        "1+0  0   -  -  PENDING  -  -
         1+1  0   -  -  PENDING  -  -
         2    50  *  +100  COMPLETED  *  backfill",
    );
}

/// Together they are over the limit: none starts, and every cycle plans nodes for them all the same, so that job 2 never gets both.
#[test]
fn components_over_a_limit_together_do_not_start() {
    expect(
        "node n[1-2] cores=4
         qos normal max_jobs_per_user=1
         set enforce=limits
         job 1+0 n=1 run=100
         job 1+1 n=1 run=100
         job 2 at=50 user=b N=2 n=8 run=100",
        "1+0  0   -  -  PENDING  -  -
         1+1  0   -  -  PENDING  -  -
         2    50  -  -  PENDING  -  -",
    );
}

/// Recorded (c1062): nodes add up before components run, for a group's limit and for a user's, so none starts.
#[test]
fn components_over_a_limit_on_nodes_together_do_not_start() {
    for limit in ["grp_node=1", "max_node_per_user=1"] {
        expect(
            &format!(
                "node n[1-2] cores=4
                 qos normal {limit}
                 set enforce=limits multifactor
                 job 1+0 n=1 run=100
                 job 1+1 n=1 run=100
                 job 2 at=50 user=b n=1 run=100"
            ),
            "1+0  *   -  -  PENDING  -  -
             1+1  *   -  -  PENDING  -  -
             2    50  -  -  PENDING  -  -",
        );
    }
}

/// Recorded (c1076): before they run, nodes of components do not add up for an association: each finds one node used and one left.
#[test]
fn nodes_of_components_do_not_add_up_for_an_account() {
    expect(
        "node n[1-3] cores=4
         account x grp_node=2
         user a account=x
         set enforce=limits multifactor
         job 0 user=a n=2 run=900 t=60
         job 1+0 at=10 user=a n=1 run=100
         job 1+1 at=10 user=a n=4 run=100",
        "0    0   0..4    +900  COMPLETED  n1  *
         1+0  10  10..74  +100  COMPLETED  n1  *
         1+1  10  10..74  +100  COMPLETED  n2  *",
    );
}

/// Recorded (c1082): components are billed for what they ask for, with the memory that nobody consumes, so that user a has used more than b, and
/// job 4 waits.
#[test]
fn components_are_billed_for_what_they_ask_for() {
    expect(
        "node n[1-2] cores=4 memory=1000
         partition p billing=cpu:1,memory:1
         account x shares=1
         user a account=x shares=1
         user b account=x shares=1
         user c account=x shares=1
         set enforce=limits multifactor weight_fairshare=10000
         job 1+0 user=a n=4 run=100
         job 1+1 user=a n=4 run=100
         job 2 at=1 user=b N=2 n=8 run=200
         job 3 at=350 user=c N=2 n=8 run=1000 t=60
         job 4 at=360 user=a N=2 n=8 run=50
         job 5 at=370 user=b N=2 n=8 run=50",
        "1+0  *    *           +100   COMPLETED  n1     *
         1+1  *    *           +100   COMPLETED  n2     *
         2    *    *           +200   COMPLETED  n1,n2  *
         3    *    *           +1000  COMPLETED  n1,n2  *
         4    360  5.end+0..4  +50    COMPLETED  n1,n2  *
         5    370  3.end+0..4  +50    COMPLETED  n1,n2  *",
    );
}

/// The limit lets each run, as nodes do not add up, so the first one starts, the second one finds no node left, and the first one is queued
/// again: for ever, in slurmctld. The simulation ends all the same.
#[test]
fn components_that_never_start_together_are_given_up() {
    expect(
        "node n[1-2] cores=4
         account x grp_node=1
         user a account=x
         set enforce=limits multifactor
         job 1+0 user=a n=4 run=100
         job 1+1 user=a n=4 run=100
         job 2 at=50 n=1 run=100",
        "1+0  *   -  -  PENDING  -  -
         1+1  *   -  -  PENDING  -  -
         2    50  *  +100  COMPLETED  *  *",
    );
}

/// Recorded (c1097): a start asks for no licences, which are those of both components once each has found its own free.
#[test]
fn components_take_licences_that_are_not_there() {
    expect(
        "node n[1-2] cores=4
         license x:1
         set multifactor
         job 1+0 n=1 L=x:1 run=100
         job 1+1 n=1 L=x:1 run=100
         job 2 at=50 n=1 L=x:1 run=100",
        "1+0  0   0..31        +100  COMPLETED  *  *
         1+1  0   0..31        +100  COMPLETED  *  *
         2    50  1+1.end+0..65  +100  COMPLETED  *  *",
    );
}

/// Nothing is planned, so backfill does not come again.
#[test]
fn components_that_no_cycle_comes_to_again_are_given_up() {
    expect(
        "node n[1-2] cores=4
         outage n2 at=0
         set partition_job_depth=1 bf_max_job_part=1
         job 1+0 N=2 run=100
         job 1+1 N=2 run=100
         job 2 at=5 N=2 run=100
         job 3 at=10 N=2 run=100",
        "1+0  0  -  -  PENDING  -  -
         1+1  0  -  -  PENDING  -  -
         2    5  -  -  PENDING  -  -
         3   10  -  -  PENDING  -  -",
    );
}

#[test]
fn a_preempted_heterogeneous_job_goes_as_a_whole() {
    expect(
        "node n[1-2] cores=4
         partition low
         partition high tier=2
         set preempt=partition preempt_mode=cancel
         job 1+0 p=low n=4 run=1000 t=60
         job 1+1 p=low n=4 run=1000 t=60
         job 2 at=100 p=high N=2 n=8 run=50 t=10",
        "1+0  0    0..32        100..131     PREEMPTED  n1  backfill
         1+1  0    1+0.start+0  1+0.end+0    PREEMPTED  n2  backfill
         2    100  1+0.end+0..5 +50          COMPLETED  n1,n2  *",
    );
}

#[test]
fn skipped_cycles_would_have_changed_nothing() {
    for seed in 0..8 {
        expect_equal_with_every_cycle(
            "node n[1-4] cores=4
             job 1 n=8 N=2 run=590 t=10
             job 2+0 at=5 n=4 run=100 t=20
             job 2+1 at=5 n=12 N=3 run=100 t=20
             job 3 at=40 n=4 run=50 t=5
             job 4 at=45 n=16 N=4 run=50 t=20
             job 5 at=700 n=4 run=50 t=5
             job 6+0 at=900 n=4 run=100 t=20
             job 6+1 at=910 n=16 N=4 run=100 t=20",
            seed,
        );
    }
}

/// Job 1 ends before its limit; the next cycle does not know when the components were to start, and starts them.
#[test]
fn plans_are_forgotten_with_each_cycle() {
    for run in [60, 67, 74, 81, 88, 95] {
        expect(
            &format!(
                "node n1 cores=4
                 node n2 cores=4
                 partition a nodes=n1
                 partition b nodes=n2
                 job 1 p=a n=4 run={run} t=60
                 job 2+0 at=5 p=a n=4 run=50 t=20
                 job 2+1 at=5 p=b n=4 run=50 t=20"
            ),
            "1    0  0..4  *  COMPLETED  n1  *
             2+0  5  1.end+0..95  +50  COMPLETED  n1  backfill
             2+1  5  2+0.start+0  +50  COMPLETED  n2  backfill",
        );
    }
}

/// GPUs are asked for by node: those of the planned nodes count, and nothing starts in vain.
#[test]
fn gpus_of_all_planned_nodes_count_against_limits() {
    let (_, outcome) = run(
        "node n[1-4] cores=4 gres=gpu:2
         qos normal grp_gpu=6
         set enforce=limits multifactor
         job 1+0 n=8 gres=gpu:2 run=50 t=30
         job 1+1 n=8 gres=gpu:2 run=50 t=30",
        0,
    );
    assert!(outcome.records.iter().all(|record| record.start.is_none()), "{:?}", outcome.records);
    assert_eq!(outcome.counters.requeued, 0);
}

/// `bf_hetjob_prio`: without it the large component comes before job 2 and the small one behind, so that the heterogeneous job waits for job 2;
/// with `max` both come before it, with `min` both behind, and with the mean of 750 and 156 before 250.
#[test]
fn components_stand_with_the_priority_of_the_whole_job() {
    let scenario = |rule: &str| {
        format!(
            "node n[1-4] cores=4
             set multifactor weight_job_size=1000 {rule}
             job 1 N=4 n=16 run=300 t=5
             job 2 at=10 N=1 n=4 run=100 t=10
             job 3+0 at=20 N=3 n=12 run=100 t=10
             job 3+1 at=20 N=1 n=1 run=100 t=10"
        )
    };
    let first = |two: &str, three: &str| {
        format!(
            "1    0   0..32         +300  COMPLETED  *  *
             2    10  {two}         +100  COMPLETED  *  *
             3+0  20  {three}       +100  COMPLETED  *  backfill
             3+1  20  3+0.start+0   +100  COMPLETED  *  backfill"
        )
    };
    expect(&scenario(""), &first("1.end+0..40", "2.end+0..70"));
    expect(&scenario("bf_hetjob_prio=min"), &first("1.end+0..40", "2.end+0..70"));
    expect(&scenario("bf_hetjob_prio=max"), &first("3+0.end+0..70", "1.end+0..40"));
    expect(&scenario("bf_hetjob_prio=avg"), &first("3+0.end+0..70", "1.end+0..40"));
}

/// Recorded (c1006): what backfill's cycle made of the whole job stands until its next one, though a priority step comes between. So component
/// 2+1 still blocks partition `p` for job 4 when job 3 has ended; without the rule job 4 comes before it.
#[test]
fn the_whole_jobs_priority_stands_over_priority_steps() {
    let scenario = |rule: &str| {
        format!(
            "node n[1-5] cores=4
             partition q nodes=n[1-3]
             partition p nodes=n[4-5]
             set multifactor weight_job_size=1000 bf_interval=600 {rule}
             job 1 p=q N=3 n=12 run=1500 t=30
             job 3 p=p N=2 n=8 run=400 t=10
             job 2+0 p=q at=10 N=3 n=12 run=100 t=10
             job 2+1 p=p at=10 N=1 n=1 run=100 t=10
             job 4 p=p at=10 N=2 n=8 run=100 t=10"
        )
    };
    let expected = |fourth: &str| {
        format!(
            "1    0   0..4              +1500  COMPLETED  *  *
             3    0   0..4              +400   COMPLETED  *  *
             2+0  10  1.end+0..1250     +100   COMPLETED  *  backfill
             2+1  10  2+0.start+0       +100   COMPLETED  *  backfill
             4    10  {fourth}          +100   COMPLETED  *  *"
        )
    };
    expect(&scenario(""), &expected("3.end+0..4"));
    expect(&scenario("bf_hetjob_prio=max"), &expected("3.end+150..700"));
}

/// Among themselves components stand by their own priority, also where others see the whole job's: the larger one comes first, and gets the
/// first node (rec w-het).
#[test]
fn components_stand_by_their_own_priority_among_themselves() {
    for rule in ["", "bf_hetjob_prio=min", "bf_hetjob_prio=max", "bf_hetjob_prio=avg"] {
        expect(
            &format!(
                "node n[1-2] cores=4
                 set multifactor weight_job_size=1000 {rule}
                 job 1 N=2 n=8 run=300 t=5
                 job 2+0 at=20 N=1 n=1 run=100 t=10
                 job 2+1 at=20 N=1 n=4 run=100 t=10"
            ),
            "1    0   0..4         +300  COMPLETED  n1,n2  *
             2+0  20  1.end+0..70  +100  COMPLETED  n2     backfill
             2+1  20  2+0.start+0  +100  COMPLETED  n1     backfill",
        );
    }
}

/// `bf_hetjob_immediate`: without it job 2, behind in the queue, takes what the limit leaves before the heterogeneous job starts.
#[test]
fn heterogeneous_jobs_start_within_the_cycle_where_that_is_asked_for() {
    let scenario = |rule: &str| {
        format!(
            "node n[1-3] cores=4
             qos normal grp_cpu=8
             qos free
             set enforce=limits multifactor {rule}
             job 9 qos=free N=3 n=12 run=300 t=5
             job 1+0 at=10 n=4 run=100 t=10
             job 1+1 at=10 n=4 run=100 t=10
             job 2 at=20 n=4 run=100 t=10"
        )
    };
    let of = |whole: &str, other: &str| {
        format!(
            "9    0   0..32        +300  COMPLETED  *  *
             1+0  10  {whole}      +100  COMPLETED  *  backfill
             1+1  10  1+0.start+0  +100  COMPLETED  *  backfill
             2    20  {other}      +100  COMPLETED  *  *"
        )
    };
    expect(&scenario(""), &of("2.end+0..95", "9.end+0..40"));
    expect(&scenario("bf_hetjob_immediate"), &of("9.end+0..40", "1+0.end+0..4"));
}

/// Recorded (c1068): the whole job stands with its lowest tier, and its component's record in `p` all the same before job 3, which it might preempt:
/// it blocks n1.
#[test]
fn a_component_stands_before_those_whom_its_partition_may_preempt() {
    let scenario = |prio: &str| {
        format!(
            "node n[1-3] cores=4
             partition p nodes=n1 tier=5
             partition q tier=1
             set preempt=partition preempt_mode=requeue bf_interval=30 {prio}
             job 1 p=q w=n3 n=4 run=900 t=20
             job 3 at=5 begin=40 p=q n=4 run=100 t=5
             job 2+0 at=10 p=p,q n=4 run=100 t=5
             job 2+1 at=10 p=q w=n3 n=4 run=100 t=5"
        )
    };
    for prio in ["", "bf_hetjob_prio=min"] {
        expect(&scenario(prio), "1 * * +900 * n3 *\n 3 40 40..110 +100 * n2 *\n 2+0 * * * * * *\n 2+1 * * * * * *");
    }
}

/// Recorded (c1070): a component starts with the features with which it was tested last. The user's cap leaves no test of the second one without those
/// that it prefers, so it gets n3; the first one was tested with any, and gets n1.
#[test]
fn components_start_with_the_features_of_their_last_test() {
    let scenario = |cap: &str| {
        format!(
            "node n[1-2] cores=4 weight=1
             node n[3-5] cores=4 weight=5 features=big
             set {cap}
             job 1+0 n=4 prefer=big run=100
             job 1+1 n=4 prefer=big run=100"
        )
    };
    expect(&scenario("bf_max_job_user=3"), "1+0 * * +100 * n1 *\n 1+1 * * +100 * n3 *");
    expect(&scenario(""), "1+0 * * +100 * n1 *\n 1+1 * * +100 * n2 *");
    // Recorded (c1179): at once, so after the test of the second one with them.
    expect(&scenario("bf_hetjob_immediate"), "1+0 * * +100 * n1 *\n 1+1 * * +100 * n3 *");
}

/// Recorded (c1168): under `bf_one_resv_per_job` a component's record in a second partition is no plan, but counts for
/// `bf_job_part_count_reserve`: the other component, which could start in q now, is not planned there, and job 2 gets its node.
#[test]
fn a_component_counts_where_it_is_not_planned_again() {
    let scenario = |partitions: &str| {
        format!(
            "node n[1-4] cores=4
             partition p nodes=n1 tier=2
             partition q nodes=n[1-4]
             set bf_one_resv_per_job bf_job_part_count_reserve=1
             job 9 p=q N=4 n=16 run=90 t=2
             job 1+0 at=5 p={partitions} n=4 run=100
             job 1+1 at=5 p=q n=4 run=100
             job 2 at=5 p=q N=2 n=8 run=100"
        )
    };
    expect(&scenario("p,q"), "9 * * * * * *\n 1+0 * * +100 * n1 *\n 1+1 * * +100 * n4 *\n 2 * * +100 * n2,n3 backfill");
    expect(&scenario("p"), "9 * * * * * *\n 1+0 * * +100 * n1 *\n 1+1 * * +100 * n2 *\n 2 * * +100 * n3,n4 backfill");
}
