//! Limits on minutes that were spent (slurm-semantics 5.3).

use crate::schedule::expect;

/// 4 CPUs for 600 s are 40 minutes; a limit of 20 is reached after the first job, and nobody comes after it.
#[test]
fn a_group_without_minutes_waits() {
    expect(
        "node n1 cores=4
         set enforce=limits multifactor half_life=0
         account x grp_cpu_mins=20
         user a account=x
         job 1 user=a n=4 run=290 t=10
         job 2 at=1000 user=a n=4 run=100 t=10
         job 3 at=2000 user=a n=1 run=100 t=10",
        "1  0     0..4        +290  COMPLETED  n1  *
         2  1000  1000..1004  +100  COMPLETED  n1  *
         3  2000  -           -     PENDING    -   -",
    );
}

#[test]
fn safe_starts_only_what_can_end_within_the_minutes() {
    expect(
        "node n1 cores=4
         set enforce=safe multifactor half_life=0
         account x grp_cpu_mins=60
         user a account=x
         job 1 user=a n=4 run=300 t=10
         job 2 user=a n=4 run=300 t=11 at=400
         job 3 user=a n=4 run=300 t=10 at=400",
        "1  0    0..4      +300  COMPLETED  n1  *
         2  400  -         -     PENDING    -   -
         3  400  400..404  +300  COMPLETED  n1  *",
    );
}

#[test]
fn usage_factor_counts_for_safe_only_with_its_flag() {
    let scenario = |flags: &str| {
        format!(
            "node n1 cores=4
             qos normal usage_factor=2 {flags} grp_cpu_mins=60
             set enforce=safe multifactor half_life=0
             job 1 n=4 run=60 t=10"
        )
    };
    expect(&scenario(""), "1  0  0..4  +60  COMPLETED  n1  *");
    expect(&scenario("flags=UsageFactorSafe"), "1  0  -  -  PENDING  -  -");
}

/// The third step finds 2 × 4 × 5 minutes spent; the next scan, at most 31 s later, ends the job.
#[test]
fn without_safe_a_running_job_is_ended_when_the_minutes_run_out() {
    expect(
        "node n1 cores=4
         set enforce=limits multifactor half_life=0
         account x grp_cpu_mins=30
         user a account=x
         job 1 user=a n=4 run=3000 t=60",
        "1  0  0..4  +450..935  TIMEOUT  n1  *",
    );
}

/// Job 1 spends more than its ten minutes, or is ended when they run out; what it spent halves every ten minutes.
#[test]
fn spent_minutes_decay_and_let_the_group_go_on() {
    let scenario = |flags: &str| {
        format!(
            "node n1 cores=4
             qos normal grp_cpu_mins=8 {flags}
             set enforce=limits multifactor half_life=600
             job 1 n=4 run=290 t=10
             job 2 n=4 run=100 t=10 at=295"
        )
    };
    expect(&scenario(""), "1  0  0..4  +100..290  *  n1  *\n 2  295  298..1000  +100  COMPLETED  n1  *");
    expect(&scenario("flags=NoDecay"), "1  0  0..4  +100..290  *  n1  *\n 2  295  -  -  PENDING  -  -");
}

#[test]
fn wall_time_of_a_group_is_limited() {
    expect(
        "node n1 cores=4
         set enforce=limits multifactor half_life=0
         account x grp_wall=5
         user a account=x
         job 1 user=a run=300 t=10
         job 2 user=a run=100 t=10 at=400
         job 3 run=100 t=10 at=400",
        "1  0    0..4      +300  COMPLETED  n1  *
         2  400  -         -     PENDING    -   -
         3  400  400..404  +100  COMPLETED  n1  *",
    );
}

/// 10 CPU minutes each: the user may have 15 running, whatever the others do, from 24.05 on. Before, nothing looks at this limit
/// (recording s-pre/a1).
#[test]
fn minutes_of_running_jobs_are_limited_for_each_user() {
    for (version, second) in [("set version=24.05", "1.end+0..4"), ("", "0..4")] {
        expect(
            &format!(
                "node n1 cores=8
                 qos normal max_cpu_run_mins_per_user=15
                 set enforce=limits
                 {version}
                 job 1 user=a run=100 t=10
                 job 2 user=a run=100 t=10
                 job 3 user=b run=100 t=10"
            ),
            &format!(
                "1  0  0..4      +100  COMPLETED  n1  *
                 2  0  {second}  +100  COMPLETED  n1  *
                 3  0  0..4      +100  COMPLETED  n1  *"
            ),
        );
    }
}

#[test]
fn a_jobs_own_minutes_are_limited() {
    expect(
        "node n1 cores=8
         qos normal max_cpu_mins_per_job=40
         set enforce=limits
         job 1 n=4 run=100 t=10
         job 2 n=4 run=100 t=11",
        "1  0  0..4  +100  COMPLETED  n1  *
         2  0  -     -     PENDING    -   -",
    );
}

/// Who uses no GPU is not held back, or ended, by GPU minutes that are spent.
#[test]
fn minutes_of_what_a_job_does_not_use_do_not_hold_it() {
    expect(
        "node n1 cores=4 gres=gpu:2
         set enforce=limits multifactor half_life=0
         account x grp_gpu_mins=4
         user a account=x
         job 1 user=a n=1 gres=gpu:1 run=241 t=10
         job 2 at=1000 user=a n=1 gres=gpu:1 run=100 t=10
         job 3 at=1000 user=a n=1 run=800 t=20",
        "1  0     0..4        +241  COMPLETED  n1  *
         2  1000  -           -     PENDING    -   -
         3  1000  1000..1004  +800  COMPLETED  n1  *",
    );
}

/// What a QOS with `UsageFactor=0` holds and spends does not count; what one with factor 2 will spend counts twice.
#[test]
fn a_usage_factor_multiplies_minutes() {
    let scenario = |factor: &str| {
        format!(
            "node n1 cores=8
             qos other usage_factor={factor}
             set enforce=limits multifactor half_life=0
             account x grp_cpu_run_mins=40
             user a account=x
             job 1 user=a n=4 qos=other run=300 t=10
             job 2 user=a n=1 run=50 t=1"
        )
    };
    expect(&scenario("1"), "1  0  0..4  +300  *  n1  *\n 2  0  5..340  +50  *  n1  *");
    expect(&scenario("0"), "1  0  0..4  +300  *  n1  *\n 2  0  0..4  +50  *  n1  *");
}
