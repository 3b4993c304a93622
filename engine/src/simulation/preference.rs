//! `--prefer`: features a job would like, tried by a record of its own just before the job's. Source: slurm-semantics 1.5.2,
//! 2.1, 6.6; behaviour of 22.05.8.

use crate::ids::JobId;
use crate::job::Request;
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
        if let Some(shapes) = self.preferred.remove(&id) {
            return shapes;
        }
        let job = self.job(id);
        let request = &self.scenario.workload.requests[job.request.index()];
        let prefer = job.extra.as_ref().and_then(|extra| extra.prefer.clone());
        let wished = Request { features: prefer.unwrap_or_else(|| request.features.clone()), ..request.clone() };
        let mut shapes = self.shapes_of(&wished);
        self.cap_nodes(id, &mut shapes);
        shapes
    }

    /// Returns what [`Controller::take_preferred`] took.
    pub(crate) fn put_preferred(&mut self, id: JobId, shapes: Box<[Shape]>) {
        self.preferred.insert(id, shapes);
        self.settle_start();
    }
}
