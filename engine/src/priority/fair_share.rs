//! Fair-share factors: Fair Tree (default) and the classic formula.
//! Source: slurm-semantics 4.5, 4.6; observed order of siblings: tiny/x50_prioritydebug. Cost: O(n log n) associations.

use crate::association::{AssociationTree, Shares};
use crate::ids::AssociationId;
use crate::policy::PriorityPolicy;

/// The tree prepared for repeated computation.
#[derive(Clone, Debug)]
pub(crate) struct FairShare {
    /// Children of each row, latest first, as slurmctld keeps them.
    children: Vec<Vec<AssociationId>>,
    /// Shares among the siblings, normalised at the level; `None` for `parent`.
    level_shares: Vec<Option<f64>>,
    /// Number of user rows.
    n_users: u32,
    /// The factor of each user row, in [0, 1].
    pub(crate) factors: Vec<f64>,
}

/// Walk state of the ranking.
struct Ranking {
    rank: u32,
    rank_if_not_tied: u32,
}

impl FairShare {
    /// Prepares a tree.
    pub(crate) fn new(tree: &AssociationTree) -> Self {
        let mut children = vec![Vec::new(); tree.rows.len()];
        for (index, row) in tree.rows.iter().enumerate().rev() {
            if let Some(parent) = row.parent {
                children[parent.index()].push(AssociationId::new(index));
            }
        }
        let mut level_shares = vec![Some(1.0); tree.rows.len()];
        for siblings in &children {
            let count = |id: &AssociationId| match tree.rows[id.index()].shares {
                Shares::Count(shares) => f64::from(shares),
                Shares::Parent => 0.0,
            };
            let total: f64 = siblings.iter().map(count).sum();
            for id in siblings {
                level_shares[id.index()] = match tree.rows[id.index()].shares {
                    Shares::Parent => None,
                    Shares::Count(_) if total > 0.0 => Some(count(id) / total),
                    Shares::Count(_) => Some(0.0),
                };
            }
        }
        let n_users = tree.rows.iter().filter(|row| row.user.is_some()).count() as u32;
        Self { children, level_shares, n_users, factors: vec![1.0; tree.rows.len()] }
    }

    /// Recomputes all factors from raw usage.
    pub(crate) fn update(&mut self, tree: &AssociationTree, policy: &PriorityPolicy, raw: &[f64]) {
        if policy.no_fair_tree || policy.depth_oblivious {
            self.classic(tree, policy, raw);
        } else {
            let mut ranking = Ranking { rank: self.n_users, rank_if_not_tied: self.n_users };
            self.fair_tree(tree, raw, AssociationTree::ROOT, false, &mut ranking);
        }
    }

    /// Ranks the children of one row, depth first.
    fn fair_tree(&mut self, tree: &AssociationTree, raw: &[f64], at: AssociationId, tied: bool, ranking: &mut Ranking) {
        let mut siblings: Vec<(f64, AssociationId)> =
            self.children[at.index()].iter().map(|&id| (self.level_fs(raw, id, at), id)).collect();
        siblings.sort_by(|(a, a_id), (b, b_id)| {
            let is_account = |id: &AssociationId| tree.rows[id.index()].user.is_none();
            b.total_cmp(a).then(is_account(a_id).cmp(&is_account(b_id)))
        });
        let mut previous: Option<f64> = None;
        for (level_fs, id) in siblings {
            let tied_here = match previous {
                // Exact equality is Slurm's test: in practice ties occur at infinity and at zero.
                Some(previous) => previous.total_cmp(&level_fs).is_eq(),
                None => tied,
            };
            previous = Some(level_fs);
            if tree.rows[id.index()].user.is_some() {
                if !tied_here {
                    ranking.rank = ranking.rank_if_not_tied;
                }
                self.factors[id.index()] = f64::from(ranking.rank) / f64::from(self.n_users);
                ranking.rank_if_not_tied -= 1;
            } else {
                self.fair_tree(tree, raw, id, tied_here, ranking);
            }
        }
    }

    /// Shares over usage at one level; infinite without usage or with the parent's shares.
    fn level_fs(&self, raw: &[f64], id: AssociationId, parent: AssociationId) -> f64 {
        let Some(shares) = self.level_shares[id.index()] else { return f64::INFINITY };
        if shares <= 0.0 {
            return 0.0;
        }
        let of_parent = raw[parent.index()];
        let usage = if of_parent > 0.0 { raw[id.index()] / of_parent } else { 0.0 };
        if usage > 0.0 { shares / usage } else { f64::INFINITY }
    }

    /// The classic formula, parents before children.
    fn classic(&mut self, tree: &AssociationTree, policy: &PriorityPolicy, raw: &[f64]) {
        let n_rows = tree.rows.len();
        let root_usage = raw[0];
        let mut shares_norm = vec![1.0; n_rows];
        let mut usage_norm = vec![0.0; n_rows];
        let mut effective = vec![0.0; n_rows];
        effective[0] = 1.0;
        for (index, row) in tree.rows.iter().enumerate() {
            usage_norm[index] = if root_usage > 0.0 { (raw[index] / root_usage).min(1.0) } else { 0.0 };
            let Some(parent) = row.parent.map(AssociationId::index) else { continue };
            let Some(level) = self.level_shares[index] else {
                shares_norm[index] = shares_norm[parent];
                effective[index] = effective[parent];
                continue;
            };
            shares_norm[index] = shares_norm[parent] * level;
            effective[index] = if parent == 0 {
                usage_norm[index]
            } else if policy.depth_oblivious {
                self.depth_oblivious(index, parent, &shares_norm, &usage_norm, &effective)
            } else {
                usage_norm[index] + (effective[parent] - usage_norm[index]) * level
            };
        }
        for index in 0..n_rows {
            let shares = shares_norm[index];
            self.factors[index] = if shares <= 0.0 {
                0.0
            } else {
                libm_exp2(-(effective[index] / shares) / f64::from(policy.dampening.max(1)))
            };
        }
    }

    /// Effective usage under `DEPTH_OBLIVIOUS`.
    fn depth_oblivious(
        &self,
        index: usize,
        parent: usize,
        shares_norm: &[f64],
        usage_norm: &[f64],
        effective: &[f64],
    ) -> f64 {
        let shares = shares_norm[index];
        if shares <= 0.0 || shares_norm[parent] <= 0.0 {
            return usage_norm[index];
        }
        let ratio_parent = effective[parent] / shares_norm[parent];
        let siblings: f64 = self.children[parent].iter().map(|id| usage_norm[id.index()]).sum();
        let ratio_siblings = siblings / shares_norm[parent];
        let ratio_level = if ratio_siblings > 0.0 { (usage_norm[index] / shares) / ratio_siblings } else { 0.0 };
        let k = if ratio_parent * ratio_level == 0.0 || libm_ln(ratio_parent) * libm_ln(ratio_level) >= 0.0 {
            1.0
        } else {
            let x = 5.0 * libm_ln(ratio_parent);
            1.0 / (1.0 + x * x)
        };
        let powered =
            if ratio_level > 0.0 { libm_exp2(k * libm_ln(ratio_level) / std::f64::consts::LN_2) } else { 0.0 };
        ratio_parent * powered * shares
    }
}

/// 2^x from one portable implementation, so that machines agree.
fn libm_exp2(x: f64) -> f64 {
    libm::exp2(x)
}

/// ln x from one portable implementation.
fn libm_ln(x: f64) -> f64 {
    libm::log(x)
}
