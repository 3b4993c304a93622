//! Jobs that share cores: `OverSubscribe=YES` and `FORCE`.
//! Source: slurm-semantics 6.3; slurm.conf(5) `OverSubscribe`; behaviour of 22.05.8.
//!
//! With cons_tres a partition of degree n has n rows; a core may be used once in each. A job that shares takes idle cores
//! if there are enough; else cores that no job of a partition of its tier uses, of lower tiers as few as can be; else cores that
//! are free in one row of its own partition, the fullest first. Nodes serve jobs that share, or jobs that do not. With
//! select/linear n such jobs share a node whole. Where anybody may share, the short ways of the will-run test are off.

use std::ops::Range;
use std::sync::Arc;

use crate::cluster::{Cluster, OverSubscribe, Partition};
use crate::ids::{NodeId, PartitionId};
use crate::job::{Request, Sharing};
use crate::node_set::NodeSet;
use crate::policy::{ConsumableUnit, PreemptMode, SelectPolicy, SlurmVersion};
use crate::select::Selector;
use crate::select::allocation::Allocation;
use crate::select::free::Free;
use crate::select::geometry::Geometry;
use crate::select::seats::{Seat, Shared};
use crate::select::shape::Shape;
use crate::simulation::record_age::Age;

/// The rows of one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Its position among the partitions that share.
    place: u32,
    /// Its first row among all rows.
    first: u32,
    /// How many jobs may share a core.
    degree: u32,
    /// There is one row more.
    spare: bool,
    /// The partition's `PriorityTier`.
    tier: u32,
    /// `PreemptMode=OFF`: nobody may preempt its jobs.
    stays: bool,
}

impl Rows {
    /// The partition's position among those that share.
    pub(crate) fn place(self) -> usize {
        self.place as usize
    }

    /// Positions of the rows among all rows.
    pub(crate) fn range(self) -> Range<usize> {
        self.first as usize..self.end() as usize
    }

    fn end(self) -> u32 {
        self.first + self.degree + u32::from(self.spare)
    }

    /// Whether its last row is none that a test looks at ([`SelectPolicy::spare_rows`]).
    pub(crate) fn has_spare(self) -> bool {
        self.spare
    }
}

/// What a job that shares may use beside what is idle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// What is free in all of these rows.
    Rows(Vec<usize>),
    /// Whole nodes with at most so many jobs.
    Level(u32),
}

/// How many jobs may share a core of the partition; 1 if none.
fn degree(partition: &Partition) -> u32 {
    match partition.over_subscribe {
        OverSubscribe::Yes(degree) | OverSubscribe::Force(degree) => degree.max(1),
        OverSubscribe::Exclusive | OverSubscribe::No => 1,
    }
}

/// Whether jobs of the partition may share cores.
pub(crate) fn may_share(partition: &Partition) -> bool {
    degree(partition) > 1
}

/// Whether jobs of some partition may share cores.
pub(crate) fn shares_cores(cluster: &Cluster) -> bool {
    cluster.partitions.iter().any(may_share)
}

/// How many jobs a request shares its cores with in a partition, itself included; 1 if it shares with nobody.
pub(crate) fn shared_by(partition: &Partition, request: &Request) -> u32 {
    match partition.over_subscribe {
        OverSubscribe::Yes(_) if request.sharing != Sharing::OverSubscribe => 1,
        _ => degree(partition),
    }
}

/// Whether a request shares its cores in a partition because it asks to.
pub(crate) fn asks_to_share(partition: &Partition, request: &Request) -> bool {
    matches!(partition.over_subscribe, OverSubscribe::Yes(_)) && shared_by(partition, request) > 1
}

/// The rows of each partition that has some, in the order of the partitions.
pub(crate) fn of_partitions(cluster: &Cluster, spare: bool) -> Vec<(PartitionId, Rows)> {
    let mut all: Vec<(PartitionId, Rows)> = Vec::new();
    for (index, partition) in cluster.partitions.iter().enumerate().filter(|(_, partition)| degree(partition) > 1) {
        let first = all.last().map_or(0, |(_, before)| before.end());
        let (place, tier) = (all.len() as u32, partition.priority_tier);
        let stays = partition.preempt_mode == Some(PreemptMode::Off);
        all.push((PartitionId::new(index), Rows { place, first, degree: degree(partition), spare, tier, stays }));
    }
    all
}

/// The rows of a partition, if its jobs may share.
pub(crate) fn rows_of(cluster: &Cluster, select: &SelectPolicy, partition: PartitionId) -> Option<Rows> {
    of_partitions(cluster, select.spare_rows).into_iter().find(|&(id, _)| id == partition).map(|(_, rows)| rows)
}

/// Whether who shares is told by the jobs on a node, or by their partitions.
#[derive(Clone, Copy, Debug)]
pub(super) enum ByJobs {
    /// By partitions alone; so with select/linear.
    Not,
    /// By jobs, where another partition's rows have ever been used (cons_tres/job_test.c of 23.11.0, `_is_job_sharing`; rec c114-23-11).
    OnceUsed,
    /// By jobs, where another partition's rows are in use (25.11.7, `_is_node_busy`).
    Now,
}

impl ByJobs {
    /// As a release does.
    pub(super) fn of(version: SlurmVersion, linear: bool) -> Self {
        match version {
            _ if linear || version < SlurmVersion::V23_11 => Self::Not,
            _ if version < SlurmVersion::V25_11 => Self::OnceUsed,
            _ => Self::Now,
        }
    }
}

/// Whether a job may be on a node with the jobs there: those that share and those that do not keep apart, unless
/// they are of one partition and the sharing ones came first. `by_jobs` whoever
/// shares there is in the way, as soon as another partition that shares has had a job, or once it has one there; nobody is where jobs are not known.
fn admits(shared: &Shared, shape: &Shape, node: NodeId, by_jobs: ByJobs) -> bool {
    if shape.shared_by > 1 {
        return !shared.has_own(node);
    }
    let is_other = |place: usize| shape.rows.is_none_or(|rows| rows.place() != place);
    let has_other = || shared.sharing_jobs(node).iter().enumerate().any(|(place, &jobs)| jobs > 0 && is_other(place));
    match by_jobs {
        ByJobs::Not => !has_other(),
        _ if shared.forgets_jobs || !shared.has_sharing(node) => true,
        ByJobs::OnceUsed => !shared.has_used(is_other),
        ByJobs::Now => !shape.whole_nodes && !has_other(),
    }
}

impl Selector {
    /// As [`Selector::fits`], where cores may be shared. O(rows × nodes) and the cost of a test for each row.
    pub(super) fn fits_sharing(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        self.way = None;
        if self.linear && (self.in_plan || self.in_room) {
            return self.fits_at_level(free, shape, user, candidates);
        }
        let mut admitted = candidates.clone();
        for node in candidates.iter().filter(|&node| !admits(&free.shared, shape, node, self.by_jobs)) {
            admitted.remove(node);
        }
        // Whose node it is does not change by what a row shows of it (rec bf-c87).
        free.keep_admitting(&mut admitted, user, shape.exclusive_user);
        self.spread = false;
        if self.fits_idle(free, shape, user, &admitted) {
            return true;
        }
        if shape.shared_by < 2 {
            return false;
        }
        let mut view = self.view.take().unwrap_or_else(|| Box::new(free.clone()));
        view.copy_amounts_from(free);
        let fits = self.fits_beside(free, shape, |selector, way| {
            show(&selector.geometry, free, shape, way, &mut view);
            let with_mate = matches!(way, Way::Level(_)) && !selector.in_plan;
            (with_mate && selector.fits_with_mate(&view, &free.shared.mates, shape, (user, &admitted)))
                || selector.fits_idle(&view, shape, user, &admitted)
        });
        self.view = Some(view);
        fits
    }

    /// select/linear's test of when and where, and of whether somebody's end would make room: nodes with no job of whole nodes and with as few jobs as
    /// leave room for one more count alike, idle or not; in tests of when and where one job leaves room for who shares with nobody, too
    /// (select_linear.c of 22.05.8, `_will_run_test`, `_run_now`; rec c1051, c1383). O(nodes) and a test.
    fn fits_at_level(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        let level = shape.shared_by.saturating_sub(1).max(u32::from(self.in_plan));
        let (view, way, admitted) = self.view_at_level(free, (shape, level), user, candidates);
        let fits = self.fits_idle(&view, shape, user, &admitted);
        self.view = Some(view);
        self.way = fits.then_some(way);
        fits
    }

    /// What such tests find: what is free, how, and where. O(nodes).
    pub(super) fn view_at_level(
        &mut self,
        free: &Free,
        (shape, level): (&Shape, u32),
        user: u32,
        candidates: &NodeSet,
    ) -> (Box<Free>, Way, NodeSet) {
        let mut admitted = candidates.clone();
        candidates.iter().filter(|&node| free.shared.has_own(node)).for_each(|node| admitted.remove(node));
        free.keep_admitting(&mut admitted, user, shape.exclusive_user);
        let way = Way::Level(level);
        let mut view = self.view.take().unwrap_or_else(|| Box::new(free.clone()));
        view.copy_amounts_from(free);
        show(&self.geometry, free, shape, &way, &mut view);
        (view, way, admitted)
    }

    /// Whether the request fits on cores that others use, too. `fits` asks so of one way. The first way with nodes enough is the last one that is
    /// tried, though a job that waits for few leaf switches may find them on too many (cons_common/job_test.c of 22.05.8, `_job_test`; rec c1291).
    fn fits_beside(&mut self, free: &Free, shape: &Shape, mut fits: impl FnMut(&mut Self, &Way) -> bool) -> bool {
        // Each of several features would go all these ways by itself.
        let ends_there = shape.alternatives.is_empty();
        let mut found_by = |selector: &mut Self, way: &Way| {
            selector.spread = false;
            let is_fit = fits(selector, way);
            (is_fit, is_fit || (selector.spread && ends_there))
        };
        let kept = self.kept_rows(free, shape);
        let of_tiers = shape.rows.filter(|_| !self.linear).and_then(|rows| tiers(free, rows));
        // What cores that nobody uses offer is what is left where all rows of one tier are kept.
        let (mut is_fit, mut is_found) = (false, self.spread && ends_there);
        if let Some((same, lower)) = of_tiers {
            let mut avoided = [same, kept.clone()].concat();
            (is_fit, is_found) = found_by(self, &Way::Rows(avoided.clone()));
            for rows in lower {
                if !is_found {
                    break;
                }
                let found = (self.chosen.clone(), self.chosen_near);
                let before = avoided.clone();
                avoided.extend(rows.range());
                let (fits, finds) = found_by(self, &Way::Rows(avoided.clone()));
                if !finds {
                    (self.chosen, self.chosen_near) = found;
                    avoided = before;
                    break;
                }
                is_fit = fits;
            }
            self.way = is_fit.then_some(Way::Rows(avoided));
        }
        for way in self.ways(free, shape, &kept) {
            if is_found {
                break;
            }
            (is_fit, is_found) = found_by(self, &way);
            self.way = is_fit.then_some(way);
        }
        is_fit
    }

    /// Rows whose cores nobody shares: where partitions preempt one another, those of higher tiers and those of partitions
    /// that cannot be preempted, the job's own included (cons_common/job_test.c of 22.05.8, `_job_test`, step 2; rec bb-cpu).
    fn kept_rows(&self, free: &Free, shape: &Shape) -> Vec<usize> {
        let Some(own) = shape.rows.filter(|_| self.partitions_preempt) else { return Vec::new() };
        let all = free.shared.partitions().iter();
        all.filter(|rows| rows.stays || rows.tier > own.tier).flat_map(|rows| rows.range()).collect()
    }

    /// The ways to share within a partition beside rows that keep their cores, in the order in which they are tried.
    fn ways(&self, free: &Free, shape: &Shape, kept: &[usize]) -> Vec<Way> {
        if self.linear {
            return (1..shape.shared_by).map(Way::Level).collect();
        }
        let of_partition = shape.rows.map_or(Vec::new(), |rows| free.shared.go_through(rows));
        of_partition.into_iter().map(|row| Way::Rows([&[row][..], kept].concat())).collect()
    }

    /// Lays the job out on the nodes last chosen, on the cores found for it.
    pub(super) fn allocate_shared(&self, free: &Free, shape: &Shape) -> Allocation {
        let mut view = free.clone();
        let mut avoided = None;
        if let Some(way) = &self.way {
            show(&self.geometry, free, shape, way, &mut view);
            if let Way::Rows(rows) = way {
                avoided = Some(rows.as_slice());
            }
        }
        let mut allocation = self.lay_out(&view, shape);
        allocation.shares_cores = shape.shared_by > 1;
        // `ncpus` of job_resources (cons_common/job_test.c of 22.05.8, `_job_test`; rec bf-c73).
        let nodes = allocation.shares.len() as u32;
        let asked = nodes
            .saturating_mul(shape.tasks_per_node.unwrap_or(1))
            .max(shape.min_cpus)
            .max(nodes.saturating_mul(shape.min_cpus_per_node));
        let cores = Arc::new(free.shared.cores_of(&self.geometry, (&allocation, asked), avoided));
        let contiguous = self.linear.then_some(shape.contiguous);
        allocation.seat =
            Some(Seat { rows: shape.rows.filter(|_| !self.linear), cores, contiguous, age: Age::YOUNGEST });
        allocation
    }
}

/// The rows of all partitions of the same tier, and those of lower tiers, the higher first; `None` if all are of one tier.
fn tiers(free: &Free, own: Rows) -> Option<(Vec<usize>, Vec<Rows>)> {
    let all = free.shared.partitions();
    let same = all.iter().filter(|rows| rows.tier == own.tier).flat_map(|rows| rows.range()).collect();
    let mut lower: Vec<Rows> = all.iter().filter(|rows| rows.tier < own.tier).copied().collect();
    lower.sort_by_key(|rows| std::cmp::Reverse(rows.tier));
    all.iter().any(|rows| rows.tier != own.tier).then_some((same, lower))
}

/// Whether a job of the request's partition has the socket, which keeps a core for the system. O(rows of the partition).
fn keeps_its_core(geometry: &Geometry, free: &Free, shape: &Shape, socket: usize) -> bool {
    let own = || shape.rows.map_or(Vec::new(), |rows| rows.range().collect());
    shape.unit == ConsumableUnit::Socket && geometry.kept_cores[socket] > 0 && free.shared.used_in(socket, &own()) > 0
}

/// Makes `view` show what a job that shares finds free.
fn show(geometry: &Geometry, free: &Free, shape: &Shape, way: &Way, view: &mut Free) {
    for index in 0..geometry.cpus.len() {
        let node = NodeId::new(index);
        let mut node_cores = 0;
        let mut in_use = false;
        for socket in geometry.sockets(node) {
            let used = match way {
                Way::Rows(rows) => free.shared.used_in(socket, rows),
                Way::Level(most) if free.jobs[index] <= *most => 0,
                Way::Level(_) => geometry.socket_cores[socket],
            };
            in_use |= used > 0;
            // One that keeps a core is out of all rows while a job of the partition has it (cons_common.c of 22.05.8, `_allocate_sc`:
            // `part_core_map`; rec w2235).
            let is_out = matches!(way, Way::Rows(_)) && keeps_its_core(geometry, free, shape, socket);
            view.cores[socket] = if is_out { 0 } else { geometry.socket_cores[socket].saturating_sub(used) };
            node_cores += view.cores[socket];
        }
        view.node_cores[index] = node_cores;
        if let (Some((cap, _)), Some(own), Way::Rows(rows)) = (shape.max_cpus_per_node, shape.rows, way) {
            // Of the partition's cores only those count as used that this way does not offer.
            let own = own.range();
            let taken = rows.iter().filter(|row| own.contains(row));
            let used: u32 = geometry.sockets(node).map(|socket| free.shared.used_in(socket, taken.clone())).sum();
            view.capped_cpus[index * geometry.capped_partitions.len() + cap as usize] =
                used * geometry.cpus_per_core[index];
        }
        if shape.whole_nodes {
            // Nor may any GRES of a whole node be in use (cons_common/job_test.c of 22.05.8, `_verify_node_state`; rec c1189-24-11).
            let gres = index * geometry.n_gres..(index + 1) * geometry.n_gres;
            in_use |= matches!(way, Way::Rows(_)) && free.gres[gres.clone()] != geometry.gres[gres];
            view.jobs[index] = u32::from(in_use);
        }
        if node_cores > 0 {
            view.open.insert(node);
        } else {
            view.open.remove(node);
        }
    }
}
