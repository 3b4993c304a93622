//! The options inside `SchedulerParameters` and `PreemptParameters`.

use super::Reader;
use crate::diagnostic::{Diagnostic, Severity};
use crate::slurm_conf::near::did_you_mean;
use crate::slurm_conf::settings::{Place, Setting, Settings};
use crate::slurm_conf::value::yes_no;
use crate::slurm_conf::{Kind, Scope, find_parameter, parameter_names};

impl Reader<'_> {
    /// Splits the option lists that are in force, once all lines are read.
    pub(super) fn split_options(&mut self) {
        for (name, scope) in
            [("SchedulerParameters", Scope::SchedulerParameters), ("PreemptParameters", Scope::PreemptParameters)]
        {
            let Some(setting) = self.conf.globals.get(name) else { continue };
            let (options, diagnostics) = read_options(scope, &setting.value, &setting.place);
            self.diagnostics.extend(diagnostics);
            match scope {
                Scope::PreemptParameters => self.conf.preempt_parameters = options,
                _ => self.conf.scheduler_parameters = options,
            }
        }
    }
}

/// Reads `name`, `name=value` items of a list. Unknown names are warnings: slurmctld ignores them. It does not take the list apart but looks for
/// each `name=` anywhere in it, and for the bare name of what is on or off (sched/backfill's `_load_config` of 22.05.8): so a blank or a `;` ends an
/// item as a comma does, a blank may stand before a value, and a flag is on whatever it is set to. Names within other words are not looked for.
pub(in crate::slurm_conf) fn read_options(scope: Scope, list: &str, place: &Place) -> (Settings, Vec<Diagnostic>) {
    let (mut options, mut diagnostics) = (Settings::default(), Vec::new());
    let list = &without_blanks_before_values(list);
    let ends_item = |character: char| character == ',' || character == ';' || character.is_ascii_whitespace();
    for item in list.split(ends_item).map(|item| item.trim_start_matches('=')).filter(|item| !item.is_empty()) {
        let (name, value) = item.split_once('=').map_or((item, None), |(name, value)| (name, Some(value)));
        let Some(parameter) = find_parameter(scope, name) else {
            let field = format!("{scope:?}.{}", name.chars().take(60).collect::<String>());
            let cure = did_you_mean(name, parameter_names(scope), "remove it");
            // slurmctld finds names of options in it all the same.
            let message = match name.split_once(':') {
                Some((before, _)) if find_parameter(scope, before).is_some() => {
                    "options stand between commas: what follows ':' is left out, though slurmctld may find it"
                }
                _ => "no such option: slurmctld ignores it, and so does this",
            };
            diagnostics.push(place.remark(Severity::Warning, field, message).cure(cure));
            continue;
        };
        let value = match value {
            Some(value) if parameter.kind == Kind::Flag => {
                if yes_no(value) == Some(false) {
                    let message = "slurmctld only looks for its name: it is on";
                    let remark = place.remark(Severity::Warning, parameter.key(), message);
                    diagnostics.push(remark.cure(format!("remove {name} to turn it off")));
                }
                "true".to_owned()
            }
            Some(value) => value.to_owned(),
            None if matches!(parameter.kind, Kind::Flag | Kind::Text) => "true".to_owned(),
            None => {
                let message = format!("slurmctld looks for '{name}=' and ignores it without a value");
                let remark = place.remark(Severity::Warning, parameter.key(), message);
                diagnostics.push(remark.cure(format!("write {name}=NUMBER, without blanks")));
                continue;
            }
        };
        let setting = Setting { parameter, value, place: place.clone() };
        if options.get(parameter.name).is_some() {
            // slurmctld looks for the option's name from the left (backfill.c of 22.05.8, `_load_config`).
            let message = "given more than once; the first one is taken, as slurmctld does";
            diagnostics.push(place.remark(Severity::Warning, parameter.key(), message).cure("keep one"));
            continue;
        }
        options.insert(setting);
    }
    (options, diagnostics)
}

/// The list with each value right behind its `=`: numbers are read past blanks.
fn without_blanks_before_values(list: &str) -> String {
    list.split_ascii_whitespace().fold(String::new(), |mut joined, word| {
        if !joined.is_empty() && !joined.ends_with('=') {
            joined.push(' ');
        }
        joined + word
    })
}
