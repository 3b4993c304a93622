//! Licences: counted over the cluster, taken at start, returned when the job has left COMPLETING.
//! Source: slurm-semantics 7.3; reserved ones behaviour of 22.05.8 (docs/FACTS.md, facts 35).

use crate::ids::{JobId, LicenseId};
use crate::sched::queue::Record;
use crate::simulation::{Controller, seconds};

impl Controller<'_> {
    /// As [`Self::licenses_free`], of a record's job, which is fetched only if it asks for any.
    pub(crate) fn licenses_free_for(&self, record: Record) -> bool {
        self.scenario.workload.requests[record.request.index()].licenses.is_empty() || self.licenses_free(record.job)
    }

    /// Whether all licences of the job are free now, those aside that others have reserved for a part of the time that it may
    /// run. O(licences × reservations).
    pub(crate) fn licenses_free(&self, id: JobId) -> bool {
        let request = self.scenario.workload.jobs[id.index()].request;
        let wanted = &self.scenario.workload.requests[request.index()].licenses;
        if wanted.is_empty() {
            return true;
        }
        let now = seconds(self.now);
        let limit = self.live.get(id).map_or(0, |live| live.limit_seconds);
        self.licenses_left(wanted, self.reservation_of(id), (now, now + limit))
    }

    /// Whether so many licences are free now and not reserved by others for a part of a time [s, half open].
    pub(crate) fn licenses_left(&self, wanted: &[(LicenseId, u32)], own: Option<usize>, time: (i64, i64)) -> bool {
        wanted.iter().all(|&(license, count)| {
            let free = self.free_licenses.get(license.index()).copied().unwrap_or(0);
            free >= i64::from(count.saturating_add(self.reserved_licenses(license, own, time)))
        })
    }

    /// Takes the licences of a starting job.
    pub(crate) fn take_licenses(&mut self, id: JobId) {
        let request = self.scenario.workload.jobs[id.index()].request;
        for &(license, count) in &self.scenario.workload.requests[request.index()].licenses {
            self.free_licenses[license.index()] -= i64::from(count);
        }
    }

    /// Gives them back.
    pub(crate) fn return_licenses(&mut self, id: JobId) {
        let request = self.scenario.workload.jobs[id.index()].request;
        for &(license, count) in &self.scenario.workload.requests[request.index()].licenses {
            self.free_licenses[license.index()] += i64::from(count);
        }
    }
}
