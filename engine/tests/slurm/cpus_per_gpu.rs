//! `--cpus-per-gpu`: a node gives no more CPUs than come with its free GPUs (cons_tres/gres_sched.c of 22.05.8, `gres_sched_add`).

use crate::schedule::expect;

/// Recorded (be-h8): job 2 needs one GPU and six CPUs, two with each GPU, so a node with three free; job 1 leaves it two.
#[test]
fn cpus_come_with_free_gpus() {
    let scenario = |job: &str| {
        format!(
            "node n1 cores=16 gres=gpu:4
             job 1 n=1 gres=gpu:2 run=300 t=10
             job 2 at=40 N=1 n=6 gpus=1 {job} run=100 t=5"
        )
    };
    let first = "1  0  0..34  +300  COMPLETED  n1  *\n";
    expect(&scenario(""), &format!("{first} 2 40 40..74 +100 COMPLETED n1 *"));
    expect(&scenario("cpus_per_gpu=3"), &format!("{first} 2 40 40..74 +100 COMPLETED n1 *"));
    expect(&scenario("cpus_per_gpu=2"), &format!("{first} 2 40 1.end+0..34 +100 COMPLETED n1 *"));
}
