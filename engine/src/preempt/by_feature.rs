//! A job of alternative features (`[a|b]`) makes room among the nodes of one before it looks at those of the next.
//! Source: node_scheduler.c of 22.05.8, `_pick_best_nodes`; rec be-k33 (docs/FACTS.md, facts 85).

use super::make_room::Room;
use crate::ids::{JobId, PartitionId};
use crate::node_set::NodeSet;
use crate::select::shape::Shape;
use crate::simulation::Controller;

impl Controller<'_> {
    /// Whether the job fits now on nodes of its first features that serve it, and what came of the tries to make room on those before; the
    /// nodes chosen are left in the selector. `asked` is what its test asks for. O(alternatives × as `fits` and `make_room`).
    pub(crate) fn fits_by_feature(
        &mut self,
        id: JobId,
        partition: PartitionId,
        (shape, asked): (&Shape, &Shape),
        candidates: &NodeSet,
    ) -> (bool, Room) {
        let user = self.scenario.workload.jobs[id.index()].user.0;
        let mut having = candidates.clone();
        for alternative in &shape.alternatives {
            having.copy_from(candidates);
            having.intersect(alternative);
            if self.selector.fits(&self.free, asked, user, &having) {
                return (true, Room::None);
            }
            let room = self.make_room(id, partition, shape, &having);
            if room != Room::None {
                return (false, room);
            }
        }
        (false, Room::None)
    }

    /// Whether room for it is made by feature.
    pub(crate) fn makes_room_by_feature(&self, shape: &Shape) -> bool {
        self.preempt.is_some() && !shape.alternatives.is_empty()
    }
}
