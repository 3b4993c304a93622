//! How the controller decides.

use foresite_engine::policy::{
    EnforcePartLimits, Enforcement, Policy, PreemptKind, PreemptMode, PreemptPolicy, Scheduler,
};

use super::{Lowering, Values};
use crate::diagnostic::Severity;
use crate::slurm_conf::Scope;
use crate::slurm_conf::near::did_you_mean;
use crate::slurm_conf::plain;
use crate::slurm_conf::value::Span;

/// Words of `AccountingStorageEnforce`; old releases wrote 1 for associations and 2 for limits.
const ENFORCE: [&str; 10] = ["all", "associations", "limits", "nojobs", "nosteps", "qos", "safe", "wckeys", "1", "2"];

/// Whether a word of `AccountingStorageEnforce` is none of slurmctld's, which says that nothing is enforced.
fn is_nothing(word: &str) -> bool {
    word == "0" || word.eq_ignore_ascii_case("none")
}

impl Lowering<'_> {
    /// The policy; `no_switches` where no topology is in force.
    pub(super) fn policy(&mut self, no_switches: bool) -> Policy {
        let values = self.globals();
        let scheduler = match values.text("SchedulerType").to_ascii_lowercase().as_str() {
            "sched/builtin" => Scheduler::SlurmBuiltin,
            _ => Scheduler::SlurmBackfill,
        };
        Policy {
            version: self.version,
            scheduler,
            main: self.main_policy(),
            backfill: self.backfill_policy(scheduler),
            priority: self.priority_policy(),
            select: self.select_policy(no_switches),
            preempt: self.preempt_policy(),
            enforce: self.enforcement(),
            kill_wait: values.number("KillWait"),
            over_time_limit: values.count("OverTimeLimit"),
            reservation_over_run: values.count("ResvOverRun"),
            complete_wait: values.number("CompleteWait"),
            min_job_age: values.number("MinJobAge"),
            epilog: self.epilog(),
            epilog_seconds: self.epilog_seconds(),
            job_requeue: values.number("JobRequeue") != 0,
            message_timeout: values.number("MessageTimeout"),
            kill_invalid_depend: self.kill_invalid_depend(),
            cost: self.conf.cost(),
            plain: plain::options(|name| self.conf.simulator.get(name).map(|setting| setting.value.as_str())),
        }
    }

    /// Where 20.02 moved it; slurmctld looks nowhere else.
    fn kill_invalid_depend(&mut self) -> bool {
        if self.scheduler_parameters().setting("kill_invalid_depend").is_some() {
            let message = "slurmctld ignores kill_invalid_depend here since 20.02, and so does this";
            let remark = self.place_of("SchedulerParameters").remark(Severity::Warning, "SchedulerParameters", message);
            self.diagnostics.push(remark.cure("write DependencyParameters=kill_invalid_depend"));
        }
        self.globals().has_word("DependencyParameters", "kill_invalid_depend")
    }

    fn epilog(&mut self) -> bool {
        let path = self.globals().text("Epilog");
        let is_set = !["", "none", "(null)"].iter().any(|word| path.eq_ignore_ascii_case(word));
        if is_set && self.epilog_seconds() == 0 {
            let message = "the Epilog is taken to last no time; a job's end wakes the main scheduler at once";
            self.note(Severity::Assumed, "Epilog", message);
        }
        is_set
    }

    /// A setting of the simulator: slurm.conf does not say how long its Epilog takes.
    fn epilog_seconds(&self) -> u32 {
        Values::new(&self.conf.simulator, Scope::Simulator).number("EpilogSeconds")
    }

    fn preempt_policy(&mut self) -> PreemptPolicy {
        let values = self.globals();
        let options = Values::new(&self.conf.preempt_parameters, Scope::PreemptParameters);
        let old_options = self.scheduler_parameters();
        let kind = match values.text("PreemptType").to_ascii_lowercase().as_str() {
            "preempt/qos" => PreemptKind::Qos,
            "preempt/partition_prio" => PreemptKind::PartitionPrio,
            _ => PreemptKind::None,
        };
        let mode = preempt_mode(values.text("PreemptMode"));
        if kind == PreemptKind::None && mode != PreemptMode::Off {
            let message = "PreemptType is preempt/none, so nothing is preempted; slurmctld does not start with both";
            self.note(Severity::Warning, "PreemptMode", message);
        } else if kind != PreemptKind::None && mode == PreemptMode::Off {
            // read_config.c of 22.05.8, `_validate_and_set_defaults`.
            let message = "PreemptMode is OFF for the cluster; slurmctld does not start with both";
            self.note(Severity::Warning, "PreemptType", message);
        }
        PreemptPolicy {
            kind,
            mode,
            within: values.has_word("PreemptMode", "WITHIN"),
            exempt_time: match values.span("PreemptExemptTime") {
                Some(span @ Span::Seconds(_)) => span.seconds(),
                _ => 0,
            },
            youngest_first: options.flag("youngest_first") || old_options.flag("preempt_youngest_first"),
            reorder_count: match options.setting("reorder_count") {
                Some(_) => options.number("reorder_count"),
                None => old_options.number("preempt_reorder_count"),
            },
            strict_order: options.flag("strict_order") || old_options.flag("preempt_strict_order"),
        }
    }

    fn enforcement(&mut self) -> Enforcement {
        let values = self.globals();
        let words = values.words("AccountingStorageEnforce");
        for word in &words {
            if is_nothing(word) {
                let place = self.place_of("AccountingStorageEnforce");
                if place.line.is_some() {
                    let message = format!("slurmctld does not start with '{word}'; taken as nothing enforced");
                    let remark = place.remark(Severity::Warning, "AccountingStorageEnforce", message);
                    self.diagnostics.push(remark.cure("leave it out"));
                }
            } else if !ENFORCE.iter().any(|known| known.eq_ignore_ascii_case(word)) {
                let message = format!("'{}' is unknown", word.chars().take(60).collect::<String>());
                let error = self.place_of("AccountingStorageEnforce").error("AccountingStorageEnforce", message);
                let cure = did_you_mean(
                    word,
                    ENFORCE,
                    "known are associations, limits, qos, safe, nojobs, nosteps, wckeys, all and none",
                );
                self.diagnostics.push(error.cure(cure));
            }
        }
        let has = |name: &str| words.iter().any(|word| word.eq_ignore_ascii_case(name));
        let old = |level: &str| words.contains(&level);
        let all = has("all");
        let safe = all || has("safe");
        let limits = safe || has("limits") || old("2");
        let qos = all || has("qos");
        Enforcement {
            associations: limits || qos || has("associations") || has("wckeys") || old("1"),
            limits,
            qos,
            safe,
            partition_limits: match values.text("EnforcePartLimits").to_ascii_uppercase().as_str() {
                "YES" | "TRUE" | "ALL" => EnforcePartLimits::All,
                "ANY" => EnforcePartLimits::Any,
                _ => EnforcePartLimits::No,
            },
        }
    }
}

/// What happens to preempted jobs. `CHECKPOINT`, of old releases, is read as `REQUEUE`.
pub(super) fn preempt_mode(text: &str) -> PreemptMode {
    text.split(',')
        .find_map(|word| match word.trim().to_ascii_uppercase().as_str() {
            "CANCEL" => Some(PreemptMode::Cancel),
            "REQUEUE" | "CHECKPOINT" => Some(PreemptMode::Requeue),
            "SUSPEND" => Some(PreemptMode::Suspend),
            _ => None,
        })
        .unwrap_or(PreemptMode::Off)
}
