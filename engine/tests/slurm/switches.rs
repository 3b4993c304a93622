//! Leaf switches: which are chosen, and `--switches` (slurm-semantics 6.8).

use crate::schedule::{expect, expect_equal_with_every_cycle, run};

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

/// Recorded (c1291): two idle nodes on two leaves end the search, though both of the first leaf could be shared; so does what is left beside the
/// jobs of a lower tier.
#[test]
fn who_waits_for_a_leaf_shares_no_cores_as_long_as_idle_nodes_of_others_would_do() {
    for tiers in ["", "partition low tier=1 over=force:2"] {
        let text = format!(
            "node n[1-4] cores=4
             switch s1 nodes=n[1-2]
             switch s2 nodes=n[3-4]
             switch top over=s1,s2
             set bf_interval=10
             partition p tier=2 over=force:2
             {tiers}
             job 1 n=4 w=n1 run=2000 t=40
             job 2 n=4 w=n3 run=1000 t=20
             job 3 at=10 N=2 n=8 run=50 t=5 switches=1@200
             job 4 at=20 N=4 n=4 run=50 t=5 switches=1"
        );
        expect(
            &text,
            "1  0   0..4      +2000  COMPLETED  n1           *
             2  0   0..4      +1000  COMPLETED  n3           *
             3  10  210..284  +50    COMPLETED  n2,n4        *
             4  20  320..394  +50    COMPLETED  n1,n2,n3,n4  *",
        );
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

/// Leaves of two, three and one node; what is asked for and which nodes serve it.
fn chosen(wish: &str, nodes: &str) {
    expect(
        &format!(
            "node n[1-6] cores=4
             switch s1 nodes=n[1-2]
             switch s2 nodes=n[3-5]
             switch s3 nodes=n6
             switch low over=s1,s2
             switch top over=low,s3
             {wish} run=50 t=5"
        ),
        &format!("1  0  0..4  +50  COMPLETED  {nodes}  *"),
    );
}

#[test]
fn leaves_are_compared_by_nodes_and_since_23_11_by_cpus_too() {
    // One node is asked for, so each leaf suffices, and that with the fewest is the tightest.
    chosen("job 1 n=12", "n1,n2,n6");
    chosen("set version=23.11\n job 1 n=12", "n3,n4,n5");
    // Three nodes are asked for, or follow from the tasks.
    chosen("job 1 N=3 n=12", "n3,n4,n5");
    chosen("job 1 n=12 per_node=4", "n3,n4,n5");
    // No leaf suffices, but a switch above two of them: of these the larger comes first.
    chosen("job 1 N=4 n=16", "n1,n3,n4,n5");
}

#[test]
fn lighter_nodes_come_first_and_then_what_their_leaves_have() {
    expect(
        "node n[1-6] cores=4
         node m1 cores=4 weight=0
         switch s1 nodes=n[1-3]
         switch s2 nodes=n[4-6],m1
         switch top over=s1,s2
         job 1 N=2 n=8 run=50 t=5",
        "1  0  0..4  +50  COMPLETED  n4,m1  *",
    );
}

/// It is looked at again when its wait is over, however long that was.
#[test]
fn the_end_of_a_long_wait_for_a_leaf_is_seen() {
    expect(
        "node n[1-4] cores=4
         switch s1 nodes=n[1-2]
         switch s2 nodes=n[3-4]
         switch top over=s1,s2
         set max_switch_wait=7200 multifactor weight_age=1000
         job 1 at=5 N=3 n=12 switches=1@7200 run=50 t=240",
        "1  5  7205..7300  +50  COMPLETED  *  *",
    );
}

/// With a node down it waits for ever: the simulation ends.
#[test]
fn a_wait_for_a_leaf_that_cannot_help_ends() {
    expect(
        "node n[1-4] cores=4
         switch s1 nodes=n[1-2]
         switch s2 nodes=n[3-4]
         switch top over=s1,s2
         outage n4 at=0
         job 1 at=5 N=4 n=16 switches=1@1200 run=50 t=30",
        "1  5  -  -  PENDING  -  -",
    );
}

/// Recorded (v-topo): heavier nodes are looked at only if the lighter do not suffice for the least of a range, not for its most.
#[test]
fn lighter_nodes_suffice_for_the_least_of_a_range() {
    let scenario = "node n1 cores=4 weight=1
                    node m[1-2] cores=4 weight=5
                    switch s1 nodes=n1
                    switch s2 nodes=m[1-2]
                    switch top over=s1,s2
                    job 1 N=1-3 n=4 run=100";
    expect(scenario, "1  0  0..4  +100  COMPLETED  n1  *");
}

/// Recorded (n-whole): the wait for a leaf begins with the submission's test. Job 5 is first tried when job 4 of its user has started, and its
/// 200 s are over then.
#[test]
fn the_wait_for_a_leaf_begins_with_the_submission() {
    let (_, outcome) = run(
        "node n[1-4] cores=4
         switch s1 nodes=n[1-2]
         switch s2 nodes=n[3-4]
         switch top over=s1,s2
         set bf_interval=10 bf_max_job_user=1
         job 1 n=4 w=n1 run=300 t=40 user=b
         job 2 n=4 w=n3 run=5000 t=100 user=b
         job 3 at=4 N=4 n=16 run=10 t=5 user=b
         job 4 at=5 n=4 w=n1 run=2000 t=40 user=a
         job 5 at=10 N=2 n=8 run=50 t=5 user=a switches=1@200",
        1,
    );
    let start = |index: usize| outcome.records[index].start.unwrap();
    assert!((0..60).contains(&(start(4) - start(3))), "{} and {}", start(3), start(4));
}

/// Recorded (bf-c66): select/linear takes nodes below the lowest switch with nodes and CPUs enough, of its leaves those with the fewest CPUs first
/// (docs/FACTS.md, facts 86 (b)).
#[test]
fn select_linear_takes_the_smallest_leaves_below_the_lowest_switch() {
    // A leaf has the twelve CPUs, though one node is enough of nodes.
    chosen("set select=linear\n job 1 n=12", "n3,n4,n5");
    // Below the switch above two leaves the one of n1 and n2 is the smaller.
    chosen("set select=linear\n job 1 N=4 n=16", "n1,n2,n3,n4");
    // The leaf with a required node comes first, whatever its size.
    chosen("set select=linear\n job 1 N=4 n=16 w=n4", "n1,n3,n4,n5");
}

/// Recorded (bf-c67): of all nodes the smaller switch has the CPUs, but on two nodes; of the light ones alone the other has them on one. Whether a
/// job could ever run is asked class by class, so this one can (docs/FACTS.md, facts 86 (b)).
#[test]
fn select_linear_asks_class_by_class_whether_a_job_could_ever_run() {
    expect(
        "node n1 cores=8 weight=1
         node m[1-2] cores=4 weight=5
         node m[3-4] cores=4 weight=5
         switch s1 nodes=m[1-2]
         switch s2 nodes=n1,m[3-4]
         switch top over=s1,s2
         set select=linear
         job 1 N=1 n=8 run=50 t=5",
        "1  0  0..4  +50  COMPLETED  n1  *",
    );
}

/// Leaves of two, three and one node below two levels, used in turn.
fn chosen_in_turn(plugin: &str, wish: &str, nodes: &str) {
    expect(
        &format!(
            "node n[1-6] cores=4
             switch s1 nodes=n[1-2]
             switch s2 nodes=n[3-5]
             switch s3 nodes=n6
             switch low over=s1,s2
             switch top over=low,s3
             set dragonfly {plugin}
             {wish} run=50 t=5"
        ),
        &format!("1  0  0..4  +50  COMPLETED  {nodes}  *"),
    );
}

/// `TopologyParam=Dragonfly` (rec c126): all nodes of the fullest leaf, if these suffice, else one of each leaf after the other.
#[test]
fn a_dragonfly_has_one_leaf_or_all_in_turn() {
    chosen_in_turn("", "job 1 n=8", "n3,n4");
    chosen_in_turn("", "job 1 N=3 n=12", "n3,n4,n5");
    chosen_in_turn("", "job 1 N=4 n=16", "n1,n2,n3,n6");
    // The leaf of the required node is the one in use.
    chosen_in_turn("", "job 1 n=8 w=n1", "n1,n2");
    // Required nodes on two leaves: one of each, in the order of the file.
    chosen_in_turn("", "job 1 N=4 n=16 w=n2,n6", "n1,n2,n3,n6");
}

/// With select/linear and select/cons_res (rec c126 has neither: by source) leaves below the lowest switch that suffices are used evenly.
#[test]
fn a_dragonfly_of_other_plugins_uses_leaves_evenly() {
    for plugin in ["select=linear", "select=cons_res"] {
        chosen_in_turn(plugin, "job 1 N=2 n=8", "n1,n2");
        chosen_in_turn(plugin, "job 1 N=3 n=12", "n3,n4,n5");
        chosen_in_turn(plugin, "job 1 N=4 n=16", "n1,n2,n3,n4");
    }
}

/// Two leaves are not waited for, as nobody waits for two; select/linear counts nodes where it should count leaves.
#[test]
fn who_waits_for_one_leaf_of_a_dragonfly() {
    for (plugin, wish, start) in [
        ("", "switches=1@200", "0..4"),
        ("", "switches=2@200", "0..4"),
        ("select=cons_res", "switches=1@200", "0..4"),
        ("select=linear", "switches=1@200", "200..264"),
    ] {
        expect(
            &format!(
                "node n[1-4] cores=4
                 switch s1 nodes=n[1-2]
                 switch s2 nodes=n[3-4]
                 switch top over=s1,s2
                 set dragonfly {plugin}
                 job 1 N=2 n=8 {wish} run=50 t=5"
            ),
            &format!("1  0  {start}  +50  COMPLETED  n1,n2  *"),
        );
    }
}

/// Recorded (c1403): with Dragonfly nobody looks at the leaves of nodes that are required, as those of a constraint's parts are, where they suffice.
#[test]
fn required_nodes_of_a_dragonfly_may_be_of_two_leaves() {
    for (settings, start) in [("dragonfly", "0..4"), ("", "200..264")] {
        for wish in ["C=a*1&b*1", "w=n1,n2"] {
            expect(
                &format!(
                    "node n1 cores=4 features=a
                     node n2 cores=4 features=b
                     switch s1 nodes=n1
                     switch s2 nodes=n2
                     switch top over=s1,s2
                     set {settings}
                     job 1 N=2 n=2 {wish} switches=1@200 run=50 t=5"
                ),
                &format!("1  0  {start}  +50  COMPLETED  n1,n2  *"),
            );
        }
    }
}

/// Recorded (c1157): tests of the future that take nodes in use first have no eye for leaf switches. Job 3 waits for one leaf and would now
/// get nodes of two: with the option it has no plan then, and job 4 is not kept off the leaf where it would have been planned.
#[test]
fn with_bf_busy_nodes_who_would_get_too_many_leaves_now_is_not_planned() {
    for (settings, [third, fourth]) in [("", ["1.end+0..4", "3.end+0..31"]), ("bf_busy_nodes", ["4.end+0..4", "1..31"])]
    {
        let text = format!(
            "node n[1-2] cores=2
             switch s1 nodes=n1
             switch s2 nodes=n2
             switch top over=s1,s2
             set bf_interval=10 max_switch_wait=3000 {settings}
             job 1 n=1 w=n1 run=500 t=10
             job 2 n=1 w=n2 run=3000 t=60
             job 3 at=1 n=2 run=50 t=5 switches=1
             job 4 at=1 n=1 w=n1 run=1000 t=20"
        );
        expect(
            &text,
            &format!(
                "1  0  0..31     +500   COMPLETED  n1  *
                 2  0  0..31     +3000  COMPLETED  n2  *
                 3  1  {third}   +50    COMPLETED  n1  *
                 4  1  {fourth}  +1000  COMPLETED  n1  *"
            ),
        );
        expect_equal_with_every_cycle(&text, 3);
    }
}
