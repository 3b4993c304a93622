//! Whether a request fits: to start now, to be planned, or if nobody else ran.

use std::borrow::Cow;

use super::Selector;
use super::allocation::Share;
use super::free::Free;
use super::shape::{MemoryNeed, Shape, Strategy};
use crate::ids::NodeId;
use crate::node_set::NodeSet;
use crate::policy::ConsumableUnit;

impl Selector {
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
        self.in_room = true;
        let fits = self.finds(free, shape, user, candidates, false);
        self.in_room = false;
        fits
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
    pub(super) fn has_memory(&self, free: &Free, shape: &Shape) -> bool {
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
        if !fits && self.linear && shape.strategy == Strategy::Tree {
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
}
