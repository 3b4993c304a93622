//! What a running job holds.

use crate::ids::NodeId;
use crate::select::seats::Seat;

/// One node's part of an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// The node.
    pub(crate) node: NodeId,
    /// Logical CPUs charged.
    pub(crate) cpus: u32,
    /// Memory held [MB].
    pub(crate) memory: u64,
}

/// What a job holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// Its nodes in node order.
    pub(crate) shares: Vec<Share>,
    /// Units held of each socket of each node, in the order of `shares`.
    pub(crate) socket_cores: Vec<u32>,
    /// GRES held, `n_gres` a node, in the order of `shares`; empty if none.
    pub(crate) gres: Vec<u32>,
    /// Of them near each socket, `n_gres` a socket, in the order of `socket_cores`; empty where none is bound to sockets.
    pub(crate) near: Vec<u32>,
    /// Whose it is.
    pub(crate) user: u32,
    /// Other users may not join.
    pub(crate) exclusive_user: bool,
    /// Whole nodes.
    pub(crate) whole_nodes: bool,
    /// Whole nodes of an EXCLUSIVE partition.
    pub(crate) exclusive_partition: bool,
    /// Its partition.
    pub(crate) partition: u32,
    /// Position of its partition among the capped ones.
    pub(crate) cap: Option<u32>,
    /// Its very cores, where cores may be shared.
    pub(crate) seat: Option<Seat>,
    /// It shares its cores.
    pub(crate) shares_cores: bool,
    /// Its job asks to share, whether or not its partition lets it.
    pub(crate) asks_to_share: bool,
    /// CPUs of the sockets that it keeps of nodes beyond its tasks: its job is charged them, no node is.
    pub(crate) cpus_beyond_tasks: u32,
}

impl Allocation {
    /// Whether it holds anything of its `position`th node, whose sockets are `sockets` in it: of one beyond its tasks it holds nothing, and such
    /// a node is as one without it (job_resources.c of 22.05.8, `job_res_add_job`; rec c111-24-11). O(sockets).
    pub(crate) fn holds_some(&self, position: usize, sockets: std::ops::Range<usize>) -> bool {
        let share = &self.shares[position];
        share.cpus > 0 || share.memory > 0 || self.socket_cores[sockets].iter().any(|&cores| cores > 0)
    }

    /// CPUs that its job is charged.
    pub(crate) fn cpus(&self) -> u32 {
        self.shares.iter().map(|share| share.cpus).sum::<u32>() + self.cpus_beyond_tasks
    }
}
