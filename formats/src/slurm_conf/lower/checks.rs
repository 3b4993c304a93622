//! Every value against the table: what is out of range, and what is not modelled.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Lowering;
use crate::diagnostic::{Diagnostic, Severity};
use crate::slurm_conf::settings::{Setting, Settings};
use crate::slurm_conf::value::{configured_megabytes, is_unlimited, leading, whole};
use crate::slurm_conf::{Kind, Parameter, Scope, Status};

impl Lowering<'_> {
    /// Checks all settings; a value that many records share is reported once.
    pub(super) fn check_values(&mut self) {
        let conf = self.conf;
        let preempts = self.preempts();
        let is_builtin = |setting: &Setting| setting.value.to_ascii_lowercase().ends_with("builtin");
        let is_backfill = !conf.globals.get("SchedulerType").is_some_and(is_builtin);
        let mut seen = BTreeSet::new();
        let mut all: Vec<Diagnostic> = Vec::new();
        let mut check = |settings: &Settings| {
            for setting in settings.iter() {
                all.extend(fault(setting, settings, &mut seen));
                all.extend(refused_there(setting, settings, is_backfill, &mut seen));
                if preempts || !is_about_preemption(setting.parameter) {
                    all.extend(left_out(setting, settings, conf.takes_time(setting.parameter), &mut seen));
                }
            }
        };
        check(&conf.globals);
        check(&conf.scheduler_parameters);
        check(&conf.preempt_parameters);
        conf.partitions.iter().for_each(|partition| check(&partition.settings));
        conf.nodes.iter().for_each(|node| check(&node.settings));
        self.diagnostics.extend(all);
        if conf.version.is_none() {
            let set = |name: &&str| conf.globals.get(name).is_some();
            let older: Vec<&str> = OF_OLDER_RELEASES.into_iter().filter(set).collect();
            let named = match older.is_empty() {
                true => "the files do not say which release runs".to_owned(),
                false => format!(
                    "slurm.conf is one of releases before 22.05, which does not start with {}",
                    older.join(", ")
                ),
            };
            // That default is another from 23.11 on.
            let select = match conf.globals.get("SelectType") {
                None => "; as SelectType is not set, every job gets whole nodes",
                Some(_) => "",
            };
            let message = format!("{named}: decisions and defaults of 22.05 are reproduced{select}");
            let remark = self.whole_file().remark(Severity::Assumed, "SlurmVersion", message);
            self.diagnostics.push(
                remark.cure("tell it: `set: {SlurmVersion: 24.05}` in a study, --set SlurmVersion=24.05 of simulate"),
            );
        }
        if conf.globals.get("FastSchedule").is_some_and(|setting| setting.value.trim() == "0") {
            let message = "nodes are taken as slurm.conf describes them, not as slurmd found them";
            self.note(Severity::Assumed, "FastSchedule", message);
        }
        if conf.globals.get("ClusterName").is_none() {
            self.note(Severity::Assumed, "ClusterName", "not set: taken as 'cluster'");
        }
    }
}

/// With these slurmctld of 22.05 ends: it knows them no more, or refuses them (read_config.c, `slurm_conf_options`, `_validate_and_set_defaults`).
const OF_OLDER_RELEASES: [&str; 13] = [
    "AccountingStorageLoc",
    "AccountingStoreJobComment",
    "CacheGroups",
    "CheckpointType",
    "DefaultStorageHost",
    "DefaultStorageLoc",
    "DefaultStoragePass",
    "DefaultStoragePort",
    "DefaultStorageType",
    "DefaultStorageUser",
    "JobCheckpointDir",
    "MemLimitEnforce",
    "SchedulerPort",
];

/// What is reported once: an error per place, a remark per parameter.
type Seen = BTreeSet<(Scope, &'static str, Option<(Arc<str>, Option<u64>)>)>;

fn fault(setting: &Setting, settings: &Settings, seen: &mut Seen) -> Option<Diagnostic> {
    let parameter = setting.parameter;
    let judged = parameter.canonical();
    let fault = judged.kind.check(&setting.value).err()?;
    let place = (setting.place.file.clone(), setting.place.line);
    let is_new = seen.insert((parameter.scope, parameter.name, Some(place)));
    is_new.then(|| {
        if let (Kind::Option { min, max }, Some(_)) = (judged.kind, setting.place.line) {
            // slurmctld reads what there is of a number, logs an error where it is out of range, and goes on.
            let taken = match leading(&setting.value).filter(|number| (min..=max).contains(number)) {
                Some(number) => number.to_string(),
                None => settings.default_of(judged),
            };
            let message = format!("{fault}; slurmctld takes {taken}, and so does this");
            let remark = setting.place.remark(Severity::Warning, parameter.key(), message);
            return remark.cure(format!("write {}={taken}", judged.name));
        }
        if let (Scope::Partition, Kind::ShortCount, Some(_)) = (parameter.scope, judged.kind, setting.place.line) {
            // Read with `strtol` (read_config.c of 22.05.8, `_parse_partitionname`).
            let taken = match leading(&setting.value).unwrap_or(0) {
                ..0 => "the cluster's".to_owned(),
                65_534 => "the cluster's".to_owned(),
                65_535.. => "UNLIMITED".to_owned(),
                minutes => minutes.to_string(),
            };
            let remark = setting.place.remark(
                Severity::Warning,
                parameter.key(),
                format!("{fault}; slurmctld takes {taken}, and so does this"),
            );
            return remark.cure("write minutes, or UNLIMITED");
        }
        let is_option = matches!(parameter.scope, Scope::SchedulerParameters | Scope::PreemptParameters);
        if setting.place.line.is_some() && (is_option || parameter.name == "PriorityFlags") {
            // slurmctld looks for the words that it knows, and starts without (read_config.c of 22.05.8).
            let message = format!("{fault}; slurmctld ignores it, and so does this");
            let remark = setting.place.remark(Severity::Warning, parameter.key(), message);
            return remark.cure(format!("{}: {}", parameter.name, parameter.meaning));
        }
        let unit = if parameter.unit.is_empty() { String::new() } else { format!(" [{}]", parameter.unit) };
        let default =
            if parameter.default.is_empty() { String::new() } else { format!("; default {}", parameter.default) };
        let cure = format!("{}{unit}: {}{default}", parameter.name, parameter.meaning);
        setting.place.error(parameter.key(), fault).cure(cure)
    })
}

/// A value that slurmctld would not start with, and that is understood all the same (parse_value.c and parse_time.c of 22.05.8).
fn refused_there(setting: &Setting, settings: &Settings, is_backfill: bool, seen: &mut Seen) -> Option<Diagnostic> {
    let parameter = setting.parameter.canonical();
    let (taken, cure) = match parameter.kind {
        Kind::Megabytes if !is_unlimited(&setting.value) && whole(&setting.value).is_none() => {
            let size = configured_megabytes(&setting.value)?;
            (format!("{size} MB"), format!("write {}={size}", parameter.name))
        }
        Kind::Time if setting.value.eq_ignore_ascii_case("NONE") => {
            ("not given".to_owned(), format!("leave {} out", parameter.name))
        }
        // backfill.c of 22.05.8 and 25.05.3, `_load_config`: with the new name beside it, it is not looked for.
        _ if setting.parameter.name == "max_job_bf" && is_backfill && settings.get(parameter.name).is_none() => {
            (parameter.name.to_owned(), format!("write {}", parameter.name))
        }
        _ => return None,
    };
    let place = (setting.place.file.clone(), setting.place.line);
    let is_new = setting.place.line.is_some() && seen.insert((parameter.scope, parameter.name, Some(place)));
    is_new.then(|| {
        let value = match setting.parameter.name {
            name @ "max_job_bf" => name,
            _ => &setting.value,
        };
        let message = format!("slurmctld does not start with '{value}'; taken as {taken}");
        setting.place.remark(Severity::Warning, parameter.key(), message).cure(cure)
    })
}

/// What a setting says without effect here.
fn left_out(setting: &Setting, settings: &Settings, takes_time: bool, seen: &mut Seen) -> Vec<Diagnostic> {
    let parameter = setting.parameter.canonical();
    let remark = |message: String| setting.place.remark(Severity::NotModelled, parameter.key(), message);
    if setting.parameter != parameter && settings.get(parameter.name).is_some() {
        return Vec::new();
    }
    match parameter.status {
        Status::Harmless => Vec::new(),
        // Its options are judged one by one.
        Status::NotModelled(_) if parameter.name == "PreemptParameters" => Vec::new(),
        Status::WithTime(_) if takes_time => Vec::new(),
        Status::NotModelled(reason) | Status::WithTime(reason) => {
            let is_void = parameter.is_void(&setting.value, &settings.default_of(parameter));
            let is_new = !is_void && seen.insert((parameter.scope, parameter.name, None));
            is_new.then(|| remark(reason.to_owned())).into_iter().collect()
        }
        Status::Modelled => {
            let words = parameter.left_out_words(&setting.value);
            let new = words.into_iter().filter(|(word, _)| seen.insert((parameter.scope, word, None)));
            new.map(|(word, reason)| remark(format!("{word}: {reason}"))).collect()
        }
    }
}

/// Whether a parameter matters only where jobs preempt one another.
fn is_about_preemption(parameter: &Parameter) -> bool {
    parameter.scope == Scope::PreemptParameters
        || parameter.name == "GraceTime"
        || (parameter.name.to_ascii_lowercase().starts_with("preempt") && parameter.name != "PreemptType")
}
