//! `--prefer`: features a job would like, tried by a record of its own just before the job's. Source: slurm-semantics 1.5.2,
//! 2.1, 6.6; behaviour of 22.05.8.

use crate::ids::JobId;
use crate::job::{Request, Sharing};
use crate::select::shape::Shape;
use crate::simulation::Controller;

impl Controller<'_> {
    /// Whether a record with preferred features comes before the job's.
    pub(crate) fn prefers(&self, id: JobId) -> bool {
        self.job(id).extra.as_ref().is_some_and(|extra| extra.prefer.is_some())
    }

    /// The job's shapes with the preferred features in place of those it must have; give them back with
    /// [`Controller::put_preferred`]. O(nodes × partitions) the first time.
    pub(crate) fn take_preferred(&mut self, id: JobId) -> Box<[Shape]> {
        let sharing = self.sharing_since_tests(id);
        let (of, kept) = self.preferred.entry(id).or_default();
        let shapes = std::mem::take(kept);
        if std::mem::replace(of, sharing) == sharing && !shapes.is_empty() {
            return shapes;
        }
        let job = self.job(id);
        let request = &self.scenario.workload.requests[job.request.index()];
        let prefer = job.extra.as_ref().and_then(|extra| extra.prefer.clone());
        let wished =
            Request { features: prefer.unwrap_or_else(|| request.features.clone()), sharing, ..request.clone() };
        let mut shapes = self.shapes_of(&wished);
        self.cap_nodes(id, &mut shapes);
        shapes
    }

    /// Returns what [`Controller::take_preferred`] took: kept while the job waits.
    pub(crate) fn put_preferred(&mut self, id: JobId, shapes: Box<[Shape]>) {
        if !self.live.is_pending(id) {
            self.preferred.remove(&id);
        } else if let Some((_, kept)) = self.preferred.get_mut(&id) {
            *kept = shapes;
        }
        self.settle_start();
        self.settle_try_to_start();
    }

    /// How it shares nodes where its partitions leave the choice: tests in others may have decided that, with its preferred features or
    /// without (rec c1400). O(log jobs).
    pub(crate) fn sharing_since_tests(&self, id: JobId) -> Sharing {
        match self.has_become_whole(id) {
            true => Sharing::Exclusive,
            false if self.has_become_sharing(id) => Sharing::OverSubscribe,
            false => self.scenario.workload.requests[self.job(id).request.index()].sharing,
        }
    }
}
