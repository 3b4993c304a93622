//! Typed access to the fields of a row.

use foresite_engine::association::Limits;
use foresite_engine::cluster::Tres;

use super::{Field, Fields};
use crate::diagnostic::{Diagnostic, Severity};
use crate::slurm_conf::tres::TresNames;
use crate::slurm_conf::value::{Span, span};

/// A row's fields with what is needed to read them.
pub(super) struct Reader<'a> {
    pub(super) fields: &'a Fields,
    pub(super) tres: &'a mut TresNames,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.get(name).filter(|field| !field.value.is_empty() && field.value != "-1")
    }

    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.field(name)?.value.parse().ok()
    }

    pub(super) fn factor(&self, name: &str) -> Option<f64> {
        self.field(name)?.value.parse().ok()
    }

    pub(super) fn names(&self, name: &str) -> Vec<String> {
        let words = self.field(name).into_iter().flat_map(|field| field.value.split(','));
        words.map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    /// Minutes; `None` is unlimited.
    fn minutes(&self, name: &str) -> Option<u32> {
        span(&self.field(name)?.value).and_then(Span::minutes)
    }

    /// Seconds; a plain number is seconds already.
    pub(super) fn seconds(&self, name: &str) -> Option<u32> {
        let value = &self.field(name)?.value;
        value.parse().ok().or_else(|| span(value).map(Span::seconds))
    }

    fn amounts(&mut self, name: &str) -> Vec<(Tres, u64)> {
        let Some(field) = self.fields.get(name) else { return Vec::new() };
        let (amounts, faults) = self.tres.amounts(&field.value);
        for fault in faults {
            let severity = if fault.contains("not modelled") { Severity::NotModelled } else { Severity::Error };
            let cure = if severity == Severity::Error { "write for example cpu=100,mem=500G,gres/gpu=4" } else { "" };
            self.diagnostics.push(field.place.remark(severity, field.key.name, fault).cure(cure));
        }
        amounts
    }

    /// Every limit of an association or a QOS.
    pub(super) fn limits(&mut self) -> Limits {
        Limits {
            grp_jobs: self.number("GrpJobs"),
            grp_submit_jobs: self.number("GrpSubmitJobs"),
            grp_wall: self.minutes("GrpWall"),
            grp_tres: self.amounts("GrpTRES"),
            grp_tres_mins: self.amounts("GrpTRESMins"),
            grp_tres_run_mins: self.amounts("GrpTRESRunMins"),
            max_jobs: self.number("MaxJobs"),
            max_submit_jobs: self.number("MaxSubmitJobs"),
            max_wall: self.minutes("MaxWallDurationPerJob"),
            max_tres_per_job: self.amounts("MaxTRESPerJob"),
            max_tres_per_node: self.amounts("MaxTRESPerNode"),
            max_tres_mins_per_job: self.amounts("MaxTRESMinsPerJob"),
            min_tres_per_job: self.amounts("MinTRESPerJob"),
            max_tres_per_user: self.amounts("MaxTRESPerUser"),
            max_tres_per_account: self.amounts("MaxTRESPerAccount"),
            max_tres_run_mins_per_user: self.amounts("MaxTRESRunMinsPerUser"),
            max_tres_run_mins_per_account: self.amounts("MaxTRESRunMinsPerAccount"),
            max_jobs_per_user: self.number("MaxJobsPerUser"),
            max_jobs_per_account: self.number("MaxJobsPerAccount"),
            max_submit_jobs_per_user: self.number("MaxSubmitJobsPerUser"),
            max_submit_jobs_per_account: self.number("MaxSubmitJobsPerAccount"),
            grp_jobs_accrue: self.number("GrpJobsAccrue"),
            max_jobs_accrue: self.number("MaxJobsAccrue").or_else(|| self.number("MaxJobsAccruePerUser")),
            max_jobs_accrue_per_account: self.number("MaxJobsAccruePerAccount"),
            min_prio_threshold: self.number("MinPrioThreshold"),
        }
    }
}
