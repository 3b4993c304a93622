//! Advance reservations: what `scontrol show reservation` prints and what a study adds, lowered to the engine's calendar.
//! Source: slurm-semantics 7.2, scontrol(1).

mod flags;
mod lower;
mod read;
mod repeat;

#[cfg(test)]
mod tests;

use crate::diagnostic::{Diagnostic, Severity};

pub(crate) use flags::{FlagEffect, flag, flag_names};
pub(crate) use lower::{lower, nodes_named};
pub use read::read;

/// When a reservation recurs (`HOURLY` to `WEEKEND`), counted from its start by the local clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// `HOURLY`.
    Hourly,
    /// `DAILY`.
    Daily,
    /// `WEEKDAY`: Monday to Friday.
    Weekday,
    /// `WEEKEND`: Saturday and Sunday.
    Weekend,
    /// `WEEKLY`.
    Weekly,
}

/// A reservation as it is written. Times are Unix seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Where it is written.
    pub place: Place,
    /// `ReservationName`.
    pub name: String,
    /// When it was created; `None` if that is not known: then it was always there.
    pub created: Option<i64>,
    /// `StartTime`.
    pub start: i64,
    /// `EndTime`.
    pub end: i64,
    /// `Nodes`: a hostlist, `ALL`, or empty.
    pub nodes: String,
    /// `Licenses`: `name:count,…`, or empty.
    pub licenses: String,
    /// `PartitionName`, or empty. Without nodes and licences it reserves all of the partition.
    pub partition: String,
    /// `Users`, each with its `-` where it is denied.
    pub users: Vec<String>,
    /// `Accounts`, each with its `-` where it is denied.
    pub accounts: Vec<String>,
    /// `Flags` that decide.
    pub flags: foresite_engine::calendar::ReservationFlags,
    /// When it recurs.
    pub repeat: Option<Repeat>,
}

/// Where something is written: a line of a file, or a field of the study document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// 1-based line.
    pub line: Option<u64>,
    /// JSON pointer of a change in the study document.
    pub pointer: Option<String>,
}

impl Place {
    /// A remark about a field here; in the study document every remark is an error.
    pub(crate) fn remark(&self, severity: Severity, field: &str, message: String) -> Diagnostic {
        let (severity, field) = match &self.pointer {
            Some(pointer) => (Severity::Error, format!("{pointer}/{}", field.to_ascii_lowercase())),
            None => (severity, field.to_owned()),
        };
        let mut diagnostic = Diagnostic::new(severity, &self.file, message).field(field);
        diagnostic.line = self.line;
        diagnostic
    }
}
