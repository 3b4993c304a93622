//! The main scheduler: strict order, blocking, triggers and depth (slurm-semantics 1).

use crate::schedule::{expect, run};

#[test]
pub(crate) fn a_job_that_does_not_fit_blocks_its_partition() {
    expect(
        "node n[1-2] cores=4
         set bf_interval=off
         job 1 n=4 run=300 t=10
         job 2 N=2 run=100 t=5
         job 3 run=50 t=1",
        "1  0  0..4        +300  COMPLETED  n1     main
         2  0  1.end+0..4  +100  COMPLETED  n1,n2  main
         3  0  2.start+0   +50   COMPLETED  n1     main",
    );
}

/// `sched_interval=0` is a run of the whole queue at every turn of slurmctld's loop, which takes a second.
#[test]
fn no_interval_is_a_second() {
    expect(
        "node n1 cores=4
         set bf_interval=off sched_interval=0
         job 1 n=4 run=300 t=10
         job 2 n=4 run=100 t=5",
        "1  0  0..2        +300  COMPLETED  n1  main
         2  0  1.end+0..2  +100  COMPLETED  n1  main",
    );
}

#[test]
fn a_blocked_partition_leaves_others_alone() {
    expect(
        "node n[1-2] cores=4
         partition a nodes=n1
         partition b nodes=n2
         set bf_interval=off
         job 1 p=a n=4 run=300 t=10
         job 2 p=a n=4 run=100 t=5
         job 3 p=b run=50 t=1",
        "1  0  0..4        +300  COMPLETED  n1  main
         2  0  1.end+0..4  +100  COMPLETED  n1  main
         3  0  0..4        +50   COMPLETED  n2  main",
    );
}

#[test]
pub(crate) fn a_higher_tier_goes_first_though_it_came_later() {
    expect(
        "node n1 cores=4
         partition low tier=1
         partition high tier=2
         job 1 p=low n=4 run=300 t=10
         job 2 at=10 p=low n=4 run=100 t=5
         job 3 at=20 p=high n=4 run=100 t=5",
        "1  0   0..4        +300  COMPLETED  n1  *
         2  10  3.end+0..4  +100  COMPLETED  n1  *
         3  20  1.end+0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
pub(crate) fn a_job_of_two_partitions_takes_the_one_that_has_room() {
    expect(
        "node n[1-2] cores=4
         partition a nodes=n1
         partition b nodes=n2
         job 1 p=a n=4 run=300 t=10
         job 2 at=10 p=a,b n=4 run=100 t=5",
        "1  0   0..4    +300  COMPLETED  n1  *
         2  10  10..14  +100  COMPLETED  n2  *",
    );
}

#[test]
fn a_job_that_waits_for_named_nodes_keeps_those_and_lets_the_partition_go_on() {
    expect(
        "node n[1-2] cores=4
         set bf_interval=off
         job 1 n=4 w=n1 run=300 t=10
         job 2 at=10 n=2 w=n1 run=100 t=5
         job 3 at=10 n=1 run=50 t=1",
        "1  0   0..4        +300  COMPLETED  n1  main
         2  10  1.end+0..4  +100  COMPLETED  n1  main
         3  10  10..14      +50   COMPLETED  n2  main",
    );
}

/// Recorded (ax-core): it keeps them whatever it did not start for, here a limit.
#[test]
fn a_job_at_a_limit_keeps_the_nodes_that_it_names() {
    expect(
        "node n[1-2] cores=4
         set enforce=limits bf_interval=off
         account x grp_cpu=4
         account y
         user a account=x
         user b account=y
         job 1 user=a n=4 w=n2 run=300 t=10
         job 2 at=10 user=a n=2 w=n1 run=100 t=5
         job 3 at=20 user=b n=1 run=50 t=1",
        "1  0   0..4        +300  COMPLETED  n2  main
         2  10  1.end+0..4  +100  COMPLETED  n1  main
         3  20  2.start+0..4  +50   COMPLETED  *   main",
    );
}

/// Recorded (tiny): a job held back by its feature blocks the partition even for jobs that want other nodes.
#[test]
fn a_job_behind_a_blocked_feature_is_left_to_backfill() {
    expect(
        "node n1 cores=4 features=old
         node n2 cores=4 features=new
         job 1 n=4 C=new run=300 t=10
         job 2 at=10 n=4 C=new run=100 t=5
         job 3 at=10 n=4 C=old run=50 t=5",
        "1  0   0..4        +300  COMPLETED  n2  *
         2  10  1.end+0..4  +100  COMPLETED  n2  *
         3  10  10..41      +50   COMPLETED  n1  backfill",
    );
}

#[test]
fn builtin_never_starts_a_job_before_an_earlier_one() {
    expect(
        "node n[1-2] cores=4
         set builtin
         job 1 n=4 run=300 t=10
         job 2 at=10 N=2 run=100 t=5
         job 3 at=10 run=50 t=1",
        "1  0   0..4        +300  COMPLETED  n1     main
         2  10  1.end+0..4  +100  COMPLETED  n1,n2  main
         3  10  2.start+0   +50   COMPLETED  n1     main",
    );
}

/// Recorded (bf-c64): the FIFO shortcut goes through the job list, where the rest of the array stands behind whoever came before its second task
/// started, and nobody asks how nice job 3 is (docs/FACTS.md, facts 86 (c)).
#[test]
fn builtin_with_priority_basic_goes_through_the_job_list() {
    let scenario = |setting: &str| {
        format!(
            "node n1 cores=4
             set builtin {setting}
             job 1 array=1-3 n=4 run=100 t=10
             job 2 at=10 n=4 run=100 t=10
             job 3 at=20 n=4 run=100 t=10 nice=100
             job 4 at=30 n=4 run=100 t=10"
        )
    };
    expect(
        &scenario(""),
        "1_1  0   0..4          +100  COMPLETED  n1  main
         1_2  0   1_1.end+0..4  +100  COMPLETED  n1  main
         1_3  0   4.end+0..4    +100  COMPLETED  n1  main
         2    10  1_2.end+0..4  +100  COMPLETED  n1  main
         3    20  2.end+0..4    +100  COMPLETED  n1  main
         4    30  3.end+0..4    +100  COMPLETED  n1  main",
    );
    expect(
        &scenario("version=25.05"),
        "1_1  0   0..4          +100  COMPLETED  n1  main
         1_2  0   1_1.end+0..4  +100  COMPLETED  n1  main
         1_3  0   1_2.end+0..4  +100  COMPLETED  n1  main
         2    10  1_3.end+0..4  +100  COMPLETED  n1  main
         3    20  4.end+0..4    +100  COMPLETED  n1  main
         4    30  2.end+0..4    +100  COMPLETED  n1  main",
    );
}

#[test]
fn without_the_main_scheduler_backfill_starts_everything() {
    expect(
        "node n1 cores=4
         set sched_interval=off
         job 1 n=4 run=300 t=10
         job 2 n=4 run=100 t=5",
        "1  0  0..31        +300  COMPLETED  n1  backfill
         2  0  1.end+0..31  +100  COMPLETED  n1  backfill",
    );
}

/// The second job finds the node given away in the same run; a run that starts one job at most leaves it to the next.
#[test]
fn a_run_starts_no_more_jobs_than_allowed() {
    expect(
        "node n1 cores=4
         set bf_interval=off sched_max_job_start=1
         job 1 run=300 t=10
         job 2 run=300 t=10
         job 3 at=20 run=300 t=10",
        "1  0   0..4      +300  COMPLETED  n1  main
         2  0   1..61     +300  COMPLETED  n1  main
         3  20  20..81    +300  COMPLETED  n1  main",
    );
}

#[test]
fn a_job_too_young_for_a_reservation_blocks_nobody() {
    let scenario = |age: u32| {
        format!(
            "node n[1-2] cores=4
             set bf_interval=off bf_min_age_reserve={age}
             job 1 n=4 run=300 t=10
             job 2 at=10 N=2 run=100 t=5
             job 3 at=20 run=50 t=1"
        )
    };
    expect(
        &scenario(600),
        "1  0   0..4        +300  COMPLETED  n1     main
         2  10  1.end+0..4  +100  COMPLETED  n1,n2  main
         3  20  20..24      +50   COMPLETED  n2     main",
    );
    expect(
        &scenario(0),
        "1  0   0..4        +300  COMPLETED  n1     main
         2  10  1.end+0..4  +100  COMPLETED  n1,n2  main
         3  20  2.start+0   +50   COMPLETED  n1     main",
    );
}

/// Where busy nodes and a limit both hold a job back, the limit is the reason, and that blocks nobody.
#[test]
fn a_limit_wins_over_busy_nodes() {
    expect(
        "node n[1-2] cores=4
         set bf_interval=off enforce=limits
         account x grp_cpu=4
         user a account=x
         job 1 user=a n=4 run=300 t=10
         job 2 at=10 user=a N=2 n=2 run=100 t=5
         job 3 at=20 user=b run=50 t=1",
        "1  0   0..4        +300  COMPLETED  n1     main
         2  10  1.end+0..4  +100  COMPLETED  n1,n2  main
         3  20  20..24      +50   COMPLETED  n2     main",
    );
}

/// Job 2 waits for a licence and blocks nobody, but it is all that the partition's depth looks at.
#[test]
fn a_run_looks_at_as_many_jobs_of_a_partition_as_allowed() {
    expect(
        "node n1 cores=4
         license matlab:1
         set bf_interval=off partition_job_depth=1
         job 1 L=matlab:1 run=100 t=10
         job 2 at=10 L=matlab:1 run=100 t=10
         job 3 at=20 run=100 t=10",
        "1  0   0..4           +100  COMPLETED  n1  main
         2  10  1.end+0..4     +100  COMPLETED  n1  main
         3  20  2.start+1..61  +100  COMPLETED  n1  main",
    );
}

/// Recorded (c1000): tasks with records of their own, as those that wait for another array's get them, stand one behind the other with the records
/// of all their partitions, and each is looked at in each partition: only one of the same array and partition right behind is passed over. So they use
/// up the partition's depth; as parts of one record they do not.
#[test]
fn tasks_with_records_of_their_own_are_looked_at_in_each_partition() {
    let scenario = |dependency: &str| {
        format!(
            "node n[1-4] cores=4
             partition a nodes=n[1-4]
             partition b nodes=n[1-4]
             license matlab:1
             set bf_interval=off partition_job_depth=2
             job 1 p=a array=1-2 L=matlab:1 run=20 t=10
             job 2 p=a at=1 L=matlab:1 run=300 t=10
             job 3 p=a,b at=2 array=1-2 {dependency} L=matlab:1 run=20 t=10
             job 4 p=b at=60 run=100 t=10"
        )
    };
    let expected = |fourth: &str| {
        format!(
            "1_1  0   0..4            +20   COMPLETED  n1  main
             1_2  0   1_1.end+0..4    +20   COMPLETED  n1  main
             2    1   1_2.end+0..4    +300  COMPLETED  n1  main
             3_1  *   2.end+0..4      +20   COMPLETED  n1  main
             3_2  *   3_1.end+0..4    +20   COMPLETED  *   main
             4    60  {fourth}        +100  COMPLETED  *   main"
        )
    };
    expect(&scenario(""), &expected("60..64"));
    expect(&scenario("dep=aftercorr:1"), &expected("3_1.start+0..64"));
}

/// Waiting tasks are one record until they start.
#[test]
fn a_waiting_array_consumes_the_depth_of_one_job() {
    expect(
        "node n[1-2] cores=4
         partition a nodes=n1
         partition b nodes=n2
         set bf_interval=off sched_interval=600 default_queue_depth=3
         boot 60
         job 1 p=a n=4 run=2000 t=60
         job 2 at=10 p=a n=4 array=1-8 run=10 cancel=100
         job 3 at=10 p=b run=50",
        "1    0   0..4    +2000  COMPLETED  n1  main
         2_1  10  -       100    CANCELLED  -   -
         2_2  10  -       100    CANCELLED  -   -
         2_3  10  -       100    CANCELLED  -   -
         2_4  10  -       100    CANCELLED  -   -
         2_5  10  -       100    CANCELLED  -   -
         2_6  10  -       100    CANCELLED  -   -
         2_7  10  -       100    CANCELLED  -   -
         2_8  10  -       100    CANCELLED  -   -
         3    10  10..14  +50    COMPLETED  n2  main",
    );
}

/// Job 2 fits at once, but a tick serves its request only when the delay since the last run has passed.
#[test]
pub(crate) fn a_request_waits_until_the_batch_delay_has_passed() {
    expect(
        "node n[1-2] cores=4
         set batch_sched_delay=30 sched_interval=3600 bf_interval=off
         job 1 at=100 n=4 run=500 t=10
         job 2 at=110 n=4 run=500 t=10",
        "1  100  100..104       +500  COMPLETED  n1  main
         2  110  1.start+29..32  +500  COMPLETED  n2  main",
    );
}

/// Job 1 waits for n1 to be given back, not for a job to end, so its partition goes on without it; job 3 waits for job 2, and job 4
/// behind it. Source: `docs/FACTS.md`, facts 24.
#[test]
fn who_waits_for_nodes_and_not_for_jobs_blocks_nobody() {
    expect(
        "node n[1-2] cores=4
         set bf_interval=off
         reservation maint at=600 for=600 nodes=n1
         job 1 at=10 N=2 n=8 run=100 t=20
         job 2 at=11 n=4 run=300 t=10 x=n1
         job 3 at=60 n=4 run=100 t=5 x=n1
         job 4 at=61 n=4 run=100 t=4",
        "1  10  1200..1265   +100  COMPLETED  n1,n2  main
         2  11  11..15       +300  COMPLETED  n2     main
         3  60  2.end+0..4   +100  COMPLETED  n2     main
         4  61  2.end+0..64  +100  COMPLETED  n1     main",
    );
}

/// Recorded (y-gpu): job 3 waits for GPUs, in `all` for nodes that are not left to it. It blocks `all` where a node is held by a job that
/// shares nothing, though that has no GPU.
#[test]
fn a_node_held_whole_makes_who_lacks_nodes_block() {
    let scenario = |whole: &str| {
        format!(
            "node c[1-2] cores=4
             node g1 cores=4 gres=gpu:2
             partition gpu nodes=g1 tier=2
             partition all tier=1
             set bf_interval=off
             job 1 p=gpu gres=gpu:2 run=500 t=10
             job 2 p=all w=c1 {whole} run=500 t=10
             job 3 at=10 p=gpu,all gres=gpu:2 run=50 t=10
             job 4 at=20 p=all w=c2 run=50 t=10"
        )
    };
    let of = |start: &str| format!("1 0 * * * g1 *\n 2 0 * * * c1 *\n 3 10 * * * g1 *\n 4 20 {start} * * c2 *");
    expect(&scenario(""), &of("20..24"));
    expect(&scenario("exclusive"), &of("500..510"));
}

/// n1 is held whole, but not left to job 2 by the reservation: job 2 waits for nodes, and job 3 goes on.
#[test]
fn a_node_held_whole_in_a_reservation_makes_nobody_block() {
    expect(
        "node n[1-3] cores=4
         set bf_interval=off
         reservation r nodes=n1 at=600 for=3600 users=bob
         job 1 w=n1 exclusive run=500 t=9
         job 2 at=10 N=3 n=3 run=100 t=20
         job 3 at=20 n=4 run=50 t=5",
        "1  0   0..4    *    *          n1  *
         2  10  *       *    *          *   *
         3  20  20..24  +50  COMPLETED  n2  *",
    );
}

/// Recorded (q-tree, 565 s): where blocked partitions leave a job's partition no node, slurmctld stamps the job as changed, so that the full-queue
/// run of every minute brings backfill's next cycle. A job that finds its nodes busy brings none.
#[test]
fn a_job_whose_partition_has_no_nodes_left_keeps_cycles_coming() {
    let cycles = |first: &str| {
        let scenario = format!(
            "node n[1-2] cores=4
             partition first nodes={first} tier=2
             partition other nodes=n2
             job 1 p=first n=4 w=n1 run=3000 t=60
             job 2 p=other n=4 run=3000 t=60
             job 3 at=10 p=first n=4 run=10 t=60
             job 4 at=10 p=other n=4 run=10 t=60"
        );
        run(&scenario, 1).1.counters.backfill_cycles
    };
    let (apart, overlapping) = (cycles("n1"), cycles("n[1-2]"));
    assert!(apart < 10 && overlapping > 40, "{apart}, {overlapping}");
}

/// Recorded (c1269): job 1 may have two nodes, whose CPUs its partition caps, and would take three. It is told that nodes are not available, and blocks nobody, unless
/// some are held by a job that shares nothing: then it waits for that. Where sharing is forced, whole nodes are shared (w2165).
#[test]
fn who_would_take_more_nodes_than_it_may_have_blocks_nobody() {
    let scenario = |sharing: &str, first: &str| {
        format!(
            "node n[1-4] cores=4
             switch s1 nodes=n[1-4]
             partition p max_cpus_per_node=2
             partition q {sharing}
             set bf_interval=off
             job 1 p=q N=1 n=1 {first} run=300 t=10
             job 2 at=10 p=p N=2 n=6 w=n2 run=100 t=10
             job 3 at=20 p=p n=1 run=100 t=10"
        )
    };
    let expected = |third: &str| format!("1 0 0..4 +300 * n1 *\n 2 10 - - PENDING - -\n 3 20 {third} +100 * * main");
    expect(&scenario("", ""), &expected("20..24"));
    expect(&scenario("", "exclusive"), &expected("1.end+0..4"));
    expect(&scenario("over=force:2", "exclusive"), &expected("20..24"));
}

/// Recorded (w2221): job 2, whose `--spread-job` allows one node where the partition asks for two, is tested in every run, and takes a place of the default
/// depth; it is never held.
#[test]
fn who_may_have_fewer_nodes_than_its_partition_asks_for_is_tested_for_ever() {
    let scenario = |depth: u32| {
        format!(
            "node n[1-4] cores=4
             partition p min_nodes=2
             set bf_interval=off sched_interval=6000 default_queue_depth={depth}
             job 1 N=2 n=8 run=100 t=10
             job 2 at=10 N=2-1 n=1 run=100 t=10 nice=-100
             job 3 at=200 N=2 n=8 run=100 t=10"
        )
    };
    let expected = |start: &str| {
        format!(
            "1  *  0..4     +100  COMPLETED  *  *
             2  *  -        -     PENDING    -  -
             3  *  {start}"
        )
    };
    expect(&scenario(1), &expected("200..204  +100  COMPLETED  *  *"));
    expect(&scenario(0), &expected("3000..6001  +100  COMPLETED  *  *"));
}

/// Recorded (w2243): `MaxNodes` keeps out who says how many nodes he may have at most, not who names more: that one is tested there each time.
#[test]
fn who_names_more_nodes_than_a_partition_allows_is_within_its_limits() {
    let depth = |asks: &str| {
        let text = format!(
            "node n[1-4] cores=4
             set bf_interval=off
             partition d nodes=n[1-2] max_nodes=1 tier=2
             partition b nodes=n[1-4]
             job 1 p=b N=2 w=n[3-4] n=8 run=600 t=10
             job 2 at=10 p=d,b {asks} n=2 run=100 t=10"
        );
        run(&text, 0).1.counters.main_depth
    };
    assert_eq!([depth("N=2- w=n[3-4]"), depth("N=2 w=n[3-4]")], [45, 13]);
}
