//! Which job uses which cores, where cores may be shared.
//! Source: slurm-semantics 6.3; behaviour of 22.05.8 (docs/FACTS.md, facts 33).
//!
//! With cons_tres a job of a partition of degree n sits in one of its n rows, on cores that nobody else in that row uses. When
//! one of them leaves, the others are seated anew: by first core, then by CPUs asked for, each in the first row that has its cores free, the
//! fullest row first; if somebody then has no row, all stay where they were.

use std::cell::Cell;
use std::sync::Arc;

use crate::cluster::Cluster;
use crate::ids::NodeId;
use crate::select::allocation::Allocation;
use crate::select::geometry::Geometry;
use crate::select::mates::Mate;
use crate::select::rows::{self, Rows};
use crate::simulation::record_age::Age;

/// The cores that a job uses.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cores {
    /// Sockets of the machine, in the order of its nodes.
    sockets: Vec<u32>,
    /// Those in use: where in a row's bits, and which of that word.
    bits: Vec<(u32, u64)>,
    /// How many.
    count: u32,
    /// CPUs that its job asks for.
    asked: u32,
    /// Position of the first: node order, then core order.
    first: (u32, u32),
}

/// Where a job sits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    /// The rows of its partition; `None` if that has none.
    pub(crate) rows: Option<Rows>,
    /// Its cores.
    pub(crate) cores: Arc<Cores>,
    /// With select/linear, where others may join it node by node: whether its nodes were to be consecutive.
    pub(crate) contiguous: Option<bool>,
    /// How old its record is, once it has started.
    pub(crate) age: Age,
}

/// Jobs of one partition that have no core in common.
#[derive(Clone, Debug, Default)]
struct Row {
    /// Cores in use, socket by socket.
    used: Vec<u64>,
    /// How many.
    count: u32,
    /// Who uses them, as they were seated.
    jobs: Vec<Arc<Cores>>,
    /// Whether they are known to stand in the order in which all are seated anew.
    in_order: bool,
}

/// Who uses what where cores are shared; empty elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    /// 64-bit words of a socket.
    words: usize,
    /// The partitions that share.
    partitions: Vec<Rows>,
    /// Cores in use of each socket by jobs outside of rows, counted once a job.
    outside: Vec<u32>,
    /// The same, as bits.
    outside_bits: Vec<u64>,
    /// The rows of all partitions.
    rows: Vec<Row>,
    /// Jobs on each node that share with nobody.
    own: Vec<u32>,
    /// Jobs on each node that share, or ask to.
    sharing: Vec<u32>,
    /// Jobs on each node of each partition that shares, node after node.
    of_partition: Vec<u32>,
    /// Whether a job has ever sat in the rows of each partition.
    ever_used: Vec<bool>,
    /// Which jobs are on a node is not known here; who sits where is (cons_tres/node_data.c of 23.11.6, `node_data_dup_use`; rec c102-24-11).
    pub(super) forgets_jobs: bool,
    /// Whether a test has gone through the rows of each partition since they changed: it puts the fullest first.
    gone_through: Vec<Cell<bool>>,
    /// Who runs with select/linear. Of what is free now alone: plans seek no mate.
    pub(super) mates: Vec<Mate>,
}

impl Cores {
    /// Of sockets and the cores in use of each, so many words a socket.
    fn new((sockets, asked): (Vec<u32>, u32), in_use: &[u64], words: usize) -> Self {
        let position = |at: usize| sockets[at / words] * words as u32 + (at % words) as u32;
        let bits: Vec<_> =
            (0..in_use.len()).filter(|&at| in_use[at] != 0).map(|at| (position(at), in_use[at])).collect();
        let first = bits.first().map_or((u32::MAX, 0), |&(at, bits)| (at, bits.trailing_zeros()));
        Self { count: in_use.iter().map(|bits| bits.count_ones()).sum(), asked, first, sockets, bits }
    }

    /// When its turn comes as all are seated anew.
    fn turn(&self) -> ((u32, u32), u32) {
        (self.first, self.asked)
    }
}

impl Row {
    fn fits(&self, cores: &Cores) -> bool {
        cores.bits.iter().all(|&(at, bits)| self.used[at as usize] & bits == 0)
    }

    fn add(&mut self, cores: &Arc<Cores>) {
        for &(at, bits) in &cores.bits {
            self.used[at as usize] |= bits;
        }
        self.count += cores.count;
        self.in_order &= self.jobs.last().is_none_or(|last| last.turn() <= cores.turn());
        self.jobs.push(Arc::clone(cores));
    }

    /// Who sits `at` a place leaves; the others are in the order in which all are seated anew. O(jobs of the row).
    fn leave(&mut self, at: usize) {
        let gone = self.jobs.remove(at);
        for &(at, bits) in &gone.bits {
            self.used[at as usize] &= !bits;
        }
        self.count -= gone.count;
        if !self.in_order {
            self.jobs.sort_by_key(|job| job.turn());
            self.in_order = true;
        }
    }

    /// Empties the row; says who sat in it. O(sockets of its jobs).
    fn clear(&mut self) -> Vec<Arc<Cores>> {
        for &(at, _) in self.jobs.iter().flat_map(|cores| &cores.bits) {
            self.used[at as usize] = 0;
        }
        self.count = 0;
        std::mem::take(&mut self.jobs)
    }
}

/// The fullest row first. Rows change places pair by pair, which tells where equal ones end up. O(rows²).
fn sort<R>(rows: &mut [R], count: impl Fn(&R) -> u32) {
    for at in 0..rows.len() {
        for later in at + 1..rows.len() {
            if count(&rows[later]) > count(&rows[at]) {
                rows.swap(at, later);
            }
        }
    }
}

impl Shared {
    /// For an empty machine.
    pub(crate) fn new(cluster: &Cluster, spare_rows: bool, socket_cores: &[u32]) -> Self {
        let partitions: Vec<Rows> =
            rows::of_partitions(cluster, spare_rows).into_iter().map(|(_, rows)| rows).collect();
        let Some(n_rows) = partitions.last().map(|rows| rows.range().end) else { return Self::default() };
        let words = socket_cores.iter().max().map_or(1, |&most| (most as usize).div_ceil(64).max(1));
        let bits = vec![0; socket_cores.len() * words];
        Self {
            words,
            outside: vec![0; socket_cores.len()],
            rows: vec![Row { used: bits.clone(), ..Row::default() }; n_rows],
            outside_bits: bits,
            own: vec![0; cluster.nodes.len()],
            sharing: vec![0; cluster.nodes.len()],
            of_partition: vec![0; cluster.nodes.len() * partitions.len()],
            ever_used: vec![false; partitions.len()],
            forgets_jobs: false,
            gone_through: vec![Cell::new(false); partitions.len()],
            mates: Vec::new(),
            partitions,
        }
    }

    /// Whether anybody shares here.
    pub(crate) fn any(&self) -> bool {
        !self.own.is_empty()
    }

    /// Jobs on a node of each partition that shares.
    pub(crate) fn sharing_jobs(&self, node: NodeId) -> &[u32] {
        &self.of_partition[node.index() * self.partitions.len()..][..self.partitions.len()]
    }

    /// Whether jobs on the node share with nobody.
    pub(crate) fn has_own(&self, node: NodeId) -> bool {
        self.own[node.index()] > 0
    }

    /// Whether a partition for which `is_other` has ever had a job that sat in its rows, by place.
    pub(crate) fn has_used(&self, is_other: impl Fn(usize) -> bool) -> bool {
        self.ever_used.iter().enumerate().any(|(place, &used)| used && is_other(place))
    }

    /// Whether jobs on the node share, or ask to.
    pub(crate) fn has_sharing(&self, node: NodeId) -> bool {
        self.sharing[node.index()] > 0
    }

    /// Cores of a socket that nobody uses, of so many. O(rows).
    pub(crate) fn idle(&self, socket: usize, total: u32) -> u32 {
        let in_rows = |at: usize| self.rows.iter().fold(0, |bits, row| bits | row.used[at]).count_ones();
        let used: u32 = (socket * self.words..(socket + 1) * self.words).map(in_rows).sum();
        total.saturating_sub(used + self.outside[socket])
    }

    /// The rows of each partition that has some.
    pub(crate) fn partitions(&self) -> &[Rows] {
        &self.partitions
    }

    /// Cores of a socket in use in any of these rows. O(rows).
    pub(crate) fn used_in<'r>(&self, socket: usize, rows: impl IntoIterator<Item = &'r usize> + Clone) -> u32 {
        let in_use = |at: usize| rows.clone().into_iter().fold(0, |bits, &row| bits | self.rows[row].used[at]);
        let of_word = |at: usize| in_use(at).count_ones();
        (socket * self.words..(socket + 1) * self.words).map(of_word).sum()
    }

    /// A partition's rows, the fullest first, each by its position among all, as a test goes through them: they stay in this order. Where one is
    /// to spare, the others as they are (cons_common/job_test.c of 22.05.8, `_job_test`, step 4; rec c163). O(rows²).
    pub(crate) fn go_through(&self, rows: Rows) -> Vec<usize> {
        if rows.has_spare() {
            return rows.range().take(rows.range().len() - 1).collect();
        }
        self.gone_through[rows.place()].set(true);
        let mut order: Vec<usize> = rows.range().collect();
        sort(&mut order, |&row| self.rows[row].count);
        order
    }

    /// The cores of an allocation: of each socket the first that are free outside of `avoided` rows, or idle if there are none.
    pub(crate) fn cores_of(
        &self,
        geometry: &Geometry,
        (allocation, asked): (&Allocation, u32),
        avoided: Option<&[usize]>,
    ) -> Cores {
        let (mut at_sockets, mut in_use) = (Vec::new(), Vec::new());
        let sockets = allocation.shares.iter().flat_map(|share| geometry.sockets(share.node));
        for (socket, &wanted) in sockets.zip(&allocation.socket_cores) {
            at_sockets.push(socket as u32);
            let mut missing = wanted;
            for word in 0..self.words {
                let at = socket * self.words + word;
                let used = match avoided {
                    Some(rows) => rows.iter().fold(0, |bits, &row| bits | self.rows[row].used[at]),
                    None => self.rows.iter().fold(self.outside_bits[at], |bits, row| bits | row.used[at]),
                };
                let left = geometry.socket_cores[socket].saturating_sub(word as u32 * 64);
                let there = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
                let bits = first_bits(there & !used, missing);
                missing -= bits.count_ones();
                in_use.push(bits);
            }
        }
        // Whole nodes count with the cores that they keep for the system (cons_common/job_resources.c of 22.05.8, `_handle_job_res`; rec w2291).
        let of_system = |&at: &u32| geometry.whole_sockets[at as usize] - geometry.socket_cores[at as usize];
        let kept = if allocation.whole_nodes { at_sockets.iter().map(of_system).sum() } else { 0 };
        let mut cores = Cores::new((at_sockets, asked), &in_use, self.words);
        cores.count += kept;
        cores
    }

    /// Notes who begins to use what. O(sockets of the job × rows).
    pub(crate) fn take(&mut self, allocation: &Allocation) {
        self.count_jobs(allocation, |count| *count += 1);
        let Some(seat) = &allocation.seat else { return };
        match seat.rows {
            Some(rows) => {
                self.keep_order(rows);
                let own = &mut self.rows[rows.range()];
                if let Some(row) = own.iter_mut().find(|row| row.fits(&seat.cores)) {
                    row.add(&seat.cores);
                }
            }
            None => self.move_outside(allocation, &seat.cores, true),
        }
        self.mates.extend(Mate::of(allocation));
    }

    /// Notes who is gone, and seats the others of its rows anew. O(jobs in the rows × their sockets).
    pub(crate) fn give_back(&mut self, allocation: &Allocation) {
        self.count_jobs(allocation, |count| *count -= 1);
        let Some(seat) = &allocation.seat else { return };
        match seat.rows {
            Some(rows) => self.seat_anew(rows, &seat.cores),
            None => self.move_outside(allocation, &seat.cores, false),
        }
        self.mates.retain(|mate| !mate.is(seat));
    }

    /// Puts rows into the order in which a test has gone through them.
    fn keep_order(&mut self, rows: Rows) {
        if self.gone_through[rows.place()].take() {
            sort(&mut self.rows[rows.range()], |row| row.count);
        }
    }

    fn seat_anew(&mut self, rows: Rows, gone: &Arc<Cores>) {
        self.keep_order(rows);
        let own = &mut self.rows[rows.range()];
        let is_gone = |job: &Arc<Cores>| Arc::ptr_eq(job, gone);
        if let [one, others @ ..] = own
            && others.iter().all(|row| row.jobs.is_empty())
        {
            // Nobody has a core in common with another, so the first row is everybody's.
            if let Some(at) = one.jobs.iter().position(is_gone) {
                one.leave(at);
            }
            return;
        }
        if !own.iter().any(|row| row.jobs.iter().any(is_gone)) {
            return;
        }
        let mut before: Vec<_> = own.iter_mut().map(|row| row.clear()).collect();
        before.iter_mut().for_each(|jobs| jobs.retain(|job| !is_gone(job)));
        let mut jobs: Vec<_> = before.iter().flatten().collect();
        jobs.sort_by_key(|job| job.turn());
        for job in jobs {
            let Some(row) = own.iter_mut().find(|row| row.fits(job)) else {
                // Somebody has no row: all stay where they were.
                for (row, jobs) in own.iter_mut().zip(&before) {
                    row.clear();
                    jobs.iter().for_each(|job| row.add(job));
                }
                return;
            };
            row.add(job);
            sort(own, |row| row.count);
        }
    }

    fn move_outside(&mut self, allocation: &Allocation, cores: &Cores, taken: bool) {
        for (&socket, &held) in cores.sockets.iter().zip(&allocation.socket_cores) {
            let count = &mut self.outside[socket as usize];
            *count = if taken { *count + held } else { *count - held };
        }
        for &(at, bits) in &cores.bits {
            let at = at as usize;
            self.outside_bits[at] = if taken { self.outside_bits[at] | bits } else { self.outside_bits[at] & !bits };
        }
    }

    fn count_jobs(&mut self, allocation: &Allocation, change: impl Fn(&mut u32)) {
        let partitions = self.partitions.len();
        let place = allocation.seat.as_ref().and_then(|seat| seat.rows).map(Rows::place);
        if let Some(place) = place {
            self.ever_used[place] = true;
        }
        // Who has no CPU of a node is none of its jobs.
        for share in allocation.shares.iter().filter(|share| share.cpus > 0) {
            if !allocation.shares_cores {
                change(&mut self.own[share.node.index()]);
            }
            if allocation.shares_cores || allocation.asks_to_share {
                change(&mut self.sharing[share.node.index()]);
            }
            if let Some(place) = place {
                change(&mut self.of_partition[share.node.index() * partitions + place]);
            }
        }
    }

    /// Becomes a copy of `other`.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.outside.clone_from(&other.outside);
        self.outside_bits.clone_from(&other.outside_bits);
        for (row, other) in self.rows.iter_mut().zip(&other.rows) {
            row.used.clone_from(&other.used);
            row.jobs.clone_from(&other.jobs);
            row.count = other.count;
        }
        self.own.clone_from(&other.own);
        self.sharing.clone_from(&other.sharing);
        self.ever_used.clone_from(&other.ever_used);
        self.of_partition.clone_from(&other.of_partition);
        self.gone_through.clone_from(&other.gone_through);
    }
}

/// The lowest of these bits, so many.
fn first_bits(mut bits: u64, wanted: u32) -> u64 {
    let mut first = 0;
    for _ in 0..wanted.min(bits.count_ones()) {
        first |= bits & bits.wrapping_neg();
        bits &= bits - 1;
    }
    first
}
