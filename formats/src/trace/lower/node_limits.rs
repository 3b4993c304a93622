//! Requests of jobs whose QOS puts the node counts of partitions aside.

use foresite_engine::association::Qos;
use foresite_engine::ids::RequestId;
use foresite_engine::job::Request;

use crate::trace::maps::Map;

/// What such jobs ask for, by the request without the QOS and the two flags: made once each.
#[derive(Debug, Default)]
pub(super) struct NodeLimits(Map<(RequestId, bool, bool), RequestId>);

impl NodeLimits {
    /// The request as jobs of this QOS make it. O(1), O(request) the first time.
    pub(super) fn request(&mut self, id: RequestId, qos: Option<&Qos>, requests: &mut Vec<Request>) -> RequestId {
        let flags = qos.map_or((false, false), |qos| (qos.partition_min_nodes, qos.partition_max_nodes));
        let (past_min_nodes, past_max_nodes) = flags;
        if !(past_min_nodes || past_max_nodes) {
            return id;
        }
        *self.0.entry((id, past_min_nodes, past_max_nodes)).or_insert_with(|| {
            let Some(request) = requests.get(id.index()) else { return id };
            requests.push(Request { past_min_nodes, past_max_nodes, ..request.clone() });
            RequestId::new(requests.len() - 1)
        })
    }
}
