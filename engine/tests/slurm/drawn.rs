//! What recordings of clusters, policies and workloads drawn at random taught (docs/FACTS.md, facts 67 to 69), as small scenarios.

use crate::schedule::expect;

/// Recorded (g-topo): a job of contiguous nodes must fit if nobody used their cores, too. The lighter node beside is too small for it
/// alone and stands in the way, though job 1 keeps it from being looked at where free cores count.
#[test]
fn contiguous_nodes_must_serve_while_nobody_uses_their_cores() {
    let scenario = |weight: u32| {
        format!(
            "node h[1-3] cores=4 weight=10
             node x cores=4
             node l cores=4 weight={weight}
             partition p nodes=h[1-3],l
             job 1 w=l n=4 run=300 t=10
             job 2 at=10 N=3 n=9 contiguous run=50"
        )
    };
    expect(
        &scenario(10),
        "1  0   0..4    +300  COMPLETED  l         *
         2  10  10..14  +50   COMPLETED  h1,h2,h3  *",
    );
    expect(
        &scenario(1),
        "1  0   0..4  +300  COMPLETED  l  *
         2  -  -     -     PENDING    -  -",
    );
}

/// Recorded (g-pre): the main scheduler looks at job 3 in `e`, an EXCLUSIVE partition, and from then on it is a job of whole nodes in
/// `s`, too, where job 4 must wait for it.
#[test]
fn a_test_in_an_exclusive_partition_makes_a_job_one_of_whole_nodes() {
    let scenario = |partitions: &str| {
        format!(
            "node e1 cores=4
             node n1 cores=4
             partition e nodes=e1 over=exclusive
             partition s nodes=n1
             job 1 p=e n=1 run=1000 t=20
             job 2 p=s n=4 run=100 t=2
             job 3 at=10 p={partitions} n=1 run=200 t=5
             job 4 at=20 p=s n=1 run=100 t=5"
        )
    };
    expect(
        &scenario("s"),
        "1  0   0..4        +1000  COMPLETED  e1  *
         2  0   0..4        +100   COMPLETED  n1  *
         3  10  2.end+0..4  +200   COMPLETED  n1  *
         4  20  2.end+0..4  +100   COMPLETED  n1  *",
    );
    expect(
        &scenario("s,e"),
        "1  0   0..4        +1000  COMPLETED  e1  *
         2  0   0..4        +100   COMPLETED  n1  *
         3  10  2.end+0..4  +200   COMPLETED  n1  *
         4  20  3.end+0..4  +100   COMPLETED  n1  *",
    );
}

/// Recorded (h-sock): tasks go to b2 first, which must leave a socket's cores for the node that follows: what it could give counts as small
/// from then on, and b2 and b3 are dropped before a1 and b4.
#[test]
fn nodes_that_an_attempt_cut_are_dropped_first() {
    expect(
        "node a1 cores=8 sockets=2
         node x cores=8
         node b[2-4] cores=12 sockets=2
         partition p nodes=a1,b[2-4]
         set select=socket
         job 1 N=2 n=8 per_socket=2 run=100",
        "1  0  0..4  +100  COMPLETED  a1,b4  *",
    );
}

/// Recorded (i-gpu2): tasks that come two to a socket, each with a GPU, need a node with two GPUs free, even if there is only one of them.
#[test]
fn a_node_must_have_the_gpus_of_all_tasks_of_a_socket() {
    let scenario = |tasks: &str| {
        format!(
            "node g1 cores=4 gres=gpu:2
             partition p nodes=g1
             job 1 n=1 gpus=1 run=300 t=10
             job 2 at=10 n=1 gpus_per_task=1 {tasks} run=50 t=5"
        )
    };
    expect(
        &scenario(""),
        "1  0   0..4    +300  COMPLETED  g1  *
         2  10  10..14  +50   COMPLETED  g1  *",
    );
    expect(
        &scenario("per_socket=2"),
        "1  0   0..4        +300  COMPLETED  g1  *
         2  10  1.end+0..4  +50   COMPLETED  g1  *",
    );
}

/// Recorded (i-het, j-het): a node that a job takes whole has room for the tasks that `--ntasks-per-socket` leaves to its sockets, no more.
#[test]
fn a_node_taken_whole_serves_no_more_tasks_than_its_sockets_may_hold() {
    let scenario = |tasks: &str| {
        format!(
            "node a[1-2] cores=8 sockets=2
             partition p nodes=a[1-2]
             job 1 {tasks} exclusive per_socket=2 run=100"
        )
    };
    expect(&scenario("N=1 n=4"), "1  0  0..4  +100  COMPLETED  a1  *");
    expect(&scenario("n=6"), "1  0  0..4  +100  COMPLETED  a1,a2  *");
    expect(&scenario("N=1 n=6"), "1  -  -  -  PENDING  -  -");
}

/// Recorded (j-mix): the partition of the higher tier is tried first at its submission, and makes job 3 one of whole nodes, though what caps
/// leave of a node there serves no such job. One whose nodes lack what it asks for is not tried.
#[test]
fn a_test_in_an_exclusive_partition_counts_though_no_job_runs_there() {
    let scenario = |asks: &str| {
        format!(
            "node e1 cores=4 features=new
             node n1 cores=4 features=new,old
             partition e nodes=e1 over=exclusive tier=5 max_cpus_per_node=2
             partition s nodes=n1
             job 2 p=s n=2 run=100 t=2
             job 3 at=10 p=e,s n=2 run=200 t=5 {asks}"
        )
    };
    expect(
        &scenario("C=new"),
        "2  0   0..4        +100  COMPLETED  n1  *
         3  10  2.end+0..4  +200  COMPLETED  n1  *",
    );
    expect(
        &scenario("C=old"),
        "2  0   0..4    +100  COMPLETED  n1  *
         3  10  10..14  +200  COMPLETED  n1  *",
    );
}

/// Recorded (i-het): a plan that begins with the table takes three records of it. So job 3 finds a table of three full while job 2 is planned,
/// and the cycle ends before job 4.
#[test]
fn the_first_plan_that_begins_with_the_table_takes_three_records() {
    let scenario = |records: u32| {
        format!(
            "node a1 cores=4 features=x
             node a2 cores=4
             partition p nodes=a[1-2]
             set bf_interval=30 bf_resolution=300 bf_node_space_size={records}
             job 1 C=x n=4 run=50 t=1
             job 2 at=5 C=x n=4 run=100 t=2
             job 3 at=6 C=x n=4 run=100 t=2
             job 4 at=7 n=1 run=20 t=1"
        )
    };
    expect(
        &scenario(4),
        "1  0  0..4        +50   COMPLETED  a1  *
         2  5  1.end+0..4  +100  COMPLETED  a1  *
         3  6  2.end+0..4  +100  COMPLETED  a1  *
         4  7  7..40       +20   COMPLETED  a2  backfill",
    );
    expect(
        &scenario(3),
        "1  0  0..4        +50   COMPLETED  a1  *
         2  5  1.end+0..4  +100  COMPLETED  a1  *
         3  6  2.end+0..4  +100  COMPLETED  a1  *
         4  7  51..90      +20   COMPLETED  a2  backfill",
    );
}

/// Recorded (j-sock): job 3 would preempt job 1, but by the CPUs of whole cores that it would be charged it is beyond its user's limit while job 2
/// runs: nobody is struck for it, and job 4 behind it starts. By the CPUs that it asks for it would not be.
#[test]
fn limits_are_asked_of_what_a_preemptor_would_be_charged_before_anybody_is_struck() {
    expect(
        "node n[1-2] cores=2 threads=2
         partition low nodes=n1
         partition high nodes=n[1-2] tier=2
         qos normal max_cpu_per_user=5
         set preempt=partition preempt_mode=cancel enforce=limits bf_interval=off
         job 1 p=low user=a n=4 run=40 t=20
         job 2 at=5 p=high user=b w=n2 n=1 run=60 t=5
         job 3 at=10 p=high user=b N=1 n=3 run=50 t=5
         job 4 at=20 p=high user=c n=1 run=30 t=5",
        "1  0   0..4         +40   COMPLETED  n1  *
         2  5   5..9         +60   COMPLETED  n2  *
         3  10  2.end+0..10  +50   COMPLETED  *   *
         4  20  20..24       +30   COMPLETED  n2  *",
    );
}

/// Recorded (j-het): the component beside the preemptor's partition does not save the other: both are struck.
#[test]
fn a_heterogeneous_job_is_preempted_though_a_component_lies_elsewhere() {
    expect(
        "node n[1-2] cores=4
         partition low nodes=n[1-2]
         partition high nodes=n1
         qos poor
         qos rich preempt=poor
         set preempt=qos preempt_mode=cancel
         job 1+0 p=low qos=poor w=n1 n=4 run=900 t=30
         job 1+1 p=low qos=poor w=n2 n=4 run=900 t=30
         job 2 at=200 p=high qos=rich n=4 run=50 t=10",
        "1+0  0    *          200..240  PREEMPTED  n1  *
         1+1  0    *          200..240  PREEMPTED  n2  *
         2    200  200..245   +50       COMPLETED  n1  *",
    );
}

/// Recorded (k-sock): what a partition leaves of a node's CPUs makes no whole sockets; as long as the memory of all of them is there, none is
/// dropped for it.
#[test]
fn a_cap_on_cpus_drops_no_sockets_for_their_memory() {
    expect(
        "node a1 cores=16 sockets=4 memory=16000
         partition p nodes=a1 max_cpus_per_node=6
         set select=socket memory
         job 1 N=1 n=6 mem_per_cpu=1000 run=100 t=5",
        "1  0  0..4  +100  COMPLETED  a1  *",
    );
}

/// Recorded (l-share): a dependency that was met is not asked again, though the job that met it was queued anew, and though something
/// else kept the one that waited from being eligible.
#[test]
fn a_dependency_stays_met_when_the_other_job_is_queued_again() {
    let scenario = |begin: &str| {
        format!(
            "node n[1-3] cores=4
             job 1 n=4 runs=60 run=100 t=10
             job 2 at=10 n=4 dep=after:1 {begin} run=50 t=5
             job 3 at=100 n=4 run=50 t=5"
        )
    };
    expect(
        &scenario(""),
        "1  181..245  181..245  +100  COMPLETED  *  *
         2  10..14    10..14    +50   COMPLETED  *  *
         3  100       100..104  +50   COMPLETED  *  *",
    );
    expect(
        &scenario("begin=90"),
        "1  181..245  181..245  +100  COMPLETED  *  *
         2  90..104   90..104   +50   COMPLETED  *  *
         3  100       100..104  +50   COMPLETED  *  *",
    );
}

/// Recorded (m-gpu): what is left to job 4 beside blocked partition `two` could never serve it, but one of those nodes is held by another user for himself, so it
/// waits for jobs, not for nodes, and blocks `main`: nothing is left for job 5, though it would fit on a1.
#[test]
fn who_waits_for_a_node_that_another_user_holds_blocks_its_partition() {
    let scenario = |exclusive: &str| {
        format!(
            "node a[1-2] cores=4
             node b[1-2] cores=4
             partition two nodes=b[1-2]
             partition main nodes=a[1-2],b[1-2]
             partition three nodes=a[1-2]
             set bf_interval=off
             job 1 user=a p=three w=a2 {exclusive} n=1 run=300 t=10
             job 2 user=b p=two n=8 run=200 t=10
             job 3 at=5 user=b p=two n=8 run=200 t=10
             job 4 at=10 user=c p=main n=12 run=100 t=10
             job 5 at=15 user=d p=three n=1 run=50 t=10"
        )
    };
    expect(
        &scenario("exclusive=user"),
        "1  0   0..4          +300  COMPLETED  a2        *
         2  0   0..4          +200  COMPLETED  b1,b2     *
         3  5   2.end+0..4    +200  COMPLETED  b1,b2     *
         4  10  3.end+0..4    +100  COMPLETED  a1,a2,b1  *
         5  15  4.end+0..9    +50   COMPLETED  *         *",
    );
    expect(
        &scenario(""),
        "1  0   0..4          +300  COMPLETED  a2        *
         2  0   0..4          +200  COMPLETED  b1,b2     *
         3  5   2.end+0..4    +200  COMPLETED  b1,b2     *
         4  10  3.end+0..4    +100  COMPLETED  a1,a2,b1  *
         5  15  15..19        +50   COMPLETED  *         *",
    );
}
