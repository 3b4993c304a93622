//! Raw usage of associations and its decay.
//! Source: slurm-semantics 4.4 (observed: tiny/x50_prioritydebug). Cost of a step: O(associations + running jobs).

use crate::ablation::{Rule, is_off};
use crate::association::AssociationTree;
use crate::ids::AssociationId;

/// Raw usage [billing seconds] by association, ancestors included.
#[derive(Clone, Debug)]
pub(crate) struct Usage {
    /// By [`AssociationId`].
    pub(crate) raw: Vec<f64>,
    decay_per_second: f64,
    /// The last slice [s] that was charged for and its decay: in a step most jobs ran all the time since the one before.
    slice: (i64, f64),
}

impl Usage {
    /// Usage at the scenario's start.
    pub(crate) fn new(tree: &AssociationTree, half_life_seconds: u32) -> Self {
        let mut usage = Self {
            raw: vec![0.0; tree.rows.len()],
            decay_per_second: match half_life_seconds {
                0 => 1.0,
                // Slurm's own approximation of 2^(-1/h).
                seconds => 1.0 - 0.693 / f64::from(seconds),
            },
            slice: (0, 1.0),
        };
        for (index, row) in tree.rows.iter().enumerate() {
            if row.initial_usage > 0.0 {
                usage.add(tree, AssociationId::new(index), row.initial_usage);
            }
        }
        usage
    }

    /// Decays everything by `seconds`; returns the factor.
    pub(crate) fn decay(&mut self, seconds: i64) -> f64 {
        let factor = if is_off(Rule::UsageDecay) { 1.0 } else { power(self.decay_per_second, seconds) };
        for raw in &mut self.raw {
            *raw *= factor;
        }
        factor
    }

    /// What a slice of `seconds` of a job is charged: the new slice is decayed as if all of it were that old.
    /// O(1) for the same slice again, else O(log seconds).
    pub(crate) fn charge_of(&mut self, seconds: i64, billing: f64) -> f64 {
        if self.slice.0 != seconds {
            self.slice = (seconds, power(self.decay_per_second, seconds));
        }
        seconds as f64 * self.slice.1 * billing
    }

    /// Adds usage to an association and all its ancestors. O(depth).
    pub(crate) fn add(&mut self, tree: &AssociationTree, association: AssociationId, charge: f64) {
        let mut at = Some(association).filter(|_| !is_off(Rule::UsageCharging));
        while let Some(id) = at {
            self.raw[id.index()] += charge;
            at = tree.rows[id.index()].parent;
        }
    }

    /// Forgets everything (`PriorityUsageResetPeriod`).
    pub(crate) fn reset(&mut self) {
        self.raw.fill(0.0);
    }
}

/// `base^exponent` by squaring: only multiplications, so every machine gets the same bits. O(log exponent).
fn power(base: f64, exponent: i64) -> f64 {
    let (mut result, mut square, mut rest) = (1.0, base, exponent.max(0));
    while rest > 0 {
        if rest & 1 == 1 {
            result *= square;
        }
        square *= square;
        rest >>= 1;
    }
    result
}
