//! What happens to the machine in the course of time: advance reservations, and nodes that are down or drained.
//! Source: slurm-semantics 7.2, 7.6.

use crate::ids::{LicenseId, PartitionId};
use crate::node_set::NodeSet;

/// Everything that is set to happen. Empty for most scenarios, and then it costs nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calendar {
    /// Advance reservations, each name once. A request names one by its name.
    pub reservations: Vec<Reservation>,
    /// Nodes out of service; windows of one node may overlap.
    pub outages: Vec<Outage>,
}

impl Calendar {
    /// Whether nothing is set to happen.
    pub fn is_empty(&self) -> bool {
        self.reservations.is_empty() && self.outages.is_empty()
    }
}

/// An advance reservation of whole nodes, licences or both (`scontrol create reservation`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// `ReservationName`.
    pub name: String,
    /// When it was created [Unix s]: before, nobody minds it. `i64::MIN` for one that was always there.
    pub created: i64,
    /// `StartTime` and `EndTime` of each occurrence [Unix s, half open], ascending and without overlap; at least one. The next
    /// one becomes known when the one before has ended, as a recurring reservation is advanced.
    pub windows: Vec<(i64, i64)>,
    /// `Nodes`; none in one of licences alone.
    pub nodes: NodeSet,
    /// `Licenses`, each once.
    pub licenses: Vec<(LicenseId, u32)>,
    /// `PartitionName`; decides only with `PART_NODES`.
    pub partition: Option<PartitionId>,
    /// `Users`; empty if it is not by user.
    pub users: Vec<String>,
    /// `Users=-…`: all but those named.
    pub users_denied: bool,
    /// `Accounts`, with the accounts below them; empty if it is not by account.
    pub accounts: Vec<String>,
    /// `Accounts=-…`: all but those named.
    pub accounts_denied: bool,
    /// `Flags`.
    pub flags: ReservationFlags,
}

/// `Flags` of a reservation that decide. `IGNORE_JOBS` is no field: jobs that run where a reservation begins always go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReservationFlags {
    /// `MAINT`: jobs of a partition whose nodes it covers wait for its end; its own jobs may use nodes of others.
    pub maint: bool,
    /// `ALL_NODES`, `Nodes=ALL`: every job waits for its end.
    pub all_nodes: bool,
    /// `PART_NODES`: jobs of its partition wait for its end.
    pub part_nodes: bool,
    /// `FLEX`: its jobs may start before it and beside its nodes, and are not ended with it.
    pub flex: bool,
    /// `OVERLAP`: its jobs may use nodes of other reservations that are not `MAINT`.
    pub overlap: bool,
    /// `MAGNETIC`: while it lasts, jobs that it lets in are tried in it though they do not name it.
    pub magnetic: bool,
    /// `NO_HOLD_JOBS_AFTER_END`: jobs that still wait at its end run as any other; else they are held.
    pub no_hold_jobs_after: bool,
    /// It was asked for by a number of nodes (neither `SPEC_NODES` nor `STATIC_ALLOC`): those that become unusable are replaced by others.
    pub replaces_nodes: bool,
}

/// Nodes out of service for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// From [Unix s].
    pub start: i64,
    /// To [Unix s], when they register again; `i64::MAX` if they never do.
    pub end: i64,
    /// Which nodes.
    pub nodes: NodeSet,
    /// What becomes of their jobs.
    pub kind: OutageKind,
}

/// What becomes of the jobs on nodes that go out of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageKind {
    /// `DOWN`: they end with `NODE_FAIL`.
    Down,
    /// `DRAIN`, `FAIL`: they finish; no new job starts.
    Drain,
}
