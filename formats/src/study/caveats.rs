//! What to bear in mind when reading a comparison's numbers.

use std::collections::BTreeSet;

use foresite_engine::job::{Before, Workload};

use super::window::Window;
use crate::comparison::{Caveat, Controllers};
use crate::diagnostic::{Diagnostic, Severity};
use crate::study_document::Change;
use crate::study_document::workload::WorkloadChange;

/// Caveats of every study, and those that follow from what readers said.
pub(super) fn of_study(diagnostics: &[Diagnostic], window: Window, workload: &Workload) -> Vec<Caveat> {
    let mut texts = vec![
        "The intervals are conditional on this trace: they cover what a controller leaves to chance, not what other jobs users \
         might have submitted."
            .to_owned(),
    ];
    if window.counted.is_some() {
        texts.push(at_the_beginning(workload));
    }
    for (severity, words) in [(Severity::Assumed, "assumed"), (Severity::NotModelled, "not modelled")] {
        let about: Vec<&Diagnostic> = diagnostics.iter().filter(|it| it.severity == severity).collect();
        if about.is_empty() {
            continue;
        }
        let fields: BTreeSet<&str> = about.iter().filter_map(|it| it.field.as_deref()).collect();
        let named: Vec<&str> = fields.iter().copied().take(20).collect();
        let more = if fields.len() > named.len() { ", …" } else { "" };
        let named = if named.is_empty() { String::new() } else { format!(" ({}{more})", named.join(", ")) };
        let things = if about.len() == 1 { "thing is" } else { "things are" };
        texts.push(format!("{} {things} {words}{named}; `foresite check` lists them.", about.len()));
    }
    texts.into_iter().map(|text| Caveat { scenario: None, text }).collect()
}

/// Of a trace that tells too few starts for the baseline to be held against it.
pub(super) fn without_record() -> Caveat {
    let text = "The trace does not tell when its jobs started (sacct's column Start, the wait time of SWF), so that the baseline cannot be \
                held against the record.";
    Caveat { scenario: None, text: text.to_owned() }
}

/// What the simulation begins with.
fn at_the_beginning(workload: &Workload) -> String {
    let there = workload.jobs.iter().map_while(|job| job.before());
    let (running, waiting): (Vec<_>, Vec<_>) = there.partition(|before| matches!(before, Before::Running { .. }));
    if running.is_empty() && waiting.is_empty() {
        return "The trace holds no job that ran or waited when the simulated part begins: the machine is empty then. Export from \
                an earlier time on, by the longest time limit."
            .to_owned();
    }
    format!(
        "When the simulated part begins, {} jobs of the trace run, on their recorded nodes where they fit there, and {} wait: they \
         are simulated, not counted.",
        running.len(),
        waiting.len()
    )
}

/// Caveats of a scenario with separate controllers.
pub(super) fn of_controllers(scenario: &str, counts: &Controllers) -> Vec<Caveat> {
    let mut texts = vec![
        "What separate controllers gain in practice comes largely from backfill cycles that no longer hit their time limit; how \
         long a cycle takes here is what the cost model says, or the site's sdiag where it is given."
            .to_owned(),
        format!(
            "Of the simulated jobs {} fit several controllers and {} fit none: {} were refused, {} cut to a controller (their run \
             time unchanged).",
            counts.either, counts.too_large, counts.rejected, counts.cut
        ),
    ];
    if counts.names.len() > 1 {
        texts.push("Dependencies between jobs of different controllers are not kept.".to_owned());
    }
    texts.into_iter().map(|text| Caveat { scenario: Some(scenario.to_owned()), text }).collect()
}

/// Caveats of a scenario that changes the jobs themselves.
pub(super) fn of_workload(scenario: &str, changes: &[Change]) -> Vec<Caveat> {
    let workload =
        || changes.iter().filter_map(|change| if let Change::Workload(it) = change { Some(it) } else { None });
    let mut texts = Vec::new();
    let is_drawn = |change: &WorkloadChange| match change {
        WorkloadChange::ScaleArrivals(arrivals) => arrivals.factor.fract() != 0.0,
        _ => change.fraction() < 1.0,
    };
    if workload().any(is_drawn) {
        texts.push("Which jobs a change to the workload is about is drawn anew for each replication.");
    }
    if workload().any(|change| matches!(change, WorkloadChange::ScaleArrivals(_))) {
        texts.push(
            "Waits, slowdowns and response times are of recorded jobs only; copies of jobs have no counterpart in the baseline.",
        );
    }
    if workload().any(|change| matches!(change, WorkloadChange::TimeLimit(_))) {
        texts.push(
            "Jobs longer than a changed time limit are ended by it; jobs that the trace shows as ended by their limit run on to a \
             longer one.",
        );
    }
    let caveat = |text: &str| Caveat { scenario: Some(scenario.to_owned()), text: text.to_owned() };
    texts.into_iter().map(caveat).collect()
}
