//! What recordings of 23.11.11, 24.05.8, 24.11.5 and 25.05.3 showed besides (docs/FACTS.md, facts 88 and 89).

use crate::schedule::{expect, expect_equal_with_every_cycle};

/// The array prefers n1, which is busy, and is rejected with that: only from 23.02.3 on is it looked at without (facts 88 (b)).
#[test]
fn an_array_rejected_with_its_preference_is_looked_at_without() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=4 features=big
             node n2 cores=4
             set bf_interval=10 {version}
             job 1 w=n1 n=4 run=300 t=10
             job 2 at=10 array=1-2 n=4 prefer=big run=100 t=5"
        )
    };
    let expected =
        |first: &str, node: &str| format!("1 0 0..4 +300 * n1 *\n 2_1 * {first} +100 * {node} *\n 2_2 * * +100 * * *");
    expect(&scenario(""), &expected("1.end+0..14", "n1"));
    for version in ["version=23.02", "version=24.11"] {
        expect(&scenario(version), &expected("10..24", "n2"));
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
}

/// Backfill starts the first task beside job 1 with its five minutes; another five do not fit before job 2's plan. The last is started by the main
/// scheduler, when job 2 has left: with what the rest of the array has by then (facts 88 (e)).
#[test]
fn the_rest_of_an_array_gets_its_limit_back() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             set bf_interval=200 {version}
             job 1 w=n1 n=4 run=500 t=9
             job 2 at=10 n=8 run=100 t=10
             job 3 at=20 array=1-2%1 n=4 run=5000 t=60 time_min=5"
        )
    };
    let expected = |last: &str| {
        format!(
            "1    0   0..4  +500      COMPLETED  n1     *
             2    10  *     +100      COMPLETED  n1,n2  *
             3_1  *   *     +300..332 TIMEOUT    n2     backfill
             3_2  *   *     {last}    TIMEOUT    *      main"
        )
    };
    expect(&scenario("version=23.11"), &expected("+300..332"));
    expect(&scenario("version=24.05"), &expected("+3600..3632"));
}

/// A task that has started in the EXCLUSIVE partition `w` leaves the rest of its array jobs of whole nodes in `s`, too; a job that was only tested
/// there is none (facts 88 (f)).
#[test]
fn a_start_leaves_whole_nodes_to_the_rest_of_its_array() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             partition w nodes=n1 over=exclusive
             partition s nodes=n2
             set bf_interval=10 {version}
             job 1 p=s n=1 run=300 t=10
             job 2 at=10 p=w,s array=1-2 n=1 run=500 t=10
             job 3 at=20 p=w,s n=1 run=100 t=5"
        )
    };
    for version in ["version=23.11", "version=24.11"] {
        expect(
            &scenario(version),
            "1    0   0..4        +300  *  n2  *
             2_1  *   10..14      +500  *  n1  *
             2_2  *   1.end+0..14 +500  *  n2  *
             3    20  20..34      +100  *  n2  *",
        );
    }
}

/// `y` lets jobs share. Job 1, which does not, keeps job 2 of another partition off its node only before 23.11; one that shares does so always; so
/// does job 1 of `b`, which asks to, once `y` has had a job (facts 88 (h)).
#[test]
fn who_shares_keeps_others_off_not_whose_partition_would() {
    let scenario = |version: &str, first: &str| {
        format!(
            "node n[1-2] cores=4
             partition y over=yes:2
             partition b
             set bf_interval=10 {version}
             job 0 p=y w=n2 n=1 run=10 t=1
             job 1 {first} w=n1 n=1 run=300 t=10
             job 2 at=20 p=b w=n1 n=1 run=100 t=10"
        )
    };
    let expected = |start: &str| format!("0 0 0..4 +10 * n2 *\n 1 0 0..4 +300 * n1 *\n 2 20 {start} +100 * n1 *");
    expect(&scenario("version=23.02", "p=y"), &expected("1.end+0..14"));
    expect(&scenario("version=23.02", "p=b oversubscribe"), &expected("20..34"));
    for version in ["version=23.11", "version=24.11"] {
        expect(&scenario(version, "p=y"), &expected("20..34"));
        expect(&scenario(version, "p=y oversubscribe"), &expected("1.end+0..14"));
        expect(&scenario(version, "p=b oversubscribe"), &expected("1.end+0..14"));
    }
}

/// Task 1 is requeued when n1 fails. It stands behind its array, whose priority it shares; from 24.05.8 on behind job 2, too, which came before it
/// came back (facts 88 (i)).
#[test]
fn a_requeued_task_stands_behind_its_array_under_priority_basic() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=4
             outage n1 at=30 for=5
             set bf_interval=off {version}
             job 1 array=1-3%1 n=4 run=200 t=10
             job 2 at=25 n=4 run=100 t=10"
        )
    };
    let expected = |first: &str, second: &str| {
        format!(
            "1_1  *   {first}       +200  COMPLETED  n1  *
             1_2  *   *             +200  COMPLETED  n1  *
             1_3  *   1_2.end+0..60 +200  COMPLETED  n1  *
             2    25  {second}      +100  COMPLETED  n1  *"
        )
    };
    for version in ["", "version=23.11"] {
        expect(&scenario(version), &expected("1_3.end+0..60", "1_1.end+0..60"));
    }
    expect(&scenario("version=24.05"), &expected("2.end+0..60", "1_3.end+0..60"));
}

/// Jobs 1 and 2 are requeued when n1 fails. Until 24.05 they keep the first two priorities, and job 4's niceness of 3 makes its fourth one the first; then
/// they get the third and fourth, and its sixth the third. Level with job 1, which waits longer, it stands before job 2 either way (rec c168-25-05).
#[test]
fn every_requeued_job_takes_a_priority_under_priority_basic() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=4
             outage n1 at=30 for=5
             set bf_interval=off {version}
             job 1 n=2 run=200 t=10
             job 2 n=2 run=200 t=10
             job 3 at=90 n=4 run=400 t=10
             job 4 at=100 n=4 run=100 t=10 nice=-3"
        )
    };
    let expected = |one: &str, two: &str, four: &str| {
        format!(
            "1  *    {one}       +200  *  n1  *
             2  *    {two}       +200  *  n1  *
             3  90   90..94      +400  *  n1  *
             4  100  {four}      +100  *  n1  *"
        )
    };
    expect(&scenario(""), &expected("3.end+0..4", "4.end+0..4", "1.end+0..4"));
    expect(&scenario("version=24.05"), &expected("3.end+0..4", "4.end+0..4", "1.end+0..4"));
}

/// Job 1's one task is on n1. Where cores are handed out by block, it keeps those of n2 that were on offer (facts 88 (j)).
#[test]
fn a_node_beyond_the_tasks_keeps_its_cores_by_block() {
    let scenario = |unit: &str, second: &str| {
        format!(
            "node n[1-2] cores=4
             partition q min_nodes=2
             partition s
             set select={unit} bf_interval=10 version=24.11
             job 1 p=q N=2- n=1 run=300 t=10
             job 2 p=s at=10 w=n2 {second} run=100 t=10"
        )
    };
    let expected = |start: &str| format!("1 0 0..4 +300 * n1,n2 *\n 2 10 {start} +100 * n2 *");
    expect(&scenario("cpu", "n=1"), &expected("1.end+0..14"));
    expect(&scenario("core", "n=1"), &expected("10..14"));
    // Of whole nodes, too.
    expect(&scenario("core", "n=1 exclusive"), &expected("10..14"));
}

/// Tasks share the CPU that their node is chosen for, but where `-c` is said and 24.11 lays them all out: it does not find CPUs for two, however
/// many the node has (facts 88 (k)).
#[test]
fn overcommitted_tasks_whose_cpus_are_said_get_them() {
    let scenario = |version: &str, options: &str| {
        format!(
            "node n1 cores=4
             set bf_interval=10 {version}
             job 1 {options} run=300 t=10 cancel=600
             job 2 at=20 n=1 run=100 t=2"
        )
    };
    let starts = |second: &str| format!("1 0 0..4 +300 COMPLETED n1 *\n 2 20 {second} +100 COMPLETED n1 *");
    expect(&scenario("version=24.11", "overcommit=8"), &starts("20..34"));
    expect(&scenario("version=24.05", "overcommit=8 gives_cpus"), &starts("20..34"));
    expect(&scenario("version=24.11", "overcommit=1 gives_cpus"), &starts("20..34"));
    let waits = "1 * - 600..610 CANCELLED - -\n 2 20 20..34 +100 COMPLETED n1 backfill";
    expect(&scenario("version=24.11", "overcommit=2 gives_cpus"), waits);
}

/// A node of eight CPUs is one of whole nodes to `--exclusive=user` and too large for the cap (facts 88 (l)).
#[test]
fn nodes_above_the_cap_serve_users_who_keep_them() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=8
             partition p max_cpus_per_node=4
             set bf_interval=10 {version}
             job 1 n=1 exclusive=user run=300 t=10 cancel=600"
        )
    };
    expect(&scenario("version=23.11"), "1 - - 600..610 CANCELLED - -");
    expect(&scenario("version=24.05"), "1 0 0..4 +300 COMPLETED n1 *");
}

/// `b` has never had a job: 24.11 alone counts what job 1 of `a` holds (facts 88 (m)).
#[test]
fn a_cap_counts_others_while_its_partition_has_had_no_job() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             partition a
             partition b max_cpus_per_node=2
             set bf_interval=10 {version}
             job 1 p=a w=n1 n=2 run=300 t=10
             job 2 p=b at=10 w=n1 n=1 run=100 t=10
             job 3 p=b at=20 w=n1 n=1 run=50 t=1"
        )
    };
    let expected = |second: &str| format!("1 0 0..4 +300 * n1 *\n 2 10 {second} +100 * n1 *\n 3 * * +50 * n1 *");
    for version in ["version=24.05", "version=25.05"] {
        expect(&scenario(version), &expected("10..14"));
    }
    expect(&scenario("version=24.11"), &expected("1.end+0..14"));
}

/// One CPU is asked for, whatever the task takes (facts 88 (d)).
#[test]
fn an_overcommitted_job_is_serial() {
    expect(
        "node n[1-3] cores=4
         set pack_serial_at_end
         job 1 overcommit=1 n=1 c=2 run=300 t=10",
        "1 0 0..4 +300 * n3 *",
    );
}

/// A node counts with no more than two CPUs: n1 and n2 offer fewer than the three small nodes (facts 89 (f)).
#[test]
fn tasks_a_node_bound_what_nodes_of_overcommitted_jobs_count_with() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             node n3 cores=4
             node n[4-6] cores=2
             partition p nodes=n[1-2],n[4-6]
             set {version}
             job 1 p=p n=1 overcommit=1 per_node=2 run=100 t=10"
        )
    };
    expect(&scenario("version=23.02"), "1 0 0..4 +100 * n4 *");
    for version in ["version=23.11", "version=24.11"] {
        expect(&scenario(version), "1 0 0..4 +100 * n1 *");
    }
}

/// Job 1 holds four CPUs for its memory, though a node has two of its tasks: five are not free (facts 89 (g)).
#[test]
fn a_node_counts_with_the_cpus_that_memory_makes() {
    for version in ["", "version=23.11", "version=24.05", "version=24.11"] {
        expect(
            &format!(
                "node n1 cores=8 memory=16000
                 set memory max_mem_per_cpu=1000 {version}
                 job 1 n=2 per_node=2 mem=4000 run=300 t=10
                 job 2 at=10 n=5 mem=1 run=100 t=5
                 job 3 at=20 n=4 mem=1 run=100 t=5"
            ),
            "1 0  0..4          +300 * n1 *
             2 10 1.end+0..62   +100 * n1 *
             3 20 20..62        +100 * n1 *",
        );
    }
}

/// Job 2 wants both nodes, but job 1 shares n1. Tests of what will be free do not know that from 23.11 on, and from 24.11 on there is one before
/// anybody has left: it is planned at once, in vain, and job 3 finds no time before it (facts 89 (h)).
#[test]
fn plans_do_not_know_whose_jobs_share() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             partition y nodes=n1 over=yes:2
             partition b
             set bf_interval=30 {version}
             job 1 p=y n=1 oversubscribe run=590 t=10
             job 2 at=10 p=b N=2 n=2 run=100 t=10
             job 3 at=15 p=b n=1 run=50 t=5"
        )
    };
    let expected = |start: &str, node: &str| {
        format!("1 0 0..4 +590 * n1 *\n 2 10 1.end+0..32 +100 * n1,n2 *\n 3 15 {start} +50 * {node} *")
    };
    for version in ["version=23.02", "version=23.11"] {
        expect(&scenario(version), &expected("15..62", "n2"));
    }
    for version in ["version=24.11", "version=25.05"] {
        expect(&scenario(version), &expected("2.start+0..200", "n1"));
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
}

/// It has one task on its node, whatever that must have at least (facts 89 (i)).
#[test]
fn an_overcommitted_job_holds_the_cpus_of_one_task() {
    for version in ["", "version=23.11", "version=24.11"] {
        expect(
            &format!(
                "node n1 cores=4
                 set {version}
                 job 1 n=1 overcommit=1 mincpus=3 run=300 t=10
                 job 2 at=10 n=3 run=100 t=5"
            ),
            "1 0  0..4    +300 * n1 *
             2 10 10..14  +100 * n1 *",
        );
    }
}

/// Its task fits on one socket. In 22.05 its node offers two cores of each, and both are its own (facts 89 (j)).
#[test]
fn sockets_beside_gpus_are_offered_whole() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=8 sockets=2 gres=gpu:2
             set select=socket {version}
             job 1 n=1 c=4 N=1 gres=gpu:1 run=300 t=10
             job 2 at=10 n=4 run=100 t=5"
        )
    };
    expect(&scenario(""), "1 0 0..4 +300 * n1 *\n 2 10 1.end+0..62 +100 * n1 *");
    for version in ["version=23.02", "version=24.11"] {
        expect(&scenario(version), "1 0 0..4 +300 * n1 *\n 2 10 10..14 +100 * n1 *");
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
}

/// Eight tasks go with each GPU: n1 offers CPUs for one of them and n2 for the other, so neither has eight free afterwards (facts 89 (k)).
#[test]
fn cpus_are_kept_beside_gpus_that_the_whole_job_counts() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=12 gres=gpu:2
             set {version}
             job 1 n=16 N=2 gpus=2 run=300 t=10
             job 2 at=10 n=8 N=1 run=100 t=5"
        )
    };
    expect(&scenario("version=23.02"), "1 0 0..4 +300 * n1,n2 *\n 2 10 10..14 +100 * n2 *");
    for version in ["version=23.11", "version=24.11"] {
        expect(&scenario(version), "1 0 0..4 +300 * n1,n2 *\n 2 10 1.end+0..62 +100 * * *");
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
}

/// Tasks of three CPUs are counted before the cap, which leaves each node one and a part: job 1 asks for twelve CPUs and gets them (facts 90 (b)).
#[test]
fn a_cap_leaves_a_node_a_part_of_a_task() {
    let scenario = |version: &str, tasks: u32| {
        format!(
            "node n[1-3] cores=16
             partition p max_cpus_per_node=4
             set {version}
             job 1 n={tasks} c=3 N=1-3 run=300 t=10"
        )
    };
    for version in ["", "version=23.11", "version=24.05"] {
        expect(&scenario(version, 4), "1 0 0..4 +300 * n1,n2,n3 *");
    }
}

/// From 23.11 on the background loop sleeps until the next second begins: nobody is started by the main scheduler in the second of his submission
/// (facts 90 (d)).
#[test]
fn the_main_scheduler_comes_when_a_second_begins() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=1
             set bf_interval=3600 sched_interval=60 {version}
             job 1 at=0 run=10 t=1
             job 2 at=100 run=10 t=1
             job 3 at=200 run=10 t=1
             job 4 at=300 run=10 t=1
             job 5 at=400 run=10 t=1"
        )
    };
    for version in ["version=23.11", "version=24.05", "version=25.05"] {
        expect(
            &scenario(version),
            "1 0   1..4     +10 * n1 main
             2 100 101..104 +10 * n1 main
             3 200 201..204 +10 * n1 main
             4 300 301..304 +10 * n1 main
             5 400 401..404 +10 * n1 main",
        );
    }
}

/// Job 2 is planned on a node that is in use in part, which carries the PLANNED flag from 24.11 on only: cycles then come in time, though nothing else
/// changes. In 22.05 backfill looks once a second, and finds job 3 at once (facts 90 (e)).
#[test]
fn planned_nodes_in_use_keep_cycles_coming() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=4
             set bf_interval=1000 {version}
             job 1 n=2 run=9000 t=200
             job 2 at=10 n=4 run=100 t=10
             job 3 at=2500 n=1 run=10 t=1"
        )
    };
    let expected =
        |third: &str| format!("1 0 0..4 +9000 * n1 *\n 2 10 * +100 * n1 *\n 3 2500 {third} +10 * n1 backfill");
    for version in ["", "version=23.11", "version=24.05"] {
        expect(&scenario(version), &expected("2500..2502"));
    }
    for version in ["version=24.11", "version=25.05"] {
        expect(&scenario(version), &expected("2640..2710"));
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
}

/// Job 4 is planned where it could be now, but may not run in that partition. Backfill tests it first on nodes that it would not share, where
/// `--ntasks-per-node` cuts nothing: n2 is the tightest, and n1 is left to job 5 (facts 92 (l)).
#[test]
fn backfill_compares_nodes_by_all_that_they_have_free_first() {
    let scenario = |constraint: &str| {
        format!(
            "node n[1-2] cores=8 features=std
             partition p
             partition q allow_accounts=nobody
             set bf_interval=10 version=24.11
             job 1 w=n1 n=4 run=500 t=9
             job 2 w=n2 n=5 run=500 t=9
             job 3 at=10 n=16 run=100 t=10
             job 4 at=10 p=q n=1 per_node=2 run=100 t=5 {constraint}
             job 5 at=11 N=1 n=4 run=50 t=2"
        )
    };
    let starts = |scenario: &str, fifth: &str| {
        let expected = format!(
            "1 0 0..4 * * n1 *\n 2 0 0..4 * * n2 *\n 3 * * * * * *\n 4 * - - PENDING - -\n 5 * {fifth} * * * *"
        );
        expect(scenario, &expected);
        expect_equal_with_every_cycle(scenario, 3);
    };
    starts(&scenario(""), "11..32");
    // Who asks for features is tested once, as who may share.
    starts(&scenario("C=std"), "150..300");
}

/// Both records with the preferred feature come first: that of q fails, for n3 is busy, and blocks the nodes of q, so that the main scheduler does not
/// start the job in p either (facts 92 (p)).
#[test]
fn records_with_preferred_features_come_before_the_others_of_the_job() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             node n3 cores=4 features=big
             partition p nodes=n[1-2]
             partition q
             set bf_interval=300 {version}
             job 1 p=q w=n3 n=4 run=900 t=20
             job 2 at=310 p=p,q n=4 prefer=big run=100 t=5"
        )
    };
    let expected = |start: &str, by: &str| format!("1 * * +900 * n3 *\n 2 310 {start} +100 * n1 {by}");
    expect(&scenario("version=23.02"), &expected("310..314", "*"));
    expect(&scenario("version=23.11"), &expected("310..620", "backfill"));
    expect_equal_with_every_cycle(&scenario("version=23.11"), 3);
}

/// Backfill, too, comes to both records with the preferred feature first: q has a free node with it, p has none; the main scheduler is blocked in both
/// (facts 94 (a)).
#[test]
fn backfill_tries_preferred_features_in_all_partitions_first() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             node n3 cores=4 features=big
             node n4 cores=4
             partition p nodes=n[1-2],n4
             partition q nodes=n[3-4]
             set bf_interval=30 {version}
             job 1 p=p w=n4 n=4 run=900 t=20
             job 2 at=10 p=p N=3 n=12 run=100 t=20
             job 3 at=10 p=q N=2 n=8 run=100 t=20
             job 4 at=20 p=p,q n=4 prefer=big run=100 t=5"
        )
    };
    let expected =
        |node: &str| format!("1 * * +900 * n4 *\n 2 * * * * * *\n 3 * * * * * *\n 4 20 20..90 +100 * {node} backfill");
    expect(&scenario("version=23.02"), &expected("n1"));
    expect(&scenario("version=23.11"), &expected("n3"));
    expect_equal_with_every_cycle(&scenario("version=23.11"), 3);
}

/// Recorded (c1052 of 23.11.11): `time_min_as_soft_limit`, which 22.05 does not know: job 3 starts beside job 2's plan with its five minutes, and
/// keeps its hour.
#[test]
fn who_starts_with_a_soft_limit_keeps_its_own() {
    let scenario = |set: &str| {
        format!(
            "node n[1-2] cores=4
             set bf_interval=30 {set}
             job 1 w=n1 n=4 run=500 t=9
             job 2 at=10 n=8 run=100 t=10
             job 3 at=20 n=4 run=5000 t=60 time_min=5"
        )
    };
    let expected =
        |run: &str| format!("1 0 0..4 +500 * n1 *\n 2 10 * +100 * n1,n2 *\n 3 20 * {run} TIMEOUT n2 backfill");
    expect(&scenario("time_min_is_soft"), &expected("+300..332"));
    expect(&scenario("version=23.11"), &expected("+300..332"));
    expect(&scenario("version=23.11 time_min_is_soft"), &expected("+3600..3632"));
    expect(&scenario("version=25.05 time_min_is_soft"), &expected("+3600..3632"));
}

/// Recorded (w2136 of 25.11 and 26.05): a whole node of eight CPUs counts with those of two tasks of three, so that seven tasks take four nodes. It
/// counted with all, until 23.02 by rule, then here by mistake where no GRES was asked for.
#[test]
fn whole_nodes_count_with_the_cpus_of_whole_tasks() {
    let scenario = |version: &str| {
        format!(
            "node n[1-4] cores=8
             partition p over=exclusive
             set bf_interval=10 {version}
             job 1 n=7 c=3 run=100 t=5"
        )
    };
    expect(&scenario(""), "1 0 0..4 +100 * n1,n2,n3 *");
    for version in ["version=23.11", "version=24.05", "version=24.11", "version=25.05", "version=25.11"] {
        expect(&scenario(version), "1 0 0..4 +100 * n1,n2,n3,n4 *");
    }
}
