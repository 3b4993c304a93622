//! Several controllers in place of one: who has which nodes, and which requests fit where.

use foresite_engine::calendar::{Calendar, Outage, Reservation};
use foresite_engine::cluster::{Cluster, Switch};
use foresite_engine::ids::NodeId;
use foresite_engine::job::{Request, Workload};
use foresite_engine::node_set::NodeSet;
use foresite_engine::scenario::Scenario;

use super::fits::{Share, cut, fits};
use crate::comparison::Controllers;
use crate::hostlist::{self, NodeNames};
use crate::study_document::change::{ControllerNodes, Either, SeparateControllers, TooLarge};

/// More controllers than this are refused.
const CONTROLLERS_MAX: usize = 64;

/// Separate controllers of one scenario.
#[derive(Clone, Debug)]
pub(super) struct Split {
    pub(super) controllers: Vec<Controller>,
    pub(super) either: Either,
    /// By request: where it fits.
    pub(super) places: Vec<Place>,
    pub(super) counts: Controllers,
}

/// One of several controllers.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    /// Its part of the site, without jobs.
    pub(super) site: Scenario,
    pub(super) names: NodeNames,
    /// The workload's requests, their node ids its own.
    pub(super) requests: Vec<Request>,
    /// Schedulable CPUs.
    pub(super) capacity: u64,
}

/// Where jobs of a request may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// To any of these controllers (a bit each, at least one).
    Any(u64),
    /// To this one, cut.
    Cut(usize),
    /// Nowhere.
    Refused,
}

impl Place {
    /// The controllers it names, ascending.
    pub(super) fn candidates(self) -> impl Iterator<Item = usize> {
        let mask = match self {
            Self::Any(mask) => mask,
            Self::Cut(controller) => 1 << controller,
            Self::Refused => 0,
        };
        (0..CONTROLLERS_MAX).filter(move |controller| mask >> controller & 1 == 1)
    }
}

/// A place in the change, and what is wrong there.
pub(super) type Fault = (String, String);

/// Splits a site. Faults are clauses with the place in the change they are about; notes are only worth saying.
pub(super) fn split(change: &SeparateControllers, site: &Scenario) -> Result<(Split, Vec<String>), Vec<Fault>> {
    let cluster = &site.cluster;
    let mut faults = Vec::new();
    if change.controllers.len() > CONTROLLERS_MAX {
        faults.push((String::new(), format!("more than {CONTROLLERS_MAX} controllers")));
    }
    let mut taken = NodeSet::empty(cluster.nodes.len());
    let mut shares: Vec<(NodeSet, Vec<bool>)> = Vec::new();
    for (name, controller) in &change.controllers {
        match share(controller, cluster) {
            Ok((nodes, served)) => {
                if let Some(node) = nodes.iter().find(|node| taken.contains(*node)) {
                    let node = cluster.nodes.get(node.index()).map_or("", |node| node.name.as_str());
                    faults.push((format!("/{name}"), format!("node {node} belongs to another controller too")));
                }
                if nodes.is_empty() {
                    faults.push((format!("/{name}"), "the controller has no node".to_owned()));
                }
                taken.union(&nodes);
                shares.push((nodes, served));
            }
            Err(messages) => faults.extend(messages.into_iter().map(|message| (format!("/{name}"), message))),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut notes = Vec::new();
    let left_over = cluster.nodes.len() - taken.len();
    if left_over > 0 {
        notes.push(format!("{left_over} nodes belong to no controller and run nothing"));
    }
    let mut controllers: Vec<Controller> =
        shares.iter().map(|(nodes, served)| controller(site, nodes, served)).collect();
    let mut counts = Controllers { names: change.controllers.keys().cloned().collect(), ..Controllers::default() };
    let shares: Vec<Share> = shares.iter().map(|(nodes, served)| Share { cluster, nodes, served }).collect();
    let mut places = Vec::with_capacity(site.workload.requests.len());
    for (index, request) in site.workload.requests.iter().enumerate() {
        let mask =
            (0..).zip(&shares).filter(|(_, share)| fits(request, **share)).fold(0, |mask, (at, _)| mask | 1u64 << at);
        let place = match (mask, change.too_large) {
            (0, TooLarge::Reject) => Place::Refused,
            (0, TooLarge::Largest) => cut_to_largest(index, request, &shares, &mut controllers),
            (mask, _) => Place::Any(mask),
        };
        places.push(place);
    }
    count(&site.workload, &places, &mut counts);
    Ok((Split { controllers, either: change.either, places, counts }, notes))
}

fn count(workload: &Workload, places: &[Place], counts: &mut Controllers) {
    for job in &workload.jobs {
        match places.get(job.request.index()) {
            Some(Place::Any(mask)) => counts.either += u64::from(mask.count_ones() > 1),
            Some(Place::Cut(_)) => {
                counts.too_large += 1;
                counts.cut += 1;
            }
            _ => {
                counts.too_large += 1;
                counts.rejected += 1;
            }
        }
    }
}

fn cut_to_largest(index: usize, request: &Request, shares: &[Share], controllers: &mut [Controller]) -> Place {
    let mut by_size: Vec<usize> = (0..controllers.len()).collect();
    by_size.sort_by_key(|at| std::cmp::Reverse(controllers.get(*at).map(|controller| controller.capacity)));
    for at in by_size {
        let Some((share, controller)) = shares.get(at).zip(controllers.get_mut(at)) else { continue };
        if let Some(smaller) = cut(request, *share) {
            let own = renumbered(smaller, share.nodes);
            if let Some(slot) = controller.requests.get_mut(index) {
                *slot = own;
            }
            return Place::Cut(at);
        }
    }
    Place::Refused
}

/// The nodes of a controller and, by partition, whether it serves it.
fn share(controller: &ControllerNodes, cluster: &Cluster) -> Result<(NodeSet, Vec<bool>), Vec<String>> {
    let mut faults = Vec::new();
    let mut nodes = NodeSet::empty(cluster.nodes.len());
    let mut served = vec![controller.partitions.is_empty(); cluster.partitions.len()];
    for name in &controller.partitions {
        match cluster
            .partition_named(name)
            .and_then(|id| cluster.partitions.get(id.index()).zip(served.get_mut(id.index())))
        {
            Some((partition, served)) => {
                nodes.union(&partition.nodes);
                *served = true;
            }
            None => faults.push(format!("partition {name} is not in slurm.conf")),
        }
    }
    let listed = controller.nodes.as_deref().map(|list| hostlist::expand(list, hostlist::MAX_NAMES));
    match listed {
        None => {}
        Some(Err(error)) => faults.push(error.to_string()),
        Some(Ok(names)) => {
            for name in names {
                match cluster.nodes.binary_search_by(|node| hostlist::natural_cmp(&node.name, &name)) {
                    Ok(index) => nodes.insert(NodeId::new(index)),
                    Err(_) => match cluster.node_named(&name) {
                        Some(node) => nodes.insert(node),
                        None => faults.push(format!("node {name} is not in slurm.conf")),
                    },
                }
                if faults.len() >= 20 {
                    break;
                }
            }
        }
    }
    if faults.is_empty() { Ok((nodes, served)) } else { Err(faults) }
}

/// The part of a site that lies on `nodes`. Partitions keep their ids; those not served have no node.
fn controller(site: &Scenario, nodes: &NodeSet, served: &[bool]) -> Controller {
    let n_nodes = nodes.len();
    let own = |set: &NodeSet| {
        let kept = nodes.iter().enumerate().filter(|(_, node)| set.contains(*node));
        NodeSet::from_nodes(n_nodes, kept.map(|(index, _)| NodeId::new(index)))
    };
    let mut cluster = site.cluster.clone();
    cluster.nodes = nodes.iter().filter_map(|node| site.cluster.nodes.get(node.index()).cloned()).collect();
    for (index, partition) in cluster.partitions.iter_mut().enumerate() {
        let is_served = served.get(index).copied().unwrap_or(false);
        partition.nodes = if is_served { own(&partition.nodes) } else { NodeSet::empty(n_nodes) };
    }
    cluster.switches =
        site.cluster.switches.iter().map(|switch| Switch { nodes: own(&switch.nodes), ..switch.clone() }).collect();
    let names = NodeNames::of(&cluster);
    let capacity = capacity(&cluster);
    let requests = site.workload.requests.iter().map(|request| renumbered(request.clone(), nodes)).collect();
    let site = Scenario {
        cluster,
        associations: site.associations.clone(),
        qos: site.qos.clone(),
        policy: site.policy.clone(),
        calendar: calendar(&site.calendar, &own),
        workload: std::sync::Arc::default(),
    };
    Controller { site, names, requests, capacity }
}

/// What is set to happen to a controller's nodes.
fn calendar(all: &Calendar, own: &impl Fn(&NodeSet) -> NodeSet) -> Calendar {
    let reservations = all.reservations.iter().map(|it| Reservation { nodes: own(&it.nodes), ..it.clone() });
    let outages = all.outages.iter().map(|it| Outage { nodes: own(&it.nodes), ..it.clone() });
    Calendar {
        reservations: reservations.filter(|it| !it.nodes.is_empty()).collect(),
        outages: outages.filter(|it| !it.nodes.is_empty()).collect(),
    }
}

/// Schedulable CPUs of a cluster.
pub(super) fn capacity(cluster: &Cluster) -> u64 {
    cluster.nodes.iter().filter(|node| node.schedulable).map(|node| u64::from(node.cpus)).sum()
}

/// The request with node ids counted among `nodes`; others drop out.
fn renumbered(mut request: Request, nodes: &NodeSet) -> Request {
    if !request.required_nodes.is_empty() || !request.excluded_nodes.is_empty() {
        let place = |node: &NodeId| nodes.iter().position(|own| own == *node).map(NodeId::new);
        request.required_nodes = request.required_nodes.iter().filter_map(place).collect();
        request.excluded_nodes = request.excluded_nodes.iter().filter_map(place).collect();
    }
    request
}
