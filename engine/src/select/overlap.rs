//! Which running jobs hold usable nodes, worked out 64 jobs at a time and only where it is asked for.

use std::ops::Range;

use crate::ids::NodeId;
use crate::node_set::NodeSet;
use crate::simulation::running::Running;

/// Running jobs in order of expected end, and beside them their first nodes: a test that goes through hundreds of them reads
/// nothing else.
#[derive(Debug, Default)]
pub(crate) struct InOrder {
    /// The jobs.
    pub(crate) jobs: Vec<Running>,
    /// Their expected ends [s].
    ends: Vec<i64>,
    /// Their first nodes.
    first: Vec<NodeId>,
    /// Those with more than one node, a bit a job.
    several: Vec<u64>,
    /// Counts how often the jobs have been noted.
    version: u64,
}

impl InOrder {
    /// The jobs, and beside them their ends, once noted.
    pub(crate) fn with_ends(&self) -> (&[Running], &[i64]) {
        (&self.jobs, &self.ends)
    }

    /// Notes the ends and first nodes of the jobs. O(jobs).
    pub(crate) fn settle(&mut self) {
        self.version += 1;
        self.ends.clear();
        self.ends.extend(self.jobs.iter().map(|job| job.end));
        self.first.clear();
        self.first.extend(self.jobs.iter().map(Running::first_node));
        self.several.clear();
        self.several.extend(self.jobs.chunks(64).map(|jobs| {
            jobs.iter().enumerate().fold(0, |several, (bit, job)| several | u64::from(job.has_several()) << bit)
        }));
    }
}

/// So many jobs are looked at one by one before 64 at once.
const NEAR: usize = 6;

/// What is known of 64 jobs.
#[derive(Clone, Debug, Default)]
struct Block {
    /// The position in [`Blocks::changed`] up to which the mask is true.
    seen: u64,
    /// The jobs that hold usable nodes.
    mask: u64,
    /// The state of the running jobs of which the nodes are known.
    version: u64,
    /// The nodes that the jobs hold.
    nodes: NodeSet,
}

/// In so many words at most may nodes become usable, or not, between two tests for masks to be kept where they hold.
const FEW: usize = 32;

/// Blocks of 64 jobs by position, kept between tests.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    blocks: Vec<Block>,
    /// The usable nodes of the last test.
    usable: NodeSet,
    /// The nodes that became usable, or not, from test to test, word by word; what is older than `forgotten` entries is gone.
    changed: Vec<(u32, u64)>,
    forgotten: u64,
    /// The state of the running jobs of which that is true.
    version: u64,
}

impl Blocks {
    /// A new test. O(words).
    fn begin(&mut self, running: &InOrder, usable: &NodeSet) {
        let n_blocks = running.jobs.len().div_ceil(64);
        if self.blocks.len() < n_blocks {
            self.blocks.resize_with(n_blocks, Block::default);
        }
        let (position, same) = (self.position(), self.version == running.version);
        if !self.usable.change_to(usable, FEW, &mut self.changed) || !same || self.changed.len() > 2 * FEW {
            // Later than any mask.
            self.forgotten = position + 1;
            self.changed.clear();
            self.version = running.version;
        }
    }

    /// Counts the changes.
    fn position(&self) -> u64 {
        self.forgotten + self.changed.len() as u64
    }
}

/// The running jobs that hold some of the usable nodes, in one test.
#[derive(Debug)]
pub(super) struct Overlap<'t> {
    running: &'t InOrder,
    /// So many of the running jobs are there for the test: the first to end.
    n_jobs: usize,
    usable: &'t NodeSet,
    /// The words of the usable nodes.
    within: Range<usize>,
    /// Node ranges of all jobs.
    ranges: &'t [(u32, u32)],
    blocks: &'t mut Blocks,
    /// Whether the blocks are of this test: most ask for none.
    begun: bool,
}

impl<'t> Overlap<'t> {
    /// Of a new test. O(words).
    pub(super) fn new(
        running: &'t InOrder,
        usable: &'t NodeSet,
        ranges: &'t [(u32, u32)],
        blocks: &'t mut Blocks,
    ) -> Self {
        let n_jobs = running.jobs.len();
        Self { running, n_jobs, usable, within: usable.extent(), ranges, blocks, begun: false }
    }

    /// The same without jobs that end after a time [s]. O(log jobs).
    pub(super) fn until(self, until: Option<i64>) -> Self {
        let n_jobs = until.map_or(self.n_jobs, |until| self.running.ends.partition_point(|&end| end <= until));
        Self { n_jobs, ..self }
    }

    /// The jobs, and beside them their ends.
    pub(super) fn jobs(&self) -> (&'t [Running], &'t [i64]) {
        let (jobs, ends) = self.running.with_ends();
        (&jobs[..self.n_jobs], &ends[..self.n_jobs])
    }

    /// The jobs `64 × index` and on that hold usable nodes. O(words) if none does; else O(64), unless few nodes have changed since it was asked
    /// and none of them is theirs. The nodes they hold together are gathered once for all tests until a job starts or ends.
    fn mask(&mut self, index: usize) -> u64 {
        let (running, ranges) = (self.running, self.ranges);
        if !std::mem::replace(&mut self.begun, true) {
            self.blocks.begin(running, self.usable);
        }
        let position = self.blocks.position();
        let Blocks { blocks, changed, forgotten, .. } = &mut *self.blocks;
        let block = &mut blocks[index];
        if let Some(seen) = block.seen.checked_sub(*forgotten) {
            let mut since = changed[seen as usize..].iter();
            if block.version == running.version
                && !since.any(|&(word, nodes)| block.nodes.word(word as usize) & nodes != 0)
            {
                block.seen = position;
                return block.mask;
            }
        }
        let begin = index * 64;
        let end = (begin + 64).min(running.jobs.len());
        if block.version != running.version {
            block.version = running.version;
            block.nodes.become_empty_like(self.usable);
            for job in &running.jobs[begin..end] {
                job.add_nodes(&mut block.nodes, ranges);
            }
        }
        block.seen = position;
        block.mask = 0;
        if block.nodes.intersects_within(self.usable, self.within.clone()) {
            block.mask = self.usable.mask_of(&running.first[begin..end]);
            let mut others = running.several[index] & !block.mask;
            while others != 0 {
                let bit = others.trailing_zeros();
                others &= others - 1;
                if running.jobs[begin + bit as usize].holds_any(self.usable, &self.within, ranges) {
                    block.mask |= 1 << bit;
                }
            }
        }
        block.mask
    }

    /// Whether a job does. O(1), more if it has several nodes.
    fn holds(&self, at: usize) -> bool {
        self.usable.contains(self.running.first[at])
            || self.running.jobs[at].is_on(self.usable, &self.within, self.ranges)
    }

    /// The first such job at `from` or after.
    pub(super) fn first(&mut self, from: usize) -> Option<usize> {
        let near = (from + NEAR).min(self.n_jobs);
        if let Some(found) = (from..near).find(|&at| self.holds(at)) {
            return Some(found);
        }
        let from = near;
        let words = self.n_jobs.div_ceil(64);
        let mut below = u64::MAX << (from % 64);
        for index in from / 64..words {
            let mask = self.mask(index) & below;
            if mask != 0 {
                return Some(index * 64 + mask.trailing_zeros() as usize).filter(|&found| found < self.n_jobs);
            }
            below = u64::MAX;
        }
        None
    }

    /// The last one in `from..to`.
    pub(super) fn last(&mut self, from: usize, to: usize) -> Option<usize> {
        let near = to.saturating_sub(NEAR).max(from);
        if let Some(found) = (near..to).rev().find(|&at| self.holds(at)) {
            return Some(found);
        }
        let to = near;
        if from >= to {
            return None;
        }
        for index in (from / 64..=(to - 1) / 64).rev() {
            let mask = self.mask(index) & within(index, from, to);
            if mask != 0 {
                return Some(index * 64 + 63 - mask.leading_zeros() as usize);
            }
        }
        None
    }

    /// How many there are in `from..to`.
    pub(super) fn count(&mut self, from: usize, to: usize) -> usize {
        let words = from / 64..to.div_ceil(64);
        words.map(|index| (self.mask(index) & within(index, from, to)).count_ones() as usize).sum()
    }
}

/// The bits of a word that stand for positions in `from..to`.
fn within(index: usize, from: usize, to: usize) -> u64 {
    let begin = index * 64;
    let low = u64::MAX << from.saturating_sub(begin).min(63);
    let high = if to >= begin + 64 { u64::MAX } else { (1 << (to - begin)) - 1 };
    low & high
}
