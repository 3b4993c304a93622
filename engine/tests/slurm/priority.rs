//! Who goes first (slurm-semantics 2.2, 4). Each scenario lets jobs queue behind a first one that fills the node.

use crate::schedule::expect;

/// Jobs 2 and 3 wait for the node; 3 came later and goes first.
const LAST_COMES_FIRST: &str = "1  0   0..4        +200  COMPLETED  n1  *
                                2  10  3.end+0..4  +100  COMPLETED  n1  *
                                3  20  1.end+0..4  +100  COMPLETED  n1  *";

/// In the order of submission.
const FIRST_COMES_FIRST: &str = "1  0   0..4        +200  COMPLETED  n1  *
                                 2  10  1.end+0..4  +100  COMPLETED  n1  *
                                 3  20  2.end+0..4  +100  COMPLETED  n1  *";

fn queue(settings: &str, second: &str, third: &str) -> String {
    format!(
        "node n1 cores=4
         {settings}
         job 1 n=4 run=200 t=10
         job 2 at=10 n=4 run=100 t=10 {second}
         job 3 at=20 n=4 run=100 t=10 {third}"
    )
}

#[test]
fn without_multifactor_jobs_go_in_order_of_submission() {
    expect(&queue("qos high priority=10", "", "qos=high"), FIRST_COMES_FIRST);
}

#[test]
fn equal_priorities_go_in_order_of_submission() {
    expect(&queue("set multifactor weight_job_size=1000", "", ""), FIRST_COMES_FIRST);
}

#[test]
pub(crate) fn a_higher_qos_goes_first() {
    let settings = "qos high priority=10\nset multifactor weight_qos=1000";
    expect(&queue(settings, "", "qos=high"), LAST_COMES_FIRST);
    expect(&queue(settings, "qos=high", ""), FIRST_COMES_FIRST);
}

#[test]
fn nice_lowers_the_priority() {
    let settings = "qos normal priority=1\nset multifactor weight_qos=1000";
    expect(&queue(settings, "nice=1", ""), LAST_COMES_FIRST);
    expect(&queue(settings, "nice=-1", ""), FIRST_COMES_FIRST);
}

#[test]
fn a_partitions_factor_raises_its_jobs() {
    let settings = "partition p job_factor=1\npartition q job_factor=2\nset multifactor weight_partition=1000";
    expect(&queue(settings, "", "p=q"), LAST_COMES_FIRST);
}

#[test]
fn larger_jobs_go_first_with_a_size_weight_unless_small_is_favoured() {
    let scenario = |favor: &str| {
        format!(
            "node n1 cores=4
             set multifactor weight_job_size=1000 {favor}
             job 1 n=4 run=200 t=10
             job 2 at=10 n=3 run=100 t=10
             job 3 at=20 n=4 run=100 t=10"
        )
    };
    expect(&scenario(""), LAST_COMES_FIRST);
    expect(&scenario("favor_small"), FIRST_COMES_FIRST);
}

#[test]
pub(crate) fn who_has_used_less_of_an_equal_share_goes_first() {
    let settings = "user a usage=1000\nuser b usage=10\nuser u usage=100\nset multifactor weight_fairshare=1000";
    expect(&queue(settings, "user=a", "user=b"), LAST_COMES_FIRST);
    expect(&queue(settings, "user=b", "user=a"), FIRST_COMES_FIRST);
}

#[test]
fn who_has_more_shares_may_use_more() {
    let settings = "user a usage=100 shares=1\nuser b usage=150 shares=10\nset multifactor weight_fairshare=1000";
    expect(&queue(settings, "user=a", "user=b"), LAST_COMES_FIRST);
}

/// Fair tree: accounts are ranked first, so every user of the lighter account stands before the heavier account's.
#[test]
fn accounts_are_ranked_before_their_users() {
    let settings = "account x
         account y
         user a account=x usage=10
         user a2 account=x usage=5000
         user b account=y usage=1000
         set multifactor weight_fairshare=1000";
    expect(&queue(settings, "user=a", "user=b"), LAST_COMES_FIRST);
}

/// What runs is charged at the priority step, every 5 min: job 1 of user a, running for 290 s by then, puts b first.
#[test]
pub(crate) fn running_jobs_are_charged_at_priority_steps() {
    let scenario = |run: u32| {
        format!(
            "node n1 cores=4
             user a
             user b
             set multifactor weight_fairshare=1000
             boot 0
             job 1 at=0 user=a n=4 run={run} t=10
             job 2 at=10 user=a n=4 run=100 t=10
             job 3 at=20 user=b n=4 run=100 t=10"
        )
    };
    let schedule = |run: u32, second: &str, third: &str| {
        format!(
            "1  0   0..34     +{run}  COMPLETED  n1  *
             2  10  {second}  +100    COMPLETED  n1  *
             3  20  {third}   +100    COMPLETED  n1  *"
        )
    };
    expect(&scenario(250), &schedule(250, "1.end+0..4", "2.end+0..4"));
    expect(&scenario(400), &schedule(400, "3.end+0..4", "1.end+0..4"));
}

/// As above, but what job 1 uses does not count.
#[test]
fn a_usage_factor_of_zero_charges_nothing() {
    expect(
        "node n1 cores=4
         qos free usage_factor=0
         user a
         user b
         set multifactor weight_fairshare=1000
         boot 0
         job 1 at=0 user=a qos=free n=4 run=400 t=10
         job 2 at=10 user=a n=4 run=100 t=10
         job 3 at=20 user=b n=4 run=100 t=10",
        "1  0   0..34       +400  COMPLETED  n1  *
         2  10  1.end+0..4  +100  COMPLETED  n1  *
         3  20  2.end+0..4  +100  COMPLETED  n1  *",
    );
}

/// A point of priority a second of age, 50 points of QOS. Job 2 is 269 s older than job 3, but before the first
/// step (300 to 330 s) its priority is still that of its submission.
#[test]
pub(crate) fn age_grows_in_steps_of_the_calculation_period() {
    let scenario = |run: u32| {
        format!(
            "node n1 cores=4
             qos high priority=1
             set multifactor weight_age=10000 max_age=10000 weight_qos=50
             boot 0
             job 1 at=0 n=4 run={run} t=10
             job 2 at=1 n=4 run=100 t=10
             job 3 at=250 n=4 run=100 t=10 qos=high"
        )
    };
    let schedule = |run: u32, second: &str, third: &str| {
        format!(
            "1  0    0..34     +{run}  COMPLETED  n1  *
             2  1    {second}  +100    COMPLETED  n1  *
             3  250  {third}   +100    COMPLETED  n1  *"
        )
    };
    expect(&scenario(255), &schedule(255, "3.end+0..4", "1.end+0..4"));
    expect(&scenario(400), &schedule(400, "1.end+0..4", "2.end+0..4"));
}

/// User a used more than b, but five half-lives ago; b has used the node since.
#[test]
pub(crate) fn usage_of_long_ago_counts_less() {
    expect(
        "node n1 cores=4
         user a usage=4000
         user b
         set multifactor weight_fairshare=1000 half_life=300
         boot 0
         job 1 at=0 user=b n=4 run=1700 t=30
         job 2 at=10 user=b n=4 run=100 t=10
         job 3 at=20 user=a n=4 run=100 t=10",
        "1  0   0..34       +1700  COMPLETED  n1  *
         2  10  3.end+0..4  +100   COMPLETED  n1  *
         3  20  1.end+0..4  +100   COMPLETED  n1  *",
    );
}

/// While the other task runs, 1_2 is out of the queue and yet ages; job 2 came 20 s later. If backfill takes it out before a second queue
/// build, its age begins anew with the limit's room (docs/FACTS.md, facts 62).
#[test]
fn an_arrays_limit_on_running_tasks_does_not_stop_their_age() {
    let scenario = |off: &str| {
        format!(
            "node n1 cores=4
             set multifactor weight_age=100000 max_age=10000
             set {off}=off
             job 1 array=1-2%1 n=4 run=400 t=10
             job 2 at=20 n=4 run=100 t=10"
        )
    };
    expect(
        &scenario("bf_interval"),
        "1_1  *   0..4          +400  COMPLETED  n1  *
         1_2  *   1_1.end+0..4  +400  COMPLETED  n1  *
         2    20  1_2.end+0..4  +100  COMPLETED  n1  *",
    );
    expect(
        &scenario("sched_interval"),
        "1_1  *   0..34         +400  COMPLETED  n1  *
         1_2  *   2.end+0..35   +400  COMPLETED  n1  *
         2    20  1_1.end+0..35 +100  COMPLETED  n1  *",
    );
}

/// Recorded (c1123): job 4 asks who stands before it, and not job 2, which the partition keeps out, so that the age of job 3's tasks begins then, and not with
/// the next queue that is built: they are older than job 5.
#[test]
fn who_asks_whom_stands_before_him_passes_over_those_that_a_partition_keeps_out() {
    expect(
        "node n[1-2] cores=4
         partition p min_nodes=2
         qos high priority=100
         qos top priority=200
         set multifactor weight_age=100000 weight_qos=1000 sched_min_interval=5000000
         job 1 N=2 n=8 run=900 t=20
         job 2 at=29 N=1 n=1 qos=top run=10 t=5
         job 3 at=30 array=1-2%1 N=2 n=8 run=50 t=5
         job 4 at=30 N=2 n=8 qos=high run=50 t=5
         job 5 at=32 N=2 n=8 run=50 t=5",
        "1    *   0..4          +900  COMPLETED  n1,n2  *
         2    *   -             -     PENDING    -      -
         3_1  *   4.end+0..35   +50   COMPLETED  n1,n2  *
         3_2  *   3_1.end+0..35 +50   COMPLETED  n1,n2  *
         4    *   1.end+0..35   +50   COMPLETED  n1,n2  *
         5    *   3_2.end+0..35 +50   COMPLETED  n1,n2  *",
    );
}

/// Four CPUs and a GPU of weight 4: 4 by the greatest, 8 with generic resources added. User b holds six CPUs.
#[test]
fn with_max_tres_gres_generic_resources_are_added_to_the_greatest() {
    let scenario = |flag: &str| {
        format!(
            "node n1 cores=10 gres=gpu:1
             partition p billing=cpu:1,gpu:4
             user a
             user b
             set multifactor weight_fairshare=100000 {flag}
             job 1 user=a n=4 gres=gpu:1 run=900 t=20
             job 2 user=b n=6 run=900 t=20
             job 3 at=10 user=b n=10 run=100 t=10
             job 4 at=20 user=a n=10 run=100 t=10"
        )
    };
    let expected = |third: &str, fourth: &str| {
        format!(
            "1  0   0..4      +900  COMPLETED  n1  *
             2  0   0..4      +900  COMPLETED  n1  *
             3  10  {third}   +100  COMPLETED  n1  *
             4  20  {fourth}  +100  COMPLETED  n1  *"
        )
    };
    expect(&scenario("max_tres"), &expected("4.end+0..4", "900..908"));
    expect(&scenario("max_tres_gres"), &expected("900..908", "3.end+0..4"));
}

/// Job 3 asks for four times the memory of job 2, since both take the default for each CPU.
#[test]
fn default_memory_counts_among_weighted_tres() {
    expect(
        "node n1 cores=4 memory=8000
         set multifactor weight_tres_mem=8000 memory mem_per_cpu=1000
         job 1 n=4 run=600 t=10
         job 2 at=10 n=1 run=100 t=10
         job 3 at=10 n=4 run=100 t=10",
        "1  0   0..4         +600  COMPLETED  n1  *
         2  10  3.end+0..4   +100  COMPLETED  n1  *
         3  10  1.end+0..4   +100  COMPLETED  n1  *",
    );
}

/// Job 2 would be charged the eight CPUs of a socket, and asks for one: job 3 asks for two.
#[test]
fn weighted_tres_are_those_asked_for_not_those_a_plan_would_charge() {
    expect(
        "node n1 cores=8 sockets=1
         set select=socket multifactor weight_tres_cpu=8000
         job 1 n=8 run=900 t=15
         job 2 at=10 n=1 run=100 t=10
         job 3 at=20 n=2 run=100 t=10",
        "1  0   0..4         +900  COMPLETED  n1  *
         2  10  3.end+0..4   +100  COMPLETED  n1  *
         3  20  1.end+0..4   +100  COMPLETED  n1  *",
    );
}

/// priority/basic: who is nice by 2 stands behind the next submission, and level with the one after that, which came later.
#[test]
fn under_priority_basic_nice_counts_submissions() {
    expect(
        "node n1 cores=1
         job 1 run=100 t=5
         job 2 run=100 t=5 at=10 nice=2
         job 3 run=100 t=5 at=11
         job 4 run=100 t=5 at=12",
        "1  0   0..4        +100  COMPLETED  n1  *
         2  10  3.end+0..4  +100  COMPLETED  n1  *
         3  11  1.end+0..4  +100  COMPLETED  n1  *
         4  12  2.end+0..4  +100  COMPLETED  n1  *",
    );
}

/// Jobs 3 and 4 are planned for as long as plans reach, so job 5 finds no node at any try, and does not count against
/// `bf_max_job_test`: the cycle comes to job 6, which counts as a whole node from then on, and job 7 stands before it.
#[test]
fn a_cycle_goes_past_jobs_that_no_try_has_nodes_for() {
    let scenario = |tests: u32| {
        format!(
            "node n1 cores=4
             node m[1-2] cores=4
             partition whole nodes=n1 over=exclusive
             partition part nodes=n1
             partition big nodes=m[1-2]
             set multifactor weight_job_size=1000 favor_small bf_max_job_test={tests} bf_window=30
             job 1 p=big N=2 n=8 run=1580 t=30
             job 2 p=part n=4 run=800 t=30
             job 3 p=big at=10 N=1 n=4 nice=-900 run=3500 t=60
             job 4 p=big at=10 N=1 n=4 nice=-900 run=3500 t=60
             job 5 p=big at=10 N=1 n=4 nice=-900 run=100 t=60
             job 6 p=whole at=10 n=1 run=100 t=10
             job 7 p=part at=20 n=3 run=100 t=10"
        )
    };
    expect(
        &scenario(3),
        "1  0   0..4         +1580  COMPLETED  m1,m2  *
         2  0   0..4         +800   COMPLETED  n1     *
         3  10  1.end+0..4   +3500  COMPLETED  *      *
         4  10  1.end+0..4   +3500  COMPLETED  *      *
         5  10  3.end+0..60  +100   COMPLETED  *      *
         6  10  7.end+0..4   +100   COMPLETED  n1     *
         7  20  2.end+0..4   +100   COMPLETED  n1     *",
    );
    expect(
        &scenario(2),
        "1  0   0..4         +1580  COMPLETED  m1,m2  *
         2  0   0..4         +800   COMPLETED  n1     *
         3  10  1.end+0..4   +3500  COMPLETED  *      *
         4  10  1.end+0..4   +3500  COMPLETED  *      *
         5  10  3.end+0..60  +100   COMPLETED  *      *
         6  10  2.end+0..4   +100   COMPLETED  n1     *
         7  20  6.end+0..60  +100   COMPLETED  n1     *",
    );
}
