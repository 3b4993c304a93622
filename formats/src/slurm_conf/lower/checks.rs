//! Every value against the table: what is out of range, and what is not modelled.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Lowering;
use crate::diagnostic::{Diagnostic, Severity};
use crate::slurm_conf::settings::{Setting, Settings};
use crate::slurm_conf::{Scope, Status};

impl Lowering<'_> {
    /// Checks all settings; a value that many records share is reported once.
    pub(super) fn check_values(&mut self) {
        let conf = self.conf;
        let mut seen = BTreeSet::new();
        let mut all: Vec<Diagnostic> = Vec::new();
        let mut check =
            |settings: &Settings| all.extend(settings.iter().filter_map(|setting| judge(setting, &mut seen)));
        check(&conf.globals);
        check(&conf.scheduler_parameters);
        check(&conf.preempt_parameters);
        conf.partitions.iter().for_each(|partition| check(&partition.settings));
        conf.nodes.iter().for_each(|node| check(&node.settings));
        self.diagnostics.extend(all);
        if conf.version.is_none() {
            let message = "the files do not say which release runs: decisions and defaults of 22.05 are reproduced";
            let remark = self.whole_file().remark(Severity::Assumed, "SlurmVersion", message);
            self.diagnostics.push(remark.cure("set SlurmVersion, for example to 24.05"));
        }
        if conf.globals.get("ClusterName").is_none() {
            self.note(Severity::Assumed, "ClusterName", "not set: taken as 'cluster'");
        }
    }
}

/// What is reported once: an error per place, a remark per parameter.
type Seen = BTreeSet<(Scope, &'static str, Option<(Arc<str>, Option<u64>)>)>;

fn judge(setting: &Setting, seen: &mut Seen) -> Option<Diagnostic> {
    let parameter = setting.parameter;
    match parameter.status {
        Status::Harmless => None,
        Status::Modelled => {
            let fault = parameter.kind.check(&setting.value).err()?;
            let place = (setting.place.file.clone(), setting.place.line);
            let is_new = seen.insert((parameter.scope, parameter.name, Some(place)));
            is_new.then(|| {
                let unit = if parameter.unit.is_empty() { String::new() } else { format!(" [{}]", parameter.unit) };
                let default = if parameter.default.is_empty() {
                    String::new()
                } else {
                    format!("; default {}", parameter.default)
                };
                let cure = format!("{}{unit}: {}{default}", parameter.name, parameter.meaning);
                setting.place.error(parameter.key(), fault).cure(cure)
            })
        }
        Status::NotModelled(reason) => {
            let is_default = setting.value.eq_ignore_ascii_case(parameter.default)
                || setting.value.ends_with("/none")
                || ["", "none", "(null)", "no", "false"].iter().any(|word| setting.value.eq_ignore_ascii_case(word));
            (!is_default && seen.insert((parameter.scope, parameter.name, None)))
                .then(|| setting.place.remark(Severity::NotModelled, parameter.key(), reason))
        }
    }
}
