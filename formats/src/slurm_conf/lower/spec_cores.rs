//! Cores that a node keeps for the system: `CoreSpecCount`, `CpuSpecList`.
//! Source: slurm.conf(5); which cores a count means, and that a list goes before it: seen in `scontrol show node` of 22.05.8
//! (`docs/FACTS.md`, facts 43).

use super::gres::core_numbers;
use super::nodes::Geometry;
use super::{Lowering, Values};
use crate::diagnostic::Severity;
use crate::slurm_conf::records::NodeRecord;

impl Lowering<'_> {
    /// Kept cores of each socket; empty if there are none. O(cores).
    pub(super) fn spec_cores(&mut self, record: &NodeRecord, values: &Values, geometry: &Geometry) -> Vec<u32> {
        let (sockets, cores) = (geometry.sockets.max(1), geometry.cores.max(1));
        let all = sockets.saturating_mul(cores);
        let listed = self.listed_cores(record, values.text("CpuSpecList"), geometry);
        let mut count = values.number("CoreSpecCount");
        if listed.is_none() && count >= all && count > 0 {
            let message = format!("keeps {count} of {all} cores, and leaves none for jobs; slurmctld takes 1");
            let remark = record.place.remark(Severity::Warning, "node.HOSTLIST.CoreSpecCount", message);
            self.diagnostics.push(remark.cure("keep fewer"));
            count = if all > 1 { 1 } else { 0 };
        }
        let (field, kept) = match listed {
            Some(kept) => ("CpuSpecList", kept),
            None => ("CoreSpecCount", self.in_turn(count, sockets)),
        };
        let total: u32 = kept.iter().fold(0, |sum, cores| sum.saturating_add(*cores));
        if total >= all && total > 0 {
            let message = format!("{field} keeps {total} of {all} cores, and none is left for jobs");
            let error = record.place.error(format!("node.HOSTLIST.{field}"), message);
            self.diagnostics.push(error.cure("keep fewer"));
            return Vec::new();
        }
        if total == 0 { Vec::new() } else { kept }
    }

    /// Kept cores of each socket by the numbers of their CPUs; `None` where there is no list, or none that slurmctld reads: then the count holds.
    fn listed_cores(&mut self, record: &NodeRecord, list: &str, geometry: &Geometry) -> Option<Vec<u32>> {
        if list.is_empty() {
            return None;
        }
        let (sockets, cores) = (geometry.sockets.max(1), geometry.cores.max(1));
        let all = sockets.saturating_mul(cores);
        let cpus_per_core = (geometry.cpus / all.max(1)).max(1);
        let mut kept: Vec<u32> = core_numbers(list).iter().map(|cpu| cpu / cpus_per_core).collect();
        kept.sort_unstable();
        kept.dedup();
        if kept.last().is_none_or(|&core| core >= all) {
            let message = format!("'{list}' is no list of the node's {} CPUs; slurmctld ignores it", geometry.cpus);
            let remark = record.place.remark(Severity::Warning, "node.HOSTLIST.CpuSpecList", message);
            self.diagnostics.push(remark.cure("write their numbers from 0 on, such as 0,1 or 0-3"));
            return None;
        }
        let mut of_sockets = vec![0; sockets as usize];
        for core in kept {
            if let Some(of_socket) = of_sockets.get_mut((core / cores) as usize) {
                *of_socket += 1;
            }
        }
        Some(of_sockets)
    }

    /// So many cores, one of each socket in turn: from the last socket on, with `spec_cores_first` from the first.
    fn in_turn(&self, count: u32, sockets: u32) -> Vec<u32> {
        let first = self.scheduler_parameters().flag("spec_cores_first");
        let turn = |socket: u32| if first { socket } else { sockets - 1 - socket };
        (0..sockets).map(|socket| count / sockets + u32::from(turn(socket) < count % sockets)).collect()
    }
}
