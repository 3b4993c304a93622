//! Preemption by tiers of partitions and by QOS (slurm-semantics 7.1, 2.2, 3.4; slurm.conf(5)).

use foresite_engine::outcome::JobState;

use crate::schedule::{expect, expect_equal_with_every_cycle, run};

/// Two partitions over the same nodes; the higher tier preempts.
const TIERS: &str = "node n[1-2] cores=4
    partition low
    partition high tier=2
    set preempt=partition";

/// The higher one's QOS lists the lower one's.
const QOS: &str = "node n[1-2] cores=4
    qos low
    qos high preempt=low
    set preempt=qos";

#[test]
fn a_higher_tier_cancels_jobs_of_a_lower_one() {
    expect(
        &format!(
            "{TIERS} preempt_mode=cancel
             job 1 p=low N=2 n=8 run=1000 t=60
             job 2 at=100 p=high n=4 run=50 t=10"
        ),
        "1  0    0..4      100..131    PREEMPTED  n1,n2  *
         2  100  1.end+0..5  +50       COMPLETED  *      *",
    );
}

/// Recorded (c1309): nodes of the first part are made free by job 1, the smallest, though job 2, who must go for the second, has such nodes, too. From 24.11
/// on a part that cannot hold all tasks has no place, and nobody is struck for it.
#[test]
fn room_for_a_constraint_that_counts_nodes_is_made_part_by_part() {
    let scenario = |version: &str| {
        format!(
            "node n[1-3] cores=4 features=std
             node g1 cores=4 features=big
             qos low
             qos high preempt=low
             set preempt=qos preempt_mode=cancel {version}
             job 1 qos=low n=4 w=n1 run=1000 t=60
             job 2 qos=low N=3 n=12 run=1000 t=60
             job 3 at=100 qos=high N=2 n=2 run=50 t=10 C=std*1&big*1"
        )
    };
    expect(
        &scenario(""),
        "1  0    0..4        100..131  PREEMPTED  n1           *
         2  0    0..4        100..131  PREEMPTED  n2,n3,g1     *
         3  100  1.end+0..5  +50       COMPLETED  *            *",
    );
    expect(
        &scenario("version=24.11"),
        "1  0    0..4  +1000  COMPLETED  n1           *
         2  0    0..4  +1000  COMPLETED  n2,n3,g1     *
         3  100  -     -      PENDING    -            -",
    );
}

#[test]
fn a_requeued_victim_comes_back_after_121_seconds() {
    expect(
        &format!(
            "{TIERS} preempt_mode=requeue
             job 1 p=low N=2 n=8 run=1000 t=60
             job 2 at=100 p=high n=4 run=50 t=10"
        ),
        "1  220..252  220..315    +1000  COMPLETED  n1,n2  *
         2  100       100..136    +50    COMPLETED  *      *",
    );
}

/// `JobRequeue=0`, `--no-requeue`, srun.
#[test]
fn a_victim_that_cannot_be_requeued_is_cancelled() {
    for job in ["preempt_mode=requeue no_requeue\n job 1", "preempt_mode=requeue\n job 1 no_requeue"] {
        expect(
            &format!("{TIERS} {job} p=low N=2 n=8 run=1000 t=60\n job 2 at=100 p=high n=4 run=50 t=10"),
            "1  0    0..4      100..131    PREEMPTED  n1,n2  *
             2  100  1.end+0..5  +50       COMPLETED  *      *",
        );
    }
}

#[test]
fn partitions_whose_mode_is_off_and_equal_tiers_are_safe() {
    for partitions in ["partition low preempt_mode=off\n partition high tier=2", "partition low\n partition high"] {
        expect(
            &format!(
                "node n[1-2] cores=4
                 {partitions}
                 set preempt=partition preempt_mode=cancel
                 job 1 p=low N=2 n=8 run=1000 t=60
                 job 2 at=100 p=high n=4 run=50 t=10"
            ),
            "1  0    0..4        +1000  COMPLETED  n1,n2  *
             2  100  1.end+0..5  +50    COMPLETED  n1     *",
        );
    }
}

/// A partition's own mode stands before the cluster's; SUSPEND is not modelled and preempts nobody.
#[test]
fn a_partitions_mode_stands_before_the_clusters() {
    for (cluster, partition, state) in [("suspend", "cancel", "PREEMPTED"), ("cancel", "suspend", "COMPLETED")] {
        expect(
            &format!(
                "node n1 cores=4
                 partition low preempt_mode={partition}
                 partition high tier=2
                 set preempt=partition preempt_mode={cluster}
                 job 1 p=low n=4 run=1000 t=60
                 job 2 at=100 p=high n=4 run=50 t=10"
            ),
            &format!("1  0  *  *  {state}  n1  *\n 2  100  1.end+0..5  +50  COMPLETED  n1  *"),
        );
    }
}

#[test]
fn grace_time_is_run_out_and_ended_by_the_scan() {
    expect(
        "node n1 cores=4
         partition low grace=120
         partition high tier=2
         set preempt=partition preempt_mode=cancel
         job 1 p=low n=4 run=1000 t=60
         job 2 at=100 p=high n=4 run=50 t=10",
        "1  0    0..4        220..282  PREEMPTED  n1  *
         2  100  1.end+0..5  +50       COMPLETED  n1  *",
    );
}

#[test]
fn a_victim_that_ends_within_its_grace_time_ended_by_itself() {
    expect(
        "node n1 cores=4
         partition low grace=120
         partition high tier=2
         set preempt=partition preempt_mode=requeue
         job 1 p=low n=4 run=200 t=60
         job 2 at=100 p=high n=4 run=50 t=10",
        "1  0    0..4        +200  COMPLETED  n1  *
         2  100  1.end+0..5  +50   COMPLETED  n1  *",
    );
}

#[test]
fn nobody_is_preempted_before_the_exempt_time() {
    expect(
        &format!(
            "{TIERS} preempt_mode=cancel exempt=300
             job 1 p=low N=2 n=8 run=1000 t=60
             job 2 at=100 p=high n=4 run=50 t=10"
        ),
        "1  0    0..4        300..365  PREEMPTED  n1,n2  *
         2  100  1.end+0..5  +50       COMPLETED  n1     *",
    );
}

/// A QOS's own exempt time stands before the cluster's, a partition's QOS before the job's.
#[test]
fn a_qos_has_its_own_exempt_time() {
    expect(
        &format!(
            "{QOS} preempt_mode=cancel exempt=3000
             qos low exempt=300
             job 1 qos=low N=2 n=8 run=1000 t=60
             job 2 at=100 qos=high n=4 run=50 t=10"
        ),
        "1  0    0..4        300..365  PREEMPTED  n1,n2  *
         2  100  1.end+0..5  +50       COMPLETED  n1     *",
    );
}

#[test]
fn a_qos_preempts_those_on_its_list_only() {
    expect(
        &format!(
            "{QOS} preempt_mode=cancel
             job 1 qos=low n=4 run=1000 t=60
             job 2 n=4 run=2000 t=60
             job 3 at=100 qos=high n=4 run=500 t=10
             job 4 at=200 qos=high n=4 run=50 t=10"
        ),
        "1  0    0..4        100..131  PREEMPTED  n1  *
         2  0    0..4        +2000     COMPLETED  n2  *
         3  100  1.end+0..5  +500      COMPLETED  n1  *
         4  200  3.end+0..5  +50       COMPLETED  n1  *",
    );
}

#[test]
fn a_qos_has_its_own_mode_and_grace_time() {
    expect(
        &format!(
            "{QOS} preempt_mode=cancel
             qos low preempt_mode=requeue grace=60
             qos high preempt=low
             job 1 qos=low N=2 n=8 run=1000 t=60
             job 2 at=100 qos=high n=4 run=50 t=10"
        ),
        "1  280..345  280..415    +1000  COMPLETED  n1,n2  *
         2  100       160..230    +50    COMPLETED  n1     *",
    );
}

/// WITHIN: jobs of one QOS by priority.
#[test]
fn within_a_qos_the_higher_priority_preempts() {
    let scenario = |within: &str| {
        format!(
            "node n1 cores=4
             set preempt=qos preempt_mode=cancel multifactor weight_job_size=0 {within}
             job 1 n=4 nice=0 run=1000 t=60 nice=-10
             job 2 at=100 n=4 nice=-1000 run=50 t=10"
        )
    };
    expect(&scenario("within"), "1  0  0..4  100..131  PREEMPTED  n1  *\n 2  100  1.end+0..5  +50  COMPLETED  n1  *");
    expect(&scenario(""), "1  0  0..4  +1000  COMPLETED  n1  *\n 2  100  1.end+0..5  +50  COMPLETED  n1  *");
}

/// Lowest tier first, then the fewest nodes.
#[test]
fn the_lowest_tier_goes_first() {
    expect(
        "node n[1-2] cores=4
         partition a tier=2
         partition b
         partition high tier=3
         set preempt=partition preempt_mode=cancel
         job 1 p=a n=4 run=1000 t=60
         job 2 p=b n=4 run=1000 t=60
         job 3 at=100 p=high n=4 run=50 t=10",
        "1  0    0..4        +1000     COMPLETED  n1  *
         2  0    0..4        100..131  PREEMPTED  n2  *
         3  100  2.end+0..5  +50       COMPLETED  n2  *",
    );
}

#[test]
fn small_jobs_go_before_large_ones() {
    expect(
        &format!(
            "{TIERS} preempt_mode=cancel
             job 1 p=low N=2 n=4 run=1000 t=60
             job 2 p=low n=2 N=1 run=1000 t=60
             job 3 p=low at=10 n=2 N=1 run=1000 t=60
             job 4 at=100 p=high n=2 N=1 run=50 t=10"
        ),
        "1  0    *           +1000     COMPLETED  n1,n2  *
         2  0    *           100..131  PREEMPTED  *      *
         3  10   *           +1000     COMPLETED  *      *
         4  100  2.end+0..5  +50       COMPLETED  *      *",
    );
}

#[test]
fn the_youngest_go_first_if_wanted() {
    let scenario = |option: &str| {
        format!(
            "{TIERS} preempt_mode=cancel {option}
             job 1 p=low n=4 run=1000 t=60
             job 2 at=50 p=low n=4 run=1000 t=60
             job 3 at=100 p=high n=4 run=50 t=10"
        )
    };
    expect(
        &scenario(""),
        "1  *  *  100..131  PREEMPTED  n1  *\n 2  *  *  +1000     COMPLETED  n2  *\n 3  *  1.end+0..5  +50  COMPLETED  n1  *",
    );
    expect(
        &scenario("youngest_first"),
        "1  *  *  +1000     COMPLETED  n1  *\n 2  *  *  100..131  PREEMPTED  n2  *\n 3  *  2.end+0..5  +50  COMPLETED  n2  *",
    );
}

/// The smaller candidate comes first and is not enough; re-ordering finds that the other one is.
#[test]
fn reordering_spares_jobs_that_need_not_go() {
    for order in ["", "strict_order"] {
        expect(
            &format!(
                "node n1 cores=6
                 partition low
                 partition high tier=2
                 set preempt=partition preempt_mode=cancel {order}
                 job 1 p=low n=2 run=1000 t=60
                 job 2 p=low n=4 run=1000 t=60
                 job 3 at=100 p=high n=4 run=50 t=10"
            ),
            "1  0    0..4        +1000     COMPLETED  n1  *
             2  0    0..4        100..131  PREEMPTED  n1  *
             3  100  2.end+0..5  +50       COMPLETED  n1  *",
        );
    }
}

/// Backfill makes room, too, and keeps the nodes for the job.
#[test]
fn backfill_makes_room() {
    expect(
        &format!(
            "{TIERS} preempt_mode=cancel sched_interval=off
             job 1 p=low N=2 n=8 run=1000 t=60
             job 2 at=100 p=high n=4 run=50 t=10"
        ),
        "1  0    0..32        100..135  PREEMPTED  n1,n2  backfill
         2  100  1.end+1..35  +50       COMPLETED  n1     backfill",
    );
}

/// What a job may preempt is gone from its plan: it is planned at the end of the others.
#[test]
fn a_plan_counts_on_preemption() {
    expect(
        &format!(
            "{QOS} preempt_mode=cancel
             job 1 N=1 n=4 run=590 t=10
             job 2 qos=low N=1 n=4 run=3000 t=60
             job 3 at=50 qos=high N=2 n=8 run=50 t=10
             job 4 at=60 N=1 n=1 run=50 t=5"
        ),
        "1  0   0..4        +590      COMPLETED  n1     *
         2  0   0..4        1.end+0..36  PREEMPTED  n2  *
         3  50  2.end+0..6  +50       COMPLETED  n1,n2  *
         4  60  3.end+0..36 +50       COMPLETED  *      *",
    );
}

/// Under preempt/qos a job stands in the queue before those it may preempt, whatever their priorities.
#[test]
fn the_queue_follows_preemption_by_qos() {
    expect(
        &format!(
            "{QOS} preempt_mode=cancel multifactor weight_job_size=0
             job 1 n=4 N=1 run=300 t=60
             job 2 n=4 N=1 run=300 t=60
             job 3 at=10 n=8 N=2 qos=low nice=-1000 run=100 t=10
             job 4 at=20 n=8 N=2 qos=high run=100 t=10"
        ),
        "1  *   0..4        +300  COMPLETED  n1     *
         2  *   0..4        +300  COMPLETED  n2     *
         3  10  4.end+0..6  +100  COMPLETED  n1,n2  *
         4  20  2.end+0..6  +100  COMPLETED  n1,n2  *",
    );
}

/// Job 1 is struck at 104 and runs out its grace time. Job 2, which would do as well, is exempt until 114, and safe until
/// 144: KillWait and MessageTimeout after the first strike. Jobs 4 and 5 only call the scheduler.
#[test]
fn a_job_strikes_again_only_when_its_victims_have_had_time_to_end() {
    expect(
        "node n[1-2] cores=4
         partition low nodes=n1 grace=300
         partition mid nodes=n2
         partition high tier=2
         set preempt=partition preempt_mode=cancel youngest_first exempt=60 bf_interval=off
         job 1 p=low n=4 run=1000 t=60
         job 2 at=50 p=mid n=4 run=1000 t=60
         job 3 at=104 p=high n=4 run=50 t=10
         job 4 at=117 p=mid n=4 run=50 t=10
         job 5 at=150 p=mid n=4 run=50 t=10",
        "1  0    0..4        404..445  PREEMPTED  n1  *
         2  50   50..54      144..155  PREEMPTED  n2  *
         3  104  2.end+0..5  +50       COMPLETED  n2  *
         4  117  *           +50       COMPLETED  n2  *
         5  150  *           +50       COMPLETED  n2  *",
    );
}

#[test]
fn a_limit_of_the_preemptor_saves_the_victim() {
    expect(
        "node n1 cores=4
         partition low
         partition high tier=2
         qos normal max_cpu_per_user=4
         set preempt=partition preempt_mode=cancel enforce=limits
         job 1 p=low n=4 user=a run=1000 t=60
         job 2 at=100 p=high n=4 user=a run=50 t=10",
        "1  0    0..4        +1000  COMPLETED  n1  *
         2  100  1.end+0..5  +50    COMPLETED  n1  *",
    );
}

#[test]
fn skipped_cycles_would_have_changed_nothing() {
    for seed in 0..8 {
        expect_equal_with_every_cycle(
            &format!(
                "{TIERS} preempt_mode=requeue exempt=100
                 job 1 p=low N=2 n=8 run=1000 t=60
                 job 2 at=50 p=high n=4 run=50 t=10
                 job 3 at=55 p=low n=4 run=500 t=10
                 job 4 at=900 p=high n=8 N=2 run=500 t=10"
            ),
            seed,
        );
    }
}

/// Job 2 has aged when the priority step comes; job 1 keeps the priority of its start, unless running jobs' are computed too.
#[test]
fn with_calculate_running_a_running_job_ages_too() {
    let scenario = |flag: &str| {
        format!(
            "node n1 cores=4
             set preempt=qos preempt_mode=cancel multifactor weight_age=1000000000 within {flag}
             job 1 n=4 run=2000 t=60
             job 2 at=10 n=4 run=100 t=10"
        )
    };
    expect(&scenario(""), "1  0  0..4  10..700  PREEMPTED  n1  *\n 2  10  1.end+0..64  +100  COMPLETED  n1  *");
    expect(
        &scenario("calculate_running"),
        "1  0  0..4  +2000  COMPLETED  n1  *\n 2  10  1.end+0..4  +100  COMPLETED  n1  *",
    );
}

/// Recorded (c1383): so does what it comes back with when it is requeued, until the next step. Job 1 has run for 300 s when the step comes, and job 3 waited
/// for 200.
#[test]
fn with_calculate_running_a_requeued_job_keeps_the_priority_of_its_run() {
    let scenario = |flag: &str| {
        format!(
            "boot 360
             node n1 cores=4
             qos high preempt=normal
             set preempt=qos preempt_mode=requeue multifactor weight_age=1000000000 {flag}
             job 1 n=4 run=2000 t=60
             job 2 at=320 qos=high n=4 run=150 t=10
             job 3 at=100 n=4 run=300 t=10"
        )
    };
    expect(
        &scenario(""),
        "1  441..446  3.end+0..64   +2000  COMPLETED  n1  *
         3  100       2.end+0..5    +300   COMPLETED  n1  *
         2  320       320..325      +150   COMPLETED  n1  *",
    );
    expect(
        &scenario("calculate_running"),
        "1  441..446  2.end+0..5    +2000  COMPLETED  n1  *
         3  100       1.end+0..5    +300   COMPLETED  n1  *
         2  320       320..325      +150   COMPLETED  n1  *",
    );
}

/// Recorded (c1383): select/linear where two jobs share a node: room is made by the end of one of them, and counts wherever one runs.
#[test]
fn with_shared_whole_nodes_the_end_of_one_job_makes_room() {
    expect(
        "node n[1-2] cores=4
         partition p over=force:2
         qos high preempt=normal
         set select=linear preempt=qos preempt_mode=cancel
         job 1 n=1 run=3000 t=60
         job 2 n=1 run=3000 t=60
         job 3 n=1 run=3000 t=60
         job 4 n=1 run=3000 t=60
         job 5 at=100 qos=high n=1 run=50 t=10",
        "1  0    0..4        100..131  PREEMPTED  n1  *
         2  0    0..4        +3000     COMPLETED  n2  *
         3  0    0..4        +3000     COMPLETED  n1  *
         4  0    0..4        +3000     COMPLETED  n2  *
         5  100  1.end+0..5  +50       COMPLETED  n1  *",
    );
}

/// Recorded (c1401): task 1 would fit in `a` but for the memory of all CPUs of its node, and gets a record of its own there, so what waits in `b` in that
/// cycle is task 2.
#[test]
fn a_task_that_is_split_off_leaves_its_other_partitions_to_the_rest() {
    expect(
        "node n[1-2] cores=8 sockets=2 memory=7000
         node n3 cores=8 sockets=2 memory=8000
         partition a nodes=n[1-2] tier=2
         partition b nodes=n3
         qos high preempt=normal
         set select=socket memory preempt=qos preempt_mode=cancel
         job 1 p=a n=1 w=n2 mem=100 run=3000 t=60
         job 2 at=10 p=a,b qos=high array=1-2 n=2 mem_per_cpu=1000 run=100 t=10",
        "1    0   0..4          +3000  COMPLETED  n2  *
         2_1  10  2_2.end+0..5  +100   COMPLETED  n3  *
         2_2  10  10..14        +100   COMPLETED  n3  *",
    );
}

/// In a circle nobody would ever end: after a thousand starts a job is left alone.
#[test]
fn jobs_that_preempt_each_other_end_all_the_same() {
    let (_, outcome) = run(
        "node n1 cores=4
         qos b preempt=normal
         qos normal preempt=b
         set preempt=qos preempt_mode=requeue
         job 1 n=4 run=7200 t=300
         job 2 at=60 qos=b n=4 run=7200 t=300",
        0,
    );
    assert!(outcome.records.iter().all(|record| record.state == JobState::Completed), "{:?}", outcome.records);
    assert!(outcome.counters.preempted < 2000, "{}", outcome.counters.preempted);
}

/// Recorded (v-pre): a job that is exclusive to its user strikes nobody on nodes where others run: they are out before that.
#[test]
fn who_is_exclusive_to_its_user_strikes_nobody_else() {
    expect(
        &format!(
            "{TIERS} preempt_mode=cancel
             job 1 user=a p=low N=2 n=8 run=300 t=10
             job 2 at=100 user=b p=high n=4 exclusive=user run=50 t=10"
        ),
        "1  0    0..4        +300  COMPLETED  n1,n2  *
         2  100  1.end+0..5  +50   COMPLETED  n1     *",
    );
}

/// Recorded (n-tier): job 1's grace time is over at 109; the scan has not come yet, but job 3 strikes it again.
#[test]
fn a_victim_whose_grace_time_is_over_goes_when_it_is_struck_again() {
    for seed in 0..8 {
        let (scenario, outcome) = run(
            "node n1 cores=4
             partition low grace=5
             partition high tier=2
             partition top tier=3
             set preempt=partition preempt_mode=cancel
             job 1 p=low n=4 run=1000 t=60
             job 2 at=100 p=high n=4 run=50 t=10
             job 3 at=115 p=top n=4 run=50 t=10",
            seed,
        );
        let end = outcome.records[0].end.unwrap() - scenario.workload.jobs[0].submit;
        assert!((105..=119).contains(&end), "{end} with seed {seed}");
    }
}

/// Recorded (n-tier): job 2 was submitted before the record of the array's third task was made, which is when the second task started.
#[test]
fn of_equal_victims_the_one_whose_record_is_older_goes() {
    let outcome = run(
        "node n1 cores=4
         partition low
         partition high tier=2
         set preempt=partition preempt_mode=cancel
         job 1 array=1-3 p=low n=3 run=60 t=10
         job 2 at=10 p=low n=1 run=1000 t=60
         job 3 at=150 p=high n=1 run=50 t=10",
        1,
    )
    .1;
    let states: Vec<JobState> = outcome.records.iter().map(|record| record.state).collect();
    assert_eq!(
        states,
        [JobState::Completed, JobState::Completed, JobState::Completed, JobState::Preempted, JobState::Completed]
    );
}

/// Tasks of an array that wait share one record, for which the main scheduler makes room once: the second task does so when the first has
/// started. Source: `docs/FACTS.md`, facts 60.
#[test]
fn the_main_scheduler_makes_room_for_one_task_of_an_array_at_a_time() {
    expect(
        &format!(
            "{} preempt_mode=cancel bf_interval=off
             job 1 p=low N=1 n=4 run=1000 t=60
             job 2 p=low N=1 n=4 run=1000 t=60
             job 3 at=100 p=high N=1 n=4 array=1-2 run=500 t=10",
            TIERS.replace("partition low", "partition low grace=60")
        ),
        "1    0    0..4    160..191  PREEMPTED  n1  *
         2    0    0..4    1.end+60..92  PREEMPTED  n2  *
         3_1  100  1.end+0..5  +500  COMPLETED  n1  *
         3_2  100  2.end+0..5  +500  COMPLETED  n2  *",
    );
}

/// Recorded (m-topo/a3): backfill goes on with an array's next task as if it had made no room for it yet, so two tasks of a `%2` strike in one
/// cycle, and the third does not.
#[test]
fn backfill_makes_room_for_as_many_tasks_of_an_array_as_may_run() {
    expect(
        &format!(
            "{} preempt_mode=cancel sched_interval=off
             job 1 p=low N=1 n=4 run=1000 t=60
             job 2 p=low N=1 n=4 run=1000 t=60
             job 3 p=low N=1 n=4 run=1000 t=60
             job 4 at=100 p=high N=1 n=4 array=1-3%2 run=500 t=10",
            TIERS.replace("n[1-2]", "n[1-3]")
        ),
        "1    0    0..31        100..160    PREEMPTED  n1     *
         2    0    0..31        1.end+0..0  PREEMPTED  n2     *
         3    0    0..31        +1000       COMPLETED  n3     *
         4_1  100  2.end+0..61  +500        COMPLETED  n1     *
         4_2  100  2.end+0..61  +500        COMPLETED  n2     *
         4_3  *    4_1.end+0..61  +500      COMPLETED  *      *",
    );
}

/// Recorded (be-k33): who asks for `[old|new]` makes room on the nodes of the first feature, though one of the second is idle.
#[test]
fn room_is_made_on_nodes_of_one_feature_before_the_next_is_looked_at() {
    let scenario = |features: &str| {
        format!(
            "node n1 cores=4 features=old
             node n2 cores=4 features=new
             partition low
             partition high tier=2
             set preempt=partition preempt_mode=cancel
             job 1 p=low w=n1 n=4 run=1000 t=60
             job 2 at=100 p=high n=4 C={features} run=50 t=10"
        )
    };
    expect(
        &scenario("[old|new]"),
        "1  0    0..34        100..140  PREEMPTED  n1  *
         2  100  1.end+0..35  +50       COMPLETED  *   *",
    );
    let beside = "1  0    0..34     +1000  COMPLETED  n1  *\n 2  100  100..134  +50    COMPLETED  n2  *";
    expect(&scenario("[new|old]"), beside);
    expect(&scenario("old|new"), beside);
}
