//! Cores, sockets, threads and memory (slurm-semantics 6.3 to 6.6).

use super::{nodes, share_a_node};
use crate::pins::{expect_pinned, fingerprint};
use crate::schedule::{expect, expect_equal_with_every_cycle, run};

#[test]
fn whole_sockets_go_to_tasks_in_turn() {
    // Two tasks take a socket each; three CPUs of one task stay in one, and leave the other to job 3.
    let found = nodes(
        "node n[1-2] cores=8 sockets=2
         set select=socket
         job 1 n=2 run=300
         job 2 at=10 n=1 c=3 run=300
         job 3 at=20 n=4 run=300",
    );
    assert_eq!(found, ["n1", "n2", "n2"]);
}

/// A partition may hand out sockets where the cluster hands out cores (rec at-dep): job 1 has a core of each socket of n1, so job 2 finds no
/// socket there, but job 3 does find five cores.
#[test]
fn a_partition_may_hand_out_whole_sockets() {
    let found = nodes(
        "node n[1-2] cores=8 sockets=2
         partition batch nodes=n[1-2]
         partition whole nodes=n[1-2] sockets
         job 1 n=2 w=n1 run=300
         job 2 at=10 n=1 p=whole run=300
         job 3 at=20 n=5 run=300",
    );
    assert_eq!(found, ["n1", "n2", "n1"]);
}

/// Recorded (y-sock): a job with a GPU is charged its sockets whole, too, whatever of them it needs beside the GPU: four CPUs' memory.
#[test]
fn whole_sockets_go_to_tasks_with_gpus() {
    let found = nodes(
        "node n[1-2] cores=8 sockets=2 memory=6000 gres=gpu:4
         set select=socket memory
         job 1 n=1 N=1 gres=gpu:1 mem_per_cpu=1000 run=300
         job 2 at=10 n=1 mem=3000 run=300",
    );
    assert_eq!(found, ["n1", "n2"]);
}

#[test]
fn a_core_with_its_threads_is_kept_for_every_node_still_needed() {
    // Job 1 takes 8 + 6 + 2 CPUs; so a job of two CPUs finds room on n2, tighter than n3.
    let found = nodes(
        "node n[1-4] cores=4 threads=2
         job 1 N=3 n=16 run=300
         job 2 at=10 n=2 run=300",
    );
    assert_eq!(found, ["n1,n2,n3", "n2"]);
}

/// With CR_Memory nobody counts cores, not even of jobs that take all of a node's.
#[test]
fn where_memory_alone_is_consumed_jobs_of_all_cores_share_a_node() {
    let jobs = |mem: u32| {
        let job = format!("N=1 n=4 per_node=4 mem={mem} run=100 t=10");
        format!("node n1 cores=4 memory=8000\nset select=memory memory\njob 1 {job}\njob 2 {job}")
    };
    share_a_node(&jobs(1000), true);
    share_a_node(&jobs(5000), false);
    expect_equal_with_every_cycle(&jobs(5000), 1);
}

/// `--mincpus`: each node gives as many CPUs, whatever the tasks need.
#[test]
fn least_cpus_of_a_node_are_taken() {
    let found = nodes(
        "node n1 cores=4
         node n2 cores=8
         job 1 n=1 mincpus=4 w=n1 run=300
         job 2 at=10 n=1 run=100",
    );
    assert_eq!(found, ["n1", "n2"]);
}

/// `--tmp`: a node whose `TmpDisk` is known must have as much.
#[test]
fn local_disk_decides_where_it_is_known() {
    let found = nodes(
        "node n1 cores=8 tmp=1000
         node n2 cores=8 tmp=9000
         node n3 cores=8
         job 1 n=1 tmp=1001 run=300
         job 2 at=10 n=8 tmp=9001 run=100
         job 3 at=20 n=8 tmp=1000 run=100",
    );
    assert_eq!(found, ["n2", "n3", "n1"]);
}

#[test]
pub(crate) fn cores_are_shared_out_and_used_once() {
    share_a_node("node n1 cores=4\njob 1 n=2 run=100 t=10\njob 2 n=2 run=100 t=10", true);
    share_a_node("node n1 cores=4\njob 1 n=2 run=100 t=10\njob 2 n=3 run=100 t=10", false);
}

/// Recorded (z-cpu): with CR_CPU, too, no two jobs share a core; but each counts as many CPUs as it asks for.
#[test]
fn a_core_goes_out_with_all_its_threads() {
    let jobs = "job 1 n=1 run=100 t=10\njob 2 n=1 run=100 t=10";
    for unit in ["core", "cpu"] {
        share_a_node(&format!("node n1 cores=1 threads=2\nset select={unit}\n{jobs}"), false);
        share_a_node(&format!("node n1 cores=2 threads=2\nset select={unit}\n{jobs}"), true);
        let limited = "set enforce=limits\nqos normal grp_cpu=3";
        let scenario = format!("node n1 cores=2 threads=2\nset select={unit}\n{limited}\n{jobs}");
        share_a_node(&scenario, unit == "cpu");
    }
}

#[test]
fn with_cr_cpu_memory_goes_out_for_single_cpus() {
    let job = "job 1 n=1 mem_per_cpu=2000 run=100 t=10\njob 2 n=1 mem=1000 run=100 t=10";
    share_a_node(&format!("node n1 cores=4 threads=2 memory=3000\nset select=cpu memory\n{job}"), true);
}

/// With CR_CPU a node's sockets are filled one after the other, the tightest that suffices first: after job 2 only one of n1 has cores.
#[test]
fn with_cr_cpu_the_tightest_socket_is_filled_first() {
    let scenario = |unit: &str| {
        format!(
            "node n[1-2] cores=8 sockets=2
             set select={unit}
             job 1 w=n1 run=300
             job 2 at=10 n=3 w=n1 run=300
             job 3 at=20 n=2 N=1 per_socket=1 run=300"
        )
    };
    assert_eq!(nodes(&scenario("core")), ["n1", "n1", "n1"]);
    assert_eq!(nodes(&scenario("cpu")), ["n1", "n1", "n2"]);
}

#[test]
fn a_socket_goes_out_whole() {
    expect(
        "node n1 cores=4 sockets=2
         set select=socket
         job 1 run=100 t=10
         job 2 run=200 t=10
         job 3 run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  0..4        +200  COMPLETED  n1  *
         3  0  1.end+0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
pub(crate) fn memory_is_shared_out_where_it_is_consumed() {
    let node = "node n1 cores=4 memory=4000";
    let jobs = |first: &str, second: &str| format!("job 1 {first} run=100 t=10\njob 2 {second} run=100 t=10");
    share_a_node(&format!("{node}\nset memory\n{}", jobs("mem=2000", "mem=2000")), true);
    share_a_node(&format!("{node}\nset memory\n{}", jobs("mem=2000", "mem=2001")), false);
    share_a_node(&format!("{node}\nset memory\n{}", jobs("mem_per_cpu=1000 n=2", "mem_per_cpu=1000 n=2")), true);
    share_a_node(&format!("{node}\nset memory\n{}", jobs("mem_per_cpu=1000 n=3", "mem=2000")), false);
    share_a_node(&format!("{node}\nset memory\n{}", jobs("mem=0", "mem=1")), false);
    share_a_node(&format!("{node}\nset memory mem_per_cpu=1000\n{}", jobs("n=2", "n=2")), true);
    share_a_node(&format!("{node}\nset memory mem_per_node=3000\n{}", jobs("n=2", "n=2")), false);
    share_a_node(
        &format!("{node}\npartition p mem_per_cpu=500\nset memory mem_per_node=3000\n{}", jobs("n=2", "n=2")),
        true,
    );
    // Without CR_*_Memory a node only has to be large enough.
    share_a_node(&format!("{node}\n{}", jobs("mem=3000", "mem=3000")), true);
}

/// A core is charged with both of its threads, and so with twice the memory a CPU.
#[test]
fn memory_a_cpu_is_charged_for_every_thread_of_a_core() {
    let node = "node n1 cores=4 threads=2 memory=8000\nset memory";
    share_a_node(&format!("{node}\njob 1 mem_per_cpu=4000 run=100 t=10\njob 2 mem=1 run=100 t=10"), false);
    share_a_node(&format!("{node}\njob 1 mem_per_cpu=2000 run=100 t=10\njob 2 mem=4000 run=100 t=10"), true);
}

#[test]
fn a_partitions_cpus_on_a_node_are_capped_not_the_nodes() {
    expect(
        "node n1 cores=4
         partition a
         partition b max_cpus_per_node=2
         job 1 p=a n=2 run=100 t=10
         job 2 p=b n=1 run=200 t=10
         job 3 p=b n=1 run=300 t=10",
        "1  0  0..4  +100  COMPLETED  n1  *
         2  0  0..4  +200  COMPLETED  n1  *
         3  0  0..4  +300  COMPLETED  n1  *",
    );
    expect(
        "node n1 cores=4
         partition b max_cpus_per_node=2
         job 1 p=b n=2 run=100 t=10
         job 2 p=b n=1 run=200 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +200  COMPLETED  n1  *",
    );
}

#[test]
fn with_cr_memory_alone_cpus_are_shared_without_limit() {
    let scenario = |unit: &str| {
        format!(
            "node n1 cores=4 memory=1000
             set select={unit} memory
             job 1 n=4 mem=400 run=100 t=10
             job 2 n=3 mem=400 run=100 t=10
             job 3 n=1 mem=400 run=100 t=10"
        )
    };
    expect(
        &scenario("core"),
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +100  COMPLETED  n1  *
         3  0  1.end+0..4  +100  COMPLETED  n1  *",
    );
    expect(
        &scenario("memory"),
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  0..4        +100  COMPLETED  n1  *
         3  0  1.end+0..4  +100  COMPLETED  n1  *",
    );
    expect_equal_with_every_cycle(&scenario("memory"), 2);
}

/// Tasks of one CPU go to the sockets in turn, tasks of several fill one socket and then the next; `--ntasks-per-socket` leaves
/// out the first sockets that are not needed. Source: `docs/FACTS.md`, facts 11.
#[test]
fn tasks_of_several_cpus_fill_a_socket() {
    let scenario = |options: &str| {
        format!(
            "node n1 cores=8 sockets=2
             set select=socket
             job 1 {options} run=100 t=10
             job 2 n=1 run=100 t=10"
        )
    };
    let expected =
        |second: &str| format!("1  0  0..4  +100  COMPLETED  n1  *\n 2  0  {second}  +100  COMPLETED  n1  *");
    for (options, second) in [
        ("n=4", "1.end+0..4"),
        ("n=2 c=2", "0..4"),
        ("n=1 c=3", "0..4"),
        ("n=2 c=3", "1.end+0..4"),
        ("n=4 per_socket=4", "0..4"),
    ] {
        expect(&scenario(options), &expected(second));
    }
}

/// Recorded (p-spec): jobs get none of the cores that are kept for the system, whole nodes are charged without them, and who needs more
/// is refused. Job 4 of four tasks finds five cores of socket 0 and four of socket 1.
#[test]
fn cores_kept_for_the_system_serve_nobody() {
    let scenario = |unit: &str, job: &str| {
        format!(
            "node n1 cores=12 sockets=2 spec=1,2
             set select={unit}
             job 1 {job} run=100 t=10
             job 2 at=10 n=1 run=50 t=1"
        )
    };
    let runs = |second: &str| format!("1 0 0..4 +100 COMPLETED n1 *\n 2 10 {second} +50 COMPLETED n1 *");
    expect(&scenario("core", "n=9"), &runs("1.end+0..4"));
    expect(&scenario("core", "n=8"), &runs("10..14"));
    let refused = "1 - - - PENDING - -\n 2 10 10..14 +50 COMPLETED n1 *";
    expect(&scenario("core", "n=10"), refused);
    // With select/linear nobody knows of them (recorded, p-speclin).
    expect(&scenario("linear", "n=12"), &runs("1.end+0..4"));
    let (_, outcome) = run(&scenario("core", "n=1 exclusive"), 1);
    assert_eq!(outcome.records[0].cpus, 9);
}

/// Recorded (p-specsock): with CR_Socket a socket that keeps a core serves nobody.
#[test]
fn a_socket_that_keeps_a_core_serves_nobody() {
    expect(
        "node n1 cores=8 sockets=2 spec=0,1
         node n2 cores=8 sockets=2 spec=1,1
         set select=socket
         job 1 n=4 run=100 t=10
         job 2 n=5 run=100 t=10
         job 3 at=10 n=1 w=n2 run=100 t=10",
        "1  0  0..4  +100  COMPLETED  n1  *
         2  -  -     -     PENDING    -   -
         3  -  -     -     PENDING    -   -",
    );
}

/// Recorded (ax-sock): once a job of the partition has run, the others of its node's sockets serve, too.
#[test]
fn a_socket_that_keeps_a_core_serves_once_a_job_of_the_partition_has_run() {
    expect(
        "node n1 cores=8 sockets=2 spec=0,1
         set select=socket
         job 1 n=4 run=100 t=10
         job 2 at=10 n=3 run=50 t=10",
        "1  0   0..4    +100  COMPLETED  n1  *
         2  10  10..14  +50   COMPLETED  n1  *",
    );
}

/// Recorded (w2235): no row shares it, though, while a job of the partition has it. Job 3 shares socket 0 with job 1, job 4 cannot share socket 1 with
/// job 2.
#[test]
fn a_socket_that_keeps_a_core_is_shared_with_nobody() {
    let scenario = |spec: &str| {
        format!(
            "node n1 cores=8 sockets=2 {spec}
             partition p over=force:2
             set select=socket
             job 1 n=1 run=300 t=10
             job 2 at=10 n=1 run=400 t=10
             job 3 at=20 n=1 run=400 t=10
             job 4 at=30 n=1 run=50 t=10"
        )
    };
    let first = "1 0 0..4 +300 COMPLETED n1 *\n 2 10 10..14 +400 COMPLETED n1 *\n 3 20 20..24 +400 COMPLETED n1 *";
    expect(&scenario("spec=0,1"), &format!("{first}\n 4 30 1.end+0..4 +50 COMPLETED n1 *"));
    expect(&scenario(""), &format!("{first}\n 4 30 30..34 +50 COMPLETED n1 *"));
}

/// Recorded (w2224): a start of whole nodes tests all cores, too, of the nodes that are idle: there two of n1 and n2 are too few, as sockets that keep a
/// core serve nobody in that test.
#[test]
fn a_start_of_whole_nodes_tests_all_cores_of_idle_ones() {
    let scenario = |spec: &str| {
        format!(
            "node n[1-3] cores=4 sockets=2 {spec}
             set select=socket
             job 1 w=n3 n=1 run=300 t=10
             job 2 at=10 N=1-3 n=5 exclusive run=50 t=10"
        )
    };
    expect(&scenario("spec=0,1"), "1 0 0..4 +300 COMPLETED n3 *\n 2 10 1.end+0..4 +50 COMPLETED n1,n2,n3 *");
    expect(&scenario(""), "1 0 0..4 +300 COMPLETED n3 *\n 2 10 10..14 +50 COMPLETED n1,n2 *");
}

/// Recorded (s-sel): where nodes must stand side by side, a run weighs what its last node weighs: the larger run of heavy nodes is
/// not taken for the better one, though it is too small.
#[test]
fn contiguous_nodes_are_the_lighter_run_though_a_heavier_has_more_cpus() {
    let scenario = "node n[1-3] cores=4 weight=1
                    node n4 cores=2 weight=1
                    node m[1-2] cores=16 weight=10
                    job 1 n=2 w=n4 run=900
                    job 2 at=5 N=3 n=9 contiguous run=300";
    expect(scenario, "1  0  0..4  +900  COMPLETED  n4  *\n2  5  5..9  +300  COMPLETED  n1,n2,n3  *");
}

/// Recorded (s-sel): tasks go round the nodes as many at a time as a core has threads; job 1 gets 6, 6 and 12 of the CPUs on offer (7, 6
/// and 12), so one is left on n1.
#[test]
fn nodes_with_threads_get_a_core_of_tasks_a_round() {
    let scenario = "node n1 cores=7 weight=1
                    node n2 cores=6 weight=3
                    node t1 cores=6 threads=2 weight=2
                    job 1 N=3 n=24 mincpus=6 run=300
                    job 2 at=10 n=1 run=300";
    expect(scenario, "1  0  0..4  +300  COMPLETED  n1,n2,t1  *\n2  10  10..14  +300  COMPLETED  n1  *");
}

/// Recorded (s-sel): `--mincpus`, and what `MaxMemPerCPU` makes of a node's memory, is not held against what `MaxCPUsPerNode` leaves, so
/// job 3 goes to n1, the tighter; for a job's own tasks it must suffice.
#[test]
fn the_least_of_cpus_is_not_held_against_the_cap_of_the_partition() {
    let found = nodes(
        "node n[1-2] cores=16
         partition p nodes=n[1-2] max_cpus_per_node=8
         job 1 n=6 w=n1 run=900
         job 2 at=5 n=4 N=1 w=n2 run=900
         job 3 at=10 n=1 N=1 mincpus=4 run=300
         job 4 at=15 n=4 N=1 run=300",
    );
    assert_eq!(found, ["n1", "n2", "n1", "n2"]);
}

/// Recorded (t-core): with memory by the node, CPUs that make no whole task count where nodes are chosen (7, 7 and 6 of them); the last two
/// of five tasks, which find their four CPUs nowhere, have what is left of the first nodes, and n3 gives four.
#[test]
fn tasks_that_fit_nowhere_have_what_is_left() {
    let scenario = "node n[1-2] cores=7
                    node n3 cores=10
                    job 1 n=5 c=4 mem=10 run=300
                    job 2 at=10 n=6 N=1 run=300";
    expect(scenario, "1  0  0..4  +300  COMPLETED  n1,n2,n3  *\n2  10  10..14  +300  COMPLETED  n3  *");
}

/// Recorded (t-cpu): a job of one CPU uses a core of two threads, and both count towards `MaxCPUsPerNode`, though CR_CPU charges one.
#[test]
fn threads_that_cpus_leave_unused_count_towards_the_cap() {
    let scenario = "node n1 cores=4 threads=2
                    partition p nodes=n1 max_cpus_per_node=4
                    set select=cpu
                    job 1 n=1 run=300
                    job 2 at=10 n=3 run=300";
    expect(scenario, "1  0  0..4  +300  COMPLETED  n1  *\n2  10  1.end+0..4  +300  COMPLETED  n1  *");
}

/// Recorded (t-core): the CPUs that a node's memory asks for are looked for among all free ones, not among those of two tasks a socket.
#[test]
fn the_least_of_cpus_is_not_held_against_tasks_per_socket() {
    let scenario = "node n1 cores=8 sockets=2 memory=32000
                    set select=core memory max_mem_per_cpu=4000
                    job 1 N=1 n=4 per_socket=2 mem=24000 run=300";
    expect(scenario, "1  0  0..4  +300  COMPLETED  n1  *");
}

/// Recorded (c1017): whole nodes, too, are tested without the socket that keeps a core: eight CPUs of fifteen.
#[test]
fn whole_nodes_have_the_sockets_that_keep_no_core() {
    let found = |tasks: u32| {
        nodes(&format!(
            "node n1 cores=16 sockets=2 spec=0,1
             partition p over=exclusive
             set select=socket
             job 1 n={tasks} run=50"
        ))
    };
    assert_eq!(found(8), ["n1"]);
    assert_eq!(found(9), ["-"]);
}

/// Recorded (c1021): the CPUs that a node's memory asks for come with the tasks that it may have, so a single task of two CPUs gets eight.
#[test]
fn cpus_of_memory_come_with_the_tasks_of_a_node() {
    let scenario = "node n1 cores=12 memory=48000
                    set select=core memory max_mem_per_cpu=3000
                    job 1 n=1 c=2 per_node=2 mem=24000 run=300
                    job 2 at=10 n=5 mem=500 run=100";
    expect(scenario, "1  0  0..4  +300  COMPLETED  n1  *\n2  10  1.end+0..4  +100  COMPLETED  n1  *");
}

/// Recorded (c1021): CPUs that the memory of a CPU makes of a task's are not owed to each node, so that two of three tasks get one of their two.
#[test]
fn cpus_of_memory_are_not_owed_to_each_node() {
    let scenario = "node n[1-3] cores=12 memory=48000
                    set select=core memory max_mem_per_cpu=3000
                    job 1 N=3 n=3 mem_per_cpu=5000 run=300
                    job 2 at=10 N=1 n=11 mem=500 run=100
                    job 3 at=20 N=1 n=11 mem=500 run=100";
    let expected = "1  0  0..4  +300  COMPLETED  n1,n2,n3  *
                    2  10  10..14  +100  COMPLETED  n2  *
                    3  20  20..24  +100  COMPLETED  n3  *";
    expect(scenario, expected);
}

/// Recorded (ay-share): whose tasks leave something of that is held, and whoever waits behind it goes on.
#[test]
fn who_cannot_be_laid_out_over_sockets_is_held() {
    let scenario = "node n1 cores=8 sockets=2 memory=32000
                    set select=core memory max_mem_per_cpu=4000
                    job 1 N=1 n=2 per_socket=2 mem=24000 run=300
                    job 2 n=8 run=100";
    expect(scenario, "1  0  -  -  PENDING  -  -\n2  0  0..64  +100  COMPLETED  n1  *");
}

/// Recorded (t-cpu): `--exclusive=user` serves as a job of whole nodes where `MaxCPUsPerNode` is told: n1 has more CPUs than that.
#[test]
fn a_node_of_more_cpus_than_the_cap_serves_no_job_that_is_exclusive_to_its_user() {
    let found = nodes(
        "node n1 cores=8 weight=1
         node n2 cores=4 weight=5
         partition p nodes=n[1-2] max_cpus_per_node=6
         job 1 n=1 exclusive=user run=300
         job 2 at=10 n=1 run=300",
    );
    assert_eq!(found, ["n2", "n1"]);
}

/// Recorded (t-sock): with CR_Socket tasks of one CPU go round the sockets, each charged whole; memory of all those CPUs is asked for when
/// the job would start, not when its plan is made: n1 stays planned for job 1, and empty, as long as it waits.
#[test]
fn memory_of_whole_sockets_is_asked_for_at_the_start_alone() {
    let scenario = "node n1 cores=8 sockets=2 memory=10000
                    set select=socket memory
                    job 1 n=2 N=1 mem_per_cpu=2000 run=300 t=10
                    job 2 at=10 n=1 mem_per_cpu=10 run=300 t=10";
    let found = run(scenario, 1).1;
    expect_pinned(scenario, fingerprint(&found));
}

/// Recorded (ay-tier): `--overcommit` with fewer tasks than the partition's `MinNodes`: the second node has no task, and none of its memory is
/// taken (`dist_tasks_compute_c_b`, `job_res_add_job`).
#[test]
fn a_node_without_a_task_holds_nothing() {
    let text = |overcommit: &str| {
        format!(
            "node n[1-2] cores=4 memory=4000
             set select=core memory
             job 1 n=1 N=2 mem_per_cpu=3000 run=300 {overcommit}
             job 2 at=40 n=1 mem_per_cpu=3000 run=300"
        )
    };
    expect(
        &text("overcommit=1"),
        "1  *  0..31   +300  COMPLETED  n1,n2  *
         2  *  40..71  +300  COMPLETED  n2     *",
    );
    expect(
        &text(""),
        "1  *  0..31     +300  COMPLETED  n1,n2  *
         2  *  300..375  +300  COMPLETED  *      *",
    );
}

/// Recorded (t7, t8): a node whose sockets have fewer CPUs than tasks are to run on each serves nobody, however few CPUs they need of it; CPUs a
/// task do not count. Backfill, which looks at more nodes, does not take it either (w2015).
#[test]
fn sockets_with_fewer_cpus_than_their_tasks_serve_nobody() {
    let scenario = |asked: &str| {
        format!(
            "node f[1-2] cores=8 sockets=8
             node k1 cores=8 sockets=4 weight=9
             set bf_interval=30
             job 1 n=4 c=2 {asked} run=100 t=5"
        )
    };
    let on = |node: &str| format!("1 0 0..34 +100 * {node} *");
    expect(&scenario("per_socket=2"), &on("k1"));
    expect(&scenario("per_socket=1"), &on("f1"));
    expect(&scenario("per_socket=3"), "1 - - - PENDING - -");
    expect_equal_with_every_cycle(&scenario("per_socket=2"), 3);
}

/// Recorded (c1315): with select/cons_res the tasks of `--overcommit` take the CPUs of the nodes, of which each gives one task's: job 2 finds the rest.
#[test]
fn overcommitted_tasks_of_several_cpus_take_those_of_one_on_each_node() {
    let scenario = "node n[1-2] cores=4
                    set select=cons_res
                    job 1 N=2 n=2 c=2 overcommit=14 run=300
                    job 2 at=10 N=2 n=4 run=100";
    expect(scenario, "1  0  0..4  +300  COMPLETED  n1,n2  *\n2  10  10..14  +100  COMPLETED  n1,n2  *");
}
