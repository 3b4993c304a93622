//! Best fit over runs of consecutive nodes ([`super::pick`]) where the nodes of a run offer alike: runs are read off the words of a
//! set, and only the nodes that are taken are looked at.

use std::cmp::Reverse;
use std::ops::Range;

use crate::ids::NodeId;
use crate::node_set::{NodeSet, nodes_of};
use crate::policy::ConsumableUnit;
use crate::select::Selector;
use crate::select::first_that_fits::takes_first_that_fits;
use crate::select::free::{ANY_USER, Free};
use crate::select::pick::{Offer, spread_tasks};
use crate::select::remaining::Remaining;
use crate::select::shape::{MemoryNeed, Shape, Strategy};

/// A maximal sequence of consecutive usable nodes of one weight.
#[derive(Clone, Copy, Debug)]
struct Run {
    begin: u32,
    end: u32,
    weight: u64,
    /// CPUs that each node offers.
    cpus: u32,
}

impl Run {
    fn nodes(self) -> i64 {
        i64::from(self.end - self.begin)
    }

    fn total(self) -> i64 {
        self.nodes() * i64::from(self.cpus)
    }
}

/// Working memory: runs, and what weighs otherwise than the node before it.
#[derive(Debug, Default)]
pub(super) struct Runs {
    runs: Vec<Run>,
    /// Runs by size, the largest first and the first of equals first.
    largest: Vec<u32>,
    /// Neighbours among the chosen nodes: the first of them, and where they stand.
    pieces: Vec<(NodeId, usize, usize)>,
    unordered: Vec<Offer>,
    /// Nodes that begin another weight, as of the weights' version.
    breaks: NodeSet,
    breaks_of: Option<u64>,
    /// There are none.
    weighs_alike: bool,
    /// Neighbours of one weight have as many CPUs.
    even: bool,
}

impl Runs {
    /// Orders runs by size. O(runs log runs).
    fn order_by_size(&mut self) {
        let Self { runs, largest, .. } = self;
        largest.clear();
        largest.extend(0..runs.len() as u32);
        largest.sort_by_key(|&index| Reverse(runs[index as usize].total()));
    }

    /// Puts chosen nodes, neighbours of which stand together, in node order. O(nodes + pieces log pieces).
    fn put_in_order(&mut self, chosen: &mut Vec<Offer>) {
        self.pieces.clear();
        let mut begin = 0;
        for piece in chosen.chunk_by(|before, after| before.node.0 + 1 == after.node.0) {
            self.pieces.push((piece[0].node, begin, begin + piece.len()));
            begin += piece.len();
        }
        if self.pieces.is_sorted() {
            return;
        }
        self.pieces.sort_unstable();
        std::mem::swap(&mut self.unordered, chosen);
        chosen.clear();
        for &(_, begin, end) in &self.pieces {
            chosen.extend_from_slice(&self.unordered[begin..end]);
        }
    }
}

/// What the nodes offer of a shape for which that is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alike {
    /// Each so many CPUs.
    Same(u32),
    /// Each all its CPUs.
    AllTheirs,
}

impl Shape {
    /// Whether [`Selector::choose_alike`] chooses for it as [`super::pick::choose`] would. O(1).
    pub(super) fn is_plain(&self) -> bool {
        self.strategy == Strategy::Consecutive
            && !self.contiguous
            && !self.exclusive_user
            && self.required.is_empty()
            && self.gres_of_job.is_empty()
            && self.alternatives.is_empty()
            && self.counted.is_empty()
    }
}

impl Selector {
    /// What each of the shape's nodes offers that offers anything, if that is known and the choice among them is plain.
    /// With as many tasks a node as it must at least hold, those are what a node offers. O(eligible nodes).
    pub(crate) fn offers_alike(&self, shape: &Shape) -> Option<Alike> {
        if !shape.is_plain()
            || self.favours(shape)
            || self.linear
            || self.geometry.cuts_for(shape)
            || self.geometry.shared.any()
        {
            return None;
        }
        let of_whole_tasks = shape.cpus_per_task > 1 && matches!(shape.memory, MemoryNeed::PerCpu(_));
        if shape.whole_nodes && (shape.leaves_threads() || shape.tasks_per_socket.is_some() || of_whole_tasks) {
            return None;
        }
        if shape.whole_nodes {
            let (all, per_core) = (&self.geometry.cpus, &self.geometry.cpus_per_core);
            let beyond = |node: usize| shape.beyond_whole_tasks(all[node], shape.usable_threads(per_core[node]));
            let counted = |node: NodeId| all[node.index()] - beyond(node.index());
            let first = counted(shape.eligible.iter().next()?);
            if shape.eligible.iter().all(|node| counted(node) == first) {
                return Some(Alike::Same(first));
            }
            return shape.eligible.iter().all(|node| beyond(node.index()) == 0).then_some(Alike::AllTheirs);
        }
        let most = shape.tasks_per_node?.saturating_mul(shape.cpus_per_task);
        let (cpus, per_core) = (&self.geometry.cpus, &self.geometry.cpus_per_core);
        let has_no_more = |node: NodeId| cpus[node.index()] < most.saturating_add(per_core[node.index()]);
        (most == shape.min_cpus_per_node
            && (!shape.cons_res || shape.room_for_tasks >= most)
            && shape.eligible.iter().all(has_no_more))
        .then_some(Alike::Same(most))
    }

    /// Whether each of its nodes offers as it is said to where nobody runs, if that is said. O(eligible nodes).
    pub(crate) fn is_alike_as_said(&self, empty: &Free, shape: &Shape) -> bool {
        let said = |node: NodeId| match shape.alike.filter(|_| shape.whole_nodes) {
            Some(Alike::Same(cpus)) => Some(cpus),
            Some(Alike::AllTheirs) => Some(self.geometry.cpus[node.index()]),
            None => None,
        };
        let offered = |node: NodeId| self.usable_cpus(empty, shape, ANY_USER, node);
        shape.eligible.iter().all(|node| said(node).is_none_or(|cpus| [0, cpus].contains(&offered(node))))
    }

    /// Whether a node serves the shape if, and only if, it is eligible and idle, where nobody shares cores: it takes whole nodes,
    /// or could not spare a core, and cores are handed out. `empty` is the machine without jobs. O(eligible nodes × sockets).
    pub(crate) fn idle_suffices(&self, empty: &Free, shape: &Shape) -> bool {
        let geometry = &self.geometry;
        let takes_cores = shape.unit != ConsumableUnit::Memory;
        shape.eligible.iter().all(|node| {
            let index = node.index();
            let without_a_core = geometry.cores[index].saturating_sub(1) * geometry.cpus_per_core[index];
            self.usable_cpus(empty, shape, ANY_USER, node) > 0
                && (shape.whole_nodes || (takes_cores && shape.room_per_node > without_a_core))
        })
    }

    /// As [`super::pick::choose`] of all these nodes, for a shape that is plain; `None` if it would have to be asked.
    /// What differs between its ways does not matter here. An attempt without the smaller nodes, where there are some, is left to
    /// it. O(words + runs²), in practice O(words + runs) and the nodes taken.
    pub(super) fn choose_alike(&mut self, shape: &Shape, nodes: &NodeSet, alike: Alike) -> Option<bool> {
        self.chosen.clear();
        self.find_weight_breaks();
        if alike == Alike::AllTheirs && !self.by_runs.even {
            return None;
        }
        let weighs_alike = self.by_runs.weighs_alike || self.weights.are_alike(nodes);
        let mut rest = Remaining::of(shape);
        if takes_first_that_fits(shape, &self.scratch) {
            let offered = |node: NodeId| match alike {
                Alike::Same(cpus) => cpus,
                Alike::AllTheirs => self.geometry.cpus[node.index()],
            };
            let fitting = nodes.iter().filter(|&node| i64::from(offered(node)) >= rest.cpus);
            let first = match weighs_alike {
                true => { fitting }.next(),
                false => fitting.min_by_key(|&node| (self.weight_of(node), node)),
            };
            if let Some(node) = first {
                self.take_alike(shape, node.0, offered(node), &mut rest);
            }
            return Some(first.is_some());
        }
        if let Alike::Same(cpus) = alike
            && weighs_alike
            && rest.nodes == 1
            && rest.max_nodes > 0
            && i64::from(cpus) >= rest.cpus
            && let Some(node) = first_alone(nodes)
        {
            // No run is smaller.
            self.take_alike(shape, node, cpus, &mut rest);
            return Some(true);
        }
        let same = match alike {
            Alike::Same(cpus) => cpus,
            Alike::AllTheirs => 0,
        };
        if weighs_alike && same > 0 {
            let enough = self.choose_evenly(shape, nodes, same);
            if enough {
                self.by_runs.put_in_order(&mut self.chosen);
                spread_tasks(shape, &mut self.chosen);
            }
            return Some(enough);
        }
        let mut runs = std::mem::take(&mut self.by_runs);
        find_runs(nodes, &runs.breaks, &mut runs.runs);
        let (mut count, mut total) = (0, 0);
        for run in &mut runs.runs {
            run.weight = self.weight_of(NodeId(run.begin));
            run.cpus = if same > 0 { same } else { self.geometry.cpus[run.begin as usize] };
            (count, total) = (count + run.nodes(), total + run.total());
        }
        let may_suffice = count >= i64::from(shape.min_nodes)
            && total >= i64::from(shape.min_cpus)
            && shape.max_nodes >= shape.min_nodes;
        let enough = may_suffice && self.attempt_by_runs(shape, &mut runs);
        if enough {
            runs.put_in_order(&mut self.chosen);
            spread_tasks(shape, &mut self.chosen);
        }
        self.by_runs = runs;
        if !enough {
            return (!may_suffice || alike != Alike::AllTheirs).then_some(false);
        }
        Some(true)
    }

    fn attempt_by_runs(&mut self, shape: &Shape, runs: &mut Runs) -> bool {
        let mut rest = Remaining::of(shape);
        if !self.take_largest_alike(shape, &mut rest, runs) {
            while rest.max_nodes > 0 && !rest.satisfied() {
                let Some(best) = best_run(shape, &runs.runs, &rest) else { break };
                let run = runs.runs[best];
                runs.runs[best].end = run.begin;
                self.take_run(shape, run.begin..run.end, run.cpus, &mut rest);
            }
        }
        rest.satisfied() || rest.is_enough(shape)
    }

    /// Notes where weights change from node to node. O(nodes) when they have changed.
    fn find_weight_breaks(&mut self) {
        let version = Some(self.weights.version());
        if self.by_runs.breaks_of != version {
            let n_nodes = self.geometry.cpus.len();
            let breaks = (1..n_nodes).map(NodeId::new);
            let breaks = breaks.filter(|&node| self.weight_of(node) != self.weight_of(NodeId(node.0 - 1)));
            self.by_runs.breaks = NodeSet::from_nodes(n_nodes, breaks);
            self.by_runs.weighs_alike = self.by_runs.breaks.is_empty();
            let cpus = &self.geometry.cpus;
            self.by_runs.even = (1..n_nodes)
                .all(|node| cpus[node] == cpus[node - 1] || self.by_runs.breaks.contains(NodeId::new(node)));
            self.by_runs.breaks_of = version;
        }
    }

    /// As long as no run has the CPUs that are still needed: the largest, the first of them, where weights play no part.
    /// Says whether nothing more is needed.
    fn take_largest_alike(&mut self, shape: &Shape, rest: &mut Remaining, runs: &mut Runs) -> bool {
        let largest = runs.runs.iter().map(|run| run.total()).max().unwrap_or(0);
        let weight = runs.runs.first().map(|run| run.weight);
        let weighs_alike = runs.runs.iter().all(|run| Some(run.weight) == weight);
        if largest >= rest.cpus || !weighs_alike {
            return false;
        }
        runs.order_by_size();
        for at in 0..runs.largest.len() {
            let index = runs.largest[at] as usize;
            let run = runs.runs[index];
            if rest.max_nodes <= 0 || rest.satisfied() || run.total() >= rest.cpus {
                break;
            }
            runs.runs[index].end = run.begin;
            self.take_run(shape, run.begin..run.end, run.cpus, rest);
        }
        rest.satisfied()
    }

    /// Takes nodes of a run: one, where one is enough; else from the first on, as many as are needed.
    pub(super) fn take_run(&mut self, shape: &Shape, run: Range<u32>, cpus: u32, rest: &mut Remaining) {
        if rest.nodes <= 1 && i64::from(cpus) >= rest.cpus {
            self.take_alike(shape, run.start, cpus, rest);
            return;
        }
        for node in run {
            if rest.max_nodes <= 0 || rest.satisfied() || (rest.max_nodes == 1 && i64::from(cpus) < rest.cpus) {
                break;
            }
            self.take_alike(shape, node, cpus, rest);
        }
    }

    fn take_alike(&mut self, shape: &Shape, node: u32, cpus: u32, rest: &mut Remaining) {
        let node = NodeId(node);
        let weight = self.weight_of(node);
        let kept = self.geometry.kept(shape, node);
        self.chosen.push(rest.take(shape, Offer { node, cpus, weight, idle: (0, 1), kept, gres: 0 }));
    }
}

/// The first node of a set without its neighbours. O(words).
fn first_alone(nodes: &NodeSet) -> Option<u32> {
    let mut before = 0;
    (0..nodes.n_words()).find_map(|index| {
        let word = nodes.word(index);
        let after = if index + 1 < nodes.n_words() { nodes.word(index + 1) } else { 0 };
        let alone = word & !(word << 1 | before >> 63) & !(word >> 1 | after << 63);
        before = word;
        (alone != 0).then(|| index as u32 * 64 + alone.trailing_zeros())
    })
}

/// The runs of a set, cut where weights change. O(words + runs).
fn find_runs(nodes: &NodeSet, breaks: &NodeSet, runs: &mut Vec<Run>) {
    runs.clear();
    let (mut ended, mut last) = (0, 0);
    for index in 0..nodes.n_words() {
        let (word, breaks) = (nodes.word(index), breaks.word(index));
        // Nodes behind one of the set.
        let behind = word << 1 | last;
        last = word >> 63;
        for node in nodes_of(index, word & (!behind | breaks)) {
            runs.push(Run { begin: node.0, end: 0, weight: 0, cpus: 0 });
        }
        for node in nodes_of(index, behind & (!word | breaks)) {
            runs[ended].end = node.0;
            ended += 1;
        }
    }
    if let Some(run) = runs.get_mut(ended) {
        run.end = nodes.n_words() as u32 * 64;
    }
}

/// The run to use next; see [`super::pick`].
fn best_run(shape: &Shape, runs: &[Run], rest: &Remaining) -> Option<usize> {
    let mut best: Option<(usize, Run, bool)> = None;
    for (index, run) in runs.iter().enumerate().filter(|(_, run)| run.nodes() > 0) {
        let sufficient = run.total() >= rest.cpus && rest.suffice(shape, run.nodes());
        let better = best.is_none_or(|(_, best, best_sufficient)| {
            let fits_better = match sufficient {
                true => !best_sufficient || run.total() < best.total(),
                false => run.total() > best.total(),
            };
            run.weight < best.weight || (run.weight == best.weight && fits_better)
        });
        if better {
            best = Some((index, *run, sufficient));
        }
    }
    best.map(|(index, ..)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::PartitionId;
    use crate::job::Request;
    use crate::policy::{SelectPolicy, SlurmVersion};
    use crate::select::pick::{PickScratch, choose};

    /// Drawn sets of nodes of several weights, and drawn requests.
    #[test]
    fn nodes_are_those_that_looking_at_each_would_choose() {
        const NODES: u64 = 200;
        let mut random = 3_u64;
        let mut draw = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        for round in 0..4000 {
            let (weights, dense) = ([1, 1, 3][round % 3], [1, 2, 5, 30][round % 4]);
            let mut cluster = super::super::tests::cluster(&[8; NODES as usize]);
            for (node, line) in (0..).zip(&mut cluster.nodes) {
                line.weight = (node / 23 % weights) as u32;
                line.cpus = 8 + 4 * line.weight;
                if round % 6 < 5 {
                    line.weight += (draw(40) / 39) as u32;
                }
            }
            let mut request = Request::serial(PartitionId(0));
            request.min_nodes = draw(12) as u32 + 1;
            request.max_nodes = (round % 5 > 0).then_some(request.min_nodes + draw(3) as u32);
            request.tasks = request.min_nodes * 4 + draw(9) as u32;
            request.min_cpus = request.tasks;
            request.ntasks_per_node = Some(4);
            let cons_res = round % 7 == 3;
            let select = SelectPolicy { linear: !cons_res, cons_res, ..SelectPolicy::default() };
            let mut shape = Shape::of(&cluster, &select, PartitionId(0), &request, true);
            let whole = round % 6 == 5;
            shape.whole_nodes = whole;
            let nodes = (0..NODES as usize).filter(|_| draw(dense + 1) < dense).map(NodeId::new);
            let nodes = NodeSet::from_nodes(NODES as usize, nodes);
            let mut selector = Selector::new(&cluster, &select, SlurmVersion::V22_05);
            let offers = nodes.iter().map(|node| Offer {
                node,
                cpus: if whole { selector.geometry.cpus[node.index()] } else { 4 },
                weight: selector.weight_of(node),
                idle: (0, 1),
                kept: selector.geometry.kept(&shape, node),
                gres: 0,
            });
            let (offers, mut chosen) = (offers.collect::<Vec<_>>(), Vec::new());
            let done = choose(&shape, &offers, false, &mut PickScratch::default(), &mut chosen);
            let alike = if whole { Alike::AllTheirs } else { Alike::Same(4) };
            let found = selector.choose_alike(&shape, &nodes, alike);
            assert!(found.is_none_or(|found| found == done), "round {round}");
            assert!(found.is_some() || whole, "round {round}");
            if done && found == Some(true) {
                assert_eq!(selector.chosen, chosen, "round {round}");
            }
        }
    }
}
