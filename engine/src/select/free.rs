//! What is free on every node.

use crate::ids::{NodeId, PartitionId};
use crate::node_set::NodeSet;
use crate::policy::ConsumableUnit;
use crate::select::allocation::{Allocation, Share};
use crate::select::geometry::Geometry;
use crate::select::seats::Shared;
use crate::select::shape::Shape;

/// What is free. Copied for "what if these jobs had ended" tests.
#[derive(Clone, Debug)]
pub(crate) struct Free {
    /// Free units of each socket.
    pub(crate) cores: Vec<u32>,
    /// Free units of each node.
    pub(crate) node_cores: Vec<u32>,
    /// Free memory of each node [MB].
    pub(crate) memory: Vec<u64>,
    /// Free GRES, `n_gres` a node.
    pub(crate) gres: Vec<u32>,
    /// Of them near each socket, `n_gres` a socket; empty where none is bound to sockets.
    pub(crate) near: Vec<u32>,
    /// Jobs on each node.
    pub(crate) jobs: Vec<u32>,
    /// Whose they are.
    pub(crate) users: Vec<Users>,
    /// Jobs on the node that refuse other users' jobs.
    pub(crate) exclusive_user_jobs: Vec<u32>,
    /// Nodes that such a job was queued again from when they went down: slurmctld never counts it off them, so that who came there as an
    /// exclusive user is their owner until they are idle (node_mgr.c of 22.05.8, `make_node_idle`; job_mgr.c, `job_epilog_complete`; rec ax-qos).
    pub(crate) keeps_owner: NodeSet,
    /// CPUs that jobs of each capped partition use, one count a capped partition and node.
    pub(crate) capped_cpus: Vec<u32>,
    /// Nodes with a free unit: the others cannot serve any job.
    pub(crate) open: NodeSet,
    /// Nodes without jobs.
    pub(crate) idle: NodeSet,
    /// Partitions of which a job has run: a socket with cores kept for the system serves their jobs. select/cons_common takes a socket for used
    /// by what the partition's rows hold of it; before there are rows, by every core that is not free (22.05.8, `_allocate_sc`; rec ax-sock).
    pub(crate) has_rows: Vec<bool>,
    /// Nodes held by jobs of EXCLUSIVE partitions: no test looks at them.
    pub(crate) reserved: NodeSet,
    /// Nodes held by jobs that take them whole: no job starts there, and tests for a start do not look at them.
    pub(crate) unshared: NodeSet,
    /// Who shares cores.
    pub(crate) shared: Shared,
    /// Nodes of which anything was given back since this was last cleared.
    pub(crate) freed: NodeSet,
    /// Nodes on which anything was taken or given back since [`Free::restore`].
    pub(crate) changed: NodeSet,
}

/// Asks as nobody in particular: for whom no node is refused.
pub(crate) const ANY_USER: u32 = u32::MAX - 2;

/// The users of a node's jobs, as far as it matters whether they are all the same: the sum of their numbers and of their squares, which
/// tell it (there is no spread), and from which each can be taken out again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Users {
    sum: u64,
    squares: u64,
}

impl Users {
    fn add(&mut self, user: u32) {
        self.sum = self.sum.wrapping_add(u64::from(user));
        self.squares = self.squares.wrapping_add(u64::from(user) * u64::from(user));
    }

    fn remove(&mut self, user: u32) {
        self.sum = self.sum.wrapping_sub(u64::from(user));
        self.squares = self.squares.wrapping_sub(u64::from(user) * u64::from(user));
    }

    /// Whether all of so many jobs are this user's.
    fn are_all(self, user: u32, jobs: u32) -> bool {
        let (user, jobs) = (u64::from(user), u64::from(jobs));
        self.sum == jobs.wrapping_mul(user) && self.squares == jobs.wrapping_mul(user.wrapping_mul(user))
    }
}

/// CPUs that count towards `MaxCPUsPerNode`: all threads of its cores, though CR_CPU charges fewer (docs/FACTS.md, facts 50).
/// O(sockets of the node).
fn cpus_of_cores(geometry: &Geometry, allocation: &Allocation, share: &Share, first_socket: usize) -> u32 {
    let sockets = first_socket..first_socket + geometry.sockets(share.node).len();
    let cores: u32 = allocation.socket_cores[sockets].iter().sum();
    share.cpus.max(cores * geometry.cpus_per_core[share.node.index()])
}

/// Whether what it counts towards `MaxCPUsPerNode` are the cores that its partition's rows use. O(1).
fn counts_cores_once(allocation: &Allocation) -> bool {
    allocation.seat.as_ref().is_some_and(|seat| seat.rows.is_some())
}

impl Free {
    /// An empty machine.
    pub(crate) fn new(geometry: &Geometry) -> Self {
        let n_nodes = geometry.cpus.len();
        Self {
            cores: geometry.socket_cores.clone(),
            node_cores: geometry.cores.clone(),
            memory: geometry.memory.clone(),
            gres: geometry.gres.clone(),
            near: geometry.near.clone(),
            jobs: vec![0; n_nodes],
            users: vec![Users::default(); n_nodes],
            exclusive_user_jobs: vec![0; n_nodes],
            keeps_owner: NodeSet::empty(n_nodes),
            capped_cpus: vec![0; n_nodes * geometry.capped_partitions.len()],
            open: geometry.serving(),
            idle: NodeSet::full(n_nodes),
            has_rows: vec![false; geometry.n_partitions],
            reserved: NodeSet::empty(n_nodes),
            unshared: NodeSet::empty(n_nodes),
            shared: geometry.shared.clone(),
            freed: NodeSet::empty(n_nodes),
            changed: NodeSet::empty(n_nodes),
        }
    }

    /// Becomes a copy of `other` without allocating. O(nodes).
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.copy_amounts_from(other);
        if self.shared.any() {
            self.shared.copy_from(&other.shared);
        }
    }

    /// For tests of what would be free if others had gone: from 23.11.6 on these do not know whose jobs share.
    pub(crate) fn of_others_gone(mut self) -> Self {
        self.shared.forgets_jobs = true;
        self
    }

    /// The same, but for who sits where if cores may be shared. O(nodes).
    pub(crate) fn copy_amounts_from(&mut self, other: &Self) {
        self.cores.clone_from(&other.cores);
        self.node_cores.clone_from(&other.node_cores);
        self.memory.clone_from(&other.memory);
        self.gres.clone_from(&other.gres);
        self.near.clone_from(&other.near);
        self.jobs.clone_from(&other.jobs);
        self.users.clone_from(&other.users);
        self.exclusive_user_jobs.clone_from(&other.exclusive_user_jobs);
        self.keeps_owner.copy_from(&other.keeps_owner);
        self.capped_cpus.clone_from(&other.capped_cpus);
        self.open.copy_from(&other.open);
        self.idle.copy_from(&other.idle);
        self.has_rows.clone_from(&other.has_rows);
        self.reserved.copy_from(&other.reserved);
        self.unshared.copy_from(&other.unshared);
        self.changed = NodeSet::full(self.jobs.len());
    }

    /// As if no job used any core, nor ever had: memory and GRES stay in use. O(nodes).
    pub(crate) fn no_core_is_used(&mut self, geometry: &Geometry) {
        self.has_rows.fill(false);
        self.cores.clone_from(&geometry.socket_cores);
        self.node_cores.clone_from(&geometry.cores);
        self.capped_cpus.fill(0);
        self.open = geometry.serving();
        self.open.subtract(&self.reserved);
    }

    /// The same of one node. O(sockets of the node).
    pub(crate) fn no_core_is_used_on(&mut self, geometry: &Geometry, node: NodeId) {
        let sockets = geometry.sockets(node);
        self.cores[sockets.clone()].copy_from_slice(&geometry.socket_cores[sockets]);
        self.node_cores[node.index()] = geometry.cores[node.index()];
        let capped = geometry.capped_partitions.len();
        self.capped_cpus[node.index() * capped..(node.index() + 1) * capped].fill(0);
    }

    /// Becomes equal to `other` on one node. O(sockets + GRES of the node).
    pub(crate) fn copy_node(&mut self, geometry: &Geometry, other: &Self, node: NodeId) {
        let index = node.index();
        let sockets = geometry.sockets(node);
        if !self.near.is_empty() {
            let near = sockets.start * geometry.n_gres..sockets.end * geometry.n_gres;
            self.near[near.clone()].copy_from_slice(&other.near[near]);
        }
        self.cores[sockets.clone()].copy_from_slice(&other.cores[sockets]);
        self.node_cores[index] = other.node_cores[index];
        self.memory[index] = other.memory[index];
        let gres = index * geometry.n_gres..(index + 1) * geometry.n_gres;
        self.gres[gres.clone()].copy_from_slice(&other.gres[gres]);
        self.jobs[index] = other.jobs[index];
        self.users[index] = other.users[index];
        self.exclusive_user_jobs[index] = other.exclusive_user_jobs[index];
        self.keeps_owner.copy_node(&other.keeps_owner, node);
        let capped = geometry.capped_partitions.len();
        let caps = index * capped..(index + 1) * capped;
        self.capped_cpus[caps.clone()].copy_from_slice(&other.capped_cpus[caps]);
        self.open.copy_node(&other.open, node);
        self.idle.copy_node(&other.idle, node);
        self.reserved.copy_node(&other.reserved, node);
        self.unshared.copy_node(&other.unshared, node);
    }

    /// Makes `future` equal to this on one node. O(sockets + GRES).
    pub(crate) fn restore_node(&self, geometry: &Geometry, future: &mut Self, node: NodeId) {
        future.copy_node(geometry, self, node);
    }

    /// Makes `future` equal to this on every node where the two may differ. O(nodes that changed in either).
    pub(crate) fn restore(&mut self, geometry: &Geometry, future: &mut Self) {
        if self.shared.any() {
            future.shared.copy_from(&self.shared);
        }
        future.has_rows.clone_from(&self.has_rows);
        self.changed.union(&future.changed);
        for node in self.changed.iter() {
            future.copy_node(geometry, self, node);
        }
        self.changed.clear();
        future.changed.clear();
    }

    /// Whether a job of the partition has ever held anything. O(1).
    pub(crate) fn has_had_jobs(&self, partition: PartitionId) -> bool {
        self.has_rows.get(partition.index()) == Some(&true)
    }

    /// A job of the partition holds something. O(1).
    pub(crate) fn note_job_of(&mut self, partition: PartitionId) {
        if let Some(has_rows) = self.has_rows.get_mut(partition.index()) {
            *has_rows = true;
        }
    }

    /// Takes an allocation out of what is free. O(nodes of the job).
    pub(crate) fn take(&mut self, geometry: &Geometry, allocation: &Allocation) {
        self.note_job_of(PartitionId(allocation.partition));
        let mut socket_at = 0;
        for (position, share) in allocation.shares.iter().enumerate() {
            let node = share.node.index();
            let first_socket = socket_at;
            self.changed.insert(share.node);
            self.move_near(geometry, allocation, share.node, socket_at, |free, held| free - held);
            for socket in geometry.sockets(share.node) {
                let cores = allocation.socket_cores[socket_at];
                socket_at += 1;
                if self.shared.any() {
                    continue;
                }
                assert!(self.cores[socket] >= cores, "a core is handed out once");
                self.cores[socket] -= cores;
                self.node_cores[node] -= cores;
            }
            if self.node_cores[node] == 0 {
                self.open.remove(share.node);
            }
            assert!(self.memory[node] >= share.memory, "memory is handed out once");
            self.memory[node] -= share.memory;
            if !allocation.holds_some(position, first_socket..socket_at) {
                continue;
            }
            self.jobs[node] += 1;
            self.idle.remove(share.node);
            self.users[node].add(allocation.user);
            self.exclusive_user_jobs[node] += u32::from(allocation.exclusive_user);
            if allocation.exclusive_partition {
                self.reserved.insert(share.node);
            }
            if allocation.whole_nodes && !allocation.shares_cores {
                self.unshared.insert(share.node);
            }
            if let Some(cap) = allocation.cap.filter(|_| !counts_cores_once(allocation)) {
                let cpus = cpus_of_cores(geometry, allocation, share, first_socket);
                self.capped_cpus[node * geometry.capped_partitions.len() + cap as usize] += cpus;
            }
            self.move_gres(geometry, allocation, position, |free, held| free - held);
        }
        if self.shared.any() {
            self.shared.take(allocation);
            self.count_idle(geometry, allocation);
        }
    }

    /// Counts anew what is idle of an allocation's nodes, where cores may be shared. O(sockets × rows).
    fn count_idle(&mut self, geometry: &Geometry, allocation: &Allocation) {
        for share in &allocation.shares {
            let sockets = geometry.sockets(share.node);
            for socket in sockets.clone() {
                self.cores[socket] = self.shared.idle(socket, geometry.socket_cores[socket]);
            }
            let idle = self.cores[sockets].iter().sum();
            self.node_cores[share.node.index()] = idle;
            if idle > 0 {
                self.open.insert(share.node);
            } else {
                self.open.remove(share.node);
            }
            let rows = allocation.seat.as_ref().and_then(|seat| seat.rows);
            if let (Some(cap), Some(rows)) = (allocation.cap, rows) {
                let rows: Vec<usize> = rows.range().collect();
                self.count_capped(geometry, (share.node, cap), &rows);
            }
        }
    }

    /// What `MaxCPUsPerNode` counts of a node as used, where cores may be shared: the cores of these rows of the partition, each once,
    /// however many of its jobs use it (select/cons_common of 22.05.8, `_allocate_sc`; rec aw-share). O(sockets × rows).
    fn count_capped(&mut self, geometry: &Geometry, (node, cap): (NodeId, u32), rows: &[usize]) {
        let used: u32 = geometry.sockets(node).map(|socket| self.shared.used_in(socket, rows)).sum();
        let index = node.index();
        self.capped_cpus[index * geometry.capped_partitions.len() + cap as usize] =
            used * geometry.cpus_per_core[index];
    }

    /// Gives an allocation back. O(nodes of the job).
    pub(crate) fn give_back(&mut self, geometry: &Geometry, allocation: &Allocation) {
        if self.shared.any() {
            self.shared.give_back(allocation);
        }
        let mut socket_at = 0;
        for (position, share) in allocation.shares.iter().enumerate() {
            self.freed.insert(share.node);
            self.give_back_share(geometry, allocation, position, socket_at);
            socket_at += geometry.sockets(share.node).len();
        }
        if self.shared.any() {
            self.count_idle(geometry, allocation);
        }
    }

    /// Gives back what an allocation holds of its `position`th node, whose sockets begin at `socket_at` in it.
    /// O(sockets + GRES).
    pub(crate) fn give_back_share(
        &mut self,
        geometry: &Geometry,
        allocation: &Allocation,
        position: usize,
        socket_at: usize,
    ) {
        let share = &allocation.shares[position];
        let node = share.node.index();
        self.changed.insert(share.node);
        self.move_near(geometry, allocation, share.node, socket_at, |free, held| free + held);
        for (socket, &cores) in geometry.sockets(share.node).zip(&allocation.socket_cores[socket_at..]) {
            if self.shared.any() {
                continue;
            }
            self.cores[socket] += cores;
            self.node_cores[node] += cores;
        }
        if self.node_cores[node] > 0 {
            self.open.insert(share.node);
        }
        self.memory[node] += share.memory;
        if !allocation.holds_some(position, socket_at..socket_at + geometry.sockets(share.node).len()) {
            return;
        }
        self.jobs[node] -= 1;
        self.users[node].remove(allocation.user);
        if self.jobs[node] == 0 {
            self.idle.insert(share.node);
        }
        if self.jobs[node] == 0 {
            self.exclusive_user_jobs[node] = 0;
        } else if !self.keeps_owner.contains(share.node) {
            self.exclusive_user_jobs[node] -= u32::from(allocation.exclusive_user);
        }
        if allocation.exclusive_partition {
            self.reserved.remove(share.node);
        }
        if allocation.whole_nodes && !allocation.shares_cores {
            self.unshared.remove(share.node);
        }
        if let Some(cap) = allocation.cap.filter(|_| !counts_cores_once(allocation)) {
            let cpus = cpus_of_cores(geometry, allocation, share, socket_at);
            self.capped_cpus[node * geometry.capped_partitions.len() + cap as usize] -= cpus;
        }
        self.move_gres(geometry, allocation, position, |free, held| free + held);
    }

    /// Moves the GRES of one node of an allocation.
    fn move_gres(
        &mut self,
        geometry: &Geometry,
        allocation: &Allocation,
        position: usize,
        change: impl Fn(u32, u32) -> u32,
    ) {
        if allocation.gres.is_empty() {
            return;
        }
        let node = allocation.shares[position].node.index();
        for gres in 0..geometry.n_gres {
            let held = allocation.gres[position * geometry.n_gres + gres];
            let free = &mut self.gres[node * geometry.n_gres + gres];
            *free = change(*free, held);
        }
    }

    /// Moves the GRES near the sockets of one node of an allocation, whose sockets begin at `socket_at` in it.
    fn move_near(
        &mut self,
        geometry: &Geometry,
        allocation: &Allocation,
        node: NodeId,
        socket_at: usize,
        change: impl Fn(u32, u32) -> u32,
    ) {
        if allocation.near.is_empty() {
            return;
        }
        let (sockets, n_gres) = (geometry.sockets(node), geometry.n_gres);
        let held = &allocation.near[socket_at * n_gres..];
        for (free, &held) in self.near[sockets.start * n_gres..sockets.end * n_gres].iter_mut().zip(held) {
            *free = change(*free, held);
        }
    }

    /// Whether a socket serves the job with what is free of it: with CR_Socket only if nobody has a part of it. O(1).
    #[inline]
    pub(crate) fn serves(&self, geometry: &Geometry, shape: &Shape, socket: usize) -> bool {
        shape.unit != ConsumableUnit::Socket
            || self.cores[socket] >= geometry.socket_cores[socket]
                && (geometry.kept_cores[socket] == 0 || self.has_had_jobs(shape.partition))
    }

    /// Whether a node may refuse users though no job that runs does. O(words).
    pub(crate) fn any_keeps_owner(&self) -> bool {
        !self.keeps_owner.is_empty()
    }

    /// Whether a user's job may join the node, as far as exclusive users go.
    #[inline]
    pub(crate) fn admits(&self, node: NodeId, user: u32, exclusive_user: bool) -> bool {
        let index = node.index();
        self.jobs[index] == 0
            || user == ANY_USER
            || self.users[index].are_all(user, self.jobs[index])
            || (self.exclusive_user_jobs[index] == 0 && !exclusive_user)
    }

    /// Takes out the nodes that do not admit a user's job, as far as exclusive users go, and says whether there were any.
    /// O(words + nodes in use).
    pub(crate) fn keep_admitting(&self, nodes: &mut NodeSet, user: u32, exclusive_user: bool) -> bool {
        let mut any = false;
        for word in 0..nodes.n_words() {
            let mut busy = nodes.word(word) & !self.idle.word(word);
            while busy != 0 {
                let node = NodeId::new(word * 64 + busy.trailing_zeros() as usize);
                busy &= busy - 1;
                if !self.admits(node, user, exclusive_user) {
                    nodes.remove(node);
                    any = true;
                }
            }
        }
        any
    }
}
