//! Which approximated rules a site's configuration comes upon.

use std::collections::{BTreeMap, BTreeSet};

use super::{Rule, Standing, rules};
use crate::diagnostic::{Diagnostic, Severity};
use crate::slurm_conf::SlurmConf;
use crate::slurm_conf::settings::Setting;

impl SlurmConf {
    /// A remark for every approximated rule that names a parameter set here, or a word of its value.
    /// O(rules + settings × log rules).
    pub fn approximations(&self) -> Vec<Diagnostic> {
        // The document is read once, not for each setting.
        let rules: Vec<Rule> = rules().filter(|rule| rule.standing == Standing::Approximated).collect();
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, rule) in rules.iter().enumerate() {
            rule.names().for_each(|name| by_name.entry(name).or_default().push(at));
        }
        let mut said = BTreeSet::new();
        let mut remarks = Vec::new();
        for setting in self.settings().filter(|setting| !is_void(setting)) {
            let named: BTreeSet<usize> =
                names(setting).iter().filter_map(|name| by_name.get(name)).flatten().copied().collect();
            for rule in named.iter().filter_map(|&at| rules.get(at)) {
                if said.insert(rule.rule) {
                    let message =
                        format!("approximated: {}: {}", rule.rule.replace('`', ""), rule.note.replace('`', ""));
                    remarks.push(setting.place.remark(Severity::Assumed, setting.parameter.key(), message));
                }
            }
        }
        remarks
    }
}

/// The parameter, and the words of its value without what follows a colon or an equals sign.
fn names(setting: &Setting) -> BTreeSet<&str> {
    let words = setting.value.split(',').filter_map(|word| word.split([':', '=']).next()).map(str::trim);
    words.chain([setting.parameter.canonical().name]).collect()
}

/// Whether the value is the default.
fn is_void(setting: &Setting) -> bool {
    let parameter = setting.parameter.canonical();
    parameter.is_void(&setting.value, parameter.default)
}
