//! Which nodes, and who may share them (slurm-semantics 6.7, 6.8).

use super::{nodes, share_a_node};
use crate::schedule::{expect, expect_equal_with_every_cycle, run};

#[test]
fn lighter_nodes_are_filled_first() {
    let found = nodes(
        "node n1 cores=4 weight=10
         node n2 cores=4 weight=1
         job 1 n=4 run=100
         job 2 n=4 run=100",
    );
    assert_eq!(found, ["n2", "n1"]);
}

#[test]
fn lighter_nodes_are_preferred_even_where_a_heavier_one_fits_tighter() {
    let found = nodes(
        "node n1 cores=2 weight=10
         node n2 cores=8 weight=1
         job 1 n=2 run=100",
    );
    assert_eq!(found, ["n2"]);
}

#[test]
fn constraints_choose_among_features() {
    let found = nodes(
        "node n1 cores=4 features=a
         node n2 cores=4 features=b
         node n3 cores=4 features=a,b
         node n4 cores=4 features=b
         job 1 at=0 C=b run=10
         job 2 at=100 C=a&b run=10
         job 3 at=200 N=4 C=a|b run=10
         job 4 at=300 N=3 C=[a|b] run=10
         job 5 at=400 C=none run=10",
    );
    assert_eq!(found, ["n2", "n3", "n1,n2,n3,n4", "n2,n3,n4", "-"]);
}

/// Two nodes with a, one with b, and any other; with too few of one kind the job waits for them.
#[test]
fn counted_features_take_so_many_nodes_of_each() {
    let found = nodes(
        "node a[1-3] cores=4 features=a
         node b[1-2] cores=4 features=b
         job 1 N=4 n=4 C=a*2&b*1 run=50
         job 2 at=100 N=5 n=5 C=a*3&b*2 run=50
         job 3 at=200 N=4 n=16 C=a*2&b*2 run=50
         job 4 at=300 N=4 n=4 C=a*1&b*3 run=50",
    );
    assert_eq!(found, ["a1,a2,a3,b1", "a1,a2,a3,b1,b2", "a1,a2,b1,b2", "-"]);
}

/// Recorded (c1003, c1011): a single task gets as many nodes as its constraint counts.
#[test]
fn counted_features_take_more_nodes_than_there_are_tasks() {
    let found = nodes(
        "node a[1-3] cores=4 features=a
         node b[1-2] cores=4 features=b
         job 1 n=1 C=a*1&b*1 run=50
         job 2 at=100 n=2 C=a*2&b*1 run=50",
    );
    assert_eq!(found, ["a1,b1", "a1,a2,b1"]);
}

#[test]
fn a_range_of_nodes_gets_as_many_as_there_are() {
    let found = nodes(
        "node n[1-4] cores=4
         job 1 n=4 w=n4 run=300
         job 2 at=10 N=2-4 exclusive run=50
         job 3 at=100 N=2-3 run=50",
    );
    assert_eq!(found, ["n4", "n1,n2,n3", "n1,n2,n3"]);
}

/// Job 2 takes eight CPUs of n1 and three of n2: none are kept for the third node of its range, without which it can do.
#[test]
fn cpus_are_kept_for_the_least_nodes_of_a_range_only() {
    let found = nodes(
        "node n[1-3] cores=8
         job 1 n=8 w=n3 run=300
         job 2 at=10 N=1-3 n=4 c=3 run=50",
    );
    assert_eq!(found, ["n3", "n1,n2"]);
}

/// A core is kept for each node to come, not a task's three: the third node offers seven CPUs, and has room for two tasks (rec t16).
#[test]
fn one_core_is_kept_for_each_node_to_come() {
    let (_, outcome) = run("node n[1-4] cores=8\n job 1 N=4 n=8 c=3 run=50", 1);
    assert_eq!(outcome.records[0].cpus, 8 + 6 + 6 + 3);
}

/// Nodes are compared by all that they have free, however few tasks go to each; tasks spread over whole nodes, too.
#[test]
fn with_tasks_per_node_the_tighter_node_wins_all_the_same() {
    let found = nodes(
        "node n[1-2] cores=8
         job 1 n=4 w=n2 run=300
         job 2 at=10 N=1 n=2 per_node=2 run=50
         job 3 at=100 n=4 per_node=2 run=50
         job 4 at=400 n=8 per_node=4 exclusive run=50",
    );
    assert_eq!(found, ["n2", "n2", "n1,n2", "n1,n2"]);
}

/// A node must have room for four tasks, though the jobs have fewer: two tasks get the CPUs of four, one task its own.
#[test]
fn with_tasks_per_node_a_node_has_room_for_all_of_them() {
    expect(
        "node n1 cores=4
         node n2 cores=8
         job 1 n=1 w=n1 run=300 t=10
         job 2 at=10 N=1 n=1 per_node=4 run=100 t=10
         job 3 at=20 N=1 n=2 per_node=4 run=100 t=10
         job 4 at=30 N=1 n=3 w=n2 run=100 t=10
         job 5 at=40 N=1 n=1 w=n2 run=100 t=10",
        "1  0   0..4        +300  COMPLETED  n1  *
         2  10  10..14      +100  COMPLETED  n2  *
         3  20  20..24      +100  COMPLETED  n2  *
         4  30  30..34      +100  COMPLETED  n2  *
         5  40  2.end+0..4  +100  COMPLETED  n2  *",
    );
}

#[test]
fn tasks_without_a_node_count_spread_only_as_far_as_needed() {
    let found = nodes(
        "node n[1-4] cores=4
         job 1 n=4 run=50
         job 2 at=100 n=6 run=50
         job 3 at=200 n=3 c=2 run=50
         job 4 at=300 n=4 per_node=2 run=50",
    );
    assert_eq!(found, ["n1", "n1,n2", "n1,n2", "n1,n2"]);
}

#[test]
fn excluded_nodes_are_avoided_and_listed_nodes_taken() {
    let found = nodes(
        "node n[1-4] cores=4
         job 1 x=n1,n2 run=50
         job 2 at=100 w=n4 N=2 run=50",
    );
    assert_eq!(found[0], "n3");
    assert!(found[1].split(',').any(|node| node == "n4") && found[1].split(',').count() == 2, "{}", found[1]);
}

#[test]
fn contiguous_waits_for_neighbours() {
    let scenario = |contiguous: &str| {
        format!(
            "node n[1-3] cores=4
             job 1 n=4 w=n2 run=300 t=10
             job 2 at=10 N=2 {contiguous} run=50 t=5"
        )
    };
    expect(
        &scenario(""),
        "1  0   0..4    +300  COMPLETED  n2     *
         2  10  10..14  +50   COMPLETED  n1,n3  *",
    );
    expect(
        &scenario("contiguous"),
        "1  0   0..4        +300  COMPLETED  n2     *
         2  10  1.end+0..4  +50   COMPLETED  n1,n2  *",
    );
}

#[test]
fn least_loaded_nodes_come_first_where_asked_for() {
    let scenario = |set: &str| {
        format!(
            "node n[1-2] cores=4
             {set}
             job 1 w=n1 run=300
             job 2 at=10 run=50"
        )
    };
    assert_eq!(nodes(&scenario(""))[1], "n1");
    assert_eq!(nodes(&scenario("set lln"))[1], "n2");
}

/// Recorded (p-arr, 258_1): of b1 3 of 8 CPUs are free, more than of any other. Then a3, where 3 are free as well, 3 of 16, ends the search
/// before b2, where 2 of 8 are.
#[test]
fn the_search_for_the_least_loaded_node_ends_at_as_many_free_cpus_as_the_last_one_had() {
    let found = nodes(
        "node a[1-3] cores=16
         node b[1-3] cores=8
         set lln
         job 1 w=a1 n=15 run=300
         job 2 w=a2 n=15 run=300
         job 3 w=a3 n=13 run=300
         job 4 w=b1 n=5 run=300
         job 5 w=b2 n=6 run=300
         job 6 w=b3 n=6 run=300
         job 7 at=10 N=2 n=2 run=50",
    );
    assert_eq!(found[6], "a3,b1");
}

/// Recorded (sixty jobs on an idle cluster, after ba-sock): a node that was looked at has no more CPUs than the job could take of it then;
/// with too few for `--ntasks-per-socket` it is passed over. Where the nodes still needed are owed more than the job asks for, as with
/// CR_Socket, it is given its least all the same: so all but the last node are of the first weight.
#[test]
fn least_loaded_nodes_without_room_for_tasks_serve_where_more_is_owed_to_others() {
    let scenario = |select: &str, request: &str| {
        format!(
            "node c[1-5] cores=12 sockets=2 weight=5
             node d[1-4] cores=12 sockets=2 weight=10
             node e[1-4] cores=8 sockets=2 weight=20
             set lln select={select}
             job 1 per_socket=2 run=20 {request}"
        )
    };
    let of = |select: &str, request: &str| nodes(&scenario(select, request))[0].clone();
    assert_eq!(of("socket", "N=2 n=2"), "c1,d1");
    assert_eq!(of("socket", "N=4 n=4"), "c1,c2,c3,d1");
    assert_eq!(of("socket", "N=3 n=6"), "c1,c2,d1");
    assert_eq!(of("core", "N=3 n=4"), "c1,c2,c3");
    assert_eq!(of("core", "N=3 n=6 c=2"), "c1,c2,c3");
}

/// Recorded (bf-c151): each node that is looked at is left with one CPU, since two sockets are owed to the others; what is missing can only come
/// from another weight, whose nodes are then cut alike. n3 is in use, but the nodes must also suffice if it were not: with it they do not.
#[test]
fn least_loaded_nodes_must_suffice_if_nobody_used_them() {
    let of = |request: &str| {
        nodes(&format!(
            "node n[1-3] cores=8 sockets=2
             node g[1-2] cores=8 sockets=2 weight=20
             set lln select=socket
             job 1 w=n3 n=8 run=300
             job 2 at=10 N=3 n=8 run=50 t=2 {request}"
        ))[1]
            .clone()
    };
    assert_eq!(of(""), "-");
    assert_eq!(of("x=n3"), "n1,n2,g1");
}

/// Recorded (y-cpu): a node that another user holds for himself now is out of every plan, whenever it comes free. Job 3 would be
/// planned on n1 at 600 s, and leave n2 to job 4; so it is planned on n2.
#[test]
fn nodes_of_exclusive_users_are_not_planned() {
    let scenario = |whose: &str| {
        format!(
            "node n[1-2] cores=4
             set sched_interval=off
             job 1 user=alice {whose} n=1 w=n1 run=590 t=10
             job 2 user=bob n=1 w=n2 run=1190 t=20
             job 3 at=100 user=bob n=4 run=100 t=10
             job 4 at=100 user=bob n=1 w=n2 run=1000 t=30"
        )
    };
    let of =
        |start: &str| format!("1 0 0..31 * * n1 *\n 2 0 0..31 * * n2 *\n 3 100 * * * * *\n 4 100 {start} * * n2 *");
    expect(&scenario(""), &of("100..131"));
    expect(&scenario("exclusive=user"), &of("600..2500"));
}

#[test]
pub(crate) fn whole_nodes_are_never_shared() {
    let jobs = "job 1 n=1 run=100 t=10\njob 2 n=1 run=100 t=10";
    share_a_node(&format!("node n1 cores=4\nset select=linear\n{jobs}"), false);
    share_a_node(&format!("node n1 cores=4\npartition p over=exclusive\n{jobs}"), false);
    share_a_node("node n1 cores=4\njob 1 exclusive run=100 t=10\njob 2 run=100 t=10", false);
    share_a_node("node n1 cores=4\njob 1 run=100 t=10\njob 2 exclusive run=100 t=10", false);
}

#[test]
fn an_exclusive_job_takes_an_idle_node_not_a_shared_one() {
    let found = nodes("node n[1-2] cores=4\njob 1 run=300\njob 2 at=10 exclusive run=50");
    assert_eq!(found, ["n1", "n2"]);
}

#[test]
fn exclusive_user_shares_a_node_with_the_same_user_only() {
    expect(
        "node n1 cores=4
         job 1 user=alice exclusive=user run=200 t=10
         job 2 user=alice run=100 t=10
         job 3 user=bob run=100 t=10",
        "1  0  0..4        +200  COMPLETED  n1  *
         2  0  0..4        +100  COMPLETED  n1  *
         3  0  1.end+0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
pub(crate) fn generic_resources_are_counted_on_each_node() {
    expect(
        "node n1 cores=8 gres=gpu:2
         job 1 gres=gpu:1 run=100 t=10
         job 2 gres=gpu:1 run=200 t=10
         job 3 gres=gpu:1 run=100 t=10
         job 4 gres=gpu:3 run=100 t=10
         job 5 run=50 t=1",
        "1  0  0..4         +100  COMPLETED  n1  *
         2  0  0..4         +200  COMPLETED  n1  *
         3  0  1.end+0..4   +100  COMPLETED  n1  *
         4  -  -            -     PENDING    -   -
         5  0  0..31        +50   COMPLETED  n1  *",
    );
}

#[test]
fn a_partition_may_keep_users_apart() {
    expect(
        "node n1 cores=4
         partition p exclusive_user
         job 1 user=a run=100 t=10
         job 2 user=a run=200 t=10
         job 3 user=b run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  0..4        +200  COMPLETED  n1  *
         3  0  2.end+0..4  +100  COMPLETED  n1  *",
    );
}

/// Job 2 would like a fast node and takes n1 only if none is free. Its first record blocks the partition for the main scheduler;
/// backfill tries the other one too.
#[test]
fn preferred_features_are_tried_first_and_not_waited_for() {
    let scenario = |first: &str, wish: &str| {
        format!(
            "node n1 cores=4
             node n2 cores=4 features=fast
             set bf_interval=10
             job 1 n=4 w={first} run=600 t=20
             job 2 at=20 n=1 run=100 t=10 {wish}"
        )
    };
    let expected = |first: &str, second: &str, by: &str| {
        format!(
            "1  0   0..4    +600  COMPLETED  {first}   *
             2  20  20..34  +100  COMPLETED  {second}  {by}"
        )
    };
    expect(&scenario("n2", ""), &expected("n2", "n1", "*"));
    expect(&scenario("n2", "prefer=fast"), &expected("n2", "n1", "backfill"));
    expect(&scenario("n1", "prefer=fast"), &expected("n1", "n2", "*"));
    let idle = |wish: &str| format!("node n1 cores=4\nnode n2 cores=4 features=fast\njob 1 n=1 run=100 t=10 {wish}");
    expect(&idle(""), "1  0  0..4  +100  COMPLETED  n1  *");
    expect(&idle("prefer=fast"), "1  0  0..4  +100  COMPLETED  n2  *");
    expect_equal_with_every_cycle(&scenario("n2", "prefer=fast"), 2);
}

/// Recorded (s-sel): `--contiguous` around a node that must be among them.
#[test]
fn contiguous_nodes_stand_around_the_required_one() {
    let found = nodes(
        "node n[1-5] cores=4
         job 1 n=4 w=n3 run=900
         job 2 at=5 N=2 n=8 w=n5 contiguous run=300",
    );
    assert_eq!(found, ["n3", "n4,n5"]);
}

/// Recorded (s-sel): `--spread-job` takes nodes by weight until it has as many as it may, also ones that are too small to be the last;
/// then it goes without the smallest.
#[test]
fn spread_jobs_leave_out_small_nodes_only_when_they_failed_with_them() {
    let found = nodes(
        "node n[1-3] cores=4 weight=1
         node m[1-2] cores=12 weight=5
         job 1 N=3 n=16 spread run=300",
    );
    assert_eq!(found, ["n3,m1,m2"]);
}

/// Recorded (t-cpu): required nodes alone make no run with what comes after them if the node before them, of another weight, could serve
/// as well; so the lighter node is taken, not a neighbour of the required one.
#[test]
fn a_required_node_draws_nobody_to_it_where_a_lighter_run_ends_at_it() {
    let found = nodes(
        "node n[1-2] cores=4 weight=1
         node n[3-4] cores=4 weight=5
         job 1 N=2 n=5 w=n3 run=300",
    );
    assert_eq!(found, ["n1,n3"]);
}

/// Recorded (t-cpu): a node is its users' who run there now; who has left it keeps nobody away.
#[test]
fn a_node_is_one_users_again_when_the_others_have_left_it() {
    let scenario = "node n1 cores=4
                    job 1 n=1 user=a run=300
                    job 2 n=1 user=b run=100
                    job 3 at=10 n=1 user=a exclusive=user run=50";
    let expected = "1  0   0..4        +300  COMPLETED  n1  *
                    2  0   0..4        +100  COMPLETED  n1  *
                    3  10  2.end+0..4  +50   COMPLETED  n1  *";
    expect(scenario, expected);
}

/// Recorded (bf-c60): a range of nodes ends with the GPUs of the job: with one, job 3 waits until a node has its four CPUs (docs/FACTS.md,
/// facts 86 (e)).
#[test]
fn a_range_of_nodes_gets_no_more_of_them_than_gpus_of_the_job() {
    let scenario = |gpus: u32| {
        format!(
            "node g[1-2] cores=4 gres=gpu:2
             job 1 w=g1 N=1 n=2 run=300 t=10
             job 2 w=g2 N=1 n=2 run=600 t=10
             job 3 at=10 N=1-3 n=4 gpus={gpus} run=100 t=10"
        )
    };
    let third = |start: &str, nodes: &str| {
        format!("1 0 0..34 +300 COMPLETED g1 *\n 2 0 0..34 +600 COMPLETED g2 *\n 3 10 {start} +100 COMPLETED {nodes} *")
    };
    expect(&scenario(2), &third("10..44", "g1,g2"));
    expect(&scenario(1), &third("1.end+0..34", "g1"));
}

/// Recorded (bf-c102): with `--overcommit`, too, `--ntasks-per-node` asks for as many nodes as all tasks need: two on each, job 2's six wait for a
/// third node, though one has CPUs enough (docs/FACTS.md, facts 86 (j)).
#[test]
fn ntasks_per_node_counts_overcommitted_tasks() {
    let scenario = |per_node: u32| {
        format!(
            "node n[1-3] cores=4
             job 1 n=4 w=n1 run=300 t=10
             job 2 at=10 overcommit=6 per_node={per_node} run=100 t=10"
        )
    };
    expect(
        &scenario(3),
        "1  0   0..4    +300  COMPLETED  n1     *
         2  10  10..14  +100  COMPLETED  n2,n3  *",
    );
    expect(
        &scenario(2),
        "1  0   0..4        +300  COMPLETED  n1        *
         2  10  1.end+0..4  +100  COMPLETED  n1,n2,n3  *",
    );
}

/// Recorded (c178): the least loaded nodes are no more than there are tasks, though the partition's MinNodes asks for two: job 1 could never run.
/// Otherwise it has both.
#[test]
fn least_loaded_nodes_are_no_more_than_tasks() {
    let scenario = |lln: &str| {
        format!(
            "node n[1-2] cores=4
             partition p min_nodes=2
             set {lln}
             job 1 N=2- n=1 run=100 t=10
             job 2 N=2- n=2 run=100 t=10"
        )
    };
    expect(&scenario("lln"), "1  -  -  -  PENDING  -  -\n 2  0  0..4  +100  COMPLETED  n1,n2  *");
    expect(&scenario("bf_interval=30"), "1  0  0..34  +100  *  n1,n2  *\n 2  0  0..34  +100  *  n1,n2  *");
}

/// Recorded (c1132, c1115): with select/cons_res the least loaded nodes keep all their CPUs until tasks are laid out, and then each gives those of
/// `--ntasks-per-node`, though the job has a single task. Job 2 finds two of four left there, three elsewhere.
#[test]
fn a_single_task_has_the_cpus_of_those_of_a_node_where_select_cons_res_does_not_cut() {
    for (set, start) in [("lln", "10..14"), ("select=cons_res", "10..14"), ("lln select=cons_res", "1.end+0..4")] {
        let scenario = format!(
            "node n1 cores=4
             set {set}
             job 1 n=1 per_node=2 run=300 t=10
             job 2 at=10 n=3 run=50 t=5"
        );
        expect(
            &scenario,
            &format!(
                "1  0   0..4     +300  COMPLETED  n1  *
                 2  10  {start}  +50   COMPLETED  n1  *"
            ),
        );
    }
}

/// Recorded (c1348): nodes that no look for a start has come to since the controller began weigh nothing. At its submission job 1 is looked at in `fast`
/// alone, as `batch` does not take its account; backfill plans it in `batch` all the same, on m1, so that n1 is left to it in `fast`.
#[test]
fn nodes_that_nobody_has_looked_at_yet_weigh_nothing() {
    let scenario = |before: &str| {
        format!(
            "node n[1-2] cores=4 weight=1
             node m1 cores=4 weight=3
             partition batch nodes=n[1-2],m1 allow_accounts=a
             partition fast nodes=n[1-2]
             account a
             account b
             user ann account=b
             user bob account=a
             set sched_interval=off
             {before}
             job 1 p=batch,fast user=ann at=100 n=1 run=500 t=60"
        )
    };
    expect(&scenario(""), "1 100 100..134 +500 COMPLETED n1 backfill");
    // Job 0 was looked at on all of them.
    let job = "job 0 p=batch user=bob n=1 run=10 t=1";
    expect(&scenario(job), "0 0 * +10 COMPLETED * *\n 1 100 100..134 +500 COMPLETED n2 backfill");
}

/// Recorded (w2220): where the first part of a constraint that counts nodes is busy, a job waits for it, though its partition has no nodes for the next: it
/// keeps n3 from itself in `batch`. Where they are free it could never run there, and goes on.
#[test]
fn the_first_parts_of_a_constraint_may_be_busy_before_the_next_has_no_nodes() {
    let scenario = |run: u32| {
        format!(
            "node n[1-5] cores=4 features=std
             node g1 cores=4 features=big
             partition fast nodes=n[1-3] tier=2
             partition batch
             set bf_interval=off
             job 1 p=fast N=2 w=n1,n2 n=8 run={run} t=10
             job 2 at=100 p=fast,batch N=3 n=3 C=std*2&big*1 run=50"
        )
    };
    expect(&scenario(300), "1 0 0..4 +300 COMPLETED n1,n2 *\n 2 100 100..104 +50 COMPLETED n4,n5,g1 *");
    expect(&scenario(50), "1 0 0..4 +50 COMPLETED n1,n2 *\n 2 100 100..104 +50 COMPLETED n1,n2,g1 *");
}

/// Recorded (w2220): each part takes idle cores if there are any, though the next must share.
#[test]
fn each_part_of_a_constraint_shares_only_if_it_must() {
    expect(
        "node n[1-2] cores=4 features=std
         node g1 cores=4 features=big
         partition p over=force:2
         set bf_interval=off
         job 1 w=n1 n=4 run=500 t=60
         job 2 at=5 w=g1 n=4 run=500 t=60
         job 3 at=10 N=2 n=2 C=std*1&big*1 run=50 t=10",
        "1  0   0..4    +500  COMPLETED  n1     *
         2  5   5..9    +500  COMPLETED  g1     *
         3  10  10..14  +50   COMPLETED  n2,g1  *",
    );
}
