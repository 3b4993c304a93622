//! A site with the trace's people and jobs in it.

use std::sync::Arc;

use foresite_engine::job::Workload;

use super::recorded::Recorded;
use super::window::Window;
use crate::diagnostic::Diagnostic;
use crate::site::Site;
use crate::trace::{self, Trace};
use crate::usage::RecordedUsage;

/// What a trace makes of a site. Another site that is the same to it becomes the same, so that scenarios which leave nodes and
/// accounts alone share the baseline's jobs.
#[derive(Debug)]
pub(super) struct Settled {
    /// As its files describe it.
    before: Site,
    /// With the users, accounts and QOS that the trace alone knows.
    pub(super) site: Site,
    /// The jobs of the simulated part.
    pub(super) workload: Arc<Workload>,
    /// What became of them, where the trace tells.
    pub(super) recorded: Option<Recorded>,
}

impl Settled {
    /// Lowers the trace's jobs to the site, whose people then have their recorded usage. O(jobs × log jobs).
    pub(super) fn new(
        before: Site,
        trace: &Trace,
        usage: Option<&RecordedUsage>,
        window: Window,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let mut site = before.clone();
        let (workload, found) = trace::lower(trace, &mut site);
        diagnostics.extend(found);
        if let Some(usage) = usage {
            diagnostics.extend(usage.apply(&mut site));
        }
        let workload = workload?;
        let recorded = Recorded::of(trace, &workload, window);
        Some(Self { before, site, workload: Arc::new(window.cut(workload)), recorded })
    }

    /// What the same trace makes of another site, if it is the same but for what the trace's jobs do not ask about: how they
    /// are scheduled. O(nodes + associations).
    pub(super) fn of(&self, other: &Site) -> Option<(Site, Arc<Workload>)> {
        // By name, so that what is added to a site is thought of here.
        let Site { cluster, associations, qos, policy, calendar, has_accounts } = other;
        let known = &self.before;
        let is_same = *cluster == known.cluster
            && *associations == known.associations
            && *qos == known.qos
            && policy.select == known.policy.select
            && policy.version == known.policy.version
            && *calendar == known.calendar
            && *has_accounts == known.has_accounts;
        is_same.then(|| (Site { policy: policy.clone(), ..self.site.clone() }, self.workload.clone()))
    }
}
