//! The change `reservation`, as a document writes it, and what is wrong with one in itself.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::DOCUMENT;
use super::checks::Fault;
use super::units::{Length, Moment, Span};
use crate::diagnostic::{Diagnostic, Severity};
use crate::reservations::{FlagEffect, Repeat, flag, flag_names};
use crate::slurm_conf::near::did_you_mean;

/// Adds or removes a reservation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReservationChange {
    /// One more.
    Add(Box<AddedReservation>),
    /// The one of that name goes; its jobs run as any other.
    Remove(String),
}

/// A reservation to be added, in scontrol's words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddedReservation {
    /// Its name.
    pub name: String,
    /// Its nodes: a hostlist or `ALL`; all of the partition where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    /// Its partition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// When it begins.
    pub start: Moment,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Moment>,
    /// How long it lasts, in place of an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Length>,
    /// When it is created: before, nobody minds it. Always there where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<Moment>,
    /// Whose jobs may name it; `-name` for whose may not. Anybody's where neither users nor accounts are given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    /// Accounts whose users may use it, with those below; `-name` for those who may not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<String>,
    /// `Flags`: MAINT, IGNORE_JOBS, FLEX, DAILY …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

impl AddedReservation {
    /// When it ends [Unix s]; its start if neither end nor duration is given.
    pub(crate) fn ends_at(&self, zone: &TimeZone) -> i64 {
        let length = self.duration.map_or(0, |length| i64::try_from(length.span.0).unwrap_or(i64::MAX / 8));
        let end = self.end.map(|end| end.unix_seconds(zone));
        end.unwrap_or_else(|| self.start.unix_seconds(zone).saturating_add(length))
    }

    /// A slip that is likely: a duration in scontrol's minutes. `pointer` names the change in the document.
    pub(crate) fn slip(&self, pointer: &str) -> Option<Diagnostic> {
        let seconds = self.duration.filter(|length| length.is_bare)?.span.0;
        let message = format!("{seconds} taken as seconds (scontrol's would be minutes)");
        let warning = Diagnostic::new(Severity::Warning, DOCUMENT, message).field(format!("{pointer}/add/duration"));
        Some(warning.cure(format!("write {} or {seconds}s", Span(seconds.saturating_mul(60)))))
    }
}

/// Faults that need no other file.
pub(super) fn faults(here: &str, change: &ReservationChange) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut push = |field: &str, message: String, cure: &str| {
        faults.push((format!("{here}/reservation/{field}"), message, cure.to_owned()));
    };
    let added = match change {
        ReservationChange::Add(added) => added,
        ReservationChange::Remove(name) => {
            if name.trim().is_empty() {
                push("remove", "no reservation is named".to_owned(), "name one");
            }
            return faults;
        }
    };
    if added.name.trim().is_empty() {
        push("add/name", "the reservation has no name".to_owned(), "give it one");
    }
    if added.nodes.as_deref().unwrap_or_default().trim().is_empty() && added.partition.is_none() {
        push("add/nodes", "the reservation has no node".to_owned(), "name nodes (a hostlist or ALL), or a partition");
    }
    match (added.end, added.duration) {
        (None, None) => push("add", "the reservation has no end".to_owned(), "add `end: …` or `duration: …`"),
        (Some(_), Some(_)) => push("add", "an end and a duration are given".to_owned(), "keep one of them"),
        (None, Some(Length { span: Span(0), .. })) => {
            push("add/duration", "the reservation lasts no time".to_owned(), "write more than 0")
        }
        _ => {}
    }
    let mut repeats: Vec<Repeat> = Vec::new();
    for (index, word) in added.flags.iter().enumerate() {
        let field = format!("add/flags/{index}");
        match flag(word) {
            Some(FlagEffect::LeftOut(reason) | FlagEffect::LeavesOut(reason) | FlagEffect::OfLicenses(reason)) => {
                push(&field, format!("the flag '{word}' is not modelled: {reason}"), "leave it out");
            }
            Some(FlagEffect::Repeats(repeat)) => repeats.push(repeat),
            Some(_) => {}
            None => {
                let cure = did_you_mean(word, flag_names(), "see scontrol(1)");
                push(&field, format!("there is no flag '{word}'"), &cure);
            }
        }
    }
    if repeats.len() > 1 {
        push("add/flags", "the reservation recurs in several ways".to_owned(), "keep one of those flags");
    }
    faults
}
