//! `CompleteWait` and `reduce_completing_frag` (slurm-semantics 1.3): an Epilog that takes time holds back everybody.

use crate::schedule::expect;

/// Job 1 ends at about 100 and completes for 40 s. Meanwhile jobs 2 and 3 come, for whom there is room on other nodes.
fn scenario(settings: &str) -> String {
    format!(
        "node n[1-3] cores=4
         partition p nodes=n1
         partition q nodes=n[1-2]
         partition r nodes=n3
         set epilog epilog_seconds=40 {settings}
         job 1 p=p n=4 run=100 t=10
         job 2 p=q w=n2 at=110 run=50 t=5
         job 3 p=r at=110 run=50 t=5"
    )
}

fn expected(second: &str, third: &str) -> String {
    format!(
        "1  0    0..4      +100  COMPLETED  n1  *
         2  110  {second}  +50   COMPLETED  n2  *
         3  110  {third}   +50   COMPLETED  n3  *"
    )
}

#[test]
fn completing_jobs_hold_back_everybody_for_the_time_given() {
    expect(&scenario(""), &expected("110..114", "110..114"));
    expect(&scenario("complete_wait=60"), &expected("139..146", "139..146"));
    // Who ended longer ago does not count.
    expect(&scenario("complete_wait=20"), &expected("120..170", "120..170"));
}

#[test]
fn with_reduce_completing_frag_partitions_that_do_not_overlap_go_on() {
    expect(&scenario("complete_wait=60 reduce_completing_frag bf_interval=off"), &expected("139..146", "110..114"));
}

/// Job 1 is ended by `scancel` at 100: CANCELLED, which is not well.
#[test]
fn who_is_cancelled_while_it_runs_is_cancelled() {
    expect(
        "node n1 cores=4
         set bf_interval=off
         job 1 n=4 run=100 t=10 cancelled
         job 2 n=4 dep=afternotok:1 run=10 t=1
         job 3 n=4 dep=afterok:1 run=10 t=1",
        "1  0    0..4      +100  CANCELLED  n1  *
         2  *    100..160  +10   COMPLETED  n1  *
         3  -    -         -     PENDING    -   -",
    );
}

/// Recorded (w2237): with select/linear job 2 names the node on which job 1 completes, and starts there at once; but not where the node is another
/// user's alone until then, nor with select/cons_tres (v-pre).
#[test]
fn who_names_a_node_starts_there_while_it_completes() {
    let scenario = |select: &str, names: &str| {
        format!(
            "node n1 cores=4
             partition p
             partition q exclusive_user
             set epilog epilog_seconds=40 bf_interval=off sched_interval=10 {select}
             job 1 n=4 run=100 t=10
             job 2 at=50 n=4 {names} run=50 t=5"
        )
    };
    let expected = |start: &str| format!("1 0 0..4 +100 COMPLETED n1 *\n 2 50 {start} +50 COMPLETED n1 *");
    expect(&scenario("select=linear", "p=p w=n1"), &expected("100..114"));
    expect(&scenario("select=linear", "p=p"), &expected("140..155"));
    expect(&scenario("select=linear", "p=q user=ann w=n1"), &expected("140..155"));
    expect(&scenario("", "p=p w=n1"), &expected("140..155"));
}
