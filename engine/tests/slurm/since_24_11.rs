//! What the main scheduler and the choice of nodes do otherwise from 24.11 on (docs/FACTS.md, facts 89).

use crate::schedule::{expect, expect_equal_with_every_cycle};

const SINCE: [&str; 2] = ["version=24.11", "version=25.05"];

/// Both components block `p`: the second one ends the cycle, and job 3 of another partition is left to backfill (facts 89 (b)).
#[test]
fn who_blocks_a_blocked_partition_ends_the_cycle() {
    let scenario = |version: &str| {
        format!(
            "node n[1-3] cores=4
             partition p nodes=n[1-2]
             partition s nodes=n3
             set bf_interval=300 {version}
             job 1 p=p n=8 run=1000 t=20
             job 2+0 at=10 p=p n=4 run=100 t=10
             job 2+1 at=10 p=p n=4 run=100 t=10
             job 3 at=20 p=s n=4 run=50 t=5"
        )
    };
    let expected = |start: &str, by: &str| {
        format!(
            "1    0   0..4    +1000  *  n1,n2  *
             2+0  10  *       +100   *  *      backfill
             2+1  10  *       +100   *  *      backfill
             3    20  {start} +50    *  n3     {by}"
        )
    };
    expect(&scenario("version=24.05"), &expected("20..24", "main"));
    for version in SINCE {
        expect(&scenario(version), &expected("20..330", "backfill"));
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
}

/// None of the FLEX reservation's nodes is of partition `a`: such a job was left to backfill (facts 89 (c)).
#[test]
fn jobs_of_flex_reservations_are_tried_wherever_they_ask() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             partition a nodes=n1
             partition b nodes=n2
             set bf_interval=300 {version}
             reservation r nodes=n2 at=600 for=900 users=bob flex
             job 1 at=5 p=a n=4 run=100 t=5 user=bob resv=r"
        )
    };
    expect(&scenario("version=24.05"), "1 5 5..330 +100 * n1 backfill");
    for version in SINCE {
        expect(&scenario(version), "1 5 5..9 +100 * n1 *");
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
}

/// Job 2 finds the nodes of its FLEX reservation busy. It keeps n3, which nobody has reserved, from job 4; job 3 of another reservation goes on to
/// its own node (facts 89 (c)).
#[test]
fn a_job_of_a_flex_reservation_blocks_what_is_not_reserved() {
    let scenario = |version: &str| {
        format!(
            "node n[1-4] cores=4
             set bf_interval=300 {version}
             reservation f nodes=n[1-2] at=0 for=9000 users=bob flex
             reservation o nodes=n4 at=0 for=9000 users=eve
             job 1 n=8 N=2 run=1000 t=20 user=bob resv=f
             job 2 at=10 n=12 N=3 run=100 t=10 user=bob resv=f
             job 3 at=20 n=4 run=100 t=5 user=eve resv=o
             job 4 at=20 n=4 run=100 t=5"
        )
    };
    let expected = |start: &str, by: &str| {
        format!(
            "1 0  0..4           +1000  *  n1,n2     *
             2 10 1.end+0..302   +100   *  n1,n2,n3  *
             3 20 20..24         +100   *  n4        *
             4 20 {start}        +100   *  n3        {by}"
        )
    };
    expect(&scenario("version=24.05"), &expected("20..24", "*"));
    for version in SINCE {
        expect(&scenario(version), &expected("20..330", "backfill"));
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
}

/// Three nodes with 24 CPUs: no run of nodes has them. Once n1, n2 and n5 have gone, n6 and n7 are a run, and n3 does; before, n6 and n10 went
/// with them (facts 89 (e)).
#[test]
fn small_nodes_go_one_by_one() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=6
             node n3 cores=9
             node n4 cores=9
             node n[5-6] cores=6
             node n7 cores=9
             node n8 cores=9
             node n9 cores=9
             node n10 cores=6
             partition p nodes=n[1-3],n[5-7],n[9-10]
             set {version}
             job 1 p=p N=3 n=24 run=100 t=10"
        )
    };
    expect(&scenario("version=24.05"), "1 0 0..4 +100 * n3,n7,n9 *");
    for version in SINCE {
        expect(&scenario(version), "1 0 0..4 +100 * n3,n6,n7 *");
    }
}

/// Each part of a constraint that counts nodes is to hold all tasks, a core a node: job 1 never starts, job 2, which gets
/// whole nodes, does (facts 92 (m)).
#[test]
fn a_part_holds_all_tasks_or_has_no_place() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4 features=std
             node n[3-4] cores=4 features=big
             set {version}
             job 1 N=2 n=2 C=std*1&big*1 run=100 t=10
             job 2 N=2 n=2 exclusive C=std*1&big*1 run=100 t=10"
        )
    };
    expect(&scenario("version=24.05"), "1 0 0..4 +100 COMPLETED n1,n3 *\n 2 0 0..4 +100 COMPLETED * *");
    for version in SINCE {
        expect(&scenario(version), "1 0 - - PENDING - -\n 2 0 0..64 +100 COMPLETED * *");
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
}

/// Recorded (c1077 of 24.11.5): two tasks of three CPUs with cores to themselves take four cores, so that job 2 has no place beside them.
#[test]
fn tasks_that_leave_threads_have_all_their_cores() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=5 threads=2
             set one_task_per_core {version}
             job 1 n=2 c=3 run=1000 t=20
             job 2 at=10 n=2 run=100 t=5"
        )
    };
    for version in ["", "version=23.11", "version=24.11"] {
        expect(
            &scenario(version),
            "1  *  0..4         +1000  COMPLETED  n1  *
             2  *  1.end+0..65  +100   COMPLETED  n1  *",
        );
    }
}

/// Recorded (c1199 of 24.11.5): nodes cut by `MaxCPUsPerNode` count with their four CPUs, so that three are enough for four tasks of three CPUs,
/// but have room for one task each: job 1 never starts, and the others, which it does not block for good, do.
#[test]
fn tasks_beyond_what_a_cap_leaves_room_for_never_start() {
    let scenario = |version: &str| {
        format!(
            "node n[1-3] cores=8
             partition p max_cpus_per_node=4
             set {version}
             job 1 n=4 c=3 run=100 t=5
             job 2 at=10 n=1 run=100 t=5"
        )
    };
    expect(&scenario("version=24.05"), "1 * 0..40 +100 * * *\n 2 * * +100 * * *");
    for version in SINCE {
        expect(&scenario(version), "1 * - - PENDING - -\n 2 * 10..70 +100 * * backfill");
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
}

/// Recorded (c1192 of 24.11.5): the first part cannot hold both tasks, so that job 1 is busy in `a`, though `a` has none of the other part: it blocks
/// job 2 there.
#[test]
fn a_part_that_cannot_hold_the_tasks_blocks_where_another_has_no_nodes() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4 features=std
             node g1 cores=4 features=big
             partition a nodes=n[1-2] tier=2
             partition b nodes=n[1-2],g1
             set bf_interval=off {version}
             job 1 p=a,b N=2 n=2 C=std*1&big*1 run=100 t=10
             job 2 at=5 p=a n=1 run=100 t=10"
        )
    };
    expect(&scenario("version=24.05"), "1 * 0..4 +100 * * main\n 2 * 5..9 +100 * * main");
    for version in SINCE {
        expect(&scenario(version), "1 * - - PENDING - -\n 2 * - - PENDING - -");
    }
}

/// Recorded (t10 of 24.11.5): `--mem` above `MaxMemPerCPU` makes three tasks take two CPUs each, but nodes are chosen for three CPUs in all: of those
/// two find room, so job 1 waits and blocks job 2. Four tasks take one each (facts 96 (i)).
#[test]
fn nodes_chosen_for_fewer_cpus_than_memory_makes_of_tasks_serve_nobody() {
    let scenario = |version: &str, tasks: u32| {
        format!(
            "node n[1-2] cores=8 memory=32000
             set memory max_mem_per_cpu=2500 bf_interval=300 {version}
             job 1 N=2 n={tasks} mem=4000 run=100 t=10
             job 2 at=10 n=1 mem=100 run=100 t=10"
        )
    };
    let starts = "1 * 0..4 +100 * n1,n2 *\n 2 * 10..14 +100 * n1 main";
    expect(&scenario("version=24.05", 3), starts);
    for version in SINCE {
        expect(&scenario(version, 3), "1 * - - PENDING - -\n 2 * 10..330 +100 * n1 backfill");
        expect(&scenario(version, 4), starts);
        expect_equal_with_every_cycle(&scenario(version, 3), 3);
    }
}

/// Recorded (t20): with CR_Socket a node leaves a socket to each node to come, and what is left of it may hold a part of a task only: of four
/// tasks of three CPUs the first node has room for one and the second for two, so job 1 never runs. With four CPUs a task they fit, and with
/// CR_Core, where a core is left; until 24.05 all do.
#[test]
fn sockets_kept_for_nodes_to_come_may_leave_no_room_for_all_tasks() {
    let scenario = |version: &str, unit: &str, of_task: u32| {
        format!(
            "node n[1-2] sockets=2 cores=16
             set {unit} bf_interval=300 {version}
             job 1 N=2 n=4 c={of_task} run=100 t=10
             job 2 at=200 N=1 n=1 run=100 t=10"
        )
    };
    let starts = "1 * 0..4 +100 * n1,n2 *\n 2 * 200..204 +100 * n1 main";
    expect(&scenario("version=24.05", "select=socket", 3), starts);
    for version in SINCE {
        expect(&scenario(version, "select=socket", 3), "1 * - - PENDING - -\n 2 * 200..530 +100 * n1 *");
        expect(&scenario(version, "select=socket", 4), starts);
        expect(&scenario(version, "", 3), starts);
        expect_equal_with_every_cycle(&scenario(version, "select=socket", 3), 3);
    }
}

/// Recorded (w2078 of 25.05): job 1 is on n1 and n2 for its partition's `MinNodes`, but its one task, which may share its core, is on n1 alone:
/// n2 serves job 2, which shares with nobody. Until 24.05 tasks are on both.
#[test]
fn who_shares_is_not_on_nodes_beyond_its_tasks() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             partition q min_nodes=2 over=force:2
             partition s
             set {version}
             job 1 p=q N=2- n=1 run=300 t=10
             job 2 p=s at=10 w=n2 N=1 n=1 run=100 t=10"
        )
    };
    let expected = |start: &str| format!("1 0 0..4 +300 * n1,n2 *\n 2 10 {start} +100 * n2 *");
    expect(&scenario("version=24.05"), &expected("1.end+0..4"));
    expect(&scenario("version=24.11"), &expected("10..14"));
}

/// Recorded (w2078 of 25.05): job 3 may have two nodes of its QOS's three only if job 1's node, which it would take from it, is not counted again:
/// from 24.11.4 on the test leaves the nodes it has chosen (`node_bitmap_preempt`), before that only those count that it names.
#[test]
fn room_on_nodes_of_its_group_is_not_counted_again() {
    let scenario = |named: &str, version: &str| {
        format!(
            "node n[1-2] cores=4
             set enforce=limits preempt=partition preempt_mode=cancel {version}
             qos few grp_node=2
             partition low
             partition high tier=2
             job 1 p=low qos=few w=n1 n=4 run=300 t=10
             job 2 p=low qos=few w=n2 n=4 run=300 t=10
             job 3 p=high at=30 qos=few {named} n=4 run=100 t=10"
        )
    };
    let makes_room = "1 0 0..4 30..65 PREEMPTED n1 *\n 2 0 0..4 * * n2 *\n 3 30 1.end+0..5 +100 * n1 *";
    let waits = "1 0 0..4 +300 COMPLETED n1 *\n 2 0 0..4 +300 COMPLETED n2 *\n 3 30 1.end+0..5 +100 * * *";
    expect(&scenario("", ""), waits);
    expect(&scenario("w=n1", ""), makes_room);
    expect(&scenario("", "version=24.11"), makes_room);
}

/// Recorded (t13, w2083 of 24.11): job 1 has nothing of n2, but it is on it, so n2 is not idle: job 2 of whole nodes is planned there, and starts
/// only if it names it, or its partition shares (w2109).
#[test]
fn whole_nodes_start_on_no_node_beyond_the_tasks_of_others_unless_named() {
    let scenario = |over: &str, named: &str| {
        format!(
            "node n[1-2] cores=4
             partition q min_nodes=2
             partition x {over}
             set bf_interval=10 version=24.11
             job 1 p=q N=2- n=1 run=300 t=10
             job 2 p=x at=10 {named} exclusive N=1 n=1 run=100 t=10"
        )
    };
    let expected = |start: &str, node: &str| format!("1 0 0..4 +300 * n1,n2 *\n 2 10 {start} +100 * {node} *");
    expect(&scenario("over=exclusive", ""), &expected("1.end+0..4", "*"));
    expect(&scenario("over=exclusive", "w=n2"), &expected("10..14", "n2"));
    expect(&scenario("over=force:2", ""), &expected("10..14", "n2"));
}
