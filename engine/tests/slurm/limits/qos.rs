//! Limits of QOS, and what their flags and thresholds do (slurm-semantics 5, 7.3).

use crate::schedule::expect;

#[test]
pub(crate) fn a_qos_limits_what_each_user_holds() {
    expect(
        "node n1 cores=8
         qos normal max_cpu_per_user=4
         set enforce=limits
         job 1 user=a n=3 run=100 t=10
         job 2 user=a n=2 run=100 t=10
         job 3 user=b n=4 run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +100  COMPLETED  n1  *
         3  0  0..4        +100  COMPLETED  n1  *",
    );
}

#[test]
fn the_partitions_qos_decides_before_the_jobs() {
    let scenario = |partition: &str| {
        format!(
            "node n1 cores=8
             qos normal max_jobs_per_user=1
             qos many max_jobs_per_user=2
             partition p {partition}
             set enforce=limits
             job 1 user=a run=100 t=10
             job 2 user=a run=100 t=10
             job 3 user=a run=100 t=10"
        )
    };
    expect(
        &scenario(""),
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  1.end+0..4  +100  COMPLETED  n1  *
         3  0  2.end+0..4  +100  COMPLETED  n1  *",
    );
    expect(
        &scenario("qos=many"),
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  0..4        +100  COMPLETED  n1  *
         3  0  1.end+0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
fn the_jobs_qos_decides_first_with_over_part_qos() {
    expect(
        "node n1 cores=8
         qos part max_jobs_per_user=1
         qos free max_jobs_per_user=2 flags=OverPartQOS
         partition p qos=part
         set enforce=limits
         job 1 user=a qos=free run=100 t=10
         job 2 user=a qos=free run=100 t=10
         job 3 user=b run=100 t=10
         job 4 user=b run=100 t=10",
        "1  0  0..4        +100  COMPLETED  n1  *
         2  0  0..4        +100  COMPLETED  n1  *
         3  0  0..4        +100  COMPLETED  n1  *
         4  0  3.end+0..4  +100  COMPLETED  n1  *",
    );
}

#[test]
fn a_job_below_its_qos_minimum_waits() {
    expect(
        "node n1 cores=8
         qos large min_cpu_per_job=4
         set enforce=limits
         job 1 n=3 qos=large run=100 t=10
         job 2 n=4 qos=large run=100 t=10",
        "1  0  -     -     PENDING    -   -
         2  0  0..4  +100  COMPLETED  n1  *",
    );
}

/// 2 needs the whole node; unless its QOS says NoReserve, 3 may not run into the plan made for it.
#[test]
fn no_reserve_jobs_are_never_planned() {
    let scenario = |flags: &str| {
        format!(
            "node n1 cores=4
             qos normal {flags}
             qos low
             set bf_interval=10
             job 1 n=3 run=600 t=10
             job 2 n=4 run=100 t=10 at=5
             job 3 n=1 run=900 t=20 at=10 qos=low"
        )
    };
    expect(
        &scenario(""),
        "1  0   0..4          +600  *  n1  *
         2  5   1.end+0..14   +100  *  n1  *
         3  10  2.end+0..14   +900  *  n1  *",
    );
    expect(
        &scenario("flags=NoReserve"),
        "1  0   0..4         +600  *  n1  *
         2  5   3.end+0..14  +100  *  n1  *
         3  10  10..24       +900  *  n1  backfill",
    );
}

/// Priorities are 1000 and 0: what is below the threshold neither blocks its partition nor is planned.
#[test]
fn below_min_prio_threshold_a_job_is_not_planned() {
    let scenario = |limit: &str| {
        format!(
            "node n1 cores=4
             qos normal priority=1 {limit}
             qos low
             set enforce=limits multifactor weight_qos=1000 bf_interval=10
             job 1 n=3 run=600 t=10
             job 2 n=4 run=100 t=10 at=5
             job 3 n=1 run=900 t=20 at=10 qos=low"
        )
    };
    let planned = "1  0   0..4         +600  *  n1  *
         2  5   1.end+0..14  +100  *  n1  *
         3  10  2.end+0..14  +900  *  n1  *";
    expect(&scenario("min_prio_threshold=1000"), planned);
    expect(
        &scenario("min_prio_threshold=1001"),
        "1  0   0..4         +600  *  n1  *
         2  5   3.end+0..14  +100  *  n1  *
         3  10  10..24       +900  *  n1  *",
    );
}

/// Two users with equal shares; a's use puts it behind b, at one half. Recorded (x1): with a weight it is the weighted factor that is compared.
#[test]
fn a_usage_threshold_holds_heavy_users() {
    let scenario = |weight: u32, least: &str, flags: &str| {
        format!(
            "node n1 cores=4
             qos normal usage_threshold={least} {flags}
             set multifactor weight_fairshare={weight}
             user a usage=100000
             user b
             job 1 user=a run=100 t=10
             job 2 user=b run=100 t=10"
        )
    };
    let (both, one) = ("1  0  0..4  +100  *  n1  *", "1  0  -  -  PENDING  -  -");
    for (weight, least, flags, first) in [
        (0, "0.75", "", both),
        (0, "0.75", "flags=EnforceUsageThreshold", one),
        // Without one it is the classic formula's, a quarter (x2).
        (0, "0.4", "flags=EnforceUsageThreshold", one),
        (1000, "0.75", "flags=EnforceUsageThreshold", both),
        (1000, "750", "flags=EnforceUsageThreshold", one),
    ] {
        expect(&scenario(weight, least, flags), &format!("{first}\n 2  0  0..4  +100  *  n1  *"));
    }
}

/// Recorded (w2185): who is asked for a threshold is not asked for memory, nor made larger by it: job 1 takes one core of four, not all of them.
#[test]
fn a_usage_threshold_puts_limits_of_memory_aside() {
    let scenario = |limit: &str, flags: &str| {
        format!(
            "node n1 cores=4 memory=8000
             qos heavy usage_threshold=0 {flags}
             qos other
             set memory select=core {limit}
             job 1 n=1 mem=4000 run=100 t=10 qos=heavy
             job 2 n=3 mem=1000 run=100 t=10 qos=other"
        )
    };
    let enforced = "flags=EnforceUsageThreshold";
    let first = "1  0  0..4  +100  *  n1  *";
    for (limit, flags, expected) in [
        ("max_mem_per_cpu=1000", "", format!("{first}\n2  0  1.end+0..4  +100  *  n1  *")),
        ("max_mem_per_cpu=1000", enforced, format!("{first}\n2  0  0..4  +100  *  n1  *")),
        ("max_mem_per_node=2000", "", "1  0  -  -  PENDING  -  -\n2  0  0..4  +100  *  n1  *".to_owned()),
        ("max_mem_per_node=2000", enforced, format!("{first}\n2  0  0..4  +100  *  n1  *")),
    ] {
        expect(&scenario(limit, flags), &expected);
    }
}

/// Recorded (ax-share): a threshold that is not set is INFINITE to slurmctld, which the flag alone enforces.
#[test]
fn enforcing_a_usage_threshold_that_is_not_set_holds_everybody() {
    expect(
        "node n1 cores=4
         qos normal flags=EnforceUsageThreshold
         qos other
         job 1 n=1 run=100 t=10
         job 2 n=1 run=100 t=10 qos=other",
        "1  0  -     -     PENDING    -   -
         2  0  0..4  +100  COMPLETED  n1  *",
    );
}

/// With preemption backfill tests jobs of a NoReserve QOS as if they ran for a minute: 3 starts before the plan made for 2, and runs into
/// it. Observed (p-nores).
#[test]
fn no_reserve_jobs_are_tested_with_a_minute_where_there_is_preemption() {
    let scenario = |mode: &str| {
        format!(
            "node n1 cores=4
             qos low flags=NoReserve
             set bf_interval=10 preempt=qos preempt_mode={mode}
             job 1 n=3 run=600 t=10
             job 2 n=4 run=100 t=10 at=5
             job 3 n=1 run=900 t=20 at=10 qos=low"
        )
    };
    expect(
        &scenario("requeue"),
        "1  0   0..4         +600  *  n1  *
         2  5   3.end+0..14  +100  *  n1  *
         3  10  10..24       +900  *  n1  backfill",
    );
    expect(
        &scenario("off"),
        "1  0   0..4          +600  *  n1  *
         2  5   1.end+0..14   +100  *  n1  *
         3  10  2.end+0..14   +900  *  n1  *",
    );
}

/// `_part_access_check` (job_mgr.c of 22.05.8): whoever asks for fewer nodes than the partition's fewest, or might get more than its most, waits
/// there for ever, unless its QOS puts these counts aside.
#[test]
fn a_qos_puts_a_partitions_node_counts_aside() {
    expect(
        "node n1 cores=4
         node n2 cores=4
         node n3 cores=4
         qos wide flags=PartitionMaxNodes
         qos small flags=PartitionMinNodes
         partition p max_nodes=2
         partition q min_nodes=2
         job 1 p=p N=3 n=12 run=100 t=5
         job 2 p=p N=3 n=12 run=100 t=5 qos=wide
         job 3 p=q N=1-2 n=1 run=100 t=5 at=200
         job 4 p=q N=1 n=1 run=100 t=5 at=400 qos=small
         job 5 p=q N=1 n=1 run=100 t=5 at=400",
        "1  0    -          -     PENDING    -        -
         2  0    0..4       +100  COMPLETED  n1,n2,n3 *
         3  200  -          -     PENDING    -        -
         4  400  400..431   +100  COMPLETED  n1       *
         5  400  -          -     PENDING    -        -",
    );
}
