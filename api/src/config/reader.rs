//! Reads settings one by one and remembers every fault, so that all are reported at once.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use secrecy::SecretString;

/// One setting that cannot be used. Never holds the value of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// The variable.
    pub variable: String,
    /// What is wrong with it and what would be right.
    pub message: String,
}

/// Every setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", list(.0))]
pub struct ConfigFaults(pub Vec<ConfigFault>);

fn list(faults: &[ConfigFault]) -> String {
    faults.iter().map(|fault| format!("{}: {}", fault.variable, fault.message)).collect::<Vec<_>>().join("\n")
}

/// Where settings come from: the environment, or a test's table.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads settings and collects faults.
pub(super) struct Reader<'a> {
    lookup: Lookup<'a>,
    faults: Vec<ConfigFault>,
    known: BTreeSet<&'static str>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(lookup: Lookup<'a>) -> Self {
        Self { lookup, faults: Vec::new(), known: BTreeSet::new() }
    }

    /// The value, if set and not empty.
    pub(super) fn text(&mut self, variable: &'static str) -> Option<String> {
        self.known.insert(variable);
        (self.lookup)(variable).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// A value that must not appear in logs.
    pub(super) fn secret(&mut self, variable: &'static str) -> Option<SecretString> {
        self.text(variable).map(SecretString::from)
    }

    /// The parsed value, or the default if unset or wrong (then a fault is noted).
    pub(super) fn parsed<T: FromStr<Err: Display>>(&mut self, variable: &'static str, default: T) -> T {
        self.optional(variable).unwrap_or(default)
    }

    /// The parsed value, or nothing if unset or wrong (then a fault is noted).
    pub(super) fn optional<T: FromStr<Err: Display>>(&mut self, variable: &'static str) -> Option<T> {
        let value = self.text(variable)?;
        match value.parse() {
            Ok(parsed) => Some(parsed),
            Err(reason) => {
                self.fault(variable, format!("'{value}' cannot be read: {reason}"));
                None
            }
        }
    }

    /// A number of which none is no sense: a limit, or how many there are.
    pub(super) fn positive<T: FromStr<Err: Display> + PartialOrd + From<u8>>(
        &mut self,
        variable: &'static str,
        default: T,
    ) -> T {
        let value = self.parsed(variable, default);
        if value < T::from(1) {
            self.fault(variable, "must be at least 1");
        }
        value
    }

    /// A time of `least` seconds to a year: longer ones no clock can add to its own.
    pub(super) fn seconds(&mut self, variable: &'static str, least: u64, default: u64) -> Duration {
        const YEAR: u64 = 366 * 86_400;
        let value = self.parsed(variable, default);
        if !(least..=YEAR).contains(&value) {
            self.fault(variable, format!("must be {least} to {YEAR} seconds"));
        }
        Duration::from_secs(value.min(YEAR))
    }

    /// Notes a fault.
    pub(super) fn fault(&mut self, variable: &str, message: impl Into<String>) {
        self.faults.push(ConfigFault { variable: variable.to_owned(), message: message.into() });
    }

    /// The variables that were asked for, and the faults found.
    pub(super) fn finish(self) -> (BTreeSet<&'static str>, Vec<ConfigFault>) {
        (self.known, self.faults)
    }
}
