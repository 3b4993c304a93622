//! Why a change may act on no job: what is cheap to know before anything is simulated.

use foresite_engine::ids::AssociationId;
use foresite_engine::job::Job;
use foresite_engine::scenario::Scenario;
use jiff::tz::TimeZone;

use crate::comparison::Caveat;
use crate::study_document::Change;
use crate::study_document::change::{AssociationChange, NodesChange, QosChange};
use crate::study_document::reservation::ReservationChange;

/// Clauses about those of a scenario's changes that no job of the trace is likely to meet. O(changes × jobs × depth of the tree).
pub(super) fn reasons(name: &str, changes: &[Change], site: &Scenario, zone: &TimeZone) -> Vec<Caveat> {
    let clause = |change: &Change| match change {
        Change::Nodes(NodesChange::Drain { window, .. }) => {
            let (start, end) = (window.0.unix_seconds(zone), window.1.unix_seconds(zone));
            beyond("the drain", (start, end), site)
        }
        Change::Reservation(ReservationChange::Add(added)) => {
            beyond(&format!("reservation {}", added.name), (added.start.unix_seconds(zone), added.ends_at(zone)), site)
        }
        Change::Qos(change) => unused_qos(change, site),
        Change::Association(change) => unused_association(change, site),
        _ => None,
    };
    let caveat = |text: String| Caveat { scenario: Some(name.to_owned()), text };
    changes.iter().filter_map(clause).map(caveat).collect()
}

fn beyond(what: &str, (start, end): (i64, i64), site: &Scenario) -> Option<String> {
    let submits = || site.workload.jobs.iter().map(|job| job.submit);
    let (first, last) = submits().min().zip(submits().max())?;
    if start > last {
        return Some(format!("{what} begins after the last job was submitted"));
    }
    (end <= first).then(|| format!("{what} ends before the first job was submitted"))
}

fn unused_qos(change: &QosChange, site: &Scenario) -> Option<String> {
    let is_under = |job: &Job| site.qos.get(job.qos.index()).is_some_and(|qos| qos.name == change.name);
    let is_used = site.workload.jobs.iter().any(is_under);
    (!is_used).then(|| format!("no job asks for QOS {}", change.name))
}

/// A row holds for the jobs of those below it.
fn unused_association(change: &AssociationChange, site: &Scenario) -> Option<String> {
    let row = |id: AssociationId| site.associations.rows.get(id.index());
    let is_meant = |id: &AssociationId| {
        row(*id).is_some_and(|row| row.account == change.account && row.user.as_ref() == change.user.as_ref())
    };
    let up = |id: &AssociationId| row(*id).and_then(|row| row.parent);
    let is_below = |job: &Job| std::iter::successors(Some(job.association), up).any(|id| is_meant(&id));
    let whose = change.user.as_ref().map(|user| format!(" of user {user}")).unwrap_or_default();
    let is_used = site.workload.jobs.iter().any(is_below);
    (!is_used).then(|| format!("no job{whose} is charged to account {}", change.account))
}
