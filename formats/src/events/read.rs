//! The table that `sacctmgr show event -P` prints.

use std::collections::BTreeMap;

use foresite_engine::calendar::OutageKind;
use jiff::tz::TimeZone;

use super::NodeEvent;
use crate::diagnostic::{Diagnostic, Severity, bounded};
use crate::reservations::Place;
use crate::trace::{Clock, too_large};

/// The columns that matter, by the names that sacctmgr has given them, and whether a table must have them.
const COLUMNS: [(&str, &[&str], bool); 6] = [
    ("Cluster", &["cluster", "clustername"], false),
    ("NodeName", &["nodename", "node", "nodes"], true),
    ("TimeStart", &["timestart", "start"], true),
    ("TimeEnd", &["timeend", "end"], true),
    ("State", &["state", "stateraw"], true),
    ("Reason", &["reason"], false),
];

/// slurmctld tells slurmdbd that a node is drained when the last job there has ended (node_mgr.c of 22.05.8, `update_node`, `make_node_idle`;
/// docs/FACTS.md, facts 85).
const DRAINS_LATE: &str =
    "a DRAIN row begins when the node's last job has ended, not when it was drained; until then the node takes jobs";

/// What a row is about.
enum Row {
    Out(NodeEvent),
    /// Rows to be counted: why nothing is made of them.
    Left(Severity, &'static str, String),
    Nothing,
}

/// Whether a line is the header of a table of events.
pub fn is_header(line: &str) -> bool {
    COLUMNS.iter().zip(places(line)).all(|((.., needed), place)| !needed || place.is_some())
}

/// Where a header has each of [`COLUMNS`].
fn places(header: &str) -> [Option<usize>; COLUMNS.len()] {
    let heads: Vec<String> = header.split('|').map(|head| head.trim().to_ascii_lowercase()).collect();
    COLUMNS.map(|(_, names, _)| heads.iter().position(|head| names.contains(&head.as_str())))
}

/// Reads events; times without a zone are those of `zone`. O(bytes).
pub fn read(name: &str, bytes: &[u8], zone: TimeZone) -> (Vec<NodeEvent>, Vec<Diagnostic>) {
    let text = String::from_utf8_lossy(bytes);
    let mut diagnostics = Vec::new();
    let mut lines = (1u64..)
        .zip(text.lines())
        .map(|(line, row)| (line, row.trim_start_matches('\u{feff}')))
        .filter(|(_, row)| !row.trim().is_empty());
    let Some((line, header)) = lines.next() else {
        let fault = Diagnostic::error(name, "the file is empty");
        return (Vec::new(), vec![fault.cure("hand over the output of sacctmgr show event -P")]);
    };
    let places = places(header);
    let missing: Vec<&str> = COLUMNS
        .iter()
        .zip(places)
        .filter(|((.., needed), place)| *needed && place.is_none())
        .map(|((name, ..), _)| *name)
        .collect();
    if !missing.is_empty() {
        let fault = Diagnostic::error(name, format!("the columns {} are missing", missing.join(", "))).at(line);
        return (Vec::new(), vec![fault.cure("hand over the output of sacctmgr show event -P, with its header")]);
    }
    let mut clock = Clock::new(zone);
    let mut events = Vec::new();
    let mut left: BTreeMap<(&'static str, String), (Severity, u64, u64)> = BTreeMap::new();
    let mut note = |(severity, why, what): (Severity, &'static str, String), line: u64| {
        left.entry((why, what)).or_insert((severity, 0, line)).1 += 1;
    };
    for (line, row) in lines.filter(|(_, row)| *row != header) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let cell = |column: usize| places[column].and_then(|place| cells.get(place)).copied().unwrap_or_default();
        let fields = [cell(0), cell(1), cell(2), cell(3), cell(4), cell(5)];
        let place = Place { file: name.to_owned(), line: Some(line), pointer: None };
        match event(fields, &place, &mut clock) {
            Ok(Row::Out(event)) => {
                if event.kind == OutageKind::Drain {
                    note((Severity::NotModelled, DRAINS_LATE, String::new()), line);
                }
                events.push(event);
            }
            Ok(Row::Left(severity, why, what)) => note((severity, why, what), line),
            Ok(Row::Nothing) => {}
            Err(fault) => diagnostics.push(fault),
        }
    }
    for ((why, what), (severity, count, line)) in left {
        let message =
            if what.is_empty() { format!("{why}: {count} rows") } else { format!("{what}: {why}: {count} rows") };
        diagnostics.push(Diagnostic::new(severity, name, message).at(line).field("State"));
    }
    (events, bounded(diagnostics, name))
}

fn event(fields: [&str; 6], place: &Place, clock: &mut Clock) -> Result<Row, Diagnostic> {
    let [cluster, nodes, from, to, state, reason] = fields;
    let mut time = |field: &str, text: &str| {
        clock.parse(text.as_bytes()).ok_or_else(|| {
            let fault =
                place.remark(Severity::Error, field, format!("'{text}' is no time{}", too_large(text.as_bytes())));
            fault.cure("write 2024-01-31T12:34:56, or Unknown")
        })
    };
    let (start, end) = (time("TimeStart", from)?.known(), time("TimeEnd", to)?.known());
    if nodes.is_empty() {
        // A row of the whole cluster: that it registered, or that slurmctld and slurmdbd lost one another.
        return Ok(match kind_of(state) {
            Ok(Some(_)) => Row::Left(
                Severity::NotModelled,
                "the controller was not connected to slurmdbd; it is taken to have gone on scheduling",
                reason.to_owned(),
            ),
            _ => Row::Nothing,
        });
    }
    let kind = match kind_of(state) {
        Ok(Some(kind)) => kind,
        Ok(None) => {
            let why = "no state that takes a node out of service; left out";
            return Ok(Row::Left(Severity::Warning, why, state.to_owned()));
        }
        Err(why) => return Ok(Row::Left(Severity::NotModelled, why, state.to_owned())),
    };
    let Some(start) = start else {
        let fault = place.remark(Severity::Error, "TimeStart", format!("'{from}' says no time"));
        return Err(fault.cure("remove the row, or say when it began"));
    };
    match end {
        Some(end) if end < start => {
            let fault = place.remark(Severity::Error, "TimeEnd", format!("{nodes} returns before it leaves"));
            Err(fault.cure("correct TimeStart or TimeEnd"))
        }
        // Who goes down for less than a second loses his jobs all the same (rec ax-share: `scontrol update state=down` of a busy node, whose
        // answer brings it back).
        Some(end) if end == start && kind != OutageKind::Down => Ok(Row::Nothing),
        end => Ok(Row::Out(NodeEvent {
            place: place.clone(),
            cluster: cluster.to_owned(),
            nodes: nodes.to_owned(),
            start,
            end,
            kind,
        })),
    }
}

/// What a state such as `DOWN*` or `IDLE+DRAIN` does to a node; `None` if it stays in service.
fn kind_of(state: &str) -> Result<Option<OutageKind>, &'static str> {
    let mut kind = None;
    for word in state.split('+') {
        let word = word.trim().trim_end_matches(['*', '~', '#', '!', '%', '$', '@', '^', '-']).to_ascii_uppercase();
        match word.as_str() {
            "DOWN" | "ERROR" => return Ok(Some(OutageKind::Down)),
            "DRAIN" | "DRAINED" | "DRAINING" | "DRNG" | "FAIL" | "FAILING" | "FAILG" => kind = Some(OutageKind::Drain),
            // A node that registered with less than slurm.conf says: slurmctld drains it (node_mgr.c, `validate_node_specs`).
            "INVAL" | "INVALID_REG" => kind = Some(OutageKind::Drain),
            // Long, and as sacctmgr shortens them (slurm_protocol_defs.c, `node_state_string_compact`).
            "POWERED_DOWN" | "POWERING_DOWN" | "POWER_DOWN" | "POWERING_UP" | "POWER_UP" | "POWERED_DN"
            | "POWRING_DN" | "POW_DN" | "POW_UP" => {
                return Err("power saving is not simulated: the nodes are always on");
            }
            _ if word.starts_with("REBOOT") || word == "BOOT" => return Err("reboots are not simulated"),
            _ => {}
        }
    }
    Ok(kind)
}
