//! A site as its own files describe it, lowered to engine values.

use foresite_engine::association::{AssociationTree, Qos};
use foresite_engine::calendar::Calendar;
use foresite_engine::cluster::Cluster;
use foresite_engine::policy::Policy;

/// What slurm.conf, its neighbours and the accounting dump say.
#[derive(Clone, Debug)]
pub struct Site {
    /// The machine.
    pub cluster: Cluster,
    /// The association tree; only the root where no dump was given.
    pub associations: AssociationTree,
    /// Qualities of service; at least `normal`.
    pub qos: Vec<Qos>,
    /// Scheduling policy.
    pub policy: Policy,
    /// Reservations and outages.
    pub calendar: Calendar,
    /// Whether the associations came from a dump (then unknown users are faults to report, not to assume).
    pub has_accounts: bool,
}
