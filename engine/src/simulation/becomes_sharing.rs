//! Jobs of several partitions that a test in one that forces sharing (`OverSubscribe=FORCE`) makes share cores in those that leave the choice
//! (`YES`), too, for good. Source: node_scheduler.c of 22.05.8, `_resolve_shared_status`; rec be-k37, bb-cpu (docs/FACTS.md, facts 85).

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::OverSubscribe;
use crate::ids::{JobId, PartitionId, RequestId};
use crate::job::{Request, Sharing};
use crate::scenario::Scenario;
use crate::select::shape::Shape;
use crate::simulation::Controller;

/// Which jobs have been tested there, and what their requests are to node selection since.
#[derive(Debug, Default)]
pub(crate) struct BecomesSharing {
    /// By id, and component; an array's tasks that wait are one job.
    tested: BTreeSet<(u64, Option<u32>)>,
    /// Whose nodes backfill's last try to start somebody looked at, and where: noted once its shapes are back.
    started_in_vain: Option<(JobId, PartitionId)>,
    shapes: BTreeMap<RequestId, Box<[Shape]>>,
}

impl BecomesSharing {
    /// Whether no test has made any job share.
    pub(super) fn is_unused(&self) -> bool {
        self.tested.is_empty()
    }
}

/// Whether a request may be made share: it does not say, and some of its partitions force it to, others leave it the choice.
/// O(partitions of it).
pub(super) fn may_become_sharing(scenario: &Scenario, request: &Request) -> bool {
    let over = |id: &PartitionId| scenario.cluster.partitions[id.index()].over_subscribe;
    request.sharing == Sharing::Default
        && request.partitions.iter().any(|id| forces(over(id)))
        && request.partitions.iter().any(|id| matches!(over(id), OverSubscribe::Yes(2..)))
}

fn forces(over: OverSubscribe) -> bool {
    matches!(over, OverSubscribe::Force(2..))
}

impl Controller<'_> {
    /// The job's nodes in a partition were looked at. O(log jobs).
    pub(super) fn shares_after(&mut self, id: JobId, partition: PartitionId) {
        let scenario = self.scenario;
        let request = &scenario.workload.requests[self.job(id).request.index()];
        if forces(scenario.cluster.partitions[partition.index()].over_subscribe)
            && may_become_sharing(scenario, request)
        {
            let name = self.tested_as(id);
            self.becomes_sharing.tested.insert(name);
        }
    }

    /// Backfill tries to start the job there.
    pub(crate) fn note_try_to_start(&mut self, id: JobId, partition: PartitionId) {
        self.becomes_sharing.started_in_vain = Some((id, partition));
    }

    /// The shapes of that job are back.
    pub(super) fn settle_try_to_start(&mut self) {
        if let Some((id, partition)) = self.becomes_sharing.started_in_vain.take()
            && self.tests_leave_sharing()
        {
            self.shares_after(id, partition);
        }
    }

    /// Whether a test has made it share wherever it may. O(log jobs).
    pub(super) fn has_become_sharing(&self, id: JobId) -> bool {
        !self.becomes_sharing.is_unused() && self.becomes_sharing.tested.contains(&self.tested_as(id))
    }

    /// The shape of such a job in one of its partitions, if it has been made and is not taken out. O(log requests).
    pub(super) fn known_sharing_shape(&self, id: JobId, place: usize) -> Option<&Shape> {
        self.becomes_sharing.shapes.get(&self.job(id).request)?.get(place)
    }

    /// Takes the shapes of such a request; give them back with [`Controller::put_sharing_shapes`].
    pub(super) fn take_sharing_shapes(&mut self, request: RequestId) -> Box<[Shape]> {
        if let Some(shapes) = self.becomes_sharing.shapes.remove(&request) {
            return shapes;
        }
        let asked = &self.scenario.workload.requests[request.index()];
        self.shapes_of(&Request { sharing: Sharing::OverSubscribe, ..asked.clone() })
    }

    /// Returns what [`Controller::take_sharing_shapes`] took.
    pub(super) fn put_sharing_shapes(&mut self, request: RequestId, shapes: Box<[Shape]>) {
        self.becomes_sharing.shapes.insert(request, shapes);
    }
}
