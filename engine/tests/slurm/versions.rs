//! What later releases decide otherwise (slurm-semantics 11; sources of 24.11.5 and 25.05.3; docs/FACTS.md, facts 87).

use crate::schedule::{expect, expect_equal_with_every_cycle};

fn scenario_of_tries(settings: &str) -> String {
    format!(
        "node n[1-5] cores=4
         partition p over=exclusive
         boot 300
         set bf_interval=10 {settings}
         job 1 w=n4 run=300 t=5
         job 2 w=n1 run=600 t=10
         job 3 w=n2 run=4200 t=70
         job 4 w=n3 run=4500 t=75
         job 5 N=2 w=n1,n4 run=600 t=10 at=10
         job 6 N=4 run=100 t=30 at=20
         job 7 N=1 w=n5 run=100 t=72 at=30"
    )
}

fn expected_of_tries(start: &str) -> String {
    format!(
        "1  0   0..4         +300   *  n4     *
         2  0   0..4         +600   *  n1     *
         3  0   0..4         +4200  *  n2     *
         4  0   0..4         +4500  *  n3     *
         5  10  2.end+0..14  +600   *  n1,n4  *
         6  20  *            +100   *  *      *
         7  30  {start}      +100   *  n5     *"
    )
}

/// Job 6 needs four nodes. Its try at 1200 s, when job 5 will have left n1 and n4, looks 22.05 from the first running job's end on, with
/// windows that have grown to more than an hour when job 3 leaves: it finds 4500 s, with job 4 gone too. 24.11 lets go at once who has ended
/// by 1200 s, and finds that job 3's end will do, with n5: job 7 would be in the way, until job 5 has started and is the first to end.
#[test]
fn a_try_begins_with_what_is_free_when_it_begins() {
    expect(&scenario_of_tries(""), &expected_of_tries("30..44"));
    expect(&scenario_of_tries("version=24.05"), &expected_of_tries("30..44"));
    for version in ["version=24.11", "version=25.05"] {
        expect(&scenario_of_tries(version), &expected_of_tries("600..624"));
        expect_equal_with_every_cycle(&scenario_of_tries(version), 3);
    }
}

/// Nobody preempts anybody here, but jobs may (docs/FACTS.md, facts 87 (f)).
#[test]
fn a_try_begins_so_where_jobs_may_preempt_too() {
    let scenario = |version: &str| scenario_of_tries(&format!("preempt=qos preempt_mode=cancel {version}"));
    expect(&scenario("version=24.05"), &expected_of_tries("30..44"));
    for version in ["version=24.11", "version=25.05"] {
        expect(&scenario(version), &expected_of_tries("600..624"));
    }
}

/// Job 1 asks for two CPUs on its node, but is one task: that gets one CPU (docs/FACTS.md, facts 87 (a)).
#[test]
fn tasks_said_are_the_tasks_laid_out() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=4
             set {version}
             job 1 n=1 mincpus=2 run=300 t=10
             job 2 at=10 n=3 run=100 t=10"
        )
    };
    let expected = |start: &str| format!("1 0 0..4 +300 * n1 *\n 2 10 {start} +100 * n1 *");
    for version in ["", "version=24.05"] {
        expect(&scenario(version), &expected("1.end+0..4"));
    }
    for version in ["version=24.11", "version=25.05"] {
        expect(&scenario(version), &expected("10..14"));
    }
}

/// `MinNodes` gives job 1 a second node, on which its one task holds neither a CPU nor memory (docs/FACTS.md, facts 87 (a)).
#[test]
fn nodes_beyond_the_tasks_hold_nothing() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4 memory=1000
             partition q min_nodes=2
             partition s
             set memory {version}
             job 1 p=q N=2- n=1 mem=600 run=300 t=10
             job 2 p=s at=10 w=n2 N=1 n=4 mem=600 run=100 t=10"
        )
    };
    let expected = |start: &str| format!("1 0 0..4 +300 * n1,n2 *\n 2 10 {start} +100 * n2 *");
    expect(&scenario("version=24.05"), &expected("1.end+0..4"));
    for version in ["version=24.11", "version=25.05"] {
        expect(&scenario(version), &expected("10..14"));
    }
}

/// Job 2 is over its group's limit in nodes if those of job 1 count again, and then has no plan for job 3 to wait for (docs/FACTS.md,
/// facts 87 (b)).
#[test]
fn a_plan_on_nodes_of_its_group_does_not_count_them_again() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             set enforce=limits sched_interval=off {version}
             qos few grp_node=2
             job 1 qos=few N=2 n=2 run=300 t=10
             job 2 at=40 qos=few N=2 n=8 run=100 t=10
             job 3 at=70 n=2 run=1000 t=20"
        )
    };
    let expected = |second: &str, third: &str| {
        format!(
            "1  0   0..34     +300   *  n1,n2  *
             2  40  {second}  +100   *  n1,n2  *
             3  70  {third}   +1000  *  n1     *"
        )
    };
    expect(&scenario("version=24.05"), &expected("3.end+0..34", "70..104"));
    for version in ["version=24.11", "version=25.05"] {
        expect(&scenario(version), &expected("1.end+0..34", "2.end+0..34"));
    }
}

/// 10,000 MB are five CPUs of its node, and so three for each of two tasks that asked for four. One task gets all five (docs/FACTS.md,
/// facts 87 (c)).
#[test]
fn memory_by_the_node_says_how_many_cpus_a_task_has() {
    let scenario = |version: &str, tasks: &str, second: u32| {
        format!(
            "node n1 cores=8 memory=16000
             set memory max_mem_per_cpu=2000 {version}
             job 1 N=1 {tasks} mem=10000 run=300 t=10
             job 2 at=10 N=1 n={second} mem=1000 run=100 t=10"
        )
    };
    let expected = |start: &str| format!("1 0 0..4 +300 * n1 *\n 2 10 {start} +100 * n1 *");
    expect(&scenario("", "n=2 c=4", 2), &expected("1.end+0..4"));
    for version in ["version=24.11", "version=25.05"] {
        expect(&scenario(version, "n=2 c=4", 2), &expected("10..14"));
        expect(&scenario(version, "n=2 c=4", 3), &expected("1.end+0..4"));
        expect(&scenario(version, "n=1", 3), &expected("10..14"));
        expect(&scenario(version, "n=1", 4), &expected("1.end+0..4"));
    }
}

/// Job 3 is tested in the EXCLUSIVE partition `w` first, where n1 is busy, and still asks for part of n2 (docs/FACTS.md, facts 87 (d)).
#[test]
fn a_test_leaves_nothing_behind_of_whole_nodes() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             partition w nodes=n1 over=exclusive
             partition s nodes=n2
             set {version}
             job 1 p=w n=4 run=300 t=10
             job 2 p=s at=10 n=1 run=300 t=10
             job 3 p=w,s at=20 n=1 run=100 t=5"
        )
    };
    let expected = |start: &str, node: &str| {
        format!("1 0 0..4 +300 * n1 *\n 2 10 10..14 +300 * n2 *\n 3 20 {start} +100 * {node} *")
    };
    for version in ["", "version=23.02"] {
        expect(&scenario(version), &expected("1.end+0..4", "n1"));
    }
    for version in ["version=23.11", "version=24.11"] {
        expect(&scenario(version), &expected("20..54", "n2"));
    }
}

/// Job 2 is tested in `f`, which forces sharing, and still has n1 in `y` for itself, where job 3 would share (docs/FACTS.md, facts 87 (d)).
#[test]
fn a_test_leaves_nothing_behind_of_sharing() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             partition f nodes=n2 over=force:2
             partition y nodes=n1 over=yes:2
             partition g nodes=n1 over=force:2
             set {version}
             job 0 p=f n=4 run=500 t=10
             job 1 p=f n=4 run=500 t=10
             job 2 p=f,y at=10 n=1 run=300 t=10
             job 3 p=g at=50 n=3 run=100 t=5"
        )
    };
    let expected = |start: &str| {
        format!("0 0 0..34 +500 * n2 *\n 1 0 0..34 +500 * n2 *\n 2 10 10..44 +300 * n1 *\n 3 50 {start} +100 * n1 *")
    };
    expect(&scenario("version=23.02"), &expected("50..84"));
    expect(&scenario("version=23.11"), &expected("2.end+0..34"));
}

/// n1 is user a's. Before, job 2 of user b has no plan there, and user a's job 3 goes past it; since, n1 is out of its tries only until
/// job 1's limit, at which it is planned (docs/FACTS.md, facts 87 (e)).
#[test]
fn another_users_node_is_planned_for_when_its_last_job_ends() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=4
             partition p exclusive_user
             set bf_interval=10 {version}
             job 1 user=a n=1 run=600 t=10
             job 2 at=10 user=b n=4 run=100 t=10
             job 3 at=20 user=a n=3 run=100 t=15"
        )
    };
    let expected = |second: &str, third: &str| {
        format!("1 0 0..4 +600 * n1 *\n 2 10 {second} +100 * n1 *\n 3 20 {third} +100 * n1 *")
    };
    expect(&scenario("version=24.05"), &expected("1.end+0..14", "20..34"));
    for version in ["version=24.11", "version=25.05"] {
        expect(&scenario(version), &expected("1.end+0..14", "2.end+0..14"));
    }
}

/// Job 1 is overdue when job 2 of another user comes, which is planned at once, cannot start, and is in the way of job 3
/// (docs/FACTS.md, facts 87 (e)).
#[test]
fn an_overdue_job_of_another_user_keeps_nobody_from_a_plan_at_once() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=4
             partition p exclusive_user
             set bf_interval=10 over_time_limit=60 {version}
             job 1 user=a n=1 run=900 t=10
             job 2 at=640 user=b n=1 run=100 t=10
             job 3 at=650 user=a n=3 run=20 t=1"
        )
    };
    let expected =
        |third: &str| format!("1 0 0..4 +900 * n1 *\n 2 640 1.end+0..14 +100 * n1 *\n 3 650 {third} +20 * n1 *");
    expect(&scenario("version=24.05"), &expected("650..664"));
    expect(&scenario("version=24.11"), &expected("2.end+0..14"));
}

/// The tighter node is taken, and the first of two that count the same: with two tasks of one CPU both nodes count two CPUs, with a
/// task of three both three (docs/FACTS.md, facts 87 (g)).
#[test]
fn a_node_counts_with_the_cpus_of_whole_tasks() {
    let scenario = |version: &str, tasks: &str| {
        format!(
            "node n1 cores=5
             node n2 cores=4
             set {version}
             job 1 N=1 {tasks} run=300 t=10"
        )
    };
    let expected = |node: &str| format!("1 0 0..4 +300 * {node} *");
    for tasks in ["n=2 per_node=2", "n=1 c=3"] {
        for version in ["", "version=23.02"] {
            expect(&scenario(version, tasks), &expected("n2"));
        }
        for version in ["version=23.11", "version=25.05"] {
            expect(&scenario(version, tasks), &expected("n1"));
        }
    }
}

/// A node of four CPUs has one task of three: four tasks need four nodes, where twelve CPUs were enough (docs/FACTS.md, facts 87 (g)).
#[test]
fn as_many_nodes_are_needed_as_have_all_tasks_whole() {
    let scenario = |version: &str| format!("node n[1-5] cores=4\nset {version}\njob 1 n=4 c=3 run=300 t=10");
    let expected = |nodes: &str| format!("1 0 0..4 +300 * {nodes} *");
    for version in ["", "version=23.02"] {
        expect(&scenario(version), &expected("n1,n2,n3"));
    }
    for version in ["version=23.11", "version=25.05"] {
        expect(&scenario(version), &expected("n1,n2,n3,n4"));
    }
}

/// With CR_Socket job 1's two tasks went one to each socket; now the first, which has all of their CPUs, is all that the node offers
/// (docs/FACTS.md, facts 87 (g)).
#[test]
fn the_first_sockets_of_a_node_serve_its_tasks() {
    let scenario = |version: &str| {
        format!(
            "node n1 cores=8 sockets=2
             set select=socket {version}
             job 1 N=1 n=2 per_node=2 run=300 t=10
             job 2 at=10 N=1 n=4 run=100 t=10"
        )
    };
    let expected = |start: &str| format!("1 0 0..4 +300 * n1 *\n 2 10 {start} +100 * n1 *");
    expect(&scenario("version=23.02"), &expected("1.end+0..4"));
    for version in ["version=23.11", "version=24.11"] {
        expect(&scenario(version), &expected("10..14"));
    }
}

/// Backfill starts job 3 with its five minutes; from 25.05.3 on it has as many as there are before job 2's plan at 1200 s (docs/FACTS.md,
/// facts 87 (h)), but never more than its partition's MaxTime (recorded: w2075-25-05).
#[test]
fn a_least_time_grows_up_to_the_first_plan() {
    let scenario = |partition: &str, version: &str| {
        format!(
            "node n[1-2] cores=4
             partition p max=60
             partition short max=10
             set bf_interval=30 {version}
             job 1 w=n1 n=4 run=905 t=20
             job 2 at=10 n=8 run=100 t=10
             job 3 at=20 p={partition} n=4 run=5000 t=60 time_min=5"
        )
    };
    let expected = |second: &str, third: &str| {
        format!(
            "1  0   0..4      +905  COMPLETED  n1     *
             2  10  {second}  +100  COMPLETED  n1,n2  main
             3  20  20..60    {third}  TIMEOUT  n2    backfill"
        )
    };
    expect(&scenario("p", "version=24.11"), &expected("1.end+0..4", "+300..332"));
    expect(&scenario("p", "version=25.05"), &expected("3.end+0..4", "+1080..1172"));
    expect(&scenario("short", "version=25.05"), &expected("1.end+0..4", "+600..632"));
}

/// Recorded (w2022, w2086, w2104 of 25.05): `--spread-job` takes a node of each weight, be they more than the job may have. It is planned there
/// and cannot start; nobody waits for it. When job 2 has taken the nodes of the other weight it runs. Until 24.11 it runs at once.
#[test]
fn who_spreads_is_given_a_node_of_each_weight_and_may_not_have_them() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=4
             node g1 cores=4 weight=2
             set bf_interval=300 version={version}
             job 1 n=1 spread run=100 t=10
             job 2 at=10 n=4 w=g1 run=300 t=10"
        )
    };
    expect(&scenario("24.11"), "1 * 0..4 +100 * n1 * \n 2 * 10..14 +300 * g1 *");
    expect(&scenario("25.05"), "1 * 2.start+0..61 +100 * n1 * \n 2 * 10..14 +300 * g1 *");
}
