//! What the types of a document cannot say: ranges, names, and fields that belong together.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use super::change::{Change, ControllerNodes};
use super::units::Threshold;
use super::{BASELINE, Gate, StudyDocument};
use crate::comparison::{Dimension, Metric};

/// JSON pointer, message, cure.
pub(super) type Fault = (String, String, String);

const SCENARIOS_MAX: usize = 100;
const REPLICATIONS_MAX: u32 = 1000;

/// Every fault of meaning that needs no other file.
pub(super) fn faults(document: &StudyDocument) -> Vec<Fault> {
    let mut faults = Vec::new();
    if document.name.trim().is_empty() {
        push(&mut faults, "/name", "the study has no name", "add `name: …`");
    }
    if !(1..=REPLICATIONS_MAX).contains(&document.replications) {
        let message = format!("{} replications; 1 to {REPLICATIONS_MAX} are possible", document.replications);
        push(&mut faults, "/replications", message, "write a number in that range");
    }
    sources(document, &mut faults);
    window(document, &mut faults);
    scenarios(document, &mut faults);
    for (index, gate) in document.gates.iter().enumerate() {
        self::gate(&format!("/gates/{index}"), gate, &mut faults);
    }
    faults
}

fn push(faults: &mut Vec<Fault>, pointer: impl Into<String>, message: impl Into<String>, cure: impl Into<String>) {
    faults.push((pointer.into(), message.into(), cure.into()));
}

fn sources(document: &StudyDocument, faults: &mut Vec<Fault>) {
    let site = &document.site;
    match (&site.slurm_conf, &site.site, &site.config) {
        (Some(_), None, None) | (None, Some(_), Some(_)) => {}
        (None, None, None) => {
            push(faults, "/site", "no cluster is named", "add `site: {slurm_conf: FILE}`, or site and config ids");
        }
        (None, _, _) => push(faults, "/site", "site and config belong together", "name both ids"),
        (Some(_), _, _) => push(faults, "/site", "files and ids are mixed", "keep slurm_conf, or site and config"),
    }
    let files = [&site.accounts, &site.reservations, &site.usage, &site.events, &site.sdiag];
    if site.site.is_some() && files.iter().any(|file| file.is_some()) {
        push(faults, "/site", "a stored configuration has its own files", "keep only site and config");
    }
    match (&document.trace.file, &document.trace.trace) {
        (Some(_), None) | (None, Some(_)) => {}
        (None, None) => push(faults, "/trace", "no trace is named", "add `trace: {file: FILE}` or a trace id"),
        (Some(_), Some(_)) => push(faults, "/trace", "a file and an id are given", "keep one of them"),
    }
}

fn window(document: &StudyDocument, faults: &mut Vec<Fault>) {
    let trace = &document.trace;
    let zone = match trace.timezone.as_deref().map(TimeZone::get) {
        None => TimeZone::UTC,
        Some(Ok(zone)) => zone,
        Some(Err(_)) => {
            push(faults, "/trace/timezone", "unknown time zone", "use an IANA name such as Europe/Berlin");
            TimeZone::UTC
        }
    };
    match trace.window {
        Some((from, to)) if from.unix_seconds(&zone) >= to.unix_seconds(&zone) => {
            push(faults, "/trace/window", "the window ends before it begins", "write [from, to] with from before to");
        }
        None if trace.warmup.is_some() => {
            push(faults, "/trace/warmup", "a warm-up needs a window", "add `window: [from, to]` or drop the warm-up");
        }
        _ => {}
    }
}

fn scenarios(document: &StudyDocument, faults: &mut Vec<Fault>) {
    if document.scenarios.len() > SCENARIOS_MAX {
        push(faults, "/scenarios", format!("more than {SCENARIOS_MAX} scenarios"), "split the study");
    }
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, scenario) in document.scenarios.iter().enumerate() {
        let here = format!("/scenarios/{index}");
        let name = scenario.name.as_str();
        if name.trim().is_empty() {
            push(faults, format!("{here}/name"), "the scenario has no name", "give it one");
        } else if name == BASELINE {
            push(faults, format!("{here}/name"), "`baseline` is always there", "choose another name");
        } else if let Some(first) = names.insert(name, index) {
            push(faults, format!("{here}/name"), format!("scenario {first} has that name too"), "choose another name");
        }
        if scenario.changes.is_empty() {
            push(faults, format!("{here}/changes"), "the scenario changes nothing", "add a change or drop it");
        }
        for (at, change) in scenario.changes.iter().enumerate() {
            self::change(&format!("{here}/changes/{at}"), change, faults);
        }
    }
}

fn change(here: &str, change: &Change, faults: &mut Vec<Fault>) {
    match change {
        Change::Scale(factors) => {
            for (key, factor) in factors {
                if !factor.is_finite() || *factor < 0.0 {
                    push(faults, format!("{here}/scale/{key}"), "not a factor", "write a number of at least 0");
                }
            }
        }
        Change::SeparateControllers(separate) => {
            let here = format!("{here}/separate_controllers/controllers");
            if separate.controllers.len() < 2 {
                push(faults, &here, "fewer than two controllers", "name at least two");
            }
            for (name, nodes) in &separate.controllers {
                if *nodes == ControllerNodes::default() {
                    push(faults, format!("{here}/{name}"), "the controller has no nodes", "name partitions or nodes");
                }
            }
        }
        Change::Workload(workload) => faults.extend(super::workload::faults(here, workload)),
        Change::Reservation(reservation) => faults.extend(super::reservation::faults(here, reservation)),
        _ => {}
    }
}

fn gate(here: &str, gate: &Gate, faults: &mut Vec<Fault>) {
    if gate.max_increase.is_none() && gate.max_decrease.is_none() {
        push(faults, here, "the gate has no limit", "add max_increase or max_decrease");
    }
    if gate.by != Dimension::Overall && !gate.metric.is_by_group() {
        let message = format!("{} exists for all jobs together only", gate.metric);
        push(faults, format!("{here}/by"), message, "leave out `by`");
    }
    if gate.by == Dimension::Overall && gate.key.is_some() {
        push(faults, format!("{here}/key"), "the overall group has no key", "leave out `key` or name `by`");
    }
    if gate.metric.is_seconds() {
        return;
    }
    for (field, limit) in [("max_increase", gate.max_increase), ("max_decrease", gate.max_decrease)] {
        let counts_jobs = gate.metric == Metric::JobsUnstarted;
        let is_wrong = match limit {
            Some(Threshold::Seconds(_)) => true,
            Some(Threshold::Number(_)) => !counts_jobs,
            Some(Threshold::Percent(_)) | None => false,
        };
        if is_wrong {
            let cure = if counts_jobs { "write a number of jobs, or per cent of all jobs" } else { "write per cent" };
            push(faults, format!("{here}/{field}"), format!("{} is not a duration", gate.metric), cure);
        }
    }
    if gate.ignore_below.is_some() {
        push(faults, format!("{here}/ignore_below"), format!("{} is not a duration", gate.metric), "leave it out");
    }
}
