//! How large a waiting job counts, for priorities and limits: as what tests would charge it (docs/FACTS.md, facts 10, 40, 42).

use crate::schedule::{expect, expect_equal_with_every_cycle};

#[test]
fn a_waiting_job_is_as_large_as_what_a_test_would_have_charged_it() {
    // Job 3 asks for one CPU, but its plan takes the whole node: from the next step on it is larger than job 2.
    let scenario = "node n1 cores=4
                    set multifactor weight_job_size=1000
                    job 1 n=4 run=900 t=20
                    job 2 at=10 n=3 run=100 t=10
                    job 3 at=20 n=1 exclusive run=100 t=10";
    let expected = "1  0   0..4        +900  COMPLETED  n1  *
                    2  10  3.end+0..4  +100  COMPLETED  n1  *
                    3  20  1.end+0..4  +100  COMPLETED  n1  *";
    expect(scenario, expected);
}

/// Recorded (w2198): job 3 is too young to be planned, but the test whether it would fit now, though the reservation keeps it out, finds the whole node.
#[test]
fn who_is_too_young_to_be_planned_counts_as_what_it_would_get_now() {
    let scenario = "node n1 cores=4
                    set multifactor weight_job_size=1000 bf_min_age_reserve=7200
                    reservation r at=600 for=900 maint users=root
                    job 2 at=10 n=3 run=100 t=20
                    job 3 at=20 n=1 exclusive run=100 t=20";
    let expected = "2  10  3.end+0..4  +100  COMPLETED  n1  *
                    3  20  1500..1580  +100  COMPLETED  n1  *";
    expect(scenario, expected);
    expect_equal_with_every_cycle(scenario, 3);
}

/// Recorded (c1255): a partition's `MinNodes` gives job 2 a CPU on each of two nodes, so from the step after its first test on it counts as many as job 3, which
/// came later. From 24.11 on its one task has one CPU.
#[test]
fn a_waiting_job_counts_a_cpu_of_each_node_that_its_partition_asks_for() {
    let scenario = |version: &str| {
        format!(
            "node n[1-2] cores=1
             partition p min_nodes=2
             set {version} multifactor weight_job_size=1000
             job 1 N=2 n=2 run=900 t=20
             job 2 at=10 N=2- n=1 run=100 t=10
             job 3 at=20 N=2 n=2 run=100 t=10"
        )
    };
    expect(&scenario(""), "1 * 0..4 * * n1,n2 *\n 2 * 1.end+0..4 * * n1,n2 *\n 3 * 2.end+0..4 * * n1,n2 *");
    expect(
        &scenario("version=24.11"),
        "1 * 0..4 * * n1,n2 *\n 2 * 3.end+0..4 * * n1,n2 *\n 3 * 1.end+0..4 * * n1,n2 *",
    );
}

/// A scheduler that holds a job against `MaxMemPerCPU` makes its tasks larger before any test has found nodes for it (rec w2108, w2007); from
/// 24.11.4 on memory by the node does so, too (rec t17-24-11). Its priority knows that at the next step.
#[test]
fn a_waiting_job_counts_the_cpus_that_its_memory_makes() {
    let scenario = |version: &str, memory: &str| {
        format!(
            "node n1 cores=6 memory=64000
             set {version} memory max_mem_per_cpu=1000 bf_interval=off multifactor weight_job_size=1000
             job 1 n=6 mem=100 run=900 t=20
             job 2 at=10 n=3 mem=100 run=100 t=10
             job 3 at=20 n=2 {memory} run=100 t=10"
        )
    };
    let second_first = "1 * 0..4 * * n1 * \n 2 * 1.end+0..4 * * n1 * \n 3 * * * * n1 *";
    let third_first = "1 * 0..4 * * n1 * \n 2 * 3.end+0..4 * * n1 * \n 3 * 1.end+0..4 * * n1 *";
    expect(&scenario("", "mem_per_cpu=2000"), third_first);
    expect(&scenario("", "mem=4000"), second_first);
    expect(&scenario("version=24.11", "mem=4000"), third_first);
    expect(&scenario("version=24.11", "mem=2000"), second_first);
}

/// At its submission only n3 is idle: job 5 counts its eight CPUs from the next step on, though n1 would do. The licence, for which
/// they wait without a test of nodes, lets one of the two run.
#[test]
fn a_new_job_is_as_large_as_what_idle_nodes_would_have_charged_it() {
    expect(
        "node n1 cores=2
         node n2 cores=4
         node n3 cores=8
         license l:1
         set select=linear bf_interval=off multifactor weight_job_size=1000
         job 1 w=n1 run=900 t=20
         job 2 w=n2 run=900 t=20
         job 3 at=10 N=3 n=14 L=l:1 run=50 t=10
         job 4 at=20 N=1 n=4 w=n2 L=l:1 run=100 t=10
         job 5 at=30 N=1 n=1 L=l:1 run=100 t=10",
        "1  0   0..4        +900  COMPLETED  n1        *
         2  0   0..4        +900  COMPLETED  n2        *
         3  10  2.end+0..4  +50   COMPLETED  n1,n2,n3  *
         4  20  5.end+0..4  +100  COMPLETED  n2        *
         5  30  3.end+0..4  +100  COMPLETED  n1        *",
    );
}

/// Job 5 is planned on n2, of six CPUs, where it can run first; when it does not fit now, select/linear asks whether it ever could,
/// and finds n4 of ten. So it comes before job 6, of n3's eight.
#[test]
fn a_test_of_linear_that_fails_counts_what_all_nodes_together_would_have_charged() {
    expect(
        "node n1 cores=2
         node n2 cores=6
         node n3 cores=8
         node n4 cores=10
         license l:1
         set select=linear bf_interval=1700 multifactor weight_job_size=1000
         job 1 w=n1 n=2 run=1800 t=31
         job 2 w=n2 n=6 run=1800 t=40
         job 3 w=n3 n=8 run=1800 t=50
         job 4 w=n4 n=10 run=1800 t=90
         job 5 at=10 N=1 n=4 L=l:1 run=100 t=10
         job 6 at=20 N=1 n=4 w=n3 L=l:1 run=100 t=10",
        "1  0   0..4        +1800  COMPLETED  n1     *
         2  0   0..4        +1800  COMPLETED  n2     *
         3  0   0..4        +1800  COMPLETED  n3     *
         4  0   0..4        +1800  COMPLETED  n4     *
         5  10  1.end+0..9  +100   COMPLETED  n2     *
         6  20  5.end+0..4  +100   COMPLETED  n3     *",
    );
}

/// Recorded (z-sock): before their first plan jobs count as what they ask for, five CPUs and six, not as the two sockets that each
/// would be charged.
#[test]
fn the_test_at_submission_rounds_no_sockets_up() {
    expect(
        "node n1 cores=8 sockets=2
         set select=socket bf_interval=off multifactor weight_job_size=1000
         job 1 n=8 run=400 t=10
         job 2 at=10 n=5 run=100 t=10
         job 3 at=20 n=2 c=3 run=100 t=10",
        "1  0   0..4        +400  COMPLETED  n1  *
         2  10  3.end+0..4  +100  COMPLETED  n1  *
         3  20  1.end+0..4  +100  COMPLETED  n1  *",
    );
}

/// Recorded (z-excl): where whole nodes are alike, jobs count as what they ask for until a cycle of backfill has tested them.
#[test]
fn jobs_of_whole_nodes_grow_with_their_first_test() {
    let scenario = |interval: &str| {
        format!(
            "node n1 cores=8
             partition p over=exclusive
             set bf_interval={interval} multifactor weight_job_size=1000
             job 1 run=400 t=10
             job 2 at=10 n=2 run=100 t=10
             job 3 at=20 n=3 run=100 t=10"
        )
    };
    let first = "1  0  0..34  +400  *  n1  *\n";
    expect(&scenario("off"), &format!("{first} 2 10 3.end+0..4 +100 * n1 *\n 3 20 1.end+0..4 +100 * n1 *"));
    expect(&scenario("30"), &format!("{first} 2 10 1.end+0..34 +100 * n1 *\n 3 20 2.end+0..34 +100 * n1 *"));
    // Recorded (bd-c7): the agent of sched/builtin tests them just so.
    expect(&scenario("30 builtin"), &format!("{first} 2 10 1.end+0..4 +100 * n1 *\n 3 20 2.end+0..4 +100 * n1 *"));
}

/// Recorded (bf-c87, bf-c92): the agent of sched/builtin finds by limits when job 2 could run first. On n2, where a core is eight CPUs, it counts as
/// these; on n1, which it would have of an idle machine, as three, behind job 3's four (docs/FACTS.md, facts 86 (i)).
#[test]
fn under_builtin_jobs_count_as_the_nodes_would_charge_where_they_could_run_first() {
    let scenario = |limit: u32, reserved: &str| {
        format!(
            "node n1 cores=4
             node n2 cores=4 threads=8
             set builtin bf_interval=30 multifactor weight_job_size=1000
             {reserved}
             job 0 w=n2 n=32 run=900 t={limit}
             job 1 w=n1 n=4 run=400 t=20
             job 2 at=10 N=1 n=3 run=100 t=20
             job 3 at=20 w=n1 N=1 n=4 run=100 t=10"
        )
    };
    let first = "0  0  0..4  +900  *  n2  *\n 1  0  0..4  +400  *  n1  *\n";
    let on_n1 = format!("{first} 2 10 3.end+0..4 +100 * n1 *\n 3 20 1.end+0..4 +100 * n1 *");
    expect(&scenario(30, ""), &on_n1);
    // Reserved nodes are left out (rec c1457).
    expect(&scenario(15, "reservation r nodes=n2 at=1000 for=9000 users=bob"), &on_n1);
    expect(&scenario(15, ""), &format!("{first} 2 10 1.end+0..4 +100 * n1 *\n 3 20 2.end+0..4 +100 * n1 *"));
}

/// The agent asks reservations for every job that it counts (builtin.c of 22.05.8, `_compute_start_times`): the one that keeps n2 moves the time of
/// which job 4 is asked, though how large job 3 is no node decides in `q`.
#[test]
fn under_builtin_reservations_refuse_jobs_of_known_size_too() {
    for partition in ["p", "q"] {
        expect(
            &format!(
                "node n1 cores=4
                 node n2 cores=4 threads=8
                 partition p
                 partition q nodes=n2
                 set builtin bf_interval=30 multifactor weight_job_size=1000
                 reservation r nodes=n2 at=1000 for=9000 users=bob
                 reservation s nodes=n1 at=18000 for=3600 users=ann
                 job 1 p=p w=n2 n=32 run=900 t=15
                 job 2 p=p w=n1 n=4 run=400 t=20
                 job 3 at=5 p={partition} w=n2 N=1 n=32 exclusive run=100 t=60
                 job 4 at=10 p=p N=1 n=3 run=100 t=20
                 job 5 at=20 p=p w=n1 N=1 n=4 run=100 t=10"
            ),
            "1  0   0..4         +900  COMPLETED  n2  main
             2  0   0..4         +400  COMPLETED  n1  main
             3  5   *            +100  COMPLETED  n2  main
             4  10  2.end+0..4   +100  COMPLETED  n1  main
             5  20  4.end+0..4   +100  COMPLETED  n1  main",
        );
    }
}

/// The agent of sched/builtin plans nobody on what jobs hold that could be preempted (builtin.c of 22.05.8 and 24.11.5, `_compute_start_times`):
/// job 4 is as large as on n1, where a core is eight CPUs, and comes before job 5.
#[test]
fn under_builtin_sizes_know_no_preemption() {
    for version in ["", "version=24.11"] {
        expect(
            &format!(
                "node n1 cores=4 threads=8 weight=10
                 node n2 cores=4 weight=1
                 license seat:1
                 partition low nodes=n2
                 partition high nodes=n1,n2 tier=2
                 set builtin bf_interval=30 preempt=partition preempt_mode=cancel multifactor weight_job_size=1000 {version}
                 job 1 p=low n=4 run=4000 t=100
                 job 2 p=high w=n1 n=32 run=700 t=20
                 job 3 at=5 p=high N=2 n=36 run=100 t=30
                 job 4 at=10 p=high N=1 n=3 run=100 t=10 L=seat:1
                 job 5 at=20 p=high w=n2 N=1 n=4 run=100 t=10 L=seat:1"
            ),
            "1  0   0..4         690..740  PREEMPTED  n2     main
             2  0   0..4         +700      COMPLETED  n1     main
             3  5   2.end+0..35  +100      COMPLETED  n1,n2  main
             4  10  3.end+0..4   +100      COMPLETED  *      main
             5  20  4.end+0..4   +100      COMPLETED  n2     main",
        );
    }
}

/// Recorded (c158): the test made last says how large a job is, in whatever partition. Backfill plans job 2 on t1, which would charge it a core of
/// eight CPUs, and then in q, where no node charges more than it asks for: it stands behind job 3's four.
#[test]
fn a_job_of_two_partitions_is_as_large_as_its_last_test_found() {
    let scenario = |partitions: &str| {
        format!(
            "node m1 cores=4 weight=1
             node t1 cores=1 threads=8 weight=10
             node n1 cores=4
             partition p nodes=m1,t1 tier=2
             partition q nodes=n1
             set bf_interval=30 multifactor weight_job_size=1000
             job 0 p=p w=m1 n=4 run=1900 t=60
             job 1 p=p w=t1 n=8 run=900 t=20
             job 9 p=q n=4 run=400 t=30
             job 2 at=10 p={partitions} N=1 n=3 run=100 t=10
             job 3 at=20 p=q N=1 n=4 run=100 t=10"
        )
    };
    let first = "0 0 0..4 +1900 * m1 *\n 1 0 0..4 +900 * t1 *\n 9 0 0..4 +400 * n1 *\n";
    expect(&scenario("p,q"), &format!("{first} 2 10 3.end+0..34 +100 * n1 *\n 3 20 9.end+0..34 +100 * n1 *"));
    expect(&scenario("q"), &format!("{first} 2 10 3.end+0..34 +100 * n1 *\n 3 20 9.end+0..34 +100 * n1 *"));
}

/// Recorded (aw-topo): so does a job that its test at submission in an EXCLUSIVE partition has made one of whole nodes in all of its own.
#[test]
fn jobs_that_become_ones_of_whole_nodes_grow_with_their_first_test() {
    let scenario = |interval: &str| {
        format!(
            "node n1 cores=8
             partition w nodes=n1 over=exclusive
             partition s nodes=n1
             set bf_interval={interval} multifactor weight_job_size=1000
             job 1 p=s n=8 run=400 t=10
             job 2 at=10 p=w,s n=2 run=100 t=10
             job 3 at=20 p=s n=3 run=100 t=10"
        )
    };
    let first = "1  0  0..34  +400  *  n1  *\n";
    expect(&scenario("off"), &format!("{first} 2 10 3.end+0..4 +100 * n1 *\n 3 20 1.end+0..4 +100 * n1 *"));
    expect(&scenario("30"), &format!("{first} 2 10 1.end+0..34 +100 * n1 *\n 3 20 2.end+0..34 +100 * n1 *"));
}

/// Recorded (s-sel): a job that may have one to three nodes is as large as the least of CPUs that it gets on each of those planned for it.
#[test]
fn a_waiting_job_is_as_large_as_the_least_it_gets_on_each_planned_node() {
    let scenario = "node n[1-3] cores=4
                    set multifactor weight_job_size=1000
                    job 1 N=3 n=12 run=900 t=20
                    job 2 at=10 N=1 n=4 run=100 t=10
                    job 3 at=20 N=1-3 n=3 mincpus=3 run=100 t=10";
    let expected = "1  0   0..4        +900  COMPLETED  n1,n2,n3  *
                    2  10  3.end+0..4  +100  COMPLETED  n1        *
                    3  20  1.end+0..4  +100  COMPLETED  n1,n2,n3  *";
    expect(scenario, expected);
}

/// Queued again, job 1 counts as the CPU that it asks for until it is tested, and then as its whole node (rec w2113): from the next step on it comes
/// before job 3.
#[test]
fn a_requeued_job_of_linear_grows_with_its_first_test() {
    expect(
        "node n1 cores=4
         set select=linear multifactor weight_job_size=1000
         job 1 n=1 runs=50 run=100 t=10
         job 2 at=10 n=1 run=900 t=20
         job 3 at=20 n=1 nice=100 run=100 t=10",
        "1  *   2.end+0..31  +100  COMPLETED  n1  *
         2  10  40..90       +900  COMPLETED  n1  *
         3  20  1.end+0..31  +100  COMPLETED  n1  *",
    );
}

/// Recorded (c1335, w2225): the agent of `sched/builtin` tests job 2 in `fast` alone, but on the nodes of all partitions, so that it counts with all cores of
/// g1's socket, as job 3 does, and stands before it.
#[test]
fn the_agent_of_sched_builtin_looks_at_nodes_of_other_partitions() {
    expect(
        "node n1 cores=8
         node g1 cores=8 gres=gpu:1
         partition batch nodes=n1,g1 tier=2
         partition fast nodes=n1
         set builtin select=socket multifactor weight_job_size=1000
         job 1 p=batch n=1 w=g1 run=900 t=20
         job 2 at=5 p=fast,batch n=1 gres=gpu:1 run=100 t=5
         job 3 at=10 p=batch n=3 w=g1 run=100 t=5",
        "1  0   0..4        +900  COMPLETED  g1  *
         2  5   1.end+0..4  +100  COMPLETED  g1  *
         3  10  2.end+0..4  +100  COMPLETED  g1  *",
    );
}

/// Recorded (c1437): who may preempt others stands before them for the agent of `sched/builtin`, too. It tests one job, which is job 3, though job 2 has
/// the higher priority: so job 3 counts with its socket of eight cores, and stays before job 4.
#[test]
fn the_agent_of_sched_builtin_comes_to_those_first_who_may_preempt() {
    expect(
        "node n1 cores=8
         qos weak
         qos strong preempt=weak
         set builtin select=socket multifactor weight_job_size=1000 bf_interval=30 bf_max_job_test=0 preempt=qos preempt_mode=requeue
         job 1 qos=strong n=8 run=900 t=20
         job 2 at=5 qos=weak n=4 run=100 t=5
         job 3 at=10 qos=strong n=1 run=100 t=5
         job 4 at=200 qos=strong n=3 run=100 t=5",
        "1  0    0..4        +900  COMPLETED  n1  *
         2  5    4.end+0..4  +100  COMPLETED  n1  *
         3  10   1.end+0..4  +100  COMPLETED  n1  *
         4  200  3.end+0..4  +100  COMPLETED  n1  *",
    );
}
