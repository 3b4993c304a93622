//! `--overcommit` beside `--cpus-per-task`, from 24.11 on: nodes are chosen for a CPU each, and must then have CPUs for all tasks.
//! Source: dist_tasks.c of 24.11.5, `_get_task_count`, `tres_per_task`; rec c103-24-11 (docs/FACTS.md, facts 88).

use crate::ids::NodeId;
use crate::select::Selector;
use crate::select::free::{ANY_USER, Free};
use crate::select::geometry::Geometry;
use crate::select::pick::Offer;
use crate::select::shape::Shape;
use crate::select::usable::usable_cpus;

impl Selector {
    /// Whether there are CPUs for all tasks on the nodes last chosen, where these were chosen for fewer; a node has one task in any case. O(nodes of
    /// the job × sockets).
    pub(super) fn places_all_tasks(&self, free: &Free, shape: &Shape) -> bool {
        let tasks_on = |node: NodeId| {
            let cpus = usable_cpus(&self.geometry, free, shape, ANY_USER, node);
            (cpus / shape.cpus_per_task.max(1)).max(1)
        };
        shape
            .tasks_to_place
            .is_none_or(|tasks| self.chosen.iter().map(|offer| tasks_on(offer.node)).sum::<u32>() >= tasks)
    }
}

/// What the chosen nodes have for `--overcommit` beside `--cpus-per-task`, which chooses them for a CPU each; `None` for all others. O(nodes × sockets).
pub(super) fn all_they_have(geometry: &Geometry, free: &Free, shape: &Shape, chosen: &[Offer]) -> Option<Vec<Offer>> {
    shape.tasks_to_place?;
    let whole = |offer: &Offer| Offer { cpus: usable_cpus(geometry, free, shape, ANY_USER, offer.node), ..*offer };
    Some(chosen.iter().map(whole).collect())
}
