//! The lines of reservations and outages.

use foresite_engine::calendar::{Outage, OutageKind, Reservation, ReservationFlags};
use foresite_engine::cluster::Cluster;
use foresite_engine::node_set::NodeSet;

use super::job::license;
use super::{Line, T0, nodes_named};

/// `at`, `for` (seconds), `nodes` (all without it), `licenses=a:2` (of no nodes), `created`, `daily=3` (three occurrences), `users`, `accounts` (`-a,b`
/// denies), `p` (partition), flags in lower case.
pub(super) fn reservation(line: &Line<'_>, cluster: &Cluster) -> Reservation {
    let n_nodes = cluster.nodes.len();
    let mut reservation = Reservation {
        name: line.name.to_owned(),
        created: i64::MIN,
        windows: Vec::new(),
        nodes: NodeSet::full(n_nodes),
        licenses: Vec::new(),
        partition: None,
        users: Vec::new(),
        users_denied: false,
        accounts: Vec::new(),
        accounts_denied: false,
        flags: ReservationFlags::default(),
    };
    let (mut at, mut length, mut days) = (0, 3600, 1);
    let names = |value: &str| value.trim_start_matches('-').split(',').map(str::to_owned).collect();
    for &(key, value) in &line.options {
        match key {
            "at" => at = line.number(value),
            "for" => length = line.number(value),
            "created" => reservation.created = T0 + line.number::<i64>(value),
            "daily" => days = line.number(value),
            "nodes" => reservation.nodes = NodeSet::from_nodes(n_nodes, nodes_named(cluster, value)),
            "licenses" => {
                reservation.nodes = NodeSet::empty(n_nodes);
                reservation.licenses = vec![license(line, cluster, value)];
            }
            "p" => reservation.partition = cluster.partition_named(value),
            "users" => (reservation.users, reservation.users_denied) = (names(value), value.starts_with('-')),
            "accounts" => (reservation.accounts, reservation.accounts_denied) = (names(value), value.starts_with('-')),
            "maint" => reservation.flags.maint = true,
            "all_nodes" => reservation.flags.all_nodes = true,
            "part_nodes" => reservation.flags.part_nodes = true,
            "flex" => reservation.flags.flex = true,
            "magnetic" => reservation.flags.magnetic = true,
            "overlap" => reservation.flags.overlap = true,
            "no_hold" => reservation.flags.no_hold_jobs_after = true,
            "by_number" => reservation.flags.replaces_nodes = true,
            other => line.unknown(other),
        }
    }
    let begin = T0 + at;
    reservation.windows = (0..days).map(|day| (begin + day * 86_400, begin + day * 86_400 + length)).collect();
    reservation
}

/// Nodes as the line's name; `at`, `for` (seconds), `drain`.
pub(super) fn outage(line: &Line<'_>, cluster: &Cluster) -> Outage {
    let nodes = NodeSet::from_nodes(cluster.nodes.len(), nodes_named(cluster, line.name));
    let mut outage = Outage { start: T0, end: i64::MAX, nodes, kind: OutageKind::Down };
    let mut length = None;
    for &(key, value) in &line.options {
        match key {
            "at" => outage.start = T0 + line.number::<i64>(value),
            "for" => length = Some(line.number::<i64>(value)),
            "drain" => outage.kind = OutageKind::Drain,
            other => line.unknown(other),
        }
    }
    if let Some(length) = length {
        outage.end = outage.start + length;
    }
    outage
}
