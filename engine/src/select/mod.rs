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

use std::borrow::Cow;

use crate::cluster::Cluster;
use crate::ids::{GresId, JobId, NodeId};
use crate::node_set::NodeSet;
use crate::policy::{ConsumableUnit, SelectPolicy, SlurmVersion};
use allocation::{Allocation, Share};
use free::Free;
use geometry::Geometry;
use near::{Cut, NearCores};
use pick::{Offer, PickScratch};
use shape::{Alone, MemoryNeed, Shape};
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
    held: Vec<ready::Moment>,
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
            held: Vec::new(),
            blocks: overlap::Blocks::default(),
            ripe: NodeSet::empty(cluster.nodes.len()),
            chosen: Vec::new(),
            charged_in_vain: None,
            starts_beyond_most: version >= SlurmVersion::V26_05,
            overdrawn: false,
            part_found: None,
        }
    }

    /// Whether the request fits into what is free on `candidates`; the nodes are left in [`Selector::chosen`].
    /// O(candidates × sockets) and the cost of [`pick::choose`].
    pub(crate) fn fits(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        let by_weight = self.linear || (self.cons_res && (self.many_classes || self.weights.version() != 0));
        let found = self.finds(free, shape, user, candidates, by_weight);
        let fits = found && self.has_memory(free, shape);
        if found && !fits {
            self.charged_in_vain = self.charged_cpus(free, shape);
            self.chosen.clear();
        }
        // Each part is a test of its own, whose CPUs the job keeps if the next ones fail (node_scheduler.c of 22.05.8, `_get_req_features`;
        // rec au-tier).
        if let Some(part) = self.part_found.take().filter(|_| !found) {
            let (part, chosen) = *part;
            self.chosen = chosen;
            self.charged_in_vain = self.charged_cpus(free, &part);
            self.chosen.clear();
        }
        fits
    }

    /// As [`Selector::fits`], for a test whether the job would fit if it preempted somebody: it does not ask for the memory of all CPUs
    /// charged (cons_common/job_test.c of 22.05.8, `_run_now`; rec aq-sock). Nobody is preempted before all weights are on offer
    /// (node_scheduler.c, `_pick_best_nodes`). O(as `fits`).
    pub(crate) fn would_fit(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        // With select/cons_res only when all classes have been added.
        self.finds(free, shape, user, candidates, false)
    }

    /// How many of the nodes of an allocation are among the candidates and could serve. O(nodes of the allocation × sockets).
    pub(crate) fn serving_nodes_of(
        &self,
        free: &Free,
        (shape, user): (&Shape, u32),
        candidates: &NodeSet,
        held: &Allocation,
    ) -> usize {
        let serves = |node: NodeId| {
            candidates.contains(node)
                && free.open.contains(node)
                && usable::usable_cpus(&self.geometry, free, shape, user, node) > 0
        };
        held.shares.iter().filter(|share| serves(share.node)).count()
    }

    fn finds(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet, by_weight: bool) -> bool {
        self.by_weight = by_weight;
        self.in_plan = false;
        self.charged_in_vain = None;
        self.part_found = None;
        if shape.counted.is_empty()
            && !self.favours(shape)
            && !free.shared.any()
            && candidates.intersection_len_up_to(&free.open, shape.min_nodes as usize) < shape.min_nodes as usize
        {
            // Too few, whatever they offer.
            self.chosen.clear();
            return false;
        }
        // Plans may be made on more nodes than asked for (switches in use), but until 25.11 nobody starts there (rec i-topo).
        let mut sharing = self.sharing.take().unwrap_or_else(|| candidates.clone());
        sharing.copy_from(candidates);
        // Nor are nodes looked at that are held whole (node_mgr.c of 22.05.8, `make_node_alloc`; rec o-sock), as plans do.
        sharing.subtract(&free.unshared);
        // With select/linear a job that shares gets used nodes of one weight before idle ones of the next (rec c1019).
        let shares = self.linear && shape.shared_by > 1;
        let adds_classes = self.by_weight && (self.cons_res || shares) && shape.counted.is_empty();
        let asks_for_memory = matches!(shape.memory, MemoryNeed::PerCpu(_))
            && (shape.whole_nodes
                || shape.unit == ConsumableUnit::Socket
                || (shape.unit == ConsumableUnit::Core && shape.min_cpus_per_node > 1));
        let looks_twice =
            shares || free.shared.any() || shape.contiguous || self.most_leaves.is_some() || asks_for_memory;
        let class_by_class = adds_classes && looks_twice;
        if class_by_class || (adds_classes && shape.wanted_nodes > 1) {
            self.list_classes(free, shape, user, &sharing);
        }
        let listed = if class_by_class { self.listed.take() } else { None };
        let fits = match listed {
            Some(listed) => self.fits_class_by_class(free, shape, user, (&sharing, &listed)),
            None => self.fits_by(free, shape, user, &sharing),
        };
        let found = fits
            && (self.starts_beyond_most || self.chosen.len() <= shape.most_nodes() as usize)
            && self.places_all_tasks(shape);
        self.sharing = Some(sharing);
        self.overdrawn |= self.scratch.overdrew;
        self.listed = None;
        if !found {
            self.chosen.clear();
        }
        found
    }

    /// Whether the chosen nodes have the memory of all CPUs that the job is charged: tests of when and where do not ask. Tasks of one CPU
    /// go round the sockets, and with CR_Socket are charged all of each (rec p-sel5, t-sock); so are those of whole nodes (rec j-het2).
    /// O(1), else O(nodes of the job × sockets).
    fn has_memory(&self, free: &Free, shape: &Shape) -> bool {
        let MemoryNeed::PerCpu(mb) = shape.memory else { return true };
        if shape.whole_nodes {
            let of_node =
                |node: NodeId| mb.saturating_mul(u64::from(shape.charged_of_whole(&self.geometry, node.index())));
            return self.chosen.iter().all(|offer| of_node(offer.node) <= free.memory[offer.node.index()]);
        }
        // With cores, what `--mincpus` and the like raise a node's CPUs to at the choice is not asked of its memory before (rec av-tier).
        if shape.unit != ConsumableUnit::Socket && (shape.unit != ConsumableUnit::Core || shape.min_cpus_per_node <= 1)
        {
            return true;
        }
        let allocation = self.allocate(free, shape);
        let used = |share: &Share| {
            let of_core = self.geometry.cpus_per_core[share.node.index()].max(1);
            u64::from(share.cpus / of_core * shape.used_threads(of_core))
        };
        allocation.shares.iter().all(|share| mb.saturating_mul(used(share)) <= free.memory[share.node.index()])
    }

    /// As [`Selector::fits`], for a test whether the job could run there if nobody else did: it does not ask for the memory of all CPUs
    /// charged (rec h-sock). O(as `fits`).
    pub(crate) fn could_fit(&mut self, empty: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        self.by_weight = false;
        self.in_plan = false;
        self.test_only = true;
        let asked = self.as_test_only(shape);
        let fits = self.fits_by(empty, &asked, user, candidates);
        self.test_only = false;
        fits
    }

    /// As [`Selector::fits`], for a test of when and where: there select/linear does not look at weights. O(as `fits`).
    pub(crate) fn fits_in_plan(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        self.by_weight = false;
        self.in_plan = true;
        self.fits_by(free, shape, user, candidates) && self.places_all_tasks(shape)
    }

    /// As [`Selector::fits_in_plan`], whether it fits if nobody else runs: features are counted as at a start. O(as `fits`).
    pub(crate) fn fits_alone(&mut self, empty: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        let asked = self.as_test_only(shape);
        (self.by_weight, self.in_plan) = (false, false);
        let mut fits = self.fits_by(empty, &asked, user, candidates);
        if !fits && self.linear && shape.strategy == shape::Strategy::Tree {
            // Below one switch of all nodes there may be too little where there is enough below one of the light ones (rec bf-c67).
            self.by_weight = true;
            fits = self.fits_by(empty, &asked, user, candidates);
        }
        self.by_weight = false;
        fits
    }

    /// What a test whether the job could ever run asks for: with select/linear no memory (select_linear.c of 22.05.8,
    /// `_job_count_bitmap`; rec ar-lin), and nowhere that tasks be laid out. O(1); where it is not what the job asks for O(shape).
    pub(crate) fn as_test_only<'s>(&self, shape: &'s Shape) -> Cow<'s, Shape> {
        let lays_out = shape.parts_hold_tasks && (!shape.counted.is_empty() || shape.tasks_to_place.is_some());
        if lays_out || shape.only_tests_past_tasks() {
            let mut asked = shape.clone();
            (asked.parts_hold_tasks, asked.tasks_to_place) = (false, None);
            asked.start_past_tasks();
            return Cow::Owned(asked);
        }
        match shape.memory {
            MemoryNeed::NotConsumed(_) => Cow::Borrowed(shape),
            _ if !self.linear => Cow::Borrowed(shape),
            _ => {
                let mut asked = shape.clone();
                (asked.memory, asked.idle_suffices) = (MemoryNeed::NotConsumed(0), false);
                Cow::Owned(asked)
            }
        }
    }

    fn fits_by(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        if free.shared.any() {
            return self.fits_sharing(free, shape, user, candidates);
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
