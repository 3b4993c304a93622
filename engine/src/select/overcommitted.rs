//! Tasks without room, from 24.11 on. With `--overcommit` beside `--cpus-per-task` nodes give the CPU each for which they are chosen, nodes that
//! `MaxCPUsPerNode` cuts (facts 95 g) count with parts of a task; both are then asked for those of all tasks. Source: dist_tasks.c of 24.11.5, `_get_task_count`, `tres_per_task`; rec c103-24-11, c111-24-11 (docs/FACTS.md, facts 88).

use crate::select::Selector;
use crate::select::pick::Offer;
use crate::select::shape::Shape;

impl Selector {
    /// Whether there are CPUs for all tasks on the nodes last chosen; a node has one task in any case. O(nodes of the job).
    pub(super) fn places_all_tasks(&self, shape: &Shape) -> bool {
        let tasks_on = |offer: &Offer| (offer.cpus / shape.cpus_per_task.max(1)).max(1);
        !self.scratch.cannot_be_laid_out
            && shape.tasks_to_place.is_none_or(|tasks| self.chosen.iter().map(tasks_on).sum::<u32>() >= tasks)
    }
}
