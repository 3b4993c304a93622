//! What is simulated: cluster, associations, QOS, policy and workload, checked once.

use std::sync::Arc;

use crate::association::{AssociationTree, Qos};
use crate::calendar::{Calendar, Outage, Reservation};
use crate::cluster::Cluster;
use crate::job::{Before, Workload};
use crate::policy::Policy;

/// One controller, its machine and the jobs submitted to it.
/// Built freely, then checked by [`Scenario::validate`]; [`crate::simulate`] asserts what that promises.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The machine.
    pub cluster: Cluster,
    /// Who may submit, with shares and limits.
    pub associations: AssociationTree,
    /// Qualities of service; at least one (`normal`).
    pub qos: Vec<Qos>,
    /// How the controller decides.
    pub policy: Policy,
    /// Reservations and outages.
    pub calendar: Calendar,
    /// The jobs.
    pub workload: Arc<Workload>,
}

/// Why a scenario cannot be simulated. All reasons are reported at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// The cluster has no node.
    #[error("the cluster has no node")]
    NoNode,
    /// The cluster has no partition.
    #[error("the cluster has no partition")]
    NoPartition,
    /// There is no QOS.
    #[error("there is no QOS")]
    NoQos,
    /// A job refers to something that is not there.
    #[error("job {job} refers to {what} {index}, but there are only {count}")]
    DanglingReference {
        /// The job.
        job: String,
        /// What it refers to.
        what: &'static str,
        /// The index it holds.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A job that is there when the simulation begins stands after one that is not.
    #[error("job {job}, which is there from the beginning, stands after a job that comes later")]
    BeforeNotFirst {
        /// The job.
        job: String,
    },
    /// Jobs are not in submit order.
    #[error("job {job} stands after a job submitted later")]
    NotSorted {
        /// The job.
        job: String,
    },
    /// A reservation or an outage that cannot be.
    #[error("{what}: {fault}")]
    Calendar {
        /// Which one.
        what: String,
        /// What is wrong with it.
        fault: &'static str,
    },
}

impl Scenario {
    /// Checks every reference and order the engine relies on. O(jobs).
    ///
    /// # Errors
    /// Every fault found, at most one hundred.
    pub fn validate(&self) -> Result<(), Vec<ScenarioError>> {
        let mut errors = Vec::new();
        if self.cluster.nodes.is_empty() {
            errors.push(ScenarioError::NoNode);
        }
        if self.cluster.partitions.is_empty() {
            errors.push(ScenarioError::NoPartition);
        }
        if self.qos.is_empty() {
            errors.push(ScenarioError::NoQos);
        }
        self.validate_calendar(&mut errors);
        let mut previous = i64::MIN;
        let mut opened = false;
        for job in &self.workload.jobs {
            if errors.len() >= 100 {
                break;
            }
            if job.submit < previous {
                errors.push(ScenarioError::NotSorted { job: job.name.to_string() });
            }
            previous = job.submit;
            if job.before().is_some() && opened {
                errors.push(ScenarioError::BeforeNotFirst { job: job.name.to_string() });
            }
            opened |= job.before().is_none();
            if let Some(Before::Running { nodes, .. }) = job.before()
                && let Some(index) = nodes.iter().map(|node| node.index()).max()
                && index >= self.cluster.nodes.len()
            {
                let count = self.cluster.nodes.len();
                let job = job.name.to_string();
                errors.push(ScenarioError::DanglingReference { job, what: "node", index, count });
            }
            let partitions = self.workload.requests.get(job.request.index()).map_or(&[][..], |r| &r.partitions);
            let references = [
                ("request", job.request.index(), self.workload.requests.len()),
                ("user", job.user.index(), self.workload.users.len()),
                ("association", job.association.index(), self.associations.rows.len()),
                ("QOS", job.qos.index(), self.qos.len()),
            ];
            let partition_references =
                partitions.iter().map(|partition| ("partition", partition.index(), self.cluster.partitions.len()));
            for (what, index, count) in references.into_iter().chain(partition_references) {
                if index >= count {
                    errors.push(ScenarioError::DanglingReference { job: job.name.to_string(), what, index, count });
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// O(reservations² + occurrences + outages).
    fn validate_calendar(&self, errors: &mut Vec<ScenarioError>) {
        let n_nodes = self.cluster.nodes.len();
        let n_partitions = self.cluster.partitions.len();
        let reservations = &self.calendar.reservations;
        for (index, reservation) in reservations.iter().enumerate() {
            let same = reservations.iter().take(index).any(|other| other.name == reservation.name);
            if let Some(fault) = fault_of_reservation(reservation, n_nodes, n_partitions, same) {
                errors.push(ScenarioError::Calendar { what: format!("reservation {}", reservation.name), fault });
            }
        }
        for outage in &self.calendar.outages {
            if let Some(fault) = fault_of_outage(outage, n_nodes) {
                errors.push(ScenarioError::Calendar { what: format!("outage from {}", outage.start), fault });
            }
        }
    }
}

/// Times beyond this [Unix s] cannot be counted in milliseconds.
const LATEST: i64 = i64::MAX / 4000;

fn fault_of_reservation(
    reservation: &Reservation,
    n_nodes: usize,
    n_partitions: usize,
    same: bool,
) -> Option<&'static str> {
    let windows = &reservation.windows;
    let ends = std::iter::once(i64::MIN).chain(windows.iter().map(|&(_, end)| end));
    if same {
        Some("there is another one of that name")
    } else if windows.is_empty() {
        Some("it never occurs")
    } else if windows.iter().any(|&(start, end)| end <= start || start < -LATEST || end > LATEST) {
        Some("it ends before it begins, or lies beyond all time")
    } else if ends.zip(windows).any(|(before, &(start, _))| start < before) {
        Some("its occurrences overlap or are not in order")
    } else if (reservation.nodes.is_empty() && reservation.licenses.is_empty()) || !reservation.nodes.is_of(n_nodes) {
        Some("it has no node and no licence, or a node that is not there")
    } else if reservation.partition.is_some_and(|partition| partition.index() >= n_partitions) {
        Some("its partition is not there")
    } else {
        None
    }
}

fn fault_of_outage(outage: &Outage, n_nodes: usize) -> Option<&'static str> {
    // Who is down for less than a second has lost its jobs.
    let is_short = outage.end == outage.start && outage.kind != crate::calendar::OutageKind::Down;
    if outage.end < outage.start
        || is_short
        || outage.start.abs() > LATEST
        || (outage.end > LATEST && outage.end != i64::MAX)
    {
        Some("it ends before it begins, or lies beyond all time")
    } else if outage.nodes.is_empty() || !outage.nodes.is_of(n_nodes) {
        Some("it has no node, or one that is not there")
    } else {
        None
    }
}
