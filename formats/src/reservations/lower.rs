//! From names to the engine's reservations.

use std::collections::BTreeSet;

use foresite_engine::calendar::Reservation;
use foresite_engine::cluster::Cluster;
use foresite_engine::ids::LicenseId;
use foresite_engine::node_set::NodeSet;
use jiff::tz::TimeZone;

use super::repeat::occurrences;
use super::{Fact, Place};
use crate::diagnostic::{Diagnostic, Severity};
use crate::hostlist::{self, MAX_NAMES};
use crate::slurm_conf::near::did_you_mean;

/// Reservations recur so long after the last submission [s].
const AFTER_LAST: i64 = 30 * 86_400;

/// Reservations of a cluster; `period` is from the first submission of the trace to the last [Unix s], where there is one.
/// O(facts × nodes).
pub(crate) fn lower(
    facts: &[Fact],
    cluster: &Cluster,
    period: Option<(i64, i64)>,
    zone: &TimeZone,
) -> (Vec<Reservation>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut names = BTreeSet::new();
    let mut reservations = Vec::new();
    for fact in facts {
        if !names.insert(fact.name.as_str()) {
            let message = format!("there is a reservation '{}' already", fact.name);
            let remark = fact.place.remark(Severity::Warning, "Name", message);
            diagnostics.push(remark.cure("give another name; the first one is taken"));
            continue;
        }
        if let Some(reservation) = reservation(fact, cluster, period, zone, &mut diagnostics) {
            reservations.push(reservation);
        }
    }
    (reservations, diagnostics)
}

fn reservation(
    fact: &Fact,
    cluster: &Cluster,
    period: Option<(i64, i64)>,
    zone: &TimeZone,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Reservation> {
    let partition = cluster.partition_named(&fact.partition);
    if partition.is_none() && !fact.partition.is_empty() {
        let known = cluster.partitions.iter().map(|partition| partition.name.as_str());
        let message = format!("the partition '{}' of reservation {} is not in slurm.conf", fact.partition, fact.name);
        let remark = fact.place.remark(Severity::Warning, "Partition", message);
        diagnostics.push(remark.cure(did_you_mean(&fact.partition, known, "name a partition of slurm.conf")));
    }
    let mut flags = fact.flags;
    let of_partition = partition.and_then(|id| cluster.partitions.get(id.index()));
    let licenses = licenses(fact, cluster, diagnostics);
    let nodes = match (fact.nodes.as_str(), of_partition) {
        ("", _) if !fact.licenses.is_empty() => NodeSet::empty(cluster.nodes.len()),
        ("", Some(partition)) => {
            flags.part_nodes = true;
            partition.nodes.clone()
        }
        ("ALL", None) => {
            flags.all_nodes = true;
            NodeSet::full(cluster.nodes.len())
        }
        ("ALL", Some(partition)) => partition.nodes.clone(),
        (list, _) => {
            let what = format!("reservation {}", fact.name);
            nodes_named(list, cluster, &fact.place, "Nodes", &what, diagnostics)
        }
    };
    if nodes.is_empty() && licenses.is_empty() {
        let message = format!("reservation {} has no node of slurm.conf: left out", fact.name);
        diagnostics.push(fact.place.remark(Severity::Warning, "Nodes", message));
        return None;
    }
    let first = (fact.start, fact.end);
    let windows = match (fact.repeat, period) {
        (Some(repeat), Some((from, to))) => occurrences(first, repeat, (from, to.saturating_add(AFTER_LAST)), zone),
        _ => vec![first],
    };
    if windows.is_empty() {
        return None;
    }
    let (users, users_denied) = names(fact, &fact.users, "Users", diagnostics)?;
    let (accounts, accounts_denied) = names(fact, &fact.accounts, "Accounts", diagnostics)?;
    Some(Reservation {
        name: fact.name.clone(),
        created: fact.created.unwrap_or(i64::MIN),
        windows,
        nodes,
        licenses,
        partition,
        users,
        users_denied,
        accounts,
        accounts_denied,
        flags,
    })
}

/// The licences that are reserved; those that the cluster does not have are named.
fn licenses(fact: &Fact, cluster: &Cluster, diagnostics: &mut Vec<Diagnostic>) -> Vec<(LicenseId, u32)> {
    let mut found = Vec::new();
    for item in fact.licenses.split([',', ';']).map(str::trim).filter(|item| !item.is_empty()) {
        let (name, count) = item.rsplit_once([':', '=', '*']).unwrap_or((item, "1"));
        let known = || cluster.licenses.iter().map(|(license, _)| license.as_str());
        match (known().position(|license| license == name), count.parse()) {
            (Some(index), Ok(count)) => found.push((LicenseId::new(index), count)),
            _ => {
                let message = format!("'{item}' of reservation {} is no licence of slurm.conf: left out", fact.name);
                let remark = fact.place.remark(Severity::Warning, "Licenses", message);
                diagnostics.push(remark.cure(did_you_mean(name, known(), "write for example matlab:10")));
            }
        }
    }
    found
}

/// Names without their `-`, and whether they are denied; one list is either.
fn names(fact: &Fact, list: &[String], field: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<(Vec<String>, bool)> {
    let denied = list.iter().filter(|name| name.starts_with('-')).count();
    if denied > 0 && denied < list.len() {
        let message = format!("reservation {} allows some and denies others: left out", fact.name);
        let remark = fact.place.remark(Severity::Warning, field, message);
        diagnostics.push(remark.cure("name either those let in or, with -, those kept out"));
        return None;
    }
    Some((list.iter().map(|name| name.trim_start_matches('-').to_owned()).collect(), denied > 0))
}

/// The nodes of a hostlist that the cluster has; the others are named.
pub(crate) fn nodes_named(
    list: &str,
    cluster: &Cluster,
    place: &Place,
    field: &str,
    what: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> NodeSet {
    let mut nodes = NodeSet::empty(cluster.nodes.len());
    let names = match hostlist::expand(list, MAX_NAMES) {
        Ok(names) => names,
        Err(error) => {
            let fault = place.remark(Severity::Error, field, format!("{error}, in {what}"));
            diagnostics.push(fault.cure("write a hostlist"));
            return nodes;
        }
    };
    let mut unknown: Vec<&String> = Vec::new();
    for name in &names {
        match cluster.nodes.binary_search_by(|node| hostlist::natural_cmp(&node.name, name)) {
            Ok(index) => nodes.insert(foresite_engine::ids::NodeId::new(index)),
            Err(_) => match cluster.node_named(name) {
                Some(node) => nodes.insert(node),
                None => unknown.push(name),
            },
        }
    }
    if let Some(first) = unknown.first() {
        let known = cluster.nodes.iter().map(|node| node.name.as_str());
        let more = if unknown.len() > 1 { format!(" (and {} more)", unknown.len() - 1) } else { String::new() };
        let message = format!("node {first}{more} of {what} is not in slurm.conf");
        let remark = place.remark(Severity::Warning, field, message);
        diagnostics.push(remark.cure(did_you_mean(first, known, "name nodes of slurm.conf")));
    }
    nodes
}
