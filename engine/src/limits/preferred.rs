//! Nodes that a job's groups already use, where these are limited in nodes, and those of its `FLEX` reservation: selection prefers them.
//! Source: slurm-semantics 6.2.2.

use crate::ids::{JobId, PartitionId};
use crate::node_set::NodeSet;
use crate::select::shape::Shape;
use crate::simulation::Controller;

use super::usage::{Used, counts_nodes};

impl Controller<'_> {
    /// A look for a start begins: weighs the nodes that could serve the job, out of `among`. O(1) without limits on nodes, nodes that weigh
    /// other than slurm.conf says and a `FLEX` reservation of its own, else O(depth of the tree + nodes).
    pub(crate) fn weigh_nodes(
        &mut self,
        id: JobId,
        (partition, own): (PartitionId, Option<usize>),
        shape: &Shape,
        among: Option<&NodeSet>,
    ) {
        let limited = self.limits.active && self.limits.counts_nodes;
        let flex = self.flex_nodes(own).cloned();
        if !limited && flex.is_none() && !self.selector.weights.stray_among(&shape.tested) {
            return;
        }
        let mut candidates = shape.tested.clone();
        if let Some(among) = among {
            candidates.intersect(among);
        }
        if !limited {
            let none = NodeSet::empty(self.scenario.cluster.nodes.len());
            self.selector.weights.weigh(&candidates, &none, flex.as_ref());
            return;
        }
        let mut preferred = NodeSet::empty(self.scenario.cluster.nodes.len());
        let mut prefer = |used: Option<&Used>| {
            for &node in used.and_then(|used| used.nodes.as_ref()).into_iter().flat_map(|nodes| nodes.keys()) {
                preferred.insert(node);
            }
        };
        let user = self.scenario.workload.jobs[id.index()].user.0;
        let account = self.account_of(id).0;
        let (mut group_decided, mut user_decided, mut account_decided) = (false, false, false);
        for qos in self.limiting_qos(id, partition) {
            let limits = &self.scenario.qos[qos.index()].limits;
            let used = &self.limits.qos[qos.index()];
            // Before its first job, a group does not decide.
            if !group_decided && used.has_run && counts_nodes(&limits.grp_tres) {
                group_decided = true;
                prefer(Some(used));
            }
            if !user_decided && counts_nodes(&limits.max_tres_per_user) {
                user_decided = true;
                prefer(self.limits.qos_users.get(&(qos.0, user)));
            }
            if !account_decided && counts_nodes(&limits.max_tres_per_account) {
                account_decided = true;
                prefer(self.limits.qos_accounts.get(&(qos.0, account)));
            }
        }
        if !group_decided {
            let limited = self.lineage(id).map(|at| at.index()).find(|&at| {
                let limits = &self.scenario.associations.rows[at].limits;
                self.limits.associations[at].has_run && counts_nodes(&limits.grp_tres)
            });
            prefer(limited.map(|at| &self.limits.associations[at]));
        }
        self.selector.weights.weigh(&candidates, &preferred, flex.as_ref());
    }
}
