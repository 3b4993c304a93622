//! The choices that papers leave open when they say "EASY" or "conservative", as settings of the simulator: `Plain.…`.

use foresite_engine::plain::{
    Batching, Compression, ExtraProcessors, Overrun, PlainOptions, ShadowBound, ShadowRefresh,
};

use super::parameters::{Parameter, Scope, find};
use crate::diagnostic::Diagnostic;
use crate::study_document::DOCUMENT;

/// How the settings' names begin.
const PREFIX: &str = "Plain.";

/// The options that settings make; `get` gives the value of a name, if it is set.
pub(crate) fn options<'a>(get: impl Fn(&str) -> Option<&'a str>) -> PlainOptions {
    let is = |name: &str, word: &str| get(name).is_some_and(|value| value.eq_ignore_ascii_case(word));
    let mut options = PlainOptions::default();
    if is("Plain.batching", "per_event") {
        options.batching = Batching::PerEvent;
    }
    if is("Plain.shadow_bound", "before") {
        options.shadow_bound = ShadowBound::Before;
    }
    if is("Plain.extra_processors", "unused") {
        options.extra_processors = ExtraProcessors::Unused;
    }
    if is("Plain.shadow_refresh", "once_per_head") {
        options.shadow_refresh = ShadowRefresh::OncePerHead;
    }
    if is("Plain.compression", "never") {
        options.compression = Compression::Never;
    }
    if is("Plain.overrun", "kill") {
        options.overrun = Overrun::Kill;
    }
    options
}

/// The setting of that name, if it is one of these.
pub(crate) fn setting(key: &str) -> Option<&'static Parameter> {
    find(Scope::Simulator, key).filter(|parameter| parameter.name.starts_with(PREFIX))
}

/// Whether the value may be, where there is no slurm.conf to set it in.
///
/// # Errors
/// Another word than those of the setting.
pub(crate) fn check(parameter: &Parameter, value: &str) -> Result<(), Diagnostic> {
    let cure = || format!("{}: {}", parameter.name, parameter.meaning);
    parameter.kind.check(value).map_err(|fault| Diagnostic::error(DOCUMENT, fault).cure(cure()))
}
