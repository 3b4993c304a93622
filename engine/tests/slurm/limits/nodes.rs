//! Limits on nodes: which count, and which are preferred (slurm-semantics 5, 6.2.2).

use crate::schedule::expect;

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

/// Recorded (w2004): those nodes are chosen as nodes are at a start, from its group's first. On n2 and n3 job 4 would keep the limit, so it waits for
/// nodes and blocks job 5; in the order of slurm.conf it would get three (docs/FACTS.md, facts 96 (c)).
#[test]
fn a_busy_job_counts_nodes_of_its_group_first() {
    let scenario = |most: u32| {
        format!(
            "node n[1-2] cores=4
             node n[3-4] cores=8
             set enforce=limits bf_interval=300
             qos few grp_node={most}
             job 1 w=n2 qos=few n=4 run=1000 t=20
             job 2 w=n3 qos=few n=8 run=1000 t=20
             job 3 w=n4 n=8 run=1000 t=20
             job 4 at=10 qos=few n=12 run=100 t=10
             job 5 at=20 n=4 run=100 t=5"
        )
    };
    let of = |starts: &str| {
        format!("1 0 * * * * *\n 2 0 * * * * *\n 3 0 * * * * *\n 4 10 * * * * *\n 5 20 {starts} +100 * n1 *")
    };
    expect(&scenario(4), &of("260..330"));
    expect(&scenario(3), &of("20..24"));
}
