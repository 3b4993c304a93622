//! Heterogeneous jobs that would wait for one another in two partitions: a component is not planned behind a job that waits for its own.
//! Source: sched/backfill of 22.05.8, `_het_job_deadlock_test`; rec g-mix (docs/FACTS.md, facts 67).

use std::collections::BTreeMap;

use crate::ids::PartitionId;

/// When heterogeneous jobs are to start in each partition, as far as a cycle knows: base ids and starts [s], the latest first.
#[derive(Debug, Default)]
pub(super) struct Deadlocks {
    starts: BTreeMap<PartitionId, Vec<(u64, i64)>>,
}

impl Deadlocks {
    /// A cycle begins.
    pub(super) fn clear(&mut self) {
        self.starts.clear();
    }

    /// A component of a job has found a start in a partition. Says whether a job that starts later there starts before this in another
    /// partition that both use. O(partitions × jobs log jobs).
    pub(super) fn would_arise(&mut self, base: u64, partition: PartitionId, start: i64) -> bool {
        let here = self.starts.entry(partition).or_default();
        match here.iter_mut().find(|(other, _)| *other == base) {
            Some((_, known)) => *known = start.max(*known),
            None => here.push((base, start)),
        }
        here.sort_by_key(|&(_, start)| std::cmp::Reverse(start));
        let later: Vec<u64> = here.iter().map(|&(other, _)| other).take_while(|&other| other != base).collect();
        let own = here[later.len()].1;
        self.starts.iter().filter(|&(&other, _)| other != partition).any(|(_, elsewhere)| {
            let is_before = |&(other, start): &(u64, i64)| start < own && later.contains(&other);
            elsewhere.iter().any(|&(other, _)| other == base) && elsewhere.iter().any(is_before)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_not_planned_before_one_that_waits_for_it() {
        let (two, main) = (PartitionId(1), PartitionId(0));
        let mut deadlocks = Deadlocks::default();
        assert!(!deadlocks.would_arise(21, two, 100));
        assert!(!deadlocks.would_arise(29, two, 200));
        // In `main` 29 starts first, and then 21, which holds what 29 needs in `two`: 29 is planned, 21 is not behind it.
        assert!(!deadlocks.would_arise(21, main, 900));
        assert!(deadlocks.would_arise(29, main, 300), "21 starts later in `main`, and before in `two`");
        deadlocks.clear();
        assert!(!deadlocks.would_arise(29, main, 300));
    }
}
