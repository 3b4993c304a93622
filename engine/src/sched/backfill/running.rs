//! Running jobs in the plan: whole nodes (`bf_running_job_reserve`) and licences (`bf_licenses`).
//! Source: slurm-semantics 3.3, 3.6 step 9c, 7.3.

use crate::ids::{JobId, LicenseId};
use crate::policy::{PreemptKind, PreemptMode, SlurmVersion};
use crate::simulation::{Controller, seconds};

use super::grid::Grid;
use super::{Backfill, Record};

/// Licences that running and planned jobs hold, and when. Empty without `bf_licenses`.
#[derive(Debug, Default)]
pub(super) struct LicensePlan {
    uses: Vec<Use>,
}

#[derive(Clone, Copy, Debug)]
struct Use {
    begin: i64,
    end: i64,
    license: LicenseId,
    count: u32,
}

impl LicensePlan {
    /// How many uses there are: each end is one more time to try.
    pub(super) fn len(&self) -> usize {
        self.uses.len()
    }

    /// A job holds licences in [`begin`, `end`).
    pub(super) fn insert(&mut self, licenses: &[(LicenseId, u32)], begin: i64, end: i64) {
        self.uses.extend(licenses.iter().map(|&(license, count)| Use { begin, end, license, count }));
    }

    /// If a licence of the record is lacking in [`from`, `end`]: when more of it is there. O(licences × uses²).
    pub(super) fn lacking_until(
        &self,
        controller: &Controller<'_>,
        record: Record,
        from: i64,
        end: i64,
    ) -> Option<i64> {
        if self.uses.is_empty() {
            return None;
        }
        let wanted = &controller.scenario.workload.requests[record.request.index()].licenses;
        let lacking = wanted.iter().filter_map(|&(license, count)| {
            let total = controller.scenario.cluster.licenses.get(license.index()).map_or(0, |&(_, total)| total);
            let of_it = || self.uses.iter().filter(move |used| used.license == license && used.end > from);
            // Use rises at begins only.
            let begins = of_it().map(|used| used.begin.max(from)).filter(|&begin| begin <= end);
            let lacks = |&at: &i64| {
                let held: u32 = of_it().filter(|used| used.begin <= at && at < used.end).map(|used| used.count).sum();
                held + count > total
            };
            let at = begins.filter(lacks).min()?;
            of_it().filter(|used| used.begin <= at && at < used.end).map(|used| used.end).min()
        });
        lacking.max()
    }
}

/// Enters running jobs into the table of a new cycle, as far as the options ask for it.
/// O(running jobs × slots), nothing without the options.
pub(super) fn enter(controller: &Controller<'_>, backfill: &mut Backfill) {
    let policy = &controller.scenario.policy;
    backfill.licenses.uses.clear();
    if !policy.backfill.running_job_reserve && !policy.backfill.licenses {
        return;
    }
    let mut running = backfill.ends.in_order(&controller.running).jobs.clone();
    // As slurmctld lists them; a full table leaves out the last.
    running.sort_by_key(|running| running.moment().1);
    for (end, job) in running.into_iter().map(|running| (running.end, running.job)) {
        reserve(controller, backfill, job, end);
    }
}

/// Enters one running job that is expected to end at `end` [s]: the nodes that it holds whole, and with `bf_licenses` its
/// licences. Every cycle does so with the jobs that it starts itself. O(slots).
pub(super) fn reserve(controller: &Controller<'_>, backfill: &mut Backfill, job: JobId, end: i64) {
    let policy = &controller.scenario.policy;
    let Some(live) = controller.live.get(job) else { return };
    let now = seconds(controller.now);
    let grid = Grid::of(controller);
    let begin = backfill.timeline.begin();
    let soft = controller.soft_end(job, live.start, end);
    let until = if policy.version >= SlurmVersion::V24_11 { grid.ceil(soft) } else { grid.floor(soft) };
    // The table looks different once this time has come, or the table, whose end is rounded down, reaches beyond it.
    let beyond = until + grid.resolution - super::window_seconds(&policy.backfill);
    let turns = [until, beyond].into_iter().filter(|&turn| turn > now).min();
    backfill.valid_until = backfill.valid_until.min(turns.unwrap_or(i64::MAX));
    if soft != end {
        // What is left is halved anew by every cycle.
        backfill.valid_until = backfill.valid_until.min(now);
    }
    let request = controller.scenario.workload.jobs[job.index()].request;
    let licenses = &controller.scenario.workload.requests[request.index()].licenses;
    if policy.backfill.licenses {
        backfill.licenses.insert(licenses, i64::MIN, until.max(begin + grid.resolution));
    }
    // Whoever may be preempted, by its own mode, does not stand in the way; to select/linear no job holds its nodes whole.
    let whole = live.allocation.whole_nodes && !controller.scenario.policy.select.linear;
    let preempts = controller.scenario.policy.preempt.kind != PreemptKind::None;
    let may_be_preempted = preempts && controller.preempt_mode(live) != PreemptMode::Off;
    let holds_nodes = whole && !may_be_preempted;
    // Who holds licences only takes records of the table, whether they are planned or not.
    if (holds_nodes || !licenses.is_empty()) && backfill.timeline.records < super::table_size(&policy.backfill) {
        backfill.chosen.clear();
        for share in live.allocation.shares.iter().filter(|_| holds_nodes) {
            backfill.chosen.insert(share.node);
        }
        let licensed = policy.backfill.licenses && !licenses.is_empty();
        backfill.timeline.insert(&backfill.chosen, begin, until, licensed);
    }
}
