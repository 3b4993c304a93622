//! Best fit over runs of consecutive nodes ([`super::pick`]) where all nodes weigh the same and offer as many CPUs: a run is its
//! length, and one that suffices is told by that alone.

use crate::node_set::NodeSet;
use crate::select::Selector;
use crate::select::remaining::Remaining;
use crate::select::shape::Shape;

/// A maximal sequence of consecutive nodes, the last one excluded.
#[derive(Clone, Copy, Debug)]
struct Run {
    begin: u32,
    end: u32,
    /// The next run that is as long, if it is short.
    next: u32,
}

impl Run {
    fn nodes(self) -> u32 {
        self.end - self.begin
    }
}

/// Runs of fewer nodes are kept by length.
const SHORT: usize = 64;

/// No run.
const NONE: u32 = u32::MAX;

/// Working memory: the runs that are left.
#[derive(Debug)]
pub(super) struct EvenRuns {
    runs: Vec<Run>,
    /// By length, the first short run and the last.
    short: [(u32, u32); SHORT],
    /// The others, from the first on.
    long: Vec<u32>,
    /// No short run has more nodes.
    most: usize,
}

impl Default for EvenRuns {
    fn default() -> Self {
        Self { runs: Vec::new(), short: [(NONE, NONE); SHORT], long: Vec::new(), most: 0 }
    }
}

impl EvenRuns {
    /// The runs of a set up to the first one of just so many nodes, if one is looked for; says how many nodes it holds, and `None` if it was not
    /// looked at to its end. O(words + runs looked at).
    fn find(&mut self, nodes: &NodeSet, just: Option<u32>) -> Option<u32> {
        self.runs.clear();
        self.long.clear();
        self.short = [(NONE, NONE); SHORT];
        self.most = 0;
        let mut open = None;
        let mut count = 0;
        for index in 0..nodes.n_words() {
            let (base, mut word) = (index as u32 * 64, nodes.word(index));
            count += word.count_ones();
            if let Some(begin) = open {
                let ones = word.trailing_ones();
                if ones == 64 {
                    continue;
                }
                open = None;
                self.push(begin, base + ones);
                if just == Some(base + ones - begin) {
                    return None;
                }
                word &= u64::MAX << ones;
            }
            while word != 0 {
                let first = word.trailing_zeros();
                let ones = (word >> first).trailing_ones();
                if first + ones == 64 {
                    open = Some(base + first);
                    break;
                }
                self.push(base + first, base + first + ones);
                if just == Some(ones) {
                    return None;
                }
                word &= u64::MAX << (first + ones);
            }
        }
        if let Some(begin) = open {
            self.push(begin, nodes.n_words() as u32 * 64);
        }
        Some(count)
    }

    fn push(&mut self, begin: u32, end: u32) {
        let (run, nodes) = (self.runs.len() as u32, (end - begin) as usize);
        self.runs.push(Run { begin, end, next: NONE });
        let Some((first, last)) = self.short.get_mut(nodes) else {
            self.long.push(run);
            return;
        };
        let before = std::mem::replace(last, run);
        match before {
            NONE => *first = run,
            _ => self.runs[before as usize].next = run,
        }
        self.most = self.most.max(nodes);
    }

    /// The longest run that is left, the first of them: its nodes. O(long runs), and O([`SHORT`]) a choice.
    fn longest(&mut self) -> Option<u32> {
        if let Some(nodes) = self.long.iter().map(|&run| self.runs[run as usize].nodes()).max() {
            return Some(nodes);
        }
        while self.most > 0 && self.short[self.most].0 == NONE {
            self.most -= 1;
        }
        (self.most > 0).then_some(self.most as u32)
    }

    /// Takes the first of the runs that have so many nodes, or of the next longer ones. O(long runs + [`SHORT`]).
    fn take(&mut self, nodes: u32) -> Option<Run> {
        let from = (nodes as usize).min(SHORT);
        if let Some((first, last)) = self.short[from..].iter_mut().find(|(first, _)| *first != NONE) {
            let run = self.runs[*first as usize];
            *first = run.next;
            if run.next == NONE {
                *last = NONE;
            }
            return Some(run);
        }
        let lengths = self.long.iter().map(|&run| self.runs[run as usize].nodes()).enumerate();
        let (at, _) = lengths.filter(|&(_, length)| length >= nodes).min_by_key(|&(_, length)| length)?;
        Some(self.runs[self.long.remove(at) as usize])
    }
}

/// How many nodes of one run would cover what is still needed; one at least.
fn sufficient(shape: &Shape, rest: &Remaining, cpus: u32) -> u32 {
    let by_cpus = (rest.cpus.max(0) as u64).div_ceil(u64::from(cpus.max(1)));
    let by_nodes = rest.least_run(shape).max(1) as u64;
    by_nodes.max(by_cpus).min(u64::from(u32::MAX)) as u32
}

impl Selector {
    /// Chooses out of nodes that each offer so many CPUs: the shortest run that suffices, or while none does, the longest.
    /// O(words + runs), and the nodes taken; O(long runs) a run more.
    pub(super) fn choose_evenly(&mut self, shape: &Shape, nodes: &NodeSet, cpus: u32) -> bool {
        let mut even = std::mem::take(&mut self.even_runs);
        let least = sufficient(shape, &Remaining::of(shape), cpus);
        // No run suffices that is shorter; if it is enough for all, the others do not matter.
        let just = Self::is_covered(shape, least, cpus).then_some(least);
        let enough = match even.find(nodes, just) {
            Some(count) => {
                Self::is_covered(shape, count, cpus) && self.take_evenly(shape, cpus, &mut even, false) == Some(true)
            }
            // A range of nodes takes more than the least that it needs.
            None => self.take_evenly(shape, cpus, &mut even, true).unwrap_or_else(|| {
                self.chosen.clear();
                even.find(nodes, None);
                self.take_evenly(shape, cpus, &mut even, false) == Some(true)
            }),
        };
        self.even_runs = even;
        enough
    }

    /// Whether so many nodes could be enough. O(1).
    fn is_covered(shape: &Shape, nodes: u32, cpus: u32) -> bool {
        nodes >= shape.min_nodes
            && u64::from(nodes) * u64::from(cpus) >= u64::from(shape.min_cpus)
            && shape.max_nodes >= shape.min_nodes
    }

    /// Takes runs until there are enough, or only the first one; says whether they are, if no other run is needed to say it.
    fn take_evenly(&mut self, shape: &Shape, cpus: u32, even: &mut EvenRuns, only_one: bool) -> Option<bool> {
        let mut rest = Remaining::of(shape);
        while rest.max_nodes > 0 && !rest.satisfied() {
            if only_one && !self.chosen.is_empty() {
                return None;
            }
            let least = sufficient(shape, &rest, cpus);
            let run = even.longest().and_then(|longest| even.take(longest.min(least)));
            let Some(run) = run else { break };
            self.take_run(shape, run.begin..run.end, cpus, &mut rest);
        }
        Some(rest.satisfied() || rest.is_enough(shape))
    }
}
