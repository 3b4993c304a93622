//! Cycles of backfill that select/linear holds up (FIDELITY, facts 27).

use crate::schedule::{expect, expect_equal_with_every_cycle, run};

/// Job 2 is planned on n3 and n4, which leaves n1 and n2 to job 3 until then: too few, of unlike size. Job 4 is behind it, and
/// fits on n1 at once.
fn behind_a_planned_pair(third: &str, options: &str) -> String {
    format!(
        "node n1 cores=2
         node n2 cores=4
         node n[3-4] cores=8
         set select=linear {options}
         job 1 N=1 n=8 run=590 t=10
         job 2 at=10 N=2 n=16 run=50 t=20
         job 3 at=10 n=12 {third} run=50 t=60
         job 4 at=10 N=1 n=1 run=100 t=5"
    )
}

/// The failing try on n1 and n2 leaves n3 and n4 behind; from the end of job 1 on job 3 seems to fit on them, over the plan of
/// job 2. The cycle never gets to job 4. A job whose number of nodes is given leaves nothing behind.
#[test]
pub(crate) fn a_cycle_of_linear_is_held_up_by_nodes_that_a_failing_try_leaves_behind() {
    expect(
        &behind_a_planned_pair("", ""),
        "1  0   0..4         +590  COMPLETED  n4     *
         2  10  1.end+0..4   +50   COMPLETED  n3,n4  *
         3  10  2.end+0..4   +50   COMPLETED  n3,n4  *
         4  10  1.end+0..60  +100  COMPLETED  n1     *",
    );
    expect(
        &behind_a_planned_pair("N=2", ""),
        "1  0   0..4        +590  COMPLETED  n4     *
         2  10  1.end+0..4  +50   COMPLETED  n3,n4  *
         3  10  2.end+0..4  +50   COMPLETED  n3,n4  *
         4  10  10..41      +100  COMPLETED  n1     backfill",
    );
    expect_equal_with_every_cycle(&behind_a_planned_pair("", ""), 4);
}

/// Where cycles take time, the same try goes on until `bf_max_time`.
#[test]
fn a_cycle_that_is_held_up_ends_at_bf_max_time() {
    let text = behind_a_planned_pair("", "base_us=1000 record_us=1000 bf_max_time=20");
    for seed in 0..8 {
        let counters = run(&text, seed).1.counters;
        assert!(counters.backfill_exit_max_time > 5, "seed {seed}: {counters:?}");
    }
}

/// Each sleep between two tries lets the controller see what has changed.
#[test]
fn a_cycle_that_is_held_up_ends_when_something_changes() {
    let arrivals: String = (5..300).map(|job| format!("job {job} at={} N=2 n=16 run=5 t=10\n", 2 * job)).collect();
    let text = behind_a_planned_pair("", "base_us=1000 record_us=1000 bf_max_time=20") + "\n" + &arrivals;
    for seed in 0..8 {
        let counters = run(&text, seed).1.counters;
        assert!(counters.backfill_exit_state_changed > 5, "seed {seed}: {counters:?}");
    }
}
