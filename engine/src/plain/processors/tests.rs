#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use crate::cluster::Node;

fn cluster(cpus: &[u32], down: &[usize]) -> Cluster {
    let node = |(index, &cpus): (usize, &u32)| Node {
        name: format!("n{index}"),
        sockets: 1,
        cores_per_socket: cpus,
        threads_per_core: 1,
        cpus,
        spec_cores: Vec::new(),
        kept_memory_mb: 0,
        tmp_disk_mb: None,
        memory_mb: 1,
        weight: 1,
        features: Vec::new(),
        gres: Vec::new(),
        gres_near: Vec::new(),
        config_record: 0,
        schedulable: !down.contains(&index),
    };
    Cluster { nodes: cpus.iter().enumerate().map(node).collect(), ..Cluster::default() }
}

fn take(processors: &mut Processors, count: u32) -> (Allocation, Vec<(u32, u32)>) {
    let mut ranges = Vec::new();
    let allocation = processors.take(count, &mut ranges);
    (allocation, ranges)
}

#[test]
fn lowest_free_processors_are_taken_first() {
    let mut processors = Processors::new(&cluster(&[1; 200], &[]));
    let (first, ranges) = take(&mut processors, 3);
    assert_eq!((ranges, first.n_nodes), (vec![(0, 2)], 3));
    let (_, ranges) = take(&mut processors, 130);
    assert_eq!(ranges, [(3, 132)]);
    processors.give_back(first.slot);
    assert_eq!(processors.free(), 70);
    let (last, ranges) = take(&mut processors, 70);
    assert_eq!((ranges, last.n_nodes), (vec![(0, 2), (133, 199)], 70));
    assert_eq!(processors.free(), 0);
}

#[test]
fn a_node_shared_by_two_ranges_counts_once() {
    let mut processors = Processors::new(&cluster(&[4, 4, 4], &[]));
    let (a, _) = take(&mut processors, 1);
    let (_, _) = take(&mut processors, 1);
    let (c, _) = take(&mut processors, 1);
    processors.give_back(a.slot);
    processors.give_back(c.slot);
    let (allocation, ranges) = take(&mut processors, 4);
    assert_eq!((allocation.n_nodes, ranges), (2, vec![(0, 1)]));
}

#[test]
fn unschedulable_nodes_are_left_out() {
    let cluster = cluster(&[2, 8, 2, 0, 4], &[1]);
    assert_eq!(capacity_of(&cluster), 8);
    let mut processors = Processors::new(&cluster);
    let (allocation, ranges) = take(&mut processors, 8);
    assert_eq!((allocation.n_nodes, ranges), (3, vec![(0, 0), (2, 2), (4, 4)]));
    processors.give_back(allocation.slot);
    assert_eq!(processors.free(), 8);
}
