//! How many nodes limits leave a job.

use crate::schedule::expect;

/// Recorded (z-sock): job 5 would start on three nodes at once; its limit leaves it two.
#[test]
fn selection_takes_no_more_nodes_than_a_limit_leaves() {
    let scenario = |limit: &str| {
        format!(
            "node n[1-4] cores=4
             set enforce=limits
             qos few {limit}
             job 1 n=2 run=600 t=15 w=n1
             job 2 n=2 run=600 t=15 w=n2
             job 3 n=4 run=100 t=10 w=n3
             job 4 n=1 run=600 t=15 w=n4
             job 5 at=10 qos=few n=6 run=100 t=10"
        )
    };
    let fifth = |start: &str, nodes: &str| {
        format!(
            "1  0   *        +600  COMPLETED  n1  *
             2  0   *        +600  COMPLETED  n2  *
             3  0   *        +100  COMPLETED  n3  *
             4  0   *        +600  COMPLETED  n4  *
             5  10  {start}  +100  COMPLETED  {nodes}  *"
        )
    };
    expect(&scenario(""), &fifth("10..34", "n1,n2,n4"));
    expect(&scenario("max_node_per_user=2"), &fifth("3.end+0..34", "n1,n3"));
    expect(&scenario("grp_node=2"), &fifth("3.end+0..34", "n1,n3"));
}

/// Recorded (n-whole): job 2 asks for more nodes than its QOS may ever have, and gets no plan, with `assoc_limit_stop` too. (A plan on all nodes
/// at 900 would hold job 3 back, whose limit ends later.)
#[test]
fn who_asks_for_more_nodes_than_limits_leave_is_never_planned() {
    expect(
        "node n[1-3] cores=4
         set enforce=limits assoc_limit_stop
         qos few grp_node=2
         job 1 n=4 w=n1 run=600 t=15
         job 2 at=10 qos=few N=3 n=12 run=100 t=10
         job 3 at=20 n=4 run=800 t=20",
        "1  0   *       +600  COMPLETED  n1  *
         2  10  -       -     PENDING    -   -
         3  20  20..54  +800  COMPLETED  n2  backfill",
    );
}

/// Recorded (bf-c47): job 2 needs three nodes, and its QOS leaves it two: it is never runnable, as who asks for more than there is, and so does
/// not wait for job 1, which holds a node whole, and blocks nobody (docs/FACTS.md, facts 86 (a)).
#[test]
fn who_could_never_run_on_as_few_nodes_as_limits_leave_blocks_nobody() {
    let scenario = |limit: &str| {
        format!(
            "node n[1-3] cores=4
             set enforce=limits bf_interval=off
             qos few {limit}
             job 1 n=4 w=n1 exclusive run=300 t=15
             job 2 at=10 qos=few n=12 run=100 t=10
             job 3 at=20 n=4 run=100 t=10"
        )
    };
    expect(
        &scenario(""),
        "1  0   0..4        +300  COMPLETED  n1        main
         2  10  1.end+0..4  +100  COMPLETED  n1,n2,n3  main
         3  20  2.end+0..4  +100  COMPLETED  n1        main",
    );
    expect(
        &scenario("grp_node=2"),
        "1  0   0..4    +300  COMPLETED  n1  main
         2  10  -       -     PENDING    -   -
         3  20  20..24  +100  COMPLETED  n2  main",
    );
}
