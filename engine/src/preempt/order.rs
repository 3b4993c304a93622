//! The queue's order where there is preemption: a job stands before those it may preempt, whatever their priorities. That is no
//! total order, so the result depends on the algorithm; slurmctld's is a merge sort. Source: slurm-semantics 2.2.
//! Under preempt/partition_prio the same rule follows from the order by tiers, but for jobs that name a reservation: these stand before
//! others, and behind those of partitions of a higher tier with nodes of theirs (`sort_job_queue2` of 22.05.8; rec av-qos); and for components that
//! stand with the tier of their whole job (`bf_hetjob_prio`), but before those whom their own may preempt (rec c1068).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::policy::PreemptKind;
use crate::sched::queue::Record;
use crate::simulation::Controller;
use crate::simulation::reservations::RESERVED_TIER;

impl Controller<'_> {
    /// Puts records that are in order of tier, priority and submit time into the order of preemption too.
    /// O(records × log records); nothing where preemption does not change the order.
    pub(crate) fn order_by_preemption(&self, records: &mut Vec<Record>) {
        if self.preempt.is_none() || records.len() < 2 {
            return;
        }
        let follows = match self.scenario.policy.preempt.kind {
            PreemptKind::None => true,
            PreemptKind::PartitionPrio => {
                let by_whole = self.scenario.policy.backfill.hetjob_priority().is_some() && self.components_wait();
                !by_whole && records.iter().all(|record| record.tier() & RESERVED_TIER == 0)
            }
            PreemptKind::Qos => false,
        };
        if follows {
            return;
        }
        // slurmctld gathers records by job, the oldest record of a job first, an array's tasks as one, and none that a partition's limits
        // keep out (job_scheduler.c of 22.05.8, `build_job_queue`; rec be-r42); its other criteria are the position in the given order.
        // Those kept out stay behind whom they stood behind.
        let mut tasks: BTreeMap<(u64, u16), Vec<usize>> = BTreeMap::new();
        let mut out: BTreeMap<Option<usize>, Vec<Record>> = BTreeMap::new();
        let mut ranked: Vec<(usize, Record)> = Vec::with_capacity(records.len());
        let mut last = None;
        for (position, &record) in records.iter().enumerate() {
            if record.kind.out {
                out.entry(last).or_default().push(record);
                continue;
            }
            last = Some(position);
            match self.array_of_record(record).map(|array| tasks.entry(array)) {
                Some(Entry::Occupied(mut others)) => others.get_mut().push(position),
                Some(Entry::Vacant(others)) => {
                    others.insert(Vec::new());
                    ranked.push((position, record));
                }
                None => ranked.push((position, record)),
            }
        }
        ranked.sort_by_cached_key(|&(_, record)| {
            let age = self.live.get(record.job).map(|live| self.age_of(live));
            // Its partitions stand by tier since its submission's test (job_mgr.c of 22.05.8, `_select_nodes_parts`; rec w2006).
            (age, record.job, std::cmp::Reverse(record.tier()), record.place)
        });
        let mut scratch = ranked.clone();
        let before = |one: &(usize, Record), other: &(usize, Record)| {
            let of = |record: Record| (record.job, record.partition, record.priority());
            let (a, b) = (of(one.1), of(other.1));
            if self.outranks(a, b) {
                true
            } else if self.outranks(b, a) {
                false
            } else {
                one.0 <= other.0
            }
        };
        merge_sort(&mut ranked, &mut scratch, &before);
        let given = std::mem::replace(records, out.remove(&None).unwrap_or_default());
        for (position, record) in ranked {
            let others = self.array_of_record(record).and_then(|array| tasks.remove(&array));
            for position in std::iter::once(position).chain(others.into_iter().flatten()) {
                records.push(given[position]);
                records.extend(out.remove(&Some(position)).into_iter().flatten());
            }
        }
    }

    /// The array whose common record in a partition this is part of.
    fn array_of_record(&self, record: Record) -> Option<(u64, u16)> {
        let is_common = record.kind.task && !self.has_own_record(record.job);
        is_common.then(|| (self.scenario.workload.jobs[record.job.index()].name.id, record.place))
    }
}

/// Halves, sorts each and merges; `before` says whether the left one may stay in front.
fn merge_sort<T: Copy>(items: &mut [T], scratch: &mut [T], before: &impl Fn(&T, &T) -> bool) {
    let middle = items.len() / 2;
    if middle == 0 {
        return;
    }
    merge_sort(&mut items[..middle], &mut scratch[..middle], before);
    merge_sort(&mut items[middle..], &mut scratch[middle..], before);
    let (mut left, mut right) = (0, middle);
    for place in scratch.iter_mut() {
        let take_left = left < middle && (right == items.len() || before(&items[left], &items[right]));
        let from = if take_left { &mut left } else { &mut right };
        *place = items[*from];
        *from += 1;
    }
    items.copy_from_slice(scratch);
}
