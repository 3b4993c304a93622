//! Node selection: which nodes and cores a job gets, and when it could get them.
//! Reading order: [`shape`] (the request), [`geometry`] (the machine), [`free`] (what is there), [`usable`] (one node),
//! [`pick`] (which nodes), [`layout`] (which cores), [`will_run`] (when).

pub(crate) mod allocation;
mod both_ways;
mod busy;
mod by_class;
mod by_leaves;
pub(crate) mod by_runs;
mod by_switches;
mod capped;
mod charge;
mod consecutive;
pub(crate) mod counted;
mod dragonfly;
mod even_runs;
mod far;
mod favour;
pub(crate) mod first_that_fits;
mod fits;
pub(crate) mod free;
pub(crate) mod gathered;
pub(crate) mod geometry;
pub(crate) mod group_ends;
pub(crate) mod last_looked_at;
mod layout;
mod least_loaded;
mod least_used_leaf;
mod lowest_switch;
mod mates;
pub(crate) mod near;
mod node_ends;
mod offers;
mod one_by_one;
mod one_node;
pub(crate) mod outlook;
mod overcommitted;
pub(crate) mod overlap;
pub(crate) mod past_tasks;
pub(crate) mod pick;
pub(crate) mod predict;
pub(crate) mod ready;
mod remaining;
pub(crate) mod ripening;
pub(crate) mod rows;
pub(crate) mod seats;
pub(crate) mod shape;
mod small_nodes;
pub(crate) mod strays;
mod tasks;
pub(crate) mod tree;
pub(crate) mod usable;
pub(crate) mod weights;
pub(crate) mod will_run;

#[cfg(test)]
mod tests;

use crate::cluster::Cluster;
use crate::ids::{GresId, JobId, NodeId};
use crate::node_set::NodeSet;
use crate::policy::{ConsumableUnit, SelectPolicy, SlurmVersion};
use allocation::Allocation;
use free::Free;
use geometry::Geometry;
use near::{Cut, NearCores};
use pick::{Offer, PickScratch};
use shape::{Alone, Shape};
use tree::Tree;
use weights::Weights;

/// Node selection with its working memory.
#[derive(Debug)]
pub(crate) struct Selector {
    /// Static geometry of the cluster.
    pub(crate) geometry: Geometry,
    /// Scheduling weights as the last look for a start left them.
    pub(crate) weights: Weights,
    linear: bool,
    /// Whether it adds node sets of one weight together: where jobs may preempt, or there are switches.
    pub(crate) joins_equals: bool,
    /// From 25.05 on it never does (node_scheduler.c, `_pick_best_nodes`; rec c164-25-05).
    lines_apart: bool,
    /// select/cons_res: weights are looked at by starts alone, which add classes one by one.
    cons_res: bool,
    /// preempt/partition_prio, with select/cons_tres and select/cons_res.
    pub(crate) partitions_preempt: bool,
    /// Sockets keep cores for the system, and are handed out whole.
    pub(crate) keeps_cores: bool,
    /// With it: nodes that could serve are of several classes.
    many_classes: bool,
    /// With it: the nodes that a start could look at, which make up its classes; `None` for those on offer.
    listed: Option<NodeSet>,
    /// Whether this test adds weight classes one after the other.
    by_weight: bool,
    /// It is asked when and where, not whether now.
    in_plan: bool,
    /// It is asked whether somebody's end would make room.
    in_room: bool,
    /// Whether a job may be charged more CPUs than it asked for without taking whole nodes.
    rounds_up: bool,
    /// How the request last fitted: where other than on idle cores.
    way: Option<rows::Way>,
    /// What a job that shares finds free, in [`Selector::fits_sharing`].
    view: Option<Box<Free>>,
    /// Nodes that a start may look at, in [`Selector::fits`]: those that no job holds whole.
    sharing: Option<NodeSet>,
    /// What is free as if nobody used any core, in [`Selector::fits_all_cores`].
    unused: Option<Box<Free>>,
    /// Whether the weights that tests for GPUs leave behind may decide where jobs go that ask for none.
    pub(crate) gpus_stay: bool,
    /// The test is whether the job could ever run: nodes are not verified before they are looked at.
    test_only: bool,
    /// How many leaf switches the nodes may be of, where the job still waits for so few (`--switches`).
    pub(crate) most_leaves: Option<u32>,
    /// Whether the nodes last chosen for a job that waits for few leaf switches were of so few.
    pub(crate) best_switch: bool,
    /// Whose that is.
    pub(crate) best_switch_of: Option<JobId>,
    /// Whether the last test of nodes found enough of them, but on too many leaf switches.
    spread: bool,
    /// Whether nodes that offer alike are looked at one by one all the same.
    pub(crate) looks_at_each: bool,
    /// Nodes that offer anything, where they offer alike.
    offering: NodeSet,
    scratch: PickScratch,
    offers: Vec<Offer>,
    /// CPUs of each offer near the GRES that are asked for, and for how many units they are; empty where none is bound to sockets.
    near: Vec<Cut>,
    /// The same, near or far.
    far: Vec<Cut>,
    near_cores: NearCores,
    /// Whether the chosen nodes give cores near their GRES.
    chosen_near: bool,
    lighter: Vec<Offer>,
    part: Vec<Offer>,
    /// CPUs each node offered in which round of [`Selector::gather`].
    offered: Vec<(u64, u32)>,
    round: u64,
    by_runs: by_runs::Runs,
    even_runs: even_runs::EvenRuns,
    /// When the jobs on a few usable nodes end, in [`Selector::predict`].
    node_ends: node_ends::NodeEnds,
    blocks: overlap::Blocks,
    /// Nodes that could be ready, in [`Selector::predict`].
    ripe: NodeSet,
    /// Nodes of the last successful [`Selector::fits`], in node order.
    pub(crate) chosen: Vec<Offer>,
    /// How who shares is told, that those who do not keep off.
    by_jobs: rows::ByJobs,
    /// CPUs that a test within the last [`Selector::fits`] would have charged, though all in all it failed: for want of their memory alone,
    /// or on the nodes of the last part of a constraint that counts nodes.
    pub(crate) charged_in_vain: Option<u32>,
    /// Whether who is chosen more nodes than he may have starts on them (node_scheduler.c of 26.05.3, `_pick_best_nodes`).
    starts_beyond_most: bool,
    /// Whether a test would have used more of a node than it has ([`Selector::take_overdrawn`]).
    overdrawn: bool,
    /// The last such part, and its nodes.
    part_found: Option<Box<(Shape, Vec<Offer>)>>,
}

impl Selector {
    /// A selector for a cluster.
    pub(crate) fn new(cluster: &Cluster, policy: &SelectPolicy, version: SlurmVersion) -> Self {
        let mut geometry = Geometry::new(cluster, policy);
        geometry.lays_out_said = version >= SlurmVersion::V24_11;
        geometry.lays_out_by_node = version >= SlurmVersion::V25_11;
        geometry.counts_others = version == SlurmVersion::V24_11;
        geometry.estimates_cpus_a_unit = version >= SlurmVersion::V23_11;
        geometry.offers_sockets_whole = version >= SlurmVersion::V23_02;
        geometry.user_takes_whole = version < SlurmVersion::V24_05;
        geometry.takes_cores_for_sockets = version < SlurmVersion::V24_05;
        let of_sockets = |partition| policy.of(partition).unit == ConsumableUnit::Socket;
        let rounds_up =
            cluster.partitions.iter().any(of_sockets) || geometry.cpus_per_core.iter().any(|&cpus| cpus > 1);
        Self {
            keeps_cores: geometry.keeps_cores(),
            geometry,
            weights: Weights::new(cluster),
            linear: policy.linear,
            joins_equals: cluster.switches.len() > 1,
            lines_apart: version >= SlurmVersion::V25_05,
            partitions_preempt: false,
            cons_res: policy.cons_res,
            many_classes: cluster
                .nodes
                .windows(2)
                .any(|pair| pair[0].weight != pair[1].weight || pair[0].config_record != pair[1].config_record),
            listed: None,
            by_weight: false,
            in_plan: false,
            in_room: false,
            way: None,
            view: None,
            sharing: None,
            unused: None,
            gpus_stay: false,
            test_only: false,
            most_leaves: None,
            best_switch: true,
            spread: false,
            best_switch_of: None,
            looks_at_each: false,
            by_jobs: rows::ByJobs::of(version, policy.linear),
            offering: NodeSet::empty(cluster.nodes.len()),
            rounds_up,
            scratch: PickScratch::new(Tree::new(cluster, policy, version), version),
            offers: Vec::new(),
            near: Vec::new(),
            far: Vec::new(),
            near_cores: NearCores::default(),
            chosen_near: false,
            lighter: Vec::new(),
            part: Vec::new(),
            offered: vec![(0, 0); cluster.nodes.len()],
            round: 0,
            by_runs: by_runs::Runs::default(),
            even_runs: even_runs::EvenRuns::default(),
            node_ends: node_ends::NodeEnds::default(),
            blocks: overlap::Blocks::default(),
            ripe: NodeSet::empty(cluster.nodes.len()),
            chosen: Vec::new(),
            charged_in_vain: None,
            starts_beyond_most: version >= SlurmVersion::V26_05,
            overdrawn: false,
            part_found: None,
        }
    }

    /// How many of the nodes of an allocation are among the candidates and could serve. O(nodes of the allocation × sockets), where cores may be
    /// shared O(nodes).
    pub(crate) fn serving_nodes_of(
        &mut self,
        free: &Free,
        (shape, user): (&Shape, u32),
        candidates: &NodeSet,
        held: &Allocation,
    ) -> usize {
        let level = shape.shared_by.saturating_sub(1);
        let shared = free.shared.any().then(|| self.view_at_level(free, (shape, level), user, candidates));
        let (state, admitted) = shared.as_ref().map_or((free, candidates), |(view, _, admitted)| (&**view, admitted));
        let serves = |node: NodeId| {
            admitted.contains(node)
                && state.open.contains(node)
                && usable::usable_cpus(&self.geometry, state, shape, user, node) > 0
        };
        let serving = held.shares.iter().filter(|share| serves(share.node)).count();
        if let Some((view, ..)) = shared {
            self.view = Some(view);
        }
        serving
    }

    fn fits_by(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        if free.shared.any() {
            return match shape.counted.is_empty() || self.in_plan {
                true => self.fits_sharing(free, shape, user, candidates),
                false => self.parts_fit_sharing(free, shape, user, candidates),
            };
        }
        self.fits_idle(free, shape, user, candidates)
    }

    /// Whether it fits on the cores that are free, on no more nodes than [`Shape::max_nodes`].
    fn fits_on_free(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        self.scratch.gpus.clear();
        self.scratch.once_more.clear();
        (self.scratch.cannot_be_laid_out, self.scratch.overdrew) = (false, false);
        self.offers.clear();
        self.near.clear();
        self.far.clear();
        if let Some(fits) = self.fits_alike(free, shape, user, candidates) {
            return fits;
        }
        if let Some(fits) = self.fits_one(free, shape, user, candidates.iter_common(&free.open)) {
            return fits;
        }
        let cuts = self.geometry.cuts_for(shape);
        let favours = self.favours(shape);
        let weighed = (favours && self.gpus_stay).then(|| self.as_weighed(shape));
        for node in candidates.iter_common(&free.open) {
            let cpus = usable::usable_cpus(&self.geometry, free, shape, user, node);
            if cpus == 0
                && let Some(asked) = weighed.as_deref()
                && usable::usable_cpus(&self.geometry, free, asked, user, node) > 0
            {
                self.favour(free, shape, node);
            }
            if cpus > 0 {
                self.offer(free, shape, node, cpus);
                if favours {
                    self.favour(free, shape, node);
                }
                if cuts {
                    self.offer_near(free, shape, node, cpus);
                }
            }
        }
        self.fits_offers(shape)
    }

    /// The same where nodes offer alike: they are told apart only as far as the choice asks. `None` if that is not known.
    /// O(words) for whole nodes, else O(candidates × sockets); and the cost of [`Selector::choose_alike`].
    fn fits_alike(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> Option<bool> {
        let asks_more = (self.cons_res && self.by_weight)
            || self.looks_at_each
            || self.most_leaves.is_some()
            || !self.scratch.idle_last.is_empty();
        let alike = shape.alike.filter(|_| !asks_more)?;
        let mut offering = std::mem::take(&mut self.offering);
        if shape.idle_suffices {
            offering.become_common([candidates, &shape.eligible, &free.idle]);
        } else {
            offering.clear();
            let offers = |node: &NodeId| self.usable_cpus(free, shape, user, *node) > 0;
            candidates.iter_common(&free.open).filter(offers).for_each(|node| offering.insert(node));
        }
        self.chosen_near = false;
        let fits = self.choose_alike(shape, &offering, alike);
        self.offering = offering;
        fits
    }

    /// What the last test gave the job.
    pub(crate) fn alone(&self) -> Alone {
        let units = self.chosen.iter().map(|offer| u64::from(offer.gres)).sum();
        Alone { nodes: self.chosen.len() as u32, units }
    }

    /// The same with the units that come with its sockets, which are counted as they were laid out (gres_select_filter.c of 22.05.8,
    /// `gres_select_filter_select_and_set`; rec az-gpu2). O(1), else O(nodes of the job × sockets).
    pub(crate) fn alone_on(&self, free: &Free, shape: &Shape) -> Alone {
        let alone = self.alone();
        let of_socket = shape.gres_of_socket.first().filter(|_| !shape.whole_nodes);
        let Some(&(gres, _)) = of_socket else { return alone };
        let allocation = self.allocate(free, shape);
        let of_node = allocation.gres.iter().skip(gres.index()).step_by(self.geometry.n_gres);
        Alone { units: of_node.map(|&units| u64::from(units)).sum(), ..alone }
    }

    /// The weight that choices go by. With select/cons_res none. O(1).
    #[inline]
    pub(super) fn weight_of(&self, node: NodeId) -> u64 {
        if self.cons_res { 0 } else { self.weights.of(node) }
    }

    /// Whether tests prefer nodes that are in use now (`bf_busy_nodes`), as those are where a job completes (rec aq-sock); select/linear
    /// knows nothing of it (only cons_common reads it; rec at-lin). O(nodes) with the option.
    pub(crate) fn prefer_nodes_in_use(&mut self, now: &Free, completing: &NodeSet, prefer: bool) {
        self.scratch.idle_last.clear();
        if prefer && !self.linear {
            self.scratch.idle_last.extend(now.jobs.iter().map(|&jobs| jobs == 0));
            for node in completing.iter() {
                self.scratch.idle_last[node.index()] = false;
            }
        }
    }

    /// Tests prefer no nodes any more. O(1).
    pub(crate) fn prefer_no_nodes(&mut self) {
        self.scratch.idle_last.clear();
    }

    /// The allocation on the nodes last chosen.
    pub(crate) fn allocate(&self, free: &Free, shape: &Shape) -> Allocation {
        let shape = shape.as_chosen(self.chosen.len());
        if free.shared.any() { self.allocate_shared(free, shape) } else { self.lay_out(free, shape) }
    }

    fn lay_out(&self, free: &Free, shape: &Shape) -> Allocation {
        layout::lay_out(&self.geometry, free, shape, (&self.chosen, self.chosen_near))
    }
}
