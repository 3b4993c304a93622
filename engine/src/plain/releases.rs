//! When processors are expected to be released: expected ends in order, with sums, for the shadow time.

/// Distinct ends in a block.
const BLOCK: usize = 64;

/// Expected ends of running jobs, ascending, in blocks that know their sum.
/// With r distinct ends: add and remove O(log r + block), shadow O(r / block + block); no allocation in steady state.
#[derive(Debug, Default)]
pub(super) struct Releases {
    /// Blocks in time order, as places in `pool`.
    order: Vec<u32>,
    /// The first end of each block, in the same order.
    firsts: Vec<i64>,
    /// Processors released by each block, in the same order.
    totals: Vec<u64>,
    pool: Vec<Block>,
    /// Places of `pool` not in use.
    spare: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Block {
    len: usize,
    ends: [i64; BLOCK],
    procs: [u32; BLOCK],
}

impl Block {
    const EMPTY: Self = Self { len: 0, ends: [0; BLOCK], procs: [0; BLOCK] };

    fn find(&self, end: i64) -> Result<usize, usize> {
        self.ends[..self.len].binary_search(&end)
    }

    fn insert(&mut self, at: usize, end: i64, procs: u32) {
        self.ends.copy_within(at..self.len, at + 1);
        self.procs.copy_within(at..self.len, at + 1);
        self.ends[at] = end;
        self.procs[at] = procs;
        self.len += 1;
    }

    fn remove(&mut self, at: usize) {
        self.ends.copy_within(at + 1..self.len, at);
        self.procs.copy_within(at + 1..self.len, at);
        self.len -= 1;
    }
}

impl Releases {
    /// `procs` processors are expected to be released at `end`.
    pub(super) fn add(&mut self, end: i64, procs: u32) {
        if self.order.is_empty() {
            self.insert_block(0, end);
        }
        let mut position = self.position_of(end);
        let mut block = &mut self.pool[self.order[position] as usize];
        let mut found = block.find(end);
        if found.is_err() && block.len == BLOCK {
            self.split(position);
            position = self.position_of(end);
            block = &mut self.pool[self.order[position] as usize];
            found = block.find(end);
        }
        match found {
            Ok(at) => block.procs[at] += procs,
            Err(at) => block.insert(at, end, procs),
        }
        self.firsts[position] = block.ends[0];
        self.totals[position] += u64::from(procs);
    }

    /// Takes back what [`Self::add`] was told.
    pub(super) fn remove(&mut self, end: i64, procs: u32) {
        debug_assert!(!self.order.is_empty(), "nothing is expected at {end}");
        let position = self.position_of(end);
        let Some(&place) = self.order.get(position) else { return };
        let block = &mut self.pool[place as usize];
        let Ok(at) = block.find(end) else {
            debug_assert!(false, "nothing is expected at {end}");
            return;
        };
        self.totals[position] -= u64::from(procs);
        block.procs[at] -= procs;
        if block.procs[at] == 0 {
            block.remove(at);
        }
        if block.len > 0 {
            self.firsts[position] = block.ends[0];
        } else {
            self.order.remove(position);
            self.firsts.remove(position);
            self.totals.remove(position);
            self.spare.push(place);
        }
    }

    /// The first time by which `needed` processors will have been released, and how many will have been by then,
    /// those of that very second included. `None` if there are never so many.
    pub(super) fn released_by(&self, needed: u32) -> Option<(i64, u32)> {
        let needed = u64::from(needed);
        let mut released = 0;
        for (&place, &total) in self.order.iter().zip(&self.totals) {
            if released + total < needed {
                released += total;
                continue;
            }
            let block = &self.pool[place as usize];
            for (&end, &procs) in block.ends[..block.len].iter().zip(&block.procs) {
                released += u64::from(procs);
                if released >= needed {
                    return Some((end, released as u32));
                }
            }
        }
        None
    }

    /// The block an end belongs to: the last one that begins at or before it, else the first.
    fn position_of(&self, end: i64) -> usize {
        self.firsts.partition_point(|&first| first <= end).saturating_sub(1)
    }

    fn insert_block(&mut self, position: usize, first: i64) -> usize {
        let place = self.spare.pop().unwrap_or_else(|| {
            self.pool.push(Block::EMPTY);
            (self.pool.len() - 1) as u32
        });
        self.pool[place as usize].len = 0;
        self.order.insert(position, place);
        self.firsts.insert(position, first);
        self.totals.insert(position, 0);
        place as usize
    }

    /// Moves the upper half of a full block into a new one behind it.
    fn split(&mut self, position: usize) {
        const HALF: usize = BLOCK / 2;
        let lower = self.order[position] as usize;
        let first = self.pool[lower].ends[HALF];
        let upper = self.insert_block(position + 1, first);
        let mut moved = Block::EMPTY;
        let source = &mut self.pool[lower];
        moved.ends[..BLOCK - HALF].copy_from_slice(&source.ends[HALF..]);
        moved.procs[..BLOCK - HALF].copy_from_slice(&source.procs[HALF..]);
        moved.len = BLOCK - HALF;
        source.len = HALF;
        let total: u64 = moved.procs[..moved.len].iter().map(|&procs| u64::from(procs)).sum();
        self.pool[upper] = moved;
        self.totals[position] -= total;
        self.totals[position + 1] = total;
    }
}

#[cfg(test)]
mod tests;
