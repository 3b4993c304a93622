//! The most nodes that a job's limits leave it: selection takes no more, however many would start it earlier. Source: behaviour of
//! slurmctld 22.05.8 (docs/FACTS.md, facts 40).

use crate::association::Limits;
use crate::cluster::Tres;
use crate::ids::{JobId, PartitionId};
use crate::select::shape::Shape;
use crate::simulation::Controller;

impl Controller<'_> {
    /// Lets shapes take no more nodes than a job's limits allow, each in its partition. With so few it may never run, as who asks for more
    /// CPUs than they have: that is found as for any other job (node_scheduler.c of 22.05.8, `_pick_best_nodes`; rec bf-c47).
    pub(crate) fn cap_nodes(&mut self, id: JobId, shapes: &mut [Shape]) {
        if self.limits.active && self.limits.caps_nodes {
            for (place, shape) in shapes.iter_mut().enumerate() {
                let Some(&partition) = self.partitions(id).get(place) else { return };
                shape.cap_nodes(self.most_nodes(id, partition));
                shape.cap_alone(|shape| self.on_empty(shape));
            }
        }
    }

    /// Whether limits let a new job's nodes be looked for: where they leave it fewer than it asks for, that is the answer, and nobody finds
    /// out whether it could ever run (node_scheduler.c of 22.05.8, `select_nodes`, `get_node_cnts`; rec ax-qos). O(depth of the tree).
    pub(crate) fn limits_allow_look(&self, id: JobId, partition: PartitionId) -> bool {
        let request = || self.scenario.workload.jobs[id.index()].request;
        let asked = || self.scenario.workload.requests[request().index()].min_nodes.max(1);
        self.limits_allow_test(id, partition)
            && !(self.limits.active && self.limits.caps_nodes && self.most_nodes(id, partition) < asked())
    }

    /// Undoes [`Controller::cap_nodes`].
    pub(crate) fn uncap_nodes(&self, shapes: &mut [Shape]) {
        if self.limits.caps_nodes {
            shapes.iter_mut().for_each(|shape| shape.cap_nodes(u32::MAX));
        }
    }

    /// What the limits of a job, whatever others use of them, leave it at most. The QOS's are asked first; of limits on groups the
    /// first. The association's are multiplied by `LimitFactor` of the QOS that stands first. O(depth of the tree).
    fn most_nodes(&self, id: JobId, partition: PartitionId) -> u32 {
        let of_qos = |limit: fn(&Limits) -> &[(Tres, u64)]| {
            self.limiting_qos(id, partition).find_map(|qos| nodes(limit(&self.scenario.qos[qos.index()].limits)))
        };
        let per_job = of_qos(|limits| &limits.max_tres_per_job);
        let per_user = of_qos(|limits| &limits.max_tres_per_user);
        let per_account = of_qos(|limits| &limits.max_tres_per_account);
        let of_one = [per_job, per_user, per_account].into_iter().flatten().min();
        let factor =
            self.limiting_qos(id, partition).next().and_then(|qos| self.scenario.qos[qos.index()].limit_factor);
        let of_rows = |limit: fn(&Limits) -> &[(Tres, u64)]| {
            let rows = self.lineage(id).map(|row| &self.scenario.associations.rows[row.index()].limits);
            let most = rows.into_iter().find_map(|limits| nodes(limit(limits)));
            most.map(|most| factor.map_or(most, |factor| (most as f64 * factor) as u64))
        };
        let of_association = || of_rows(|limits| &limits.max_tres_per_job);
        let of_group = of_qos(|limits| &limits.grp_tres).or_else(|| of_rows(|limits| &limits.grp_tres));
        let most = of_one.or_else(of_association).into_iter().chain(of_group).min();
        most.map_or(u32::MAX, |most| u32::try_from(most).unwrap_or(u32::MAX))
    }
}

/// A limit on nodes.
fn nodes(limits: &[(Tres, u64)]) -> Option<u64> {
    limits.iter().find_map(|&(tres, most)| (tres == Tres::Node).then_some(most))
}
