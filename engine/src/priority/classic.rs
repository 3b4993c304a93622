//! The classic fair-share formula (`NO_FAIR_TREE`, `DEPTH_OBLIVIOUS`), worked out piece by piece as slurmctld does: accounts at each
//! step, before usage decays; a user at the first job that asks after it, with usage as it stands then.
//! Source: slurm-semantics 4.6; behaviour of 22.05.8 (docs/FACTS.md, facts 26).

use super::fair_share::FairShare;
use crate::association::AssociationTree;
use crate::ids::AssociationId;
use crate::policy::PriorityPolicy;

/// What is known of each row since the last step.
#[derive(Clone, Debug)]
pub(super) struct Classic {
    /// The nearest ancestor with shares of its own.
    shares_from: Vec<usize>,
    /// Shares of the whole cluster.
    shares_norm: Vec<f64>,
    /// Part of the cluster's usage, as of the last time that the row was worked out.
    usage_norm: Vec<f64>,
    effective: Vec<f64>,
    settled: Vec<bool>,
}

impl Classic {
    /// Nothing is worked out yet. O(rows × depth).
    pub(super) fn new(tree: &AssociationTree, level_shares: &[Option<f64>]) -> Self {
        let n_rows = tree.rows.len();
        let (mut shares_from, mut shares_norm) = (vec![0; n_rows], vec![1.0; n_rows]);
        for (index, row) in tree.rows.iter().enumerate() {
            let Some(parent) = row.parent.map(AssociationId::index) else { continue };
            shares_from[index] = if level_shares[parent].is_some() { parent } else { shares_from[parent] };
            shares_norm[index] = shares_norm[parent] * level_shares[index].unwrap_or(1.0);
        }
        let mut effective = vec![0.0; n_rows];
        effective[0] = 1.0;
        Self { shares_from, shares_norm, usage_norm: vec![0.0; n_rows], effective, settled: vec![false; n_rows] }
    }
}

impl FairShare {
    /// A step begins: accounts are worked out, parents first and siblings latest first, users forgotten. With `DEPTH_OBLIVIOUS` an account
    /// sees its siblings' usage as they were last worked out (`_set_children_usage_efctv` of 22.05.8; rec at-cpu). O(rows).
    pub(crate) fn accounts_anew(&mut self, tree: &AssociationTree, policy: &PriorityPolicy, raw: &[f64]) {
        let latest_last = |children: &[AssociationId]| children.iter().rev().copied().collect::<Vec<_>>();
        let mut left = latest_last(&self.children[AssociationTree::ROOT.index()]);
        while let Some(id) = left.pop() {
            let index = id.index();
            if tree.rows[index].user.is_some() {
                self.classic.settled[index] = false;
            } else {
                self.work_out(index, policy, raw);
                left.extend(latest_last(&self.children[index]));
            }
        }
    }

    /// A job asks after its association's factor. O(1), with `DEPTH_OBLIVIOUS` O(siblings).
    pub(crate) fn settle(&mut self, id: AssociationId, policy: &PriorityPolicy, raw: &[f64]) {
        let index = id.index();
        if !policy.is_classic() || std::mem::replace(&mut self.classic.settled[index], true) {
            return;
        }
        self.work_out(index, policy, raw);
        let of = if self.level_shares[index].is_some() { index } else { self.classic.shares_from[index] };
        let shares = self.classic.shares_norm[of];
        self.factors[index] = if shares <= 0.0 {
            0.0
        } else {
            libm::exp2(-(self.classic.effective[of] / shares) / f64::from(policy.dampening.max(1)))
        };
    }

    fn work_out(&mut self, index: usize, policy: &PriorityPolicy, raw: &[f64]) {
        let usage = if raw[0] > 0.0 { (raw[index] / raw[0]).min(1.0) } else { 0.0 };
        self.classic.usage_norm[index] = usage;
        let of = self.classic.shares_from[index];
        let of_account = self.classic.effective[of];
        self.classic.effective[index] = match self.level_shares[index] {
            _ if of == 0 => usage,
            None => of_account,
            Some(_) if policy.depth_oblivious => self.depth_oblivious(index),
            Some(level) => usage + (of_account - usage) * level,
        };
    }

    /// Effective usage under `DEPTH_OBLIVIOUS`.
    fn depth_oblivious(&self, index: usize) -> f64 {
        let Classic { shares_from, shares_norm, usage_norm, effective, .. } = &self.classic;
        let (shares, above) = (shares_norm[index], shares_from[index]);
        let any_is_zero = [shares, shares_norm[above], effective[above], usage_norm[index]].iter().any(|&x| x <= 0.0);
        if any_is_zero {
            return usage_norm[index];
        }
        let ratio_parent = effective[above] / shares_norm[above];
        let with_shares =
            self.children[above].iter().map(|id| id.index()).filter(|&id| self.level_shares[id].is_some());
        let ratio_siblings = with_shares.map(|id| usage_norm[id]).sum::<f64>() / shares_norm[above];
        let ratio_level = (usage_norm[index] / shares) / ratio_siblings;
        let k = if libm::log(ratio_parent) * libm::log(ratio_level) >= 0.0 {
            1.0
        } else {
            let x = 5.0 * libm::log(ratio_parent);
            1.0 / (1.0 + x * x)
        };
        ratio_parent * libm::exp2(k * libm::log2(ratio_level)) * shares
    }
}
