//! Records that a cycle of the main scheduler has not come to, so that it ends when all of them are of blocked partitions.

use crate::ids::PartitionId;
use crate::simulation::Controller;

/// How many they are.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    /// By partition. Where a job that starts has several records, those that it leaves are taken for unseen ones.
    of: Vec<u32>,
    /// Those of partitions that are not blocked.
    pub(super) open: u32,
}

impl Unseen {
    /// Before the first record. O(partitions).
    pub(super) fn begin(&mut self, controller: &Controller<'_>, blocked: &[PartitionId]) {
        let partitions = (0..controller.scenario.cluster.partitions.len()).map(PartitionId::new);
        self.of.clear();
        self.of.extend(partitions.map(|partition| controller.queue.waiting_in(partition)));
        self.open = self.of.iter().sum();
        for &partition in blocked {
            self.block(partition);
        }
    }

    /// The cycle comes to a record. O(1).
    pub(super) fn come_to(&mut self, partition: PartitionId, is_blocked: bool) {
        let of = &mut self.of[partition.index()];
        *of = of.saturating_sub(1);
        self.open = self.open.saturating_sub(u32::from(!is_blocked));
    }

    /// A partition is blocked from now on. O(1).
    pub(super) fn block(&mut self, partition: PartitionId) {
        self.open = self.open.saturating_sub(self.of[partition.index()]);
    }
}
