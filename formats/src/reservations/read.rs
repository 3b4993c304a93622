//! `scontrol show reservation`, with or without `-o`.

use std::collections::BTreeMap;

use foresite_engine::calendar::ReservationFlags;
use jiff::tz::TimeZone;

use super::{Fact, FlagEffect, Place, flag, flag_names};
use crate::diagnostic::{Diagnostic, Severity, bounded};
use crate::slurm_conf::near::did_you_mean;
use crate::trace::{Clock, too_large};

/// Fields of one reservation, and the line it begins on.
struct Record {
    line: u64,
    fields: BTreeMap<String, String>,
    /// Cores are named node by node.
    has_cores: bool,
    /// What follows is the comment's.
    is_whole: bool,
}

/// Reads reservations; times without a zone are those of `zone`. O(bytes).
pub fn read(name: &str, bytes: &[u8], zone: TimeZone) -> (Vec<Fact>, Vec<Diagnostic>) {
    let text = String::from_utf8_lossy(bytes);
    let (records, mut diagnostics) = records(name, &text);
    let says_none = text.contains("No reservations in the system");
    if records.is_empty() && !says_none && diagnostics.is_empty() {
        let fault = Diagnostic::error(name, "the file holds no reservation");
        diagnostics.push(fault.cure("hand over the output of scontrol show reservation -o"));
    }
    let mut reader = Reader { name, clock: Clock::new(zone), diagnostics };
    let facts: Vec<Fact> = records.iter().filter_map(|record| reader.fact(record)).collect();
    (facts, bounded(reader.diagnostics, name))
}

/// Cuts the text into records at each `ReservationName=`; words without `=` belong to the value before them. Of what scontrol prints,
/// which has a state, the comment comes last and goes on to the record's end, whatever it says (reservation_info.c).
fn records(name: &str, text: &str) -> (Vec<Record>, Vec<Diagnostic>) {
    let mut records: Vec<Record> = Vec::new();
    let mut diagnostics = Vec::new();
    for (line, row) in (1..).zip(text.lines()) {
        let row = row.trim_start_matches('\u{feff}');
        let mut last = String::new();
        let begins_record =
            row.trim_start().get(..KEY_OF_NAME.len()).is_some_and(|it| it.eq_ignore_ascii_case(KEY_OF_NAME));
        if !begins_record && records.last().is_some_and(|record| record.is_whole) {
            continue;
        }
        for word in row.split_whitespace() {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            if key.eq_ignore_ascii_case("ReservationName") && word.contains('=') {
                records.push(Record { line, fields: BTreeMap::new(), has_cores: false, is_whole: false });
            }
            let Some(record) = records.last_mut() else {
                let is_preface = row.trim_start().starts_with('#') || row.contains("No reservations");
                if !is_preface && diagnostics.is_empty() {
                    let fault = Diagnostic::error(name, "this is no reservation").at(line);
                    diagnostics.push(fault.cure("hand over the output of scontrol show reservation -o"));
                }
                break;
            };
            record.has_cores |= key == "CoreIDs";
            record.is_whole = key.eq_ignore_ascii_case("Comment") && record.fields.contains_key("state");
            if record.is_whole {
                break;
            }
            if word.contains('=') && key.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                last = key.to_ascii_lowercase();
                record.fields.entry(last.clone()).or_insert_with(|| value.to_owned());
            } else if let Some(value) = record.fields.get_mut(&last) {
                value.push(' ');
                value.push_str(word);
            }
        }
    }
    (records, diagnostics)
}

/// What a record begins with.
const KEY_OF_NAME: &str = "ReservationName=";

/// Flags of reservations whose nodes stay what they are (reservation.c of 22.05.8, `_validate_node_choice`).
const KEEP_NODES: [&str; 3] = ["SPEC_NODES", "STATIC", "STATIC_ALLOC"];

struct Reader<'a> {
    name: &'a str,
    clock: Clock,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn fact(&mut self, record: &Record) -> Option<Fact> {
        let field = |name: &str| {
            let value = record.fields.get(name).map_or("", String::as_str);
            if matches!(value, "(null)" | "n/a" | "N/A") { "" } else { value }
        };
        let place = Place { file: self.name.to_owned(), line: Some(record.line), pointer: None };
        let name = field("reservationname");
        let mut times = [0; 2];
        for (time, key) in times.iter_mut().zip(["StartTime", "EndTime"]) {
            let text = field(&key.to_ascii_lowercase());
            match self.clock.parse(text.as_bytes()).and_then(|moment| moment.known()) {
                Some(at) => *time = at,
                None => {
                    let fault = place.remark(
                        Severity::Error,
                        key,
                        format!("'{text}' of {name} is no time{}", too_large(text.as_bytes())),
                    );
                    self.diagnostics.push(fault.cure("write 2024-01-31T12:34:56"));
                    return None;
                }
            }
        }
        let [start, end] = times;
        if end <= start {
            let fault = place.remark(Severity::Error, "EndTime", format!("{name} ends before it begins"));
            self.diagnostics.push(fault.cure("correct StartTime or EndTime"));
            return None;
        }
        let list = |name: &str| -> Vec<String> {
            field(name).split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let mut fact = Fact {
            name: name.to_owned(),
            created: None,
            start,
            end,
            nodes: field("nodes").to_owned(),
            licenses: field("licenses").to_owned(),
            partition: field("partitionname").to_owned(),
            users: list("users"),
            accounts: list("accounts"),
            flags: ReservationFlags::default(),
            repeat: None,
            place: place.clone(),
        };
        // What scontrol prints, and nobody writes, has a state.
        fact.flags.replaces_nodes = !field("state").is_empty();
        for word in list("flags") {
            match flag(&word) {
                Some(FlagEffect::Sets(set)) => set(&mut fact.flags),
                Some(FlagEffect::Repeats(repeat)) => fact.repeat = Some(repeat),
                Some(FlagEffect::Silent) => {}
                Some(FlagEffect::OfLicenses(_)) if !fact.licenses.is_empty() => {}
                Some(FlagEffect::LeftOut(reason)) => {
                    self.left_out(&place, "Flags", format!("{word} of {name}: {reason}"))
                }
                Some(FlagEffect::LeavesOut(reason) | FlagEffect::OfLicenses(reason)) => {
                    self.left_out(&place, "Flags", format!("{name} is left out: {reason} ({word})"));
                    return None;
                }
                None => {
                    let message = format!("'{word}' of {name} is no flag that is known; left out");
                    let remark = place.remark(Severity::Warning, "Flags", message);
                    self.diagnostics.push(remark.cure(did_you_mean(&word, flag_names(), "see scontrol(1)")));
                }
            }
        }
        let keeps = |word: &String| KEEP_NODES.iter().any(|kept| word.eq_ignore_ascii_case(kept));
        fact.flags.replaces_nodes &= !fact.nodes.is_empty() && !record.has_cores && !list("flags").iter().any(keeps);
        let features = field("features");
        if fact.flags.replaces_nodes && !features.is_empty() {
            let message = format!("{features} of {name}: nodes without them replace those that become unusable, too");
            self.left_out(&place, "Features", message);
        }
        if record.has_cores {
            self.left_out(
                &place,
                "CoreIDs",
                format!("{name} reserves some cores of its nodes: the whole nodes are taken"),
            );
        }
        for (key, reason) in [
            ("BurstBuffer", "burst buffers are not simulated"),
            ("Groups", "users of groups are not known: nobody is let in for a group"),
            ("QOS", "nobody is let in for a QOS, or kept out"),
            ("AllowedPartitions", "jobs of all partitions may use it"),
            ("MaxStartDelay", "its nodes are not lent"),
        ] {
            let value = field(&key.to_ascii_lowercase());
            if !value.is_empty() {
                self.left_out(&place, key, format!("{value} of {name}: {reason}"));
            }
        }
        Some(fact)
    }

    fn left_out(&mut self, place: &Place, field: &str, message: String) {
        self.diagnostics.push(place.remark(Severity::NotModelled, field, message));
    }
}
