//! GPUs that come with sockets (`--gpus-per-socket`; docs/FACTS.md, facts 51 and 95 f).

use crate::schedule::expect;

/// `--gpus-per-socket`: a node serves that has them on one socket; each socket of `--sockets-per-node` with as many free gives its
/// own. Job 2 gets one GPU beside job 1's two, so that job 3 starts; job 4 gets two.
#[test]
fn sockets_without_gpus_of_their_own_give_none() {
    expect(
        "node g[1-2] cores=12 sockets=2 gres=gpu:4 near=2,2
         job 1 n=2 N=1 w=g1 gres=gpu:2 run=900 t=20
         job 2 at=10 n=4 N=1 w=g1 gpus_per_socket=1 sockets=2 run=900 t=20
         job 3 at=20 n=1 N=1 w=g1 gres=gpu:1 run=100 t=10
         job 4 at=30 n=4 N=1 w=g2 gpus_per_socket=1 sockets=2 run=900 t=20
         job 5 at=40 n=1 N=1 w=g2 gres=gpu:3 run=100 t=10",
        "1  0   0..4      +900  COMPLETED  g1  *
         2  10  10..14    +900  COMPLETED  g1  *
         3  20  20..24    +100  COMPLETED  g1  *
         4  30  30..34    +900  COMPLETED  g2  *
         5  40  930..936  +100  COMPLETED  g2  *",
    );
}

/// With CR_Memory cores are handed to nobody, but a job's GPUs are those of the sockets that it would run on.
#[test]
fn gpus_of_sockets_are_counted_without_cores_too() {
    expect(
        "node g1 cores=12 sockets=2 memory=8000 gres=gpu:4
         set select=memory memory
         job 1 n=2 N=1 mem=100 gpus_per_socket=1 sockets=2 run=900 t=20
         job 2 at=10 n=1 N=1 mem=100 gres=gpu:3 run=100 t=10
         job 3 at=20 n=1 N=1 mem=100 gres=gpu:2 run=100 t=10",
        "1  0   0..4      +900  COMPLETED  g1  *
         2  10  900..910  +100  COMPLETED  g1  *
         3  20  20..60    +100  COMPLETED  g1  *",
    );
}

/// Recorded (c1192): where nothing but their number is known, GPUs of a socket come with each core until 24.05; job 2's two are more than there
/// are, so it gets none, and leaves job 3 that which is left.
#[test]
fn gpus_that_are_only_counted_come_with_each_core() {
    let scenario = |version: &str| {
        format!(
            "node g1 cores=8 gres=gpu:2
             set {version}
             job 1 n=1 gres=gpu:1 run=900 t=20
             job 2 at=10 n=2 gpus_per_socket=1 sockets=1 run=900 t=20
             job 3 at=20 n=1 gres=gpu:1 run=100 t=10"
        )
    };
    expect(&scenario(""), "1 * * * * g1 *\n 2 * 10..40 * * g1 *\n 3 * 20..50 * * g1 *");
    expect(&scenario("version=24.05"), "1 * * * * g1 *\n 2 * 10..40 * * g1 *\n 3 * 900..960 * * g1 *");
}

/// Two GPUs for two tasks, one for each socket: two, not four, of which one is near the first socket. Both jobs have two of the four.
#[test]
fn what_is_asked_for_in_two_ways_is_taken_once() {
    expect(
        "node g1 cores=12 sockets=2 gres=gpu:4 near=1,0
         set version=24.11
         job 1 n=2 N=1 gpus_per_task=1 gpus_per_socket=1 sockets=1 run=900 t=20
         job 2 at=10 n=2 N=1 gpus_per_task=1 gpus_per_socket=1 sockets=1 run=900 t=20
         job 3 at=20 n=1 gres=gpu:1 run=100 t=10",
        "1 * * * * g1 *\n 2 * 10..40 * * g1 *\n 3 * 900..960 * * g1 *",
    );
}
