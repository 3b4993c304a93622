//! Licences: counted over the cluster, taken at start, returned when the job has left COMPLETING.
//! Source: slurm-semantics 7.3.

use crate::ids::JobId;
use crate::simulation::Controller;

impl Controller<'_> {
    /// Whether all licences of the job are free now.
    pub(crate) fn licenses_free(&self, id: JobId) -> bool {
        let request = self.scenario.workload.jobs[id.index()].request;
        let wanted = &self.scenario.workload.requests[request.index()].licenses;
        wanted
            .iter()
            .all(|&(license, count)| self.free_licenses.get(license.index()).is_some_and(|&free| free >= count))
    }

    /// Takes the licences of a starting job.
    pub(crate) fn take_licenses(&mut self, id: JobId) {
        let request = self.scenario.workload.jobs[id.index()].request;
        for &(license, count) in &self.scenario.workload.requests[request.index()].licenses {
            self.free_licenses[license.index()] -= count;
        }
    }

    /// Gives them back.
    pub(crate) fn return_licenses(&mut self, id: JobId) {
        let request = self.scenario.workload.jobs[id.index()].request;
        for &(license, count) in &self.scenario.workload.requests[request.index()].licenses {
            self.free_licenses[license.index()] += count;
        }
    }
}
