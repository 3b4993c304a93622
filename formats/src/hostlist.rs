//! Slurm's hostlist expressions (`n[01-04,7],gpu1`): expanding, compressing and ordering node names.

mod compress;
mod expand;
mod natural;
mod node_names;

pub use compress::compress;
pub use expand::{HostlistError, expand, split_top_level};
pub use natural::natural_cmp;
pub use node_names::NodeNames;

/// How many names one hostlist of a configuration may stand for: more than any machine has nodes.
pub const MAX_NAMES: usize = 1_000_000;

#[cfg(test)]
mod tests;
