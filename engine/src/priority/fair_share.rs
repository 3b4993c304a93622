//! Fair-share factors by Fair Tree, the default; `classic` has the other formula.
//! Source: slurm-semantics 4.5; observed order of siblings: tiny/x50_prioritydebug. Cost: O(n log n) associations.

use super::classic::Classic;
use crate::association::{Association, AssociationTree, Shares};
use crate::ids::AssociationId;
use crate::policy::PriorityPolicy;

/// The tree prepared for repeated computation.
#[derive(Clone, Debug)]
pub(crate) struct FairShare {
    /// Rows that share what a row has, latest first, as slurmctld keeps them: its children and, in the place of an account with the
    /// parent's shares, those of that account (assoc_mgr.c, `fs_assoc_ptr`, of 22.05.8).
    pub(super) children: Vec<Vec<AssociationId>>,
    /// Shares among the siblings, normalised at the level; `None` for `parent`.
    pub(super) level_shares: Vec<Option<f64>>,
    /// Number of user rows.
    n_users: u32,
    /// The factor of each user row, in [0, 1].
    pub(crate) factors: Vec<f64>,
    /// Of each user row the part of its account's usage over the part of its account's shares that it has, as of the last ranking: slurmctld puts it into
    /// the classic formula where fair-share has no weight (`priority_p_calc_fs_factor` of 22.05.8; rec x2).
    pub(super) exponents: Vec<f64>,
    pub(super) classic: Classic,
}

/// The nearest of a row and its ancestors with shares of its own; the root has. O(depth).
fn shares_from(tree: &AssociationTree, row: Option<AssociationId>) -> Option<AssociationId> {
    let mut at = row?;
    while tree.rows[at.index()].shares == Shares::Parent {
        at = tree.rows[at.index()].parent?;
    }
    Some(at)
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
            let shares_nothing = row.shares == Shares::Parent && row.user.is_none();
            if let Some(above) = shares_from(tree, row.parent).filter(|_| !shares_nothing) {
                children[above.index()].push(AssociationId::new(index));
            }
        }
        let has_shares = |row: &Association| row.parent.is_none() || row.shares != Shares::Parent;
        let mut level_shares: Vec<_> = tree.rows.iter().map(|row| has_shares(row).then_some(1.0)).collect();
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
        let classic = Classic::new(tree, &level_shares);
        let (factors, exponents) = (vec![1.0; tree.rows.len()], vec![0.0; tree.rows.len()]);
        Self { children, level_shares, n_users, factors, exponents, classic }
    }

    /// Ranks all users by raw usage.
    pub(crate) fn rank(&mut self, tree: &AssociationTree, raw: &[f64]) {
        let mut ranking = Ranking { rank: self.n_users, rank_if_not_tied: self.n_users };
        self.fair_tree(tree, raw, AssociationTree::ROOT, false, &mut ranking);
    }

    /// The factor of a user row without a weight: the classic formula's, whatever ranks users. O(1).
    pub(crate) fn unweighted(&self, id: AssociationId, policy: &PriorityPolicy) -> f64 {
        match policy.is_classic() {
            true => self.factors[id.index()],
            false => libm::exp2(-self.exponents[id.index()] / f64::from(policy.dampening.max(1))),
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
                let usage = part_of(raw, id, at);
                let shares = self.level_shares[id.index()].or(self.level_shares[at.index()]).unwrap_or(0.0);
                self.exponents[id.index()] = if shares > 0.0 { usage / shares } else { f64::INFINITY };
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
        let usage = part_of(raw, id, parent);
        if usage > 0.0 { shares / usage } else { f64::INFINITY }
    }
}

/// The part of a row's usage that one below it has.
fn part_of(raw: &[f64], id: AssociationId, parent: AssociationId) -> f64 {
    let of_parent = raw[parent.index()];
    if of_parent > 0.0 { raw[id.index()] / of_parent } else { 0.0 }
}
