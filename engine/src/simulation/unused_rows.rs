//! Partitions that allow sharing (`OverSubscribe=YES`) where nobody asks for it: what a site has whose administrator left it the choice. Their
//! rows decide nothing there, and are left out; otherwise each test of when and where looks at the whole machine (`docs/PERFORMANCE.md`).

use std::borrow::Cow;

use crate::cluster::{OverSubscribe, Partition};
use crate::job::Sharing;
use crate::policy::PreemptKind;
use crate::scenario::Scenario;
use crate::select::rows::may_share;

/// The scenario without rows that decide nothing. O(partitions² × nodes + requests).
pub(super) fn without_unused_rows(scenario: &Scenario) -> Cow<'_, Scenario> {
    let partitions = &scenario.cluster.partitions;
    if !partitions.iter().any(may_share) || rows_matter(scenario) {
        return Cow::Borrowed(scenario);
    }
    let mut without = scenario.clone();
    for partition in without.cluster.partitions.iter_mut().filter(|partition| may_share(partition)) {
        partition.over_subscribe = OverSubscribe::No;
    }
    Cow::Owned(without)
}

/// Whether rows may decide something: somebody shares or is made to; jobs of two partitions meet, where those of one count as sharing for the
/// other (`select::rows::admits`); cores are counted by rows (`MaxCPUsPerNode`); tiers share (preemption);
/// select/linear counts jobs; or a socket's first job decides about cores that are kept for the system.
fn rows_matter(scenario: &Scenario) -> bool {
    let (policy, partitions) = (&scenario.policy, &scenario.cluster.partitions);
    let mut used = vec![false; partitions.len()];
    for request in &scenario.workload.requests {
        request.partitions.iter().for_each(|id| used[id.index()] = true);
    }
    let used: Vec<&Partition> = partitions.iter().zip(used).filter(|&(_, used)| used).map(|(all, _)| all).collect();
    let meets_another = |one: &Partition| used.iter().filter(|other| other.nodes.intersects(&one.nodes)).count() > 1;
    let decides = |partition: &Partition| {
        matches!(partition.over_subscribe, OverSubscribe::Force(_))
            || partition.max_cpus_per_node.is_some()
            || meets_another(partition)
    };
    policy.select.linear
        || policy.preempt.kind == PreemptKind::PartitionPrio
        || scenario.cluster.nodes.iter().any(|node| !node.spec_cores.is_empty())
        || scenario.workload.requests.iter().any(|request| request.sharing == Sharing::OverSubscribe)
        || used.iter().any(|partition| may_share(partition) && decides(partition))
}
