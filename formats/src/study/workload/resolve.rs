//! A document's workload changes made ready: names become ids, and a change that is about no job is a fault.

use std::collections::HashMap;

use foresite_engine::association::AssociationTree;
use foresite_engine::ids::{AssociationId, PartitionId, RequestId, UserId};
use foresite_engine::job::{Request, Workload};
use foresite_engine::scenario::Scenario;

use super::{Action, CERTAIN, Edit, Edits, LimitRule, Which, asking_for};
use crate::diagnostic::Diagnostic;
use crate::study_document::DOCUMENT;
use crate::study_document::workload::{
    Estimates, Move, Reassign, ScaleArrivals, Selection, TimeLimitChange, WorkloadChange,
};

/// Resolves the changes in order, each with its JSON pointer. `site` is told the users and requests that they bring; its jobs stay.
pub(in crate::study) fn resolve(
    changes: &[(&WorkloadChange, String)],
    site: &mut Scenario,
) -> Result<Edits, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    let mut edits = Vec::new();
    let mut pointers = Vec::new();
    for (change, pointer) in changes {
        let pointer = format!("{pointer}/{}", change.kind());
        match edit(change, site) {
            Ok(edit) => {
                edits.push(edit);
                pointers.push(pointer);
            }
            Err(found) => faults.extend(found.into_iter().map(|(place, message, cure)| {
                Diagnostic::error(DOCUMENT, message).field(format!("{pointer}{place}")).cure(cure)
            })),
        }
    }
    let edits = Edits(edits);
    if faults.is_empty() {
        let (_, counts) = edits.counted(site, 0);
        faults.extend(pointers.iter().zip(counts).filter(|(_, count)| *count == 0).map(|(pointer, _)| {
            let fault = Diagnostic::error(DOCUMENT, "the change is about no job of the trace").field(pointer);
            fault.cure("name jobs that the trace has in the window")
        }));
    }
    if faults.is_empty() { Ok(edits) } else { Err(faults) }
}

/// Place below the change, message, cure.
type Fault = (String, String, String);

fn edit(change: &WorkloadChange, site: &mut Scenario) -> Result<Edit, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut which = which(change.jobs(), site, &mut faults);
    let action = match change {
        WorkloadChange::ScaleArrivals(ScaleArrivals { factor, .. }) => {
            let copies = factor.floor();
            Some(Action::Arrivals { copies: copies as u32, chance: of_certain(factor - copies) })
        }
        WorkloadChange::Reassign(Reassign { from, to, .. }) => {
            which.user = user(from, "/from", site, &mut faults);
            reassign(to, site, &mut faults)
        }
        WorkloadChange::TimeLimit(TimeLimitChange { limit, factor, cap, .. }) => {
            let minutes = |seconds: u64| u32::try_from(seconds.div_ceil(60)).unwrap_or(u32::MAX / 60);
            let rule = match (limit, factor, cap) {
                (Some(limit), ..) => Some(LimitRule::To(minutes(limit.0))),
                (_, Some(factor), _) => Some(LimitRule::Factor(*factor)),
                (.., cap) => cap.map(|cap| LimitRule::Cap(minutes(cap.0))),
            };
            rule.map(Action::Limit)
        }
        WorkloadChange::Estimates(estimates) => Some(Action::Estimates(Estimates::multiple(estimates))),
        WorkloadChange::Move(Move { from, to, .. }) => {
            let ids = (partition(from, "/from", site, &mut faults), partition(to, "/to", site, &mut faults));
            if let (Some(from), Some(to)) = ids {
                let asking = asking_for(&site.workload, from);
                which.requests = Some(match which.requests.take() {
                    Some(others) => asking.iter().zip(others).map(|(asks, other)| *asks && other).collect(),
                    None => asking,
                });
                Some(Action::Move(moved(from, to, site)))
            } else {
                None
            }
        }
    };
    match action {
        Some(action) if faults.is_empty() => Ok(Edit { which, fraction: of_certain(change.fraction()), action }),
        _ => Err(faults),
    }
}

fn of_certain(fraction: f64) -> u64 {
    (fraction * CERTAIN as f64).round() as u64
}

fn which(selection: &Selection, site: &Scenario, faults: &mut Vec<Fault>) -> Which {
    let Selection { user: of_user, account, partition: of_partition, qos } = selection;
    let associations = account.as_ref().map(|account| {
        let rows = &site.associations.rows;
        if !rows.iter().any(|row| row.account == *account) {
            faults.push(unknown("/jobs/account", "account", account));
        }
        rows.iter().map(|row| row.account == *account).collect()
    });
    Which {
        user: of_user.as_ref().and_then(|name| user(name, "/jobs/user", site, faults)),
        associations,
        requests: of_partition
            .as_ref()
            .and_then(|name| partition(name, "/jobs/partition", site, faults))
            .map(|id| asking_for(&site.workload, id)),
        qos: qos.as_ref().and_then(|name| {
            let id = site.qos.iter().position(|qos| qos.name == *name).map(foresite_engine::ids::QosId::new);
            if id.is_none() {
                faults.push(unknown("/jobs/qos", "QOS", name));
            }
            id
        }),
    }
}

fn unknown(place: &str, what: &str, name: &str) -> Fault {
    (place.to_owned(), format!("there is no {what} `{name}`"), "name one that the trace or the site has".to_owned())
}

fn user(name: &str, place: &str, site: &Scenario, faults: &mut Vec<Fault>) -> Option<UserId> {
    let id = site.workload.users.iter().position(|user| user == name).map(UserId::new);
    if id.is_none() {
        faults.push((place.to_owned(), format!("there is no user `{name}`"), "name a user of the trace".to_owned()));
    }
    id
}

fn partition(name: &str, place: &str, site: &Scenario, faults: &mut Vec<Fault>) -> Option<PartitionId> {
    let id = site.cluster.partition_named(name);
    if id.is_none() {
        let names: Vec<&str> = site.cluster.partitions.iter().map(|partition| partition.name.as_str()).collect();
        let message = format!("partition {name} is not in slurm.conf");
        faults.push((place.to_owned(), message, format!("it has {}", names.join(", "))));
    }
    id
}

/// Jobs keep their account where the new user is in it, and go to the new user's first account where not.
fn reassign(to: &str, site: &mut Scenario, faults: &mut Vec<Fault>) -> Option<Action> {
    let AssociationTree { rows, .. } = &site.associations;
    let mut by_account: HashMap<&str, AssociationId> = HashMap::new();
    let mut first = None;
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.user.as_deref() == Some(to)) {
        let id = AssociationId::new(index);
        first = first.or(Some(id));
        by_account.entry(row.account.as_str()).or_insert(id);
    }
    let Some(first) = first else {
        let cure = "name a user of the trace or of the sacctmgr dump";
        faults.push(("/to".to_owned(), format!("there is no user `{to}`"), cure.to_owned()));
        return None;
    };
    let associations = rows.iter().map(|row| by_account.get(row.account.as_str()).copied().unwrap_or(first)).collect();
    let known = site.workload.users.iter().position(|user| user == to);
    let to = UserId::new(known.unwrap_or_else(|| {
        let workload = std::sync::Arc::make_mut(&mut site.workload);
        workload.users.push(to.to_owned());
        workload.users.len() - 1
    }));
    Some(Action::Reassign { to, associations })
}

/// By request, the one that asks for the partition `to` where it asked for `from`; those that are new are added.
fn moved(from: PartitionId, to: PartitionId, site: &mut Scenario) -> Vec<RequestId> {
    let workload: &mut Workload = std::sync::Arc::make_mut(&mut site.workload);
    let mut ids: HashMap<Request, RequestId> = HashMap::new();
    for (index, request) in workload.requests.iter().enumerate() {
        ids.entry(request.clone()).or_insert_with(|| RequestId::new(index));
    }
    let n_requests = workload.requests.len();
    let mut moved = Vec::with_capacity(n_requests);
    for index in 0..n_requests {
        let Some(mut request) = workload.requests.get(index).cloned() else { continue };
        let mut partitions: Vec<PartitionId> = Vec::with_capacity(request.partitions.len());
        for &asked in &request.partitions {
            let asked = if asked == from { to } else { asked };
            if !partitions.contains(&asked) {
                partitions.push(asked);
            }
        }
        request.partitions = partitions;
        moved.push(*ids.entry(request).or_insert_with_key(|request| {
            workload.requests.push(request.clone());
            RequestId::new(workload.requests.len() - 1)
        }));
    }
    moved
}
