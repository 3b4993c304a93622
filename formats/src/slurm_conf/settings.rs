//! Values by parameter, each with the place it was read at.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Parameter, find_parameter};
use crate::diagnostic::{Diagnostic, Severity};

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file.
    pub(crate) file: Arc<str>,
    /// The 1-based line; `None` for what-ifs.
    pub(crate) line: Option<u64>,
}

impl Place {
    /// Whether no file says it, but a change of a study, or `--set`.
    pub(crate) fn is_what_if(&self) -> bool {
        self.file.starts_with("what-if")
    }

    /// A diagnostic about this place.
    pub(crate) fn remark(
        &self,
        severity: Severity,
        field: impl Into<String>,
        message: impl Into<String>,
    ) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(severity, &*self.file, message).field(field);
        diagnostic.line = self.line;
        diagnostic
    }

    /// An error at this place.
    pub(crate) fn error(&self, field: impl Into<String>, message: impl Into<String>) -> Diagnostic {
        self.remark(Severity::Error, field, message)
    }
}

/// A parameter's value.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) parameter: &'static Parameter,
    pub(crate) value: String,
    pub(crate) place: Place,
}

/// The settings of one scope, by the parameter's name as the table spells it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings(BTreeMap<&'static str, Setting>);

impl Settings {
    /// The setting of a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        self.0.get(name)
    }

    /// The value of a parameter, or of an old name of it.
    pub(crate) fn value(&self, parameter: &Parameter) -> Option<&Setting> {
        self.get(parameter.name)
            .or_else(|| self.0.values().find(|setting| setting.parameter.alias_of == Some(parameter.name)))
    }

    /// The value in force: what is set, else the default, following defaults that are other parameters.
    pub(crate) fn current(&self, parameter: &'static Parameter) -> String {
        self.value(parameter).map_or_else(|| self.default_of(parameter), |setting| setting.value.clone())
    }

    /// The value in force where a parameter is not set.
    pub(crate) fn default_of(&self, parameter: &'static Parameter) -> String {
        match parameter.default.strip_prefix('=').and_then(|name| find_parameter(parameter.scope, name)) {
            Some(other) => self.current(other),
            None => parameter.default.to_owned(),
        }
    }

    /// Sets a value and gives the one it replaces.
    pub(crate) fn insert(&mut self, setting: Setting) -> Option<Setting> {
        self.0.insert(setting.parameter.name, setting)
    }

    /// Forgets a value, and gives it.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Setting> {
        self.0.remove(name)
    }

    /// Takes over every value of `defaults` that is not set here. Features of the record's own line win under either spelling;
    /// of the other pairs of names slurmctld looks for the present one first, in the defaults too.
    pub(crate) fn fill_from(&mut self, defaults: &Self) {
        let has_features = self.0.contains_key("Features") || self.0.contains_key("Feature");
        for (name, setting) in &defaults.0 {
            if !(has_features && ["Feature", "Features"].contains(name)) {
                self.0.entry(name).or_insert_with(|| setting.clone());
            }
        }
    }

    /// Parameters given under their old and their present name with different values: the present one, which counts, and the old.
    pub(crate) fn given_under_two_names(&self) -> impl Iterator<Item = (&Setting, &Setting)> {
        let present = |old: &Setting| old.parameter.alias_of.and_then(|name| self.0.get(name));
        let pairs = self.0.values().filter_map(move |old| Some((present(old)?, old)));
        pairs.filter(|(present, old)| !present.parameter.kind.same(&present.value, &old.value))
    }

    /// All settings, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.0.values()
    }
}
