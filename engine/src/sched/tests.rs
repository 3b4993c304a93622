#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
//! Promises of backfill's slot table and of the queue's order (slurm-semantics 2.2, 3.3).

use super::queue::{Cursor, Holder, Kind, Queue, Record};
use super::timeline::Timeline;
use crate::ids::{JobId, NodeId, PartitionId, RequestId};
use crate::node_set::NodeSet;

/// A set of a cluster of three nodes.
fn nodes(list: &[u32]) -> NodeSet {
    NodeSet::from_nodes(3, list.iter().map(|&node| NodeId(node)))
}

fn list(set: &NodeSet) -> String {
    set.iter().map(|node| node.0.to_string()).collect()
}

/// A table from 0 to 1000 s with a resolution of 10 s and these plans: nodes, begin, end.
fn table(plans: &[(&[u32], i64, i64)]) -> Timeline {
    let mut table = Timeline::default();
    table.reset(0, 1000, &nodes(&[0, 1, 2]), 10);
    for &(planned, begin, end) in plans {
        table.insert(&nodes(planned), begin, end, false);
    }
    table
}

/// `begin-end:unplanned nodes` of every slot.
fn text(table: &Timeline) -> String {
    let slots = table.edges.windows(2).zip(&table.slots);
    slots.map(|(edges, slot)| format!("{}-{}:{}", edges[0], edges[1], list(&slot.nodes))).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_plan_takes_its_nodes_out_for_its_time() {
    assert_eq!(text(&table(&[])), "0-1000:012");
    assert_eq!(text(&table(&[(&[0], 100, 200)])), "0-100:012 100-200:12 200-1000:012");
    assert_eq!(
        text(&table(&[(&[0], 100, 300), (&[1, 2], 200, 400)])),
        "0-100:012 100-200:12 200-300: 300-400:0 400-1000:012"
    );
}

#[test]
fn a_plan_lasts_at_least_a_resolution_and_begins_in_the_table() {
    assert_eq!(text(&table(&[(&[0], 100, 101)])), "0-100:012 100-110:12 110-1000:012");
    assert_eq!(text(&table(&[(&[0], -50, 60)])), "0-60:12 60-1000:012");
}

#[test]
fn what_lies_beyond_the_window_is_lost() {
    assert_eq!(text(&table(&[(&[0], 900, 2000)])), "0-900:012 900-1000:12");
    assert_eq!(text(&table(&[(&[0], 1000, 2000)])), "0-1000:012");
}

#[test]
fn equal_neighbours_are_merged_but_their_records_stay_used() {
    let table = table(&[(&[0], 100, 200), (&[0], 200, 300)]);
    assert_eq!(text(&table), "0-100:012 100-300:12 300-1000:012");
    assert_eq!(table.records, 4);
}

/// What is unplanned throughout, and when more is.
fn narrowed(table: &Timeline, begin: i64, end: i64) -> (String, Option<i64>) {
    let all = nodes(&[0, 1, 2]);
    let mut usable = all.clone();
    table.narrow(&mut usable, table.touched(begin, end));
    let slots = table.touched(begin, end);
    (list(&usable), table.later(slots.start, slots.end, &all))
}

#[test]
fn many_slots_are_asked_block_by_block_as_one_by_one() {
    let mut table = table(&[]);
    let all = nodes(&[0, 1, 2]);
    for plan in 0..200_u32 {
        let begin = i64::from(plan * 37 % 91) * 10;
        table.insert(&nodes(&[plan * 7 % 3]), begin, begin + i64::from(plan * 53 % 29) * 5, false);
        assert_eq!(table.edges.len(), table.slots.len() + 1);
        assert!(table.edges.is_sorted());
        for begin in (0..1100).step_by(97) {
            for length in [0, 30, 200, 2000] {
                let touched = table.touched(begin, begin + length);
                let (mut narrowed, mut looked) = (all.clone(), all.clone());
                table.narrow(&mut narrowed, touched.clone());
                for slot in &table.slots[touched.clone()] {
                    looked.intersect(&slot.nodes);
                }
                assert_eq!(list(&narrowed), list(&looked), "{begin} for {length}");
                let mut pairs = table.slots[touched.start.min(table.slots.len())..].windows(2).take(touched.len() + 1);
                let grows = pairs.position(|pair| pair[0].nodes.lacks_some_of(&pair[1].nodes, &all, 0));
                let later = table.later(touched.start, touched.end, &all);
                assert_eq!(later, grows.map(|slot| table.edges[touched.start + slot + 1]), "{begin} for {length}");
            }
        }
    }
}

#[test]
fn a_job_may_use_the_nodes_unplanned_for_all_of_its_time() {
    let table = table(&[(&[0], 100, 300), (&[1], 200, 400)]);
    assert_eq!(narrowed(&table, 0, 150), ("12".to_owned(), Some(300)));
    assert_eq!(narrowed(&table, 0, 250), ("2".to_owned(), Some(300)));
    assert_eq!(narrowed(&table, 300, 350), ("02".to_owned(), Some(400)));
    assert_eq!(narrowed(&table, 400, 5000), ("012".to_owned(), None));
}

#[test]
fn a_plan_collides_only_with_its_nodes_in_its_time() {
    let table = table(&[(&[0], 100, 200)]);
    assert!(table.is_free(&nodes(&[0, 1]), 0, 100));
    assert!(!table.is_free(&nodes(&[0, 1]), 0, 101));
    assert!(!table.is_free(&nodes(&[0]), 199, 300));
    assert!(table.is_free(&nodes(&[0]), 200, 300));
    assert!(table.is_free(&nodes(&[1, 2]), 0, 1000));
}

/// Jobs in order, from (job, tier, priority).
fn ordered(queue: &mut Queue) -> Vec<u32> {
    let mut cursor = Cursor::default();
    std::iter::from_fn(|| queue.next(&mut cursor).copied()).map(|record| record.job.0).collect()
}

fn queue(records: &[(u32, u32, u32)]) -> Queue {
    let mut queue = Queue::default();
    for &(job, tier, priority) in records {
        queue.push(record(job, tier, priority));
    }
    queue
}

const ALONE: Kind = Kind {
    task: false,
    common: false,
    alone: true,
    mixed: false,
    stays: true,
    out: false,
    out_of_main: false,
    denied: false,
    peculiar: false,
};

fn record(job: u32, tier: u32, priority: u32) -> Record {
    Record::new((JobId(job), JobId(job), RequestId(0), Holder(0), ALONE), (0, PartitionId(0)), (tier, priority))
}

#[test]
fn the_queue_is_ordered_by_tier_then_priority_then_submission() {
    let mut queue = queue(&[(0, 1, 50), (1, 1, 90), (2, 2, 1), (3, 1, 50), (4, 1, u32::MAX)]);
    assert_eq!(ordered(&mut queue), [2, 4, 1, 0, 3]);
    queue.push(record(5, 1, 60));
    assert_eq!(ordered(&mut queue), [2, 4, 1, 5, 0, 3]);
}

#[test]
fn new_priorities_reorder_the_queue_within_tiers() {
    let mut queue = queue(&[(0, 1, 50), (1, 1, 90), (2, 2, 1)]);
    queue.reprioritise(|_| true, |_| (), |record, ()| (1 + u32::from(record.job.0 == 2), 100 - record.priority()));
    assert_eq!(ordered(&mut queue), [2, 0, 1]);
}

#[test]
fn records_that_no_longer_wait_leave_the_queue() {
    let mut queue = queue(&[(0, 1, 1), (1, 1, 2)]);
    queue.left(RequestId(0), Holder(0), ALONE, &[PartitionId(0)], (0, 0));
    assert_eq!(queue.len(), 1);
    queue.purge(|record| record.job.0 != 1);
    assert_eq!(ordered(&mut queue), [0]);
}

#[test]
fn a_walk_goes_on_where_it_was_when_the_queue_changes() {
    let mut queue = queue(&[(0, 1, 50), (1, 1, 90), (2, 1, 10)]);
    let mut cursor = Cursor::default();
    assert_eq!(queue.next(&mut cursor).map(|record| record.job.0), Some(1));
    queue.push(record(3, 1, 95));
    queue.push(record(4, 1, 70));
    queue.purge(|record| record.job.0 != 0);
    let rest: Vec<u32> = std::iter::from_fn(|| queue.next(&mut cursor).copied()).map(|record| record.job.0).collect();
    assert_eq!(rest, [4, 2]);
}

#[test]
fn requests_are_known_as_long_as_a_record_of_theirs_waits() {
    let mut queue = queue(&[(0, 1, 1), (1, 1, 2)]);
    assert_eq!(queue.waiting_requests(), [RequestId(0)]);
    queue.left(RequestId(0), Holder(0), ALONE, &[PartitionId(0); 2], (0, 0));
    assert!(queue.waiting_requests().is_empty());
    queue.push(record(2, 1, 1));
    assert_eq!(queue.waiting_requests(), [RequestId(0)]);
}

#[test]
fn records_within_caps_are_counted_as_they_come_and_go() {
    let mut queue = Queue::capped(2);
    for job in 0..5 {
        queue.push(record(job, 1, 1));
    }
    assert_eq!((queue.within_caps(0), queue.within_caps(1)), (2, 1));
    queue.left(RequestId(0), Holder(0), ALONE, &[PartitionId(0); 4], (0, 0));
    assert_eq!(queue.within_caps(0), 1);
    assert_eq!(Queue::capped(0).within_caps(0), 0);
}
