//! What 25.11 and 26.05 decide otherwise (sources of 25.11.7 and 26.05.3; docs/FACTS.md, facts 100).

use crate::schedule::{expect, expect_equal_with_every_cycle};

const SINCE: [&str; 2] = ["version=25.11", "version=26.05"];

/// Recorded (u3 of 25.11): job 2 does not find what it prefers. It blocked `p` for that, its own record without preference too, and was left to
/// backfill.
#[test]
fn who_waits_for_what_he_prefers_blocks_nobody() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=4 features=big
             node n2 cores=4
             partition p
             set bf_interval=300 {version}
             job 1 w=n1 n=4 run=1000 t=20
             job 2 at=10 n=4 prefer=big run=100 t=5"
        )
    };
    expect(&scenario("version=25.05"), "1 0 0..4 +1000 * n1 *\n 2 10 10..330 +100 * n2 backfill");
    for version in SINCE {
        expect(&scenario(version), "1 0 0..4 +1000 * n1 *\n 2 10 10..14 +100 * n2 main");
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
}

/// Recorded (c1252 of 25.11): as many tasks are laid out as `--ntasks-per-node` says. One task gets the CPU of one, so that job 1 never starts where it
/// shares nodes.
#[test]
fn one_task_of_several_a_node_never_starts_on_shared_nodes() {
    let scenario = |over: &str, version: &str| {
        format!(
            "node n1 cores=4
             partition p {over}
             set bf_interval=10 {version}
             job 1 n=1 per_node=2 run=100 t=5"
        )
    };
    expect(&scenario("", "version=25.05"), "1 0 0..4 +100 * n1 *");
    for version in SINCE {
        expect(&scenario("", version), "1 0 - - PENDING - -");
        expect(&scenario("over=exclusive", version), "1 0 0..4 +100 * n1 *");
    }
}

/// Recorded (u6 of 25.11): who says a range of nodes and no tasks has as many on each as `--ntasks-per-node` says.
#[test]
fn tasks_of_a_range_of_nodes_are_those_of_all_of_them() {
    let scenario = |version: &str| {
        format!(
            "node n[1-3] cores=4
             partition p
             set bf_interval=10 {version}
             job 1 N=2-3 n=6 per_node=3 run=100 t=5
             job 2 at=5 n=1 w=n1 run=50 t=5
             job 3 at=5 N=1 n=2 w=n2 run=50 t=5"
        )
    };
    for version in ["version=24.11", "version=25.11", "version=26.05"] {
        expect(&scenario(version), "1 0 0..4 +100 * n1,n2,n3 *\n 2 5 5..19 +50 * n1 *\n 3 5 1.end+0..14 +50 * n2 *");
    }
}

/// By source (25.11.7, `common_topo_choose_nodes`): where one choice fails, the node with the smallest product of CPUs and GPUs is left out of the
/// next: b1 (6 · 1, not 2 · 4), without which job 1 never starts; in the second scenario first n0 and then n2 (2 · 4, not 3 · 3), without which it
/// does. It was the smallest sum: a1; and of n1 to n3 the first, for all have as much.
#[test]
fn small_nodes_are_left_out_by_the_product_of_cpus_and_gpus() {
    let needs_b1 = |version: &str| {
        format!(
            "node a1 cores=2 gres=gpu:4
             node b1 cores=6 gres=gpu:1
             node c1 cores=5 gres=gpu:2
             partition p
             set bf_interval=10 {version}
             job 1 N=2 n=9 gres=gpu:1 run=100 t=5"
        )
    };
    let needs_others_than_n2 = |version: &str| {
        format!(
            "node n0 cores=1 gres=gpu:1
             node n1 cores=3 gres=gpu:3
             node n2 cores=2 gres=gpu:4
             node n3 cores=3 gres=gpu:3
             partition p
             set bf_interval=10 {version}
             job 1 N=1-2 n=6 gpus=5 run=100 t=5"
        )
    };
    expect(&needs_b1("version=25.05"), "1 0 0..14 +100 * b1,c1 *");
    expect(&needs_others_than_n2("version=25.05"), "1 - - - PENDING - -");
    for version in SINCE {
        expect(&needs_b1(version), "1 - - - PENDING - -");
        expect(&needs_others_than_n2(version), "1 0 0..14 +100 * n1,n3 *");
    }
}

/// By source (25.11.7, `_is_node_busy`): job 3 keeps off n1, where job 2 asks to share, only as long as `a`, which shares, has a job there; until
/// 25.05 since it had had one anywhere.
#[test]
fn who_asks_to_share_keeps_others_off_only_beside_jobs_of_partitions_that_share() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             partition a nodes=n2 over=yes:2
             partition c nodes=n1
             set bf_interval=10 {version}
             job 1 p=a n=1 run=10 t=5
             job 2 p=c at=20 oversubscribe n=1 run=300 t=10
             job 3 p=c at=40 n=1 run=100 t=5"
        )
    };
    let first = "1 0 0..4 +10 * n2 *\n 2 20 20..24 +300 * n1 *\n";
    expect(&scenario("version=25.05"), &format!("{first} 3 40 2.end+0..14 +100 * n1 *"));
    for version in SINCE {
        expect(&scenario(version), &format!("{first} 3 40 40..44 +100 * n1 *"));
    }
}

/// Recorded (u4 of 25.11 and 26.05): `LLN` counts the node that it takes with the CPUs of the one that it looked at last. Job 1 of three tasks would use
/// three of a1's two and is held for good; job 2 of ten is counted to have ten, finds six, and waits.
#[test]
fn least_loaded_nodes_count_with_the_cpus_of_the_last_one_looked_at() {
    let scenario = |jobs: &str, version: &str| {
        format!(
            "node a1 cores=2
             node b1 cores=8
             partition p
             set bf_interval=10 lln {version}
             {jobs}"
        )
    };
    let overdraws = "job 1 N=1- n=3 run=100 t=5\n job 2 at=20 n=1 run=50 t=5";
    let lacks = "job 1 N=2 n=10 run=100 t=5\n job 2 at=20 n=1 run=50 t=5";
    expect(&scenario(overdraws, "version=25.05"), "1 0 0..4 +100 * a1,b1 *\n 2 20 20..24 +50 * b1 *");
    expect(&scenario(lacks, "version=25.05"), "1 0 0..4 +100 * a1,b1 *\n 2 20 1.end+0..14 +50 * * *");
    for version in SINCE {
        expect(&scenario(overdraws, version), "1 0 - - PENDING - -\n 2 20 20..24 +50 * a1 *");
        expect(&scenario(lacks, version), "1 0 - - PENDING - -\n 2 20 20..34 +50 * a1 backfill");
        expect_equal_with_every_cycle(&scenario(overdraws, version), 3);
    }
}

/// Recorded (u2, w2137 of 26.05): a job of one node gets the first of the lightest on which it fits; it was the tightest of the best run, or the least
/// loaded.
#[test]
fn a_job_of_one_node_gets_the_first_on_which_it_fits() {
    let scenario = |set: &str| {
        format!(
            "node n1 cores=8
             node n2 cores=4
             node n3 cores=4 weight=9
             partition p
             set bf_interval=10 {set}
             job 1 n=2 c=2 N=1 run=100 t=5
             job 2 at=20 n=1 run=100 t=5"
        )
    };
    let expected = |first: &str, second: &str| format!("1 0 0..4 +100 * {first} *\n 2 20 20..24 +100 * {second} *");
    expect(&scenario("version=25.11"), &expected("n2", "n1"));
    expect(&scenario("version=26.05"), &expected("n1", "n1"));
    expect(&scenario("version=26.05 lln"), &expected("n1", "n1"));
}

/// Recorded (w2138 of 26.05): who says tasks and no nodes asks for as many nodes at most, which is more than the partition's `MaxNodes`: job 1 never
/// starts.
#[test]
fn tasks_say_how_many_nodes_are_asked_for_at_most() {
    let scenario = |asks: &str, version: &str| {
        format!(
            "node n[1-3] cores=4
             partition p max_nodes=2
             set bf_interval=10 {version}
             job 1 {asks} run=100 t=5"
        )
    };
    for version in ["version=25.11", "version=26.05"] {
        expect(&scenario("N=1-2 n=4", version), "1 0 0..4 +100 * * *");
    }
    expect(&scenario("n=4", "version=25.11"), "1 0 0..4 +100 * n1 *");
    expect(&scenario("n=4", "version=26.05"), "1 0 - - PENDING - -");
}

/// By source (node_scheduler.c of 26.05.3, `_pick_best_nodes`): who spreads is given a node of each weight, and no longer waits where these are more
/// than it may have.
#[test]
fn who_spreads_starts_on_more_nodes_than_he_may_have() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             node g1 cores=4 weight=2
             partition p
             set bf_interval=300 {version}
             job 1 N=2 n=2 spread run=100 t=10
             job 2 at=10 N=1 n=4 w=g1 run=300 t=10"
        )
    };
    expect(&scenario("version=25.11"), "1 * 2.start+0..61 +100 * n1,n2 * \n 2 * 10..14 +300 * g1 *");
    expect(&scenario("version=26.05"), "1 * 0..4 +100 * n1,n2,g1 * \n 2 * 1.end+0..4 +300 * g1 *");
}

/// Recorded (u10 of 26.05): GPUs of the whole job are summed over the nodes that are looked at. Job 3 is given g2, which has two of its four, since g1 has
/// the other two, and waits, though g3 has four.
#[test]
fn gpus_of_a_job_of_one_node_are_summed_over_nodes_looked_at() {
    let scenario = |version: &str| {
        format!(
            "node g[1-2] cores=4 gres=gpu:4
             node g3 cores=4 gres=gpu:4 weight=9
             partition p
             set bf_interval=10 {version}
             job 1 w=g1 N=1 n=1 gpus=2 run=300 t=10
             job 2 w=g2 N=1 n=1 gpus=2 run=1000 t=20
             job 3 at=10 n=1 gpus=4 run=100 t=5"
        )
    };
    let others = "1 0 0..4 +300 * g1 *\n 2 0 0..4 +1000 * g2 *\n";
    expect(&scenario("version=25.11"), &format!("{others} 3 10 10..14 +100 * g3 *"));
    expect(&scenario("version=26.05"), &format!("{others} 3 10 1.end+0..14 +100 * * *"));
    expect_equal_with_every_cycle(&scenario("version=26.05"), 3);
}
