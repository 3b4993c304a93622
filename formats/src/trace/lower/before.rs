//! How jobs submitted before the simulated part of a trace stood when that begins.

use std::collections::HashMap;

use foresite_engine::ids::NodeId;
use foresite_engine::job::{Before, Job, JobExtra};

use super::super::model::{Trace, TraceBefore, TraceJob};
use super::super::strings::{Strings, Symbol};
use super::earlier_run;
use super::remarks::{About, Remarked};
use crate::hostlist::{MAX_NAMES, expand};
use crate::site::Site;

/// Resolves the recorded nodes of jobs that ran when the simulated part begins.
pub(super) struct Standing<'t> {
    texts: &'t Strings,
    nodes: HashMap<String, NodeId>,
}

impl<'t> Standing<'t> {
    /// O(nodes) where the reader was told when the simulated part begins, else nothing.
    pub(super) fn new(trace: &'t Trace, site: &Site) -> Self {
        let nodes = trace.opens.iter().flat_map(|_| site.cluster.nodes.iter().enumerate());
        let nodes = nodes.map(|(index, node)| (node.name.clone(), NodeId::new(index))).collect();
        Self { texts: &trace.strings, nodes }
    }

    /// Notes how the job stood; it stays as it is if it was over.
    pub(super) fn stand(&self, lowered: &mut Job, job: &TraceJob, opens: i64, about: &mut Remarked<'_>) {
        let Some(extra) = &job.extra else { return };
        let runs = &extra.earlier_runs;
        // Runs that were over do not come again.
        let over = runs.iter().take_while(|run| run.submit < opens && run.before.is_none()).count();
        let first = match runs.get(over) {
            Some(run) => run.before,
            None => extra.before,
        };
        let before = match first {
            Some(TraceBefore::Running { since, nodes }) => Before::Running { since, nodes: self.nodes(nodes, about) },
            Some(TraceBefore::Waiting) => Before::Waiting,
            // It was queued again in the very second.
            None if over > 0 && (over < runs.len() || extra.last_submit >= opens) => Before::Waiting,
            None => return,
        };
        let kept = lowered.extra.get_or_insert_with(Box::<JobExtra>::default);
        kept.before = Some(before);
        kept.earlier_runs = runs.iter().skip(over).map(earlier_run).collect();
    }

    fn nodes(&self, list: Symbol, about: &mut Remarked<'_>) -> Vec<NodeId> {
        let text = self.texts.text(list);
        let mut found = Vec::new();
        for name in expand(text, MAX_NAMES).unwrap_or_default() {
            match self.nodes.get(&name) {
                Some(&id) => found.push(id),
                None => about.say(About::FormerNode, &name),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
