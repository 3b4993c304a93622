//! select/linear (slurm-semantics 6.2).

use super::nodes;
use crate::schedule::expect;

/// Where a node of the smallest size would not do, select/linear takes the largest nodes, the last of equals first; else the
/// first ones.
#[test]
fn select_linear_takes_the_largest_nodes_where_size_matters() {
    expect(
        "node n[1-2] cores=4
         node n[3-5] cores=8
         set select=linear
         job 1 n=6 N=1 run=500 t=10
         job 2 at=10 n=12 run=500 t=10
         job 3 at=20 n=2 N=1 run=500 t=10",
        "1  0   0..4    +500  COMPLETED  n5     *
         2  10  10..14  +500  COMPLETED  n3,n4  *
         3  20  20..24  +500  COMPLETED  n1     *",
    );
}

/// Each NodeName line is tried with those before it: job 1 gets no node of the third.
#[test]
fn select_linear_adds_one_line_of_nodes_after_the_other() {
    expect(
        "node n[1-2] cores=4
         node n[3-4] cores=4
         node n[5-6] cores=8
         set select=linear
         job 1 n=12 run=500 t=10
         job 2 at=10 n=4 N=1 run=500 t=10",
        "1  0   0..4    +500  COMPLETED  n1,n2,n3  *
         2  10  10..14  +500  COMPLETED  n4        *",
    );
}

/// Where jobs may preempt, the lines of one weight are tried together, and three neighbours are left; from 25.05 on never (rec c164-25-05).
#[test]
fn linear_adds_lines_of_one_weight_together_where_jobs_may_preempt_until_25_05() {
    let found = |version: &str| {
        nodes(&format!(
            "node n[1-3] cores=4
             node n[4-5] cores=4
             set select=linear preempt=qos {version}
             job 1 n=1 w=n2 run=900
             job 2 at=5 N=2 n=2 run=300"
        ))
    };
    assert_eq!(found(""), ["n2", "n3,n4"]);
    assert_eq!(found("version=24.11"), ["n2", "n3,n4"]);
    assert_eq!(found("version=25.05"), ["n2", "n1,n3"]);
}

/// Recorded (v-lin): with select/linear a node counts with no more CPUs than the tasks of `--ntasks-per-node` have, so job 2's larger run is
/// that of more nodes.
#[test]
fn linear_counts_the_cpus_of_a_nodes_tasks() {
    let found = nodes(
        "node n[1-3] cores=4
         node n4 cores=4
         node n[5-6] cores=16
         set select=linear
         job 1 n=1 w=n4 run=900
         job 2 at=5 N=4 n=8 per_node=2 run=300",
    );
    assert_eq!(found, ["n4", "n1,n2,n3,n5"]);
}

/// Recorded (v-lin): with select/linear lighter nodes alone are tried only if there are as many as the most of a range, or no others.
#[test]
fn linear_adds_heavier_nodes_until_there_are_as_many_as_the_most_of_a_range() {
    let found = nodes(
        "node n[1-3] cores=4 weight=1
         node m1 cores=4 weight=5
         set select=linear
         job 1 N=2-4 n=4 run=300",
    );
    assert_eq!(found, ["n1,n2,n3,m1"]);
}

/// Recorded (v-lin): with select/linear nodes are added to those that are required, line by line: job 1's second node is a light one, though
/// the required node has a neighbour of its own weight.
#[test]
fn linear_adds_the_lightest_nodes_to_required_ones() {
    let found = nodes(
        "node n[1-2] cores=4 weight=1
         node m[1-2] cores=8 weight=5
         set select=linear
         job 1 N=2 n=8 w=m1 run=300",
    );
    assert_eq!(found, ["n2,m1"]);
}

/// Recorded (bb-linear, job 152): contiguous nodes that have the CPUs together are enough, though the job may have fewer of them.
#[test]
fn linear_gives_fewer_of_contiguous_nodes_than_were_asked_for() {
    let found = nodes(
        "node n[1-3] cores=8
         set select=linear
         job 1 N=1 n=4 c=3 contiguous run=300",
    );
    assert_eq!(found, ["n1"]);
}

/// Recorded (c1051): no node is idle, and job 3 joins the job with the oldest record of as many nodes, not the first node with room.
#[test]
fn who_shares_joins_the_oldest_job_of_as_many_nodes() {
    let scenario = "node n[1-2] cores=4
                    partition p over=force:2
                    set select=linear
                    job 1 w=n2 n=1 run=300
                    job 2 w=n1 n=1 run=300
                    job 3 at=20 n=1 run=100";
    let expected = "1  0   0..4    +300  *  n2  *
                    2  0   0..4    +300  *  n1  *
                    3  20  20..24  +100  *  n2  *";
    expect(scenario, expected);
}

/// Recorded (c1051): tests of when and where count a node with one job as good as an idle one, whoever asks. Job 4, which shares with nobody, is
/// planned on n2 now, cycle after cycle, where it cannot start beside job 3, and keeps job 5 from it.
#[test]
fn plans_count_a_node_with_one_job_as_idle() {
    let scenario = "node n[1-2] cores=4
                    partition p over=yes:2
                    set select=linear bf_interval=10
                    job 1 w=n1 n=1 run=300 t=5 oversubscribe
                    job 2 w=n1 n=1 run=600 t=10 oversubscribe
                    job 3 w=n2 n=1 run=900 t=15 oversubscribe
                    job 4 at=10 n=1 run=100 t=5
                    job 5 at=11 n=1 run=100 t=2 oversubscribe";
    let expected = "1  0   0..4        +300  *  n1  *
                    2  0   0..4        +600  *  n1  *
                    3  0   0..4        +900  *  n2  *
                    4  10  2.end+0..14  +100  *  n1  *
                    5  11  300..312    +100  *  n2  backfill";
    expect(scenario, expected);
}

/// Recorded (c1071): with select/linear who shares joins a job whose nodes have CPUs enough, be they fewer than `--ntasks-per-node` makes of
/// its tasks.
#[test]
fn linear_asks_no_mate_how_many_tasks_a_node_has() {
    expect(
        "node n[1-4] cores=8
         partition p over=force:2
         set select=linear
         job 1 n=1 run=1000 t=60
         job 2 n=1 run=2000 t=60
         job 3 at=10 n=8 per_node=2 run=100 t=60",
        "1  *  0..4     +1000  COMPLETED  n1  *
         2  *  0..4     +2000  COMPLETED  n2  *
         3  *  10..74   +100   COMPLETED  n1  *",
    );
}
