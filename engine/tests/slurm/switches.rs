//! `--switches` (slurm-semantics 6.8, step 4).

use crate::schedule::{expect, expect_equal_with_every_cycle};

/// One node of each leaf is free; job 3 wants two. Both of the second leaf are free at 1,000.
fn scenario(settings: &str, wish: &str) -> String {
    format!(
        "node n[1-4] cores=4
         switch s1 nodes=n[1-2]
         switch s2 nodes=n[3-4]
         switch top over=s1,s2
         set bf_interval=10 {settings}
         job 1 n=4 w=n1 run=2000 t=40
         job 2 n=4 w=n3 run=1000 t=20
         job 3 at=10 N=2 n=8 run=50 t=5 {wish}"
    )
}

fn expected(start: &str, nodes: &str) -> String {
    format!(
        "1  0   0..4     +2000  COMPLETED  n1       *
         2  0   0..4     +1000  COMPLETED  n3       *
         3  10  {start}  +50    COMPLETED  {nodes}  *"
    )
}

#[test]
fn a_job_waits_for_one_leaf_as_long_as_it_says_and_no_longer_than_allowed() {
    for (settings, wish, start, nodes) in [
        ("", "", "10..24", "n2,n4"),
        ("", "switches=1@200", "210..284", "n2,n4"),
        ("", "switches=1", "310..384", "n2,n4"),
        ("", "switches=1@900", "310..384", "n2,n4"),
        ("max_switch_wait=2000", "switches=1@900", "910..984", "n2,n4"),
        ("max_switch_wait=2000", "switches=1", "2.end+0..4", "n3,n4"),
        // More than one leaf is not waited for.
        ("", "switches=2@200", "10..24", "n2,n4"),
    ] {
        let text = scenario(settings, wish);
        expect(&text, &expected(start, nodes));
        expect_equal_with_every_cycle(&text, 3);
    }
}

/// Nothing runs and nothing comes, and still it gets what does not fit one leaf.
#[test]
fn who_can_never_have_one_leaf_waits_all_the_same() {
    expect(
        "node n[1-2] cores=4
         switch s1 nodes=n1
         switch s2 nodes=n2
         switch top over=s1,s2
         job 1 N=2 n=8 run=50 t=5 switches=1",
        "1  0  300..364  +50  COMPLETED  n1,n2  *",
    );
}
