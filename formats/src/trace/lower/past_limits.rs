//! Requests of jobs whose QOS puts limits of partitions aside.

use foresite_engine::association::Qos;
use foresite_engine::ids::RequestId;
use foresite_engine::job::Request;

use crate::site::Site;
use crate::trace::maps::Map;

/// Node counts, the least and the most, and memory.
type Past = (bool, bool, bool);

/// What such jobs ask for, by the request without the QOS and what it puts aside: made once each.
#[derive(Debug)]
pub(super) struct PastLimits {
    requests: Map<(RequestId, Past), RequestId>,
    /// Whether the site limits memory at all.
    limits_memory: bool,
}

impl PastLimits {
    /// None yet.
    pub(super) fn new(site: &Site) -> Self {
        let of_partitions = site.cluster.partitions.iter().any(|partition| partition.max_memory.is_some());
        let limits_memory = of_partitions || site.policy.select.max_memory.is_some();
        Self { requests: Map::default(), limits_memory }
    }

    /// The request as jobs of this QOS make it. O(1), O(request) the first time.
    pub(super) fn request(&mut self, id: RequestId, qos: Option<&Qos>, requests: &mut Vec<Request>) -> RequestId {
        let Some(qos) = qos else { return id };
        let past_memory_limits = self.limits_memory && qos.enforce_usage_threshold;
        let past @ (past_min_nodes, past_max_nodes, _) =
            (qos.partition_min_nodes, qos.partition_max_nodes, past_memory_limits);
        if past == (false, false, false) {
            return id;
        }
        *self.requests.entry((id, past)).or_insert_with(|| {
            let Some(request) = requests.get(id.index()) else { return id };
            requests.push(Request { past_min_nodes, past_max_nodes, past_memory_limits, ..request.clone() });
            RequestId::new(requests.len() - 1)
        })
    }
}
