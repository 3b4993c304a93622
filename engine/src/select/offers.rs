//! What is on offer: nodes are put there one by one, then the shape's choice is made among them.

use crate::ids::NodeId;
use crate::select::Selector;
use crate::select::free::Free;
use crate::select::pick::{self, Offer, prefers_busy};
use crate::select::shape::{Shape, Strategy};
use crate::select::{far, layout, near};

impl Selector {
    /// Adds a node to what is on offer: its CPUs, and of the first of the GRES that are counted for the whole job what is free.
    pub(super) fn offer(&mut self, free: &Free, shape: &Shape, node: NodeId, mut cpus: u32) {
        let index = node.index();
        let mut gres = 0;
        if let Some(wanted) = shape.gres_of_job.first() {
            let units = layout::units_of_node((&self.geometry, free), shape, wanted, node);
            if let Some(per_task) = wanted.per_task {
                let of_tasks = layout::units_of_tasks((&self.geometry, free), shape, wanted, node);
                cpus = cpus.min((of_tasks / per_task.max(1)).saturating_mul(wanted.task_cpus));
            }
            gres = units.min(u32::from(u16::MAX)) as u16;
        }
        if self.geometry.asks_for_gpus(shape) && !self.cons_res {
            self.scratch.gpus.resize(free.jobs.len(), 0);
            self.scratch.gpus[index] = near::free_gpus(&self.geometry, free, shape, node);
        }
        let weight = self.weight_of(node);
        let kept = self.geometry.kept(shape, node);
        let mut idle = (0, 1);
        if shape.strategy == Strategy::LeastLoaded {
            let free_cpus = free.node_cores[index] * self.geometry.cpus_per_core[index];
            let narrow = |cpus: u32| u16::try_from(cpus).unwrap_or(u16::MAX);
            // Of all, those kept for the system included, which are never free (`_eval_nodes_lln`: `node_ptr->cpus`; rec ar-cpu).
            idle = (narrow(free_cpus), narrow(self.geometry.all_cpus[index].max(1)));
        }
        self.offers.push(Offer { node, cpus, weight, idle, kept, gres });
    }

    /// Whether CPUs and weights are all that counts of what is on offer. O(GRES of the shape).
    pub(super) fn offers_plainly(&self, shape: &Shape) -> bool {
        let gpus_count = !self.cons_res && self.geometry.asks_for_gpus(shape);
        !gpus_count && shape.gres_of_job.is_empty() && shape.strategy != Strategy::LeastLoaded
    }

    /// Adds a node to what is on offer, where that is so. O(1).
    #[inline]
    pub(super) fn offer_plain(&mut self, shape: &Shape, node: NodeId, cpus: u32) {
        let (weight, kept) = (self.weight_of(node), self.geometry.kept(shape, node));
        self.offers.push(Offer { node, cpus, weight, idle: (0, 1), kept, gres: 0 });
    }

    /// Says what the node last offered has near the GRES that are asked for.
    pub(super) fn offer_near(&mut self, free: &Free, shape: &Shape, node: NodeId, cpus: u32) {
        let mut once_more = 0;
        for (first_pass, offered) in [(false, &mut self.far), (true, &mut self.near)] {
            self.near_cores.find((&self.geometry, free), shape, (node, cpus), first_pass);
            offered.push((self.near_cores.cpus, self.near_cores.units));
            if self.near_cores.cpus > 0 {
                once_more = self.near_cores.once_more;
            }
        }
        if shape.strategy == Strategy::LeastLoaded {
            self.scratch.once_more.resize(free.jobs.len(), 0);
            self.scratch.once_more[node.index()] = once_more;
        }
    }

    /// Whether the request fits into what is on offer. Tests that take nodes in use first have no eye for leaf switches: who waits for few
    /// of them fits there if the nodes last chosen otherwise were of so few (cons_common/job_test.c of 22.05.8, `best_switch`; rec c1157).
    pub(super) fn fits_offers(&mut self, shape: &Shape) -> bool {
        let Some(most) = self.most_leaves else { return self.fits_somewhere(shape) };
        let fits = self.fits_somewhere(shape);
        // A start by parts looks at each of them, and at the whole, itself.
        if fits && (shape.counted.is_empty() || self.in_plan) {
            self.look_at_leaves(shape, most);
        }
        self.spread = (fits || !(shape.counted.is_empty() || self.in_plan)) && !self.best_switch;
        fits && self.best_switch
    }

    /// Whether the nodes last chosen are of few enough leaves, as far as the test looks. With Dragonfly select/cons_tres does not where nodes that are
    /// required suffice (`_eval_nodes_dfly` of 22.05.8 to 25.11, before its `switch_node_bitmap`; rec c1403).
    pub(super) fn look_at_leaves(&mut self, shape: &Shape, most: u32) {
        let stays = || self.scratch.tree.is_dragonfly && !self.linear && !shape.cons_res;
        let is_required = |offer: &Offer| shape.required.contains(&offer.node);
        if prefers_busy(shape, &self.scratch) || (stays() && self.chosen.iter().all(is_required)) {
            return;
        }
        self.best_switch = self.scratch.leaves_of(shape, self.linear, &self.chosen) <= most as usize;
    }

    pub(super) fn fits_somewhere(&mut self, shape: &Shape) -> bool {
        self.chosen_near = false;
        if !shape.counted.is_empty() {
            return self.fits_counted(shape);
        }
        if shape.alternatives.is_empty() {
            return self.choose_from_offers(shape);
        }
        let all = std::mem::take(&mut self.offers);
        let mut fits = false;
        for alternative in &shape.alternatives {
            self.offers.clear();
            self.offers.extend(all.iter().filter(|offer| alternative.contains(offer.node)));
            let listed = self.listed.clone();
            if let Some(listed) = &mut self.listed {
                listed.intersect(alternative);
            }
            let fits_there = self.choose_from_offers(shape);
            self.listed = listed;
            if fits_there {
                fits = true;
                break;
            }
        }
        self.offers = all;
        fits
    }

    /// Chooses among all offers; select/linear adds the nodes of one NodeName line and weight after the other, or of one weight,
    /// to those that are required.
    pub(super) fn choose_from_offers(&mut self, shape: &Shape) -> bool {
        self.chosen_near = false;
        if self.near.len() == self.offers.len() && !self.near.is_empty() {
            self.part.clear();
            self.chosen.clear();
            self.scratch.cut.clear();
            let near = self.offers.iter().zip(&self.near).filter(|(_, near)| near.0 > 0);
            self.part.extend(near.map(|(offer, &near)| offer.cut_to(near)));
            if pick::choose_at_once(shape, &self.part, &mut self.scratch, &mut self.chosen) {
                self.chosen_near = true;
                return true;
            }
            if !self.by_weight {
                let cut = (self.near.as_slice(), self.far.as_slice());
                return far::choose_cut(shape, &self.offers, cut, &mut self.scratch, &mut self.chosen);
            }
        }
        if !self.by_weight {
            return pick::choose(shape, &self.offers, self.linear, &mut self.scratch, &mut self.chosen);
        }
        self.choose_by_class(shape)
    }
}
