//! Node selection seen from outside (slurm-semantics 6).

pub(crate) mod cores;
mod linear;
pub(crate) mod nodes;

use crate::pins::{expect_pinned, fingerprint};
use crate::schedule::{expect, rows, run};

/// The nodes each job gets when all start at once or wait, by seed 1.
fn nodes(scenario: &str) -> Vec<String> {
    let (parsed, outcome) = run(scenario, 1);
    expect_pinned(scenario, fingerprint(&outcome));
    rows(&parsed, &outcome).into_iter().map(|row| row[5].clone()).collect()
}

/// Two jobs that must not, or may, run at the same time on one node.
#[track_caller]
fn share_a_node(scenario: &str, together: bool) {
    let second = if together { "0..4" } else { "1.end+0..4" };
    expect(scenario, &format!("1  0  0..4  +100  COMPLETED  n1  *\n2  0  {second}  +100  COMPLETED  n1  *"));
}
