//! Typed access to settings, with the table's defaults. Values that cannot be read were reported by the checks; here they
//! count as their default.

use crate::slurm_conf::settings::{Setting, Settings};
use crate::slurm_conf::value::{self, Span};
use crate::slurm_conf::{Kind, Scope, find_parameter};

/// The settings of one scope.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    settings: &'a Settings,
    scope: Scope,
}

impl<'a> Values<'a> {
    pub(super) fn global(settings: &'a Settings) -> Self {
        Self { settings, scope: Scope::Global }
    }

    pub(super) fn new(settings: &'a Settings, scope: Scope) -> Self {
        Self { settings, scope }
    }

    /// What the files say.
    pub(super) fn setting(&self, name: &str) -> Option<&'a Setting> {
        self.settings.value(find_parameter(self.scope, name)?)
    }

    /// What the files say, or the default.
    pub(super) fn text(&self, name: &str) -> &'a str {
        match self.setting(name) {
            Some(setting) => &setting.value,
            None => find_parameter(self.scope, name).map_or("", |parameter| parameter.default),
        }
    }

    fn parse<T>(&self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let parameter = find_parameter(self.scope, name)?;
        self.settings.value(parameter).and_then(|setting| parse(&setting.value)).or_else(|| parse(parameter.default))
    }

    /// A whole number; `None` where neither file nor table gives one, or where it is negative or unlimited.
    pub(super) fn integer(&self, name: &str) -> Option<u32> {
        let read = |text: &str| match find_parameter(self.scope, name)?.kind {
            Kind::Option { min, max } => value::leading(text).filter(|number| (min..=max).contains(number)),
            Kind::Integer { max, .. } if value::is_unlimited(text) => Some(max),
            _ => value::whole(text),
        };
        self.parse(name, read).and_then(|number| u32::try_from(number).ok())
    }

    /// A whole number that has a default; 0 without one.
    pub(super) fn number(&self, name: &str) -> u32 {
        self.integer(name).unwrap_or_default()
    }

    /// A count; `None` is unlimited.
    pub(super) fn count(&self, name: &str) -> Option<u32> {
        self.parse(name, |text| if value::is_unlimited(text) { Some(None) } else { whole_u32(text).map(Some) })
            .flatten()
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.parse(name, value::yes_no).unwrap_or_default()
    }

    /// A time; `None` for NONE.
    pub(super) fn span(&self, name: &str) -> Option<Span> {
        self.parse(
            name,
            |text| {
                if text.eq_ignore_ascii_case("NONE") { Some(None) } else { value::span(text).map(Some) }
            },
        )
        .flatten()
    }

    /// Memory [MB]; `None` for 0 and unlimited.
    pub(super) fn megabytes(&self, name: &str) -> Option<u64> {
        self.parse(name, value::configured_megabytes).filter(|&size| size > 0)
    }

    /// The words of a comma list.
    pub(super) fn words(&self, name: &str) -> Vec<&'a str> {
        self.text(name).split(',').map(str::trim).filter(|word| !word.is_empty()).collect()
    }

    /// Whether a comma list holds a word, letter case ignored.
    pub(super) fn has_word(&self, name: &str, word: &str) -> bool {
        self.words(name).iter().any(|known| known.eq_ignore_ascii_case(word))
    }
}

fn whole_u32(text: &str) -> Option<u32> {
    value::whole(text).and_then(|number| u32::try_from(number).ok())
}
