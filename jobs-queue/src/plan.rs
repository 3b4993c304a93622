//! A study to tasks.

use foresite_store::tasks::NewTask;

/// Replications in one task share one reading of the trace; few enough that little is lost with a worker.
pub const REPLICATIONS_PER_TASK: i64 = 5;

/// A task whose child ended badly so often (crash, memory, time) is given up, and its study with it. Lost workers count apart:
/// [`foresite_store::tasks::MAX_LOSSES`].
pub const MAX_FAILURES: i64 = 3;

/// The replicate tasks of a study: every scenario (`n_scenarios` counts the baseline) in chunks of at most
/// [`REPLICATIONS_PER_TASK`] replications. All scenarios of the first chunk come first, so that early results are comparable.
pub fn plan_tasks(n_scenarios: i64, replications: i64) -> Vec<NewTask> {
    let mut tasks = Vec::new();
    let mut from = 0;
    while from < replications {
        let to = (from + REPLICATIONS_PER_TASK).min(replications);
        for scenario in 0..n_scenarios {
            tasks.push(NewTask { scenario, replication_from: from, replication_to: to, max_failures: MAX_FAILURES });
        }
        from = to;
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(tasks: &[NewTask]) -> String {
        let lines =
            tasks.iter().map(|task| format!("{}: {}..{}", task.scenario, task.replication_from, task.replication_to));
        lines.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn every_replication_of_every_scenario_is_in_one_task() {
        assert_eq!(text(&plan_tasks(2, 7)), "0: 0..5, 1: 0..5, 0: 5..7, 1: 5..7");
        assert_eq!(text(&plan_tasks(1, 1)), "0: 0..1");
    }
}
