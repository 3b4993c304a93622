//! Jobs that share cores: `OverSubscribe=YES` and `FORCE`.
//! Source: slurm-semantics 6.3; slurm.conf(5) `OverSubscribe`; behaviour of 22.05.8.
//!
//! With cons_tres a partition of degree n has n rows; a core may be used once in each. A job that shares takes idle cores
//! if there are enough, else cores that are free in one row, the fullest first. Nodes serve jobs that share, or jobs that
//! do not. With select/linear n such jobs share a node whole. Where anybody may share, the short ways of the will-run test are off.

use crate::cluster::{Cluster, OverSubscribe, Partition};
use crate::ids::{NodeId, PartitionId};
use crate::job::{Request, Sharing};
use crate::node_set::NodeSet;
use crate::select::Selector;
use crate::select::free::{Allocation, Free, Geometry};
use crate::select::shape::Shape;

/// The rows of one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Its position among the partitions that share.
    place: u32,
    /// Its first row among all rows.
    first: u32,
    /// How many jobs may share a core.
    degree: u32,
}

/// A row that a job sits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    /// Position of the partition among those that share.
    place: u32,
    /// The row among all rows.
    row: u32,
}

/// What a job that shares may use beside what is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// What is free in a row.
    Row(u32),
    /// Whole nodes with at most so many jobs.
    Level(u32),
}

/// Who uses what where cores are shared; empty elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    /// Units used of each socket, counted once a job.
    used: Vec<u32>,
    /// Units used in each row, row after row.
    rows: Vec<u32>,
    /// Jobs on each node that share with nobody.
    own: Vec<u32>,
    /// Jobs on each node of each partition that shares, node after node.
    of_partition: Vec<u32>,
}

/// How many jobs may share a core of the partition; 1 if none.
fn degree(partition: &Partition) -> u32 {
    match partition.over_subscribe {
        OverSubscribe::Yes(degree) | OverSubscribe::Force(degree) => degree.max(1),
        OverSubscribe::Exclusive | OverSubscribe::No => 1,
    }
}

/// Whether jobs of some partition may share cores.
pub(crate) fn shares_cores(cluster: &Cluster) -> bool {
    cluster.partitions.iter().any(|partition| degree(partition) > 1)
}

/// How many jobs a request shares its cores with in a partition, itself included; 1 if it shares with nobody.
pub(crate) fn shared_by(partition: &Partition, request: &Request) -> u32 {
    match partition.over_subscribe {
        OverSubscribe::Yes(_) if request.sharing != Sharing::OverSubscribe => 1,
        _ => degree(partition),
    }
}

/// The rows of a partition, if its jobs may share.
pub(crate) fn rows_of(cluster: &Cluster, partition: PartitionId) -> Option<Rows> {
    let own = degree(&cluster.partitions[partition.index()]);
    let before = cluster.partitions[..partition.index()].iter().map(degree).filter(|&degree| degree > 1);
    let (place, first) = before.fold((0, 0), |(place, first), degree| (place + 1, first + degree));
    (own > 1).then_some(Rows { place, first, degree: own })
}

impl Shared {
    /// For an empty machine.
    pub(crate) fn new(cluster: &Cluster, geometry_sockets: usize) -> Self {
        if !shares_cores(cluster) {
            return Self::default();
        }
        let sharing = cluster.partitions.iter().map(degree).filter(|&degree| degree > 1);
        let (partitions, rows) = sharing.fold((0, 0), |(partitions, rows), degree| (partitions + 1, rows + degree));
        let n_nodes = cluster.nodes.len();
        Self {
            used: vec![0; geometry_sockets],
            rows: vec![0; geometry_sockets * rows as usize],
            own: vec![0; n_nodes],
            of_partition: vec![0; n_nodes * partitions],
        }
    }

    /// Whether anybody shares here.
    pub(crate) fn any(&self) -> bool {
        !self.own.is_empty()
    }

    fn n_partitions(&self) -> usize {
        self.of_partition.len() / self.own.len().max(1)
    }

    /// Takes units of a socket, or gives them back; what is idle of it then.
    pub(crate) fn moved(&mut self, socket: usize, total: u32, seat: Option<Seat>, cores: u32, taken: bool) -> u32 {
        let sockets = self.used.len();
        let change = |count: &mut u32| *count = if taken { *count + cores } else { *count - cores };
        change(&mut self.used[socket]);
        if let Some(seat) = seat {
            change(&mut self.rows[seat.row as usize * sockets + socket]);
        }
        total.saturating_sub(self.used[socket])
    }

    /// Notes a job on a node, or that it is gone.
    pub(crate) fn job_moved(&mut self, node: NodeId, allocation: &Allocation, taken: bool) {
        let partitions = self.n_partitions();
        let change = |count: &mut u32| *count = if taken { *count + 1 } else { *count - 1 };
        if !allocation.shares_cores {
            change(&mut self.own[node.index()]);
        }
        if let Some(seat) = allocation.seat {
            change(&mut self.of_partition[node.index() * partitions + seat.place as usize]);
        }
    }

    /// Becomes equal to `other` on one node.
    pub(crate) fn copy_node(&mut self, geometry: &Geometry, other: &Self, node: NodeId) {
        let (sockets, partitions) = (self.used.len(), self.n_partitions());
        for socket in geometry.sockets(node) {
            self.used[socket] = other.used[socket];
            for at in (socket..self.rows.len()).step_by(sockets.max(1)) {
                self.rows[at] = other.rows[at];
            }
        }
        self.own[node.index()] = other.own[node.index()];
        let of_node = node.index() * partitions..(node.index() + 1) * partitions;
        self.of_partition[of_node.clone()].copy_from_slice(&other.of_partition[of_node]);
    }

    /// Becomes a copy of `other`.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.used.clone_from(&other.used);
        self.rows.clone_from(&other.rows);
        self.own.clone_from(&other.own);
        self.of_partition.clone_from(&other.of_partition);
    }

    /// Whether a job may be on a node with the jobs there: those that share and those that do not keep apart, unless
    /// they are of one partition and the sharing ones came first.
    fn admits(&self, shape: &Shape, node: NodeId) -> bool {
        if shape.shared_by > 1 {
            return self.own[node.index()] == 0;
        }
        let partitions = self.n_partitions();
        let of_node = &self.of_partition[node.index() * partitions..(node.index() + 1) * partitions];
        let is_other = |place: usize| shape.rows.is_none_or(|rows| rows.place as usize != place);
        of_node.iter().enumerate().all(|(place, &jobs)| jobs == 0 || !is_other(place))
    }
}

impl Selector {
    /// As [`Selector::fits`], where cores may be shared. O(rows × nodes) and the cost of a test for each row.
    pub(super) fn fits_sharing(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        self.way = None;
        let mut admitted = candidates.clone();
        for node in candidates.iter().filter(|&node| !free.shared.admits(shape, node)) {
            admitted.remove(node);
        }
        if self.fits_idle(free, shape, user, &admitted) {
            return true;
        }
        let mut view = free.clone();
        for way in self.ways(free, shape) {
            show(&self.geometry, free, shape, way, &mut view);
            if self.fits_idle(&view, shape, user, &admitted) {
                self.way = Some(way);
                return true;
            }
        }
        false
    }

    /// The ways to share, in the order in which they are tried.
    fn ways(&self, free: &Free, shape: &Shape) -> Vec<Way> {
        if shape.shared_by < 2 {
            return Vec::new();
        }
        if self.linear {
            return (1..shape.shared_by).map(Way::Level).collect();
        }
        let Some(rows) = shape.rows else { return Vec::new() };
        let sockets = free.shared.used.len();
        let used = |row: u32| free.shared.rows[row as usize * sockets..][..sockets].iter().sum::<u32>();
        let mut order: Vec<u32> = (rows.first..rows.first + rows.degree).collect();
        order.sort_by_key(|&row| std::cmp::Reverse(used(row)));
        order.into_iter().map(Way::Row).collect()
    }

    /// Lays the job out on the nodes last chosen, in the row found for it.
    pub(super) fn allocate_shared(&self, free: &Free, shape: &Shape) -> Allocation {
        let mut view = free.clone();
        if let Some(way) = self.way {
            show(&self.geometry, free, shape, way, &mut view);
        }
        let mut allocation = self.lay_out(&view, shape);
        allocation.shares_cores = shape.shared_by > 1;
        allocation.seat = shape.rows.filter(|_| !self.linear).map(|rows| {
            let row = match self.way {
                Some(Way::Row(row)) => row,
                _ => self.first_row_with_room(free, rows, &allocation),
            };
            Seat { place: rows.place, row }
        });
        allocation
    }

    /// What is idle is free in every row, so that there is one.
    fn first_row_with_room(&self, free: &Free, rows: Rows, allocation: &Allocation) -> u32 {
        let sockets = free.shared.used.len();
        let of_nodes = || allocation.shares.iter().flat_map(|share| self.geometry.sockets(share.node));
        let has_room = |row: &u32| {
            of_nodes().zip(&allocation.socket_cores).all(|(socket, &cores)| {
                free.shared.rows[*row as usize * sockets + socket] + cores <= self.geometry.socket_cores[socket]
            })
        };
        (rows.first..rows.first + rows.degree).find(has_room).unwrap_or(rows.first)
    }
}

/// Makes `view` show what a job that shares finds free.
fn show(geometry: &Geometry, free: &Free, shape: &Shape, way: Way, view: &mut Free) {
    let sockets = free.shared.used.len();
    for index in 0..geometry.cpus.len() {
        let node = NodeId::new(index);
        let mut node_cores = 0;
        let mut in_use = false;
        for socket in geometry.sockets(node) {
            let used = match way {
                Way::Row(row) => free.shared.rows[row as usize * sockets + socket],
                Way::Level(most) if free.jobs[index] <= most => 0,
                Way::Level(_) => geometry.socket_cores[socket],
            };
            view.cores[socket] = geometry.socket_cores[socket].saturating_sub(used);
            node_cores += view.cores[socket];
            in_use |= used > 0;
        }
        view.node_cores[index] = node_cores;
        if shape.whole_nodes {
            view.jobs[index] = u32::from(in_use);
        }
        if node_cores > 0 {
            view.open.insert(node);
        } else {
            view.open.remove(node);
        }
    }
}
