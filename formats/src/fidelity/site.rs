//! Which approximated rules a site's configuration comes upon.

use std::collections::{BTreeMap, BTreeSet};

use super::{Rule, Standing, rules};
use crate::diagnostic::{Diagnostic, Severity};
use crate::slurm_conf::SlurmConf;
use crate::slurm_conf::settings::Setting;

impl SlurmConf {
    /// A remark for every approximated rule that names a parameter set here, or a word of its value.
    /// A rule that names both knows better than one that names the parameter alone. O(rules + settings × log rules).
    pub fn approximations(&self) -> Vec<Diagnostic> {
        // The document is read once, not for each setting.
        let rules: Vec<Rule> = rules().collect();
        let mut by_name: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (at, rule) in rules.iter().enumerate() {
            rule.names().for_each(|name| _ = by_name.entry(name).or_default().insert(at));
        }
        let of = |name: &str| by_name.get(name).into_iter().flatten().copied().collect::<BTreeSet<usize>>();
        let mut said = BTreeSet::new();
        let mut remarks = Vec::new();
        for setting in self.settings().filter(|setting| !is_void(setting)) {
            let by_parameter = of(setting.parameter.canonical().name);
            let (mut by_word, mut by_both) = (BTreeSet::new(), BTreeSet::new());
            for word in words(setting) {
                let named = of(word);
                by_both.extend(named.intersection(&by_parameter));
                // Yes and no say nothing without their parameter.
                if !["yes", "no"].contains(&word.to_ascii_lowercase().as_str()) {
                    by_word.extend(named);
                }
            }
            by_word.extend(if by_both.is_empty() { by_parameter } else { by_both });
            for rule in by_word.iter().filter_map(|&at| rules.get(at)) {
                if rule.standing == Standing::Approximated && said.insert(rule.rule) {
                    let message =
                        format!("approximated: {}: {}", rule.rule.replace('`', ""), rule.note.replace('`', ""));
                    remarks.push(setting.place.remark(Severity::Assumed, setting.parameter.key(), message));
                }
            }
        }
        remarks
    }
}

/// The words of a value without what follows a colon or an equals sign.
fn words(setting: &Setting) -> impl Iterator<Item = &str> {
    setting.value.split(',').filter_map(|word| word.split([':', '=']).next()).map(str::trim)
}

/// Whether the value is the default.
fn is_void(setting: &Setting) -> bool {
    let parameter = setting.parameter.canonical();
    parameter.is_void(&setting.value, parameter.default)
}
