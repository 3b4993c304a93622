//! What the simulation begins with: running and waiting jobs, and usage (slurm-semantics 8, "start state").

use crate::schedule::{expect, expect_equal_with_every_cycle};

#[test]
fn a_job_that_runs_already_holds_its_nodes_until_its_recorded_end() {
    expect(
        "node n[1-2] cores=4
         job 1 at=-5000 since=-1000@n2 n=4 run=1200 t=60
         job 2 n=8 N=2 run=50 t=10
         job 3 at=5 n=4 N=1 run=50 t=10",
        "1  -5000  -1000     200   COMPLETED  n2     -
         2  0      200..204  +50   COMPLETED  n1,n2  *
         3  5      5..36     +50   COMPLETED  n1     backfill",
    );
}

/// Plans count on its limit, from its recorded start.
#[test]
fn the_limit_counts_from_the_recorded_start() {
    expect(
        "node n1 cores=4
         job 1 at=-5000 since=-600@n1 n=4 run=5000 t=15
         job 2 n=4 run=50 t=10",
        "1  -5000  -600        300..331  TIMEOUT    n1  -
         2  0      1.end+0..4  +50       COMPLETED  n1  *",
    );
}

/// The recorded node is down here, or another job holds it.
#[test]
fn a_running_job_that_does_not_fit_on_its_nodes_gets_others() {
    expect(
        "node n1 cores=4 down
         node n[2-3] cores=4
         job 1 at=-5000 since=-600@n1 n=4 run=700 t=15
         job 2 at=-4000 since=-600 n=4 run=700 t=15
         job 3 at=-3000 since=-600@n2 n=4 run=50 t=15",
        "1  -5000  -600      100  COMPLETED  n2  -
         2  -4000  -600      100  COMPLETED  n3  -
         3  -3000  100..163  +50  COMPLETED  *   *",
    );
}

#[test]
fn a_waiting_job_is_there_from_the_beginning_and_has_its_age() {
    expect(
        "node n1 cores=4
         set multifactor weight_age=1000 weight_job_size=0 max_age=100000
         boot 60
         job 1 at=-5000 since=-1000@n1 n=4 run=1100 t=60
         job 2 at=-3000 waits released=-2000 n=4 run=50 t=10
         job 3 at=0 n=4 run=50 t=10 nice=10",
        "1  -5000  -1000       100  COMPLETED  n1  -
         2  -2000  100..104    +50  COMPLETED  n1  *
         3  0      2.end+0..4  +50  COMPLETED  n1  *",
    );
}

/// Its age decides: job 3 came later but is eligible for longer.
#[test]
fn ages_of_waiting_jobs_count_from_their_recorded_eligibility() {
    expect(
        "node n1 cores=4
         set multifactor weight_age=100000 weight_job_size=0 max_age=100000
         boot 60
         job 1 at=-5000 since=-1000@n1 n=4 run=1100 t=60
         job 2 at=-3000 waits released=-500 n=4 run=50 t=10
         job 3 at=-2900 waits released=-2000 n=4 run=50 t=10
         job 4 at=0 n=1 run=50 t=10",
        "1  -5000  -1000       100  COMPLETED  n1  -
         2  -500   3.end+0..4  +50  COMPLETED  n1  *
         3  -2000  100..104    +50  COMPLETED  n1  *
         4  0      *           +50  COMPLETED  n1  *",
    );
}

#[test]
fn a_running_job_counts_against_limits_and_licences() {
    expect(
        "node n1 cores=4
         license lic:1
         qos normal max_jobs_per_user=1
         set enforce=limits
         job 1 at=-50 since=-10@n1 user=a run=110 t=10 L=lic:1
         job 2 user=a run=50 t=10
         job 3 user=b run=50 t=10 L=lic:1",
        "1  -50  -10         100  COMPLETED  n1  -
         2  0    1.end+0..4  +50  COMPLETED  n1  *
         3  0    1.end+0..4  +50  COMPLETED  n1  *",
    );
}

/// What runs before the controller's first step is charged from that step on, and what was promised is given back whole.
#[test]
fn running_minutes_of_a_group_are_given_back() {
    expect(
        "node n1 cores=8
         account x grp_cpu_run_mins=100
         user a account=x
         set enforce=limits multifactor
         job 1 at=-50000 since=-3000@n1 user=a n=1 run=3400 t=70
         job 2 user=a n=1 run=10 t=95
         job 3 at=500 user=a n=1 run=10 t=99",
        "1  -50000  -3000        400   COMPLETED  n1  -
         2  0       400..431     +10   COMPLETED  n1  *
         3  500     500..531     +10   COMPLETED  n1  *",
    );
}

#[test]
fn a_dependency_on_a_job_that_runs_already_is_kept() {
    expect(
        "node n1 cores=4
         job 1 at=-50 since=-10@n1 run=110 t=10
         job 2 at=-40 waits dep=afterany:1 run=50 t=10
         job 3 at=0 run=5 t=10",
        "1  -50         -10          100  COMPLETED  n1  -
         2  1.end+0..61  1.end+0..61  +50  COMPLETED  n1  *
         3  0            *           +5   COMPLETED  n1  *",
    );
}

/// Usage from before decides who is first, and is forgotten with time.
#[test]
fn usage_from_before_orders_the_queue() {
    let scenario = |usage: &str| {
        format!(
            "node n1 cores=4
             account x
             user a account=x {usage}
             user b account=x
             set multifactor weight_fairshare=10000 weight_job_size=0 half_life=86400
             job 1 at=-50 since=-10@n1 user=c n=4 run=110 t=10
             job 2 user=a n=4 run=50 t=10
             job 3 at=1 user=b n=4 run=50 t=10"
        )
    };
    let first = |before: &str, after: &str| {
        format!(
            "1  -50  -10  100  COMPLETED  n1  -
             2  0  {before}  +50  COMPLETED  n1  *
             3  1  {after}  +50  COMPLETED  n1  *"
        )
    };
    expect(&scenario("usage=0"), &first("100..104", "2.end+0..4"));
    expect(&scenario("usage=1000"), &first("3.end+0..4", "100..104"));
}

#[test]
fn skipped_cycles_would_have_changed_nothing() {
    for seed in 0..8 {
        expect_equal_with_every_cycle(
            "node n[1-2] cores=4
             job 1 at=-5000 since=-1000@n2 n=4 run=1200 t=60
             job 2 at=-4000 since=-1000@n1 n=2 run=9000 t=60
             job 3 at=-3000 waits n=8 N=2 run=50 t=10
             job 4 at=5 n=4 N=1 run=50 t=10",
            seed,
        );
    }
}
