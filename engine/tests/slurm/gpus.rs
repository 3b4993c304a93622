//! CPUs and memory that come with GPUs (slurm-semantics 6.4, 6.5; slurm.conf(5) `DefCpuPerGPU`, `DefMemPerGPU`).

use crate::schedule::{expect, expect_equal_with_every_cycle};

/// Two jobs of two GPUs on eight cores: with four CPUs a GPU they do not share the node.
fn two_jobs(settings: &str, options: &str) -> String {
    format!(
        "node n1 cores=8 memory=8000 gres=gpu:4
         {settings}
         job 1 gres=gpu:2 run=100 t=10 {options}
         job 2 n=1 run=100 t=10"
    )
}

const TOGETHER: &str = "1  0  0..4  +100  COMPLETED  n1  *
                        2  0  0..4  +100  COMPLETED  n1  *";
const APART: &str = "1  0  0..4        +100  COMPLETED  n1  *
                     2  0  1.end+0..4  +100  COMPLETED  n1  *";

#[test]
fn gpus_bring_cpus_by_default() {
    expect(&two_jobs("", ""), TOGETHER);
    expect(&two_jobs("set cpus_per_gpu=3", ""), TOGETHER);
    expect(&two_jobs("set cpus_per_gpu=4", ""), APART);
    // The partition's default goes first.
    expect(&two_jobs("partition p cpus_per_gpu=4\nset cpus_per_gpu=3", ""), APART);
    expect(&two_jobs("partition p cpus_per_gpu=3\nset cpus_per_gpu=4", ""), TOGETHER);
}

/// n2 has two cores left and n1 six. A node offers a job with a GPU no more than it needs, so none is tighter and the first is taken.
#[test]
fn nodes_are_equally_tight_for_who_asks_for_gpus() {
    let scenario = |setting: &str| {
        format!(
            "node n[1-2] cores=8 gres=gpu:4
             set {setting}
             job 1 n=6 w=n2 run=500 t=10
             job 2 n=2 w=n1 run=500 t=10
             job 3 at=10 N=1 n=1 gres=gpu:1 run=100 t=10"
        )
    };
    let of = |node: &str| {
        format!("1  0  0..4  *  *  n2  *\n 2  0  0..4  *  *  n1  *\n 3  10  10..14  +100  COMPLETED  {node}  *")
    };
    expect(&scenario("bf_interval=30"), &of("n1"));
    expect(&scenario("select=cons_res"), &of("n2"));
}

/// n1 has eight cores left, n2 seven: a task of three cores leaves more of n1 idle, though as many tasks fit on both.
#[test]
fn what_tasks_leave_over_counts_where_nodes_are_compared() {
    expect(
        "node n[1-2] cores=8
         job 1 n=1 w=n2 run=500 t=10
         job 2 at=10 n=2 N=1 c=3 run=100 t=10",
        "1  0   0..4    +500  COMPLETED  n2  *
         2  10  10..14  +100  COMPLETED  n2  *",
    );
}

#[test]
fn who_asks_for_cpus_gets_those() {
    expect(&two_jobs("set cpus_per_gpu=4", "c=2"), TOGETHER);
    expect(&two_jobs("set cpus_per_gpu=4", "cpus_per_gpu=1"), TOGETHER);
    expect(&two_jobs("", "cpus_per_gpu=4"), APART);
}

#[test]
fn gpus_bring_memory_by_default() {
    let jobs = |settings: &str, mem: &str| two_jobs(&format!("set memory mem_per_cpu=100 {settings}"), mem);
    expect(&jobs("", ""), TOGETHER);
    expect(&jobs("mem_per_gpu=3950", ""), TOGETHER);
    expect(&jobs("mem_per_gpu=4000", ""), APART);
    expect(&jobs("mem_per_gpu=4000", "mem=100"), TOGETHER);
}

#[test]
fn select_linear_knows_no_defaults_of_gpus() {
    expect(&two_jobs("set select=linear cpus_per_gpu=9", ""), APART);
}

/// What real Slurm did with these jobs on four nodes of two sockets, two GPUs near each. Jobs of one node offer just their
/// tasks' CPUs wherever they fit near a GPU, so the first such node gets them: job 2 the GPU that job 1 left, job 7 not
/// the one on g2, whose socket job 5 has filled.
#[test]
fn cores_near_gpus_go_with_them() {
    expect(
        "node g[1-4] cores=12 sockets=2 gres=gpu:4 near=2,2
         job 1 at=0 n=6 N=1 gres=gpu:3 run=900 t=20
         job 2 at=20 n=4 N=1 gres=gpu:1 run=900 t=20
         job 3 at=40 n=1 N=1 gres=gpu:2 run=900 t=20
         job 4 at=60 n=11 N=1 gres=gpu:3 run=900 t=20
         job 5 at=80 n=8 N=2 gres=gpu:1 run=900 t=20
         job 7 at=120 n=4 N=1 gres=gpu:1 run=900 t=20
         job 8 at=140 n=2 N=1 gres=gpu:1 run=900 t=20",
        "1  0    0..4      +900  COMPLETED  g1     *
         2  20   20..24    +900  COMPLETED  g1     *
         3  40   40..44    +900  COMPLETED  g2     *
         4  60   60..64    +900  COMPLETED  g3     *
         5  80   80..84    +900  COMPLETED  g2,g4  *
         7  120  120..124  +900  COMPLETED  g4     *
         8  140  140..144  +900  COMPLETED  g4     *",
    );
}

/// Job 2 has three cores near the GPU that is left, and takes one of the other socket; or none, and starts all the same.
#[test]
fn cores_far_from_gpus_serve_where_near_ones_do_not_suffice() {
    expect(
        "node g1 cores=6 sockets=2 gres=gpu:2 near=1,1
         job 1 at=0 n=2 N=1 gres=gpu:1 run=900 t=20
         job 2 at=20 n=4 N=1 gres=gpu:1 run=900 t=20",
        "1  0   0..4    +900  COMPLETED  g1  *
         2  20  20..24  +900  COMPLETED  g1  *",
    );
    expect(
        "node g1 cores=2 sockets=2 gres=gpu:2 near=2,0
         job 1 at=0 n=1 run=900 t=20
         job 2 at=20 n=1 gres=gpu:1 run=900 t=20",
        "1  0   0..4    +900  COMPLETED  g1  *
         2  20  20..24  +900  COMPLETED  g1  *",
    );
}

/// Eight cores near one GPU are on neither node: each offers the eight that the job needs, so that g2, which is fuller, is no tighter.
/// Source: `docs/FACTS.md`, facts 59.
#[test]
fn nodes_are_equally_tight_for_who_takes_far_cores() {
    expect(
        "node g[1-2] cores=12 sockets=2 gres=gpu:4 near=2,2
         job 1 n=4 w=g2 run=900 t=20
         job 2 at=20 N=1 n=8 gres=gpu:1 run=900 t=20",
        "1  0   0..4    +900  COMPLETED  g2  *
         2  20  20..24  +900  COMPLETED  g1  *",
    );
}

/// Three tasks on a node of four GPUs are near all of these: eight cores of the four tasks that it could have, four of each socket. Two
/// tasks go to the first, so that job 2 does not find its five cores near the GPU that is left. Source: `docs/FACTS.md`, facts 59.
#[test]
fn tasks_with_gpus_are_near_as_many_as_there_could_be() {
    expect(
        "node g1 cores=12 sockets=2 gres=gpu:4 near=2,2 weight=1
         node g2 cores=12 sockets=2 gres=gpu:4 near=2,2 weight=5
         job 1 n=3 c=2 gpus_per_task=1 run=900 t=20
         job 2 at=20 N=1 n=5 gres=gpu:1 run=900 t=20",
        "1  0   0..4    +900  COMPLETED  g1  *
         2  20  20..24  +900  COMPLETED  g2  *",
    );
}

/// Job 3's test makes g1 and g2 lighter than a1, and nobody looks for a start before the next cycle: there job 2's plan takes
/// these two instead of the first two, and a1 is free for job 4. Source: `docs/FACTS.md`, facts 20.
#[test]
fn a_test_for_gpus_leaves_nodes_lighter() {
    expect(
        "node a1 cores=4
         node g[1-2] cores=4 gres=gpu:1
         job 1 N=2 n=8 w=g1,g2 run=590 t=10
         job 2 at=10 N=2 n=8 run=100 t=10
         job 3 at=20 N=2 n=8 gres=gpu:1 run=100 t=10
         job 4 at=30 n=4 run=900 t=30",
        "1  0   0..4        +590  COMPLETED  g1,g2  *
         2  10  1.end+0..4  +100  COMPLETED  g1,g2  *
         3  20  2.end+0..4  +100  COMPLETED  g1,g2  *
         4  30  30..135     +900  COMPLETED  a1     backfill",
    );
    // Whoever asks for no GPU weighs all nodes alike: without job 3 a1 is planned for job 2.
    expect(
        "node a1 cores=4
         node g[1-2] cores=4 gres=gpu:1
         job 1 N=2 n=8 w=g1,g2 run=590 t=10
         job 2 at=10 N=2 n=8 run=100 t=10
         job 4 at=30 n=4 run=900 t=30",
        "1  0   0..4        +590  COMPLETED  g1,g2  *
         2  10  1.end+0..4  +100  COMPLETED  a1,g1  *
         4  30  1.end+0..4  +900  COMPLETED  g2     *",
    );
}

/// What runs on a1 ends in one group with what runs on g1, so job 3 is planned when both have ended, and job 4 fits in before
/// it; where a1 is too small for job 3, it is planned when g1 is free. Source: `docs/FACTS.md`, facts 21.
#[test]
fn nodes_without_the_gpus_count_in_the_test_of_when_but_not_those_too_small() {
    let scenario = |memory: u32| {
        format!(
            "node a1 cores=4 memory={memory}
             node g[1-2] cores=4 memory=4000 gres=gpu:1
             boot 300
             job 1 at=30 n=4 w=g1 run=590 t=10
             job 2 at=80 n=4 w=a1 run=590 t=10
             job 3 at=85 N=2 n=8 gres=gpu:1 mem=2000 run=100 t=10
             job 4 at=85 n=4 x=a1 run=100 t=9"
        )
    };
    let expected = |start: &str, by: &str| {
        format!(
            "1  30  30..34      +590  COMPLETED  g1     *
             2  80  80..84      +590  COMPLETED  a1     *
             3  85  1.end+0..4  +100  COMPLETED  g1,g2  *
             4  85  {start}     +100  COMPLETED  *      {by}"
        )
    };
    expect(&scenario(4000), &expected("85..117", "backfill"));
    expect(&scenario(1000), &expected("3.end+0..4", "*"));
}

/// Recorded (y-gpu, job 12): GPUs of tasks come from as many nodes as it takes, the lighter first: one of h1, two of g1, one of g2.
#[test]
fn gpus_of_tasks_come_from_several_nodes() {
    expect(
        "node h1 cores=4 weight=1 gres=gpu:2
         node g[1-2] cores=8 weight=2 gres=gpu:4
         job 1 gres=gpu:1 w=h1 run=500 t=10
         job 2 gres=gpu:2 w=g1 run=500 t=10
         job 3 gres=gpu:2 w=g2 run=500 t=10
         job 4 at=10 n=4 gpus_per_task=1 run=100 t=10
         job 5 at=20 gres=gpu:1 w=g2 run=100 t=10
         job 6 at=30 gres=gpu:1 w=g1 run=100 t=10",
        "1  0   0..4        *     *          h1        *
         2  0   0..4        *     *          g1        *
         3  0   0..4        *     *          g2        *
         4  10  10..14      +100  COMPLETED  h1,g1,g2  *
         5  20  20..24      +100  COMPLETED  g2        *
         6  30  4.end+0..4  +100  COMPLETED  g1        *",
    );
}

/// `--gpus`: two of the first node and one of the second; a limit counts three, not three a node.
#[test]
fn gpus_of_a_job_come_from_several_nodes() {
    let scenario = |limit: &str| {
        format!(
            "node n[1-2] cores=4 gres=gpu:2
             set enforce=limits
             qos normal {limit}
             job 1 N=2 n=2 gpus=3 run=100 t=10
             job 2 at=10 gres=gpu:1 run=50 t=1"
        )
    };
    let of = |start: &str| format!("1 0 0..4 +100 COMPLETED n1,n2 *\n 2 10 {start} +50 COMPLETED n2 *");
    expect(&scenario(""), &of("10..14"));
    expect(&scenario("grp_gpu=4"), &of("10..14"));
}

/// While nodes are busy, GPUs of tasks count as what an idle node has (four): job 2 is at the limit, and so does not keep the main
/// scheduler from job 3. Planned, they count as asked for (two), and job 2 starts.
#[test]
fn gpus_of_tasks_are_counted_otherwise_while_nodes_are_busy() {
    let scenario = |limit: &str| {
        format!(
            "node g1 cores=8 gres=gpu:4
             node n1 cores=8
             set enforce=limits
             qos normal {limit}
             job 1 n=8 w=g1 run=300 t=10
             job 2 at=10 n=2 gpus_per_task=1 run=100 t=10
             job 3 at=11 n=1 w=n1 run=100 t=60"
        )
    };
    let of = |start: &str, by: &str| {
        format!(
            "1 0 0..4 +300 COMPLETED g1 *\n 2 10 300..340 +100 COMPLETED g1 *\n 3 11 {start} +100 COMPLETED n1 {by}"
        )
    };
    expect(&scenario("grp_gpu=3"), &of("11..15", "main"));
    expect(&scenario(""), &of("11..45", "backfill"));
}

/// Tasks bring their GPUs' CPUs, and no more GPUs come with CPUs that `--ntasks-per-node` or `--mincpus` adds: job 2 has the rest.
#[test]
fn as_many_gpus_come_as_there_are_tasks() {
    let one_by_one = |job: &str, rest: &str| {
        expect(
            &format!(
                "node n[1-2] cores=16 gres=gpu:4
                 job 1 {job} run=100 t=10
                 job 2 at=10 {rest} run=100 t=10"
            ),
            "1  0   0..4    +100  COMPLETED  *  *
             2  10  10..14  +100  COMPLETED  *  *",
        );
    };
    one_by_one("n=8 gpus_per_task=1 cpus_per_gpu=3", "n=1");
    one_by_one("n=2 gpus_per_task=1 cpus_per_gpu=4 w=n1", "N=1 n=1 gres=gpu:4");
    one_by_one("n=2 per_node=4 gpus_per_task=1 w=n1", "N=2 n=2 gres=gpu:2");
    one_by_one("N=2 n=2 mincpus=4 gpus_per_task=1", "N=2 n=2 gres=gpu:3");
}

/// The last node must bring all that lacks; nodes with few CPUs and GPUs are left out when they stand in the way. Under `bf_busy_nodes`
/// five of six GPUs do not do.
#[test]
fn the_last_node_brings_the_gpus_that_lack() {
    expect(
        "node a[1-2] cores=4 weight=1 gres=gpu:1
         node h1 cores=4 weight=2 gres=gpu:4
         job 1 n=2 gpus=4 run=100 t=10",
        "1  0  0..4  +100  COMPLETED  *  *",
    );
    expect(
        "node n[1-2] cores=4 gres=gpu:4
         set bf_busy_nodes
         job 1 gres=gpu:3 w=n1 run=590 t=10
         job 2 gres=gpu:3 w=n2 run=2990 t=50
         job 3 at=10 N=2 n=2 gpus=6 run=100 t=10
         job 4 at=20 n=3 w=n1 run=1000 t=20",
        "1  0   0..4    *     *          n1     *
         2  0   0..4    *     *          n2     *
         3  10  2.end+0..9 +100  COMPLETED  n1,n2  *
         4  20  20..70  *     *          n1     *",
    );
}

/// Recorded (p-gpus, jobs 26, 9 and 30): who counts GPUs alone gets them from as many nodes as it takes, tasks from as many as there are. Each node
/// gives all that it has, but for one for each node after it: three of g1, one of v1 and v2.
#[test]
fn gpus_alone_come_from_as_many_nodes_as_it_takes() {
    let scenario = |job: &str, rest: &str| {
        format!(
            "node g1 cores=16 weight=2 gres=gpu:4
             node v[1-2] cores=12 weight=1 gres=gpu:2
             job 1 {job} run=100 t=10
             job 2 at=10 gres=gpu:{rest} run=50 t=1"
        )
    };
    let of = |on: &str, beside: &str| format!("1 0 0..4 +100 COMPLETED {on} *\n 2 10 10..14 +50 COMPLETED {beside} *");
    expect(&scenario("n=0 gpus=5", "1 w=g1"), &of("g1,v1,v2", "g1"));
    expect(&scenario("n=0 gpus=5", "1 w=v1"), &of("g1,v1,v2", "v1"));
    expect(&scenario("N=2 n=4 gpus=3", "1 w=v2"), &of("v1,v2", "v2"));
    expect(&scenario("n=2 gpus=6", "2 w=v2"), &of("g1,v1", "v2"));
}

/// Recorded (p-gpus, jobs 3 and 54): with `--cpus-per-gpu` its CPUs go round the nodes, and GPUs go where their CPUs are: two of each node,
/// and where a node has no two, the first has one more.
#[test]
fn gpus_go_where_their_cpus_are() {
    let scenario = |held: &str, rest: u32| {
        format!(
            "node g1 cores=16 weight=2 gres=gpu:4
             node v[1-2] cores=12 weight=1 gres=gpu:2
             job 1 gres=gpu:1 {held} run=500 t=10
             job 2 at=10 n=0 gpus=6 cpus_per_gpu=2 run=100 t=10
             job 3 at=20 gres=gpu:{rest} w=g1 run=50 t=1"
        )
    };
    let of = |start: &str| {
        format!(
            "1  0   0..4    +500  COMPLETED  *  *
             2  10  10..14  +100  COMPLETED  g1,v1,v2  *
             3  20  {start} +50   COMPLETED  g1  *"
        )
    };
    expect(&scenario("w=v1", 1), &of("20..24"));
    expect(&scenario("w=v1", 2), &of("2.end+0..4"));
    expect(&scenario("w=g1", 1), &of("20..24"));
}

/// Recorded (q-gpu, job 10): of nodes that weigh the same those are preferred that have more of the GPUs that all tasks need.
#[test]
fn nodes_with_more_gpus_for_its_tasks_are_preferred() {
    expect(
        "node g[1-2] cores=16 gres=gpu:4
         job 1 gres=gpu:2 w=g1 run=500 t=10
         job 2 at=10 n=3 gpus_per_task=1 run=100 t=10",
        "1  0   0..4    *     *          g1  *
         2  10  10..14  +100  COMPLETED  g2  *",
    );
}

/// Recorded (q-gpu, job 46): a node offers a job of one task a node just the CPUs of the GPUs it needs there, so g1 is as tight as g2.
#[test]
fn nodes_are_equally_tight_for_one_task_a_node_with_gpus() {
    expect(
        "node g[1-2] cores=16 weight=2 gres=gpu:4
         node v1 cores=12 weight=1 gres=gpu:4
         job 1 n=2 w=g2 run=500 t=10
         job 2 at=10 N=2 n=2 gres=gpu:2 cpus_per_gpu=2 run=100 t=10",
        "1  0   0..4    *     *          g2     *
         2  10  10..14  +100  COMPLETED  g1,v1  *",
    );
}

/// Recorded (q-gpu, jobs 46 and 44): from its first plan on a job is as large as its GPUs' CPUs make it. Job 3 asks for more CPUs
/// than job 4 says it wants, but job 4's GPUs bring eight.
#[test]
fn gpus_make_waiting_jobs_larger() {
    expect(
        "node g1 cores=16 gres=gpu:4
         set multifactor weight_job_size=1000
         job 1 n=16 gres=gpu:4 run=900 t=20
         job 3 at=10 n=4 gres=gpu:3 run=100 t=10
         job 4 at=10 n=1 gres=gpu:4 cpus_per_gpu=2 run=100 t=10",
        "1  0   0..4        *     *          g1  *
         3  10  4.end+0..4  +100  COMPLETED  g1  *
         4  10  1.end+0..4  +100  COMPLETED  g1  *",
    );
}

/// Recorded (v-gpu): cores near the GPUs of a whole job are those of as many sockets as have all of them, so g2, of which less is free, is
/// the tighter.
#[test]
fn sockets_are_near_until_they_have_the_gpus_of_the_whole_job() {
    expect(
        "node g[1-2] cores=12 sockets=2 gres=gpu:4 near=2,2
         job 1 n=2 N=1 w=g2 gres=gpu:1 run=900 t=20
         job 2 at=10 n=4 gpus=3 run=100 t=10",
        "1  0   0..4    +900  COMPLETED  g2  *
         2  10  10..14  +100  COMPLETED  g2  *",
    );
}

/// `--gres-flags=enforce-binding`: a GPU near no free core is none, so that job 2 waits for who has those cores; a far one serves who does not
/// say so.
#[test]
fn bound_gpus_need_cores_near_them() {
    let scenario = |options: &str| {
        format!(
            "node g1 cores=4 sockets=2 gres=gpu:2 near=2,0
             job 1 at=0 n=2 N=1 gres=gpu:1 run=900 t=20
             job 2 at=20 n=1 N=1 gres=gpu:1 run=100 t=10 {options}"
        )
    };
    expect(&scenario(""), "1  0  0..4  +900  COMPLETED  g1  *\n 2  20  20..24  +100  COMPLETED  g1  *");
    expect(
        &scenario("enforce_binding"),
        "1  0  0..4  +900  COMPLETED  g1  *\n 2  20  1.end+0..4  +100  COMPLETED  g1  *",
    );
}

/// Tasks of two CPUs and bound GPUs on two nodes: all cores near them that tasks could have are the job's, as far as they were left to it, so that it
/// has five of g1, where one is kept for g2. Without, four are left there (rec az-gpu2, job 109).
#[test]
fn bound_gpus_bring_the_cores_near_them() {
    let scenario = |options: &str| {
        format!(
            "node g[1-2] cores=8 sockets=2 gres=gpu:2 near=1,1
             job 1 n=3 N=2 c=2 gres=gpu:2 run=900 t=20 {options}
             job 2 at=20 n=4 N=1 w=g1 run=100 t=10"
        )
    };
    let of = |start: &str| format!("1  0  0..4  +900  COMPLETED  g1,g2  *\n 2  20  {start}  +100  COMPLETED  g1  *");
    expect(&scenario(""), &of("20..24"));
    expect(&scenario("enforce_binding"), &of("1.end+0..4"));
}

/// A job of one CPU gets the GPUs that it counts as a whole from one socket: those of g1 are two, but of two sockets
/// (cons_common/job_test.c of 22.05.8, `_socks_per_node`).
#[test]
fn bound_gpus_of_one_cpu_are_of_one_socket() {
    let scenario = |options: &str| {
        format!(
            "node g1 cores=4 sockets=2 gres=gpu:2 near=1,1 weight=1
             node g2 cores=4 sockets=2 gres=gpu:4 near=2,2 weight=5
             job 1 n=1 N=1 gpus=2 run=100 t=10 {options}"
        )
    };
    expect(&scenario(""), "1  0  0..4  +100  COMPLETED  g1  *");
    expect(&scenario("enforce_binding"), "1  0  0..4  +100  COMPLETED  g2  *");
}

/// `--ntasks-per-gpu`: a node has room for all tasks of a job that asks for no nodes, near each GPU for its own. g1 has cores for three.
#[test]
fn nodes_have_room_for_the_tasks_of_their_gpus() {
    let scenario = |options: &str| {
        format!(
            "node g1 cores=3 gres=gpu:2 weight=1
             node g2 cores=4 gres=gpu:2 weight=5
             job 1 n=4 gpus=2 run=100 t=10 {options}"
        )
    };
    expect(&scenario(""), "1  0  0..4  +100  COMPLETED  g1,g2  *");
    expect(&scenario("ntasks_per_gpu=2"), "1  0  0..4  +100  COMPLETED  g2  *");
}

/// A node without a task holds no GRES (`--overcommit`), and `--ntasks-per-gpu` may make fewer tasks than nodes.
#[test]
fn nodes_without_tasks_hold_no_gpus() {
    let scenario = |job: &str| {
        format!(
            "node n[1-2] cores=8 sockets=2 gres=gpu:2
             set select=core
             job 1 {job} run=100"
        )
    };
    expect(&scenario("n=1 N=2 overcommit=1 gres=gpu:1"), "1  *  0..31  +100  COMPLETED  n1,n2  *");
    for seed in 0..4 {
        expect_equal_with_every_cycle(&scenario("N=2 n=1 gpus=1 ntasks_per_gpu=1 mincpus=6"), seed);
    }
}
