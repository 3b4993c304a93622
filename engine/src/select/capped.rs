//! `MaxCPUsPerNode` with select/cons_res: whole cores are left out until the rest is within it, of the socket with the fewest free ones first.
//! Source: behaviour of 22.05.8 (`_allocate_sc` of select/cons_common).

use crate::ids::NodeId;
use crate::select::free::Free;
use crate::select::geometry::Geometry;
use crate::select::shape::Shape;

/// Free cores of each socket that the cap leaves; `None` where it takes none. O(sockets²).
pub(super) fn cores_within_cap(geometry: &Geometry, free: &Free, shape: &Shape, node: NodeId) -> Option<Vec<u32>> {
    let (cap, most) = shape.max_cpus_per_node.filter(|_| shape.cons_res)?;
    let index = node.index();
    let threads = geometry.cpus_per_core[index].max(1);
    let used = free.capped_cpus[index * geometry.capped_partitions.len() + cap as usize];
    let mut cores: Vec<u32> = geometry
        .sockets(node)
        .map(|socket| {
            let cores = free.cores[socket];
            if free.serves(geometry, shape, socket) { cores } else { 0 }
        })
        .collect();
    let all: u32 = cores.iter().sum();
    let mut excess = (all * threads + used).checked_sub(most).filter(|&excess| excess > 0)?.div_ceil(threads);
    let mut least = shape.cores_per_socket.max(1);
    while excess > 0 {
        let keeps_sockets = least > 1 || shape.sockets_per_node > 1;
        let may_give = |&(_, &free): &(usize, &u32)| free > 0 && !(keeps_sockets && free <= least);
        let Some((socket, &free)) = cores.iter().enumerate().filter(may_give).min_by_key(|&(_, &free)| free) else {
            if least == 0 {
                break;
            }
            least = 0;
            continue;
        };
        let mut taken = free.min(excess);
        if least > 1 && free - taken < least {
            taken = free - least;
        }
        cores[socket] -= taken;
        excess -= taken;
    }
    Some(cores)
}
