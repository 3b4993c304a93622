//! `SchedulerParameters`.

use foresite_engine::policy::{BackfillPolicy, HetjobPriority, MainPolicy, Scheduler};

use super::{Lowering, Values};
use crate::diagnostic::Severity;
use crate::slurm_conf::Scope;
use crate::slurm_conf::settings::Setting;
use crate::slurm_conf::value::leading;

/// How many jobs the agent of `sched/builtin` tests where nothing is said (builtin.c of 22.05.8).
const BUILTIN_MAX_JOB_TEST: u32 = 50;

/// How long it sleeps where nothing is said, or no number [s].
const BUILTIN_INTERVAL: u32 = 30;

impl<'a> Lowering<'a> {
    pub(super) fn scheduler_parameters(&self) -> Values<'a> {
        Values::new(&self.conf.scheduler_parameters, Scope::SchedulerParameters)
    }

    pub(super) fn main_policy(&self) -> MainPolicy {
        let values = self.scheduler_parameters();
        MainPolicy {
            batch_sched_delay: values.number("batch_sched_delay"),
            sched_interval: values.integer("sched_interval"),
            sched_min_interval_us: values.number("sched_min_interval").into(),
            default_queue_depth: values.number("default_queue_depth"),
            partition_job_depth: values.number("partition_job_depth"),
            sched_max_job_start: values.number("sched_max_job_start"),
            max_sched_time: self.max_sched_time(&values),
            defer: values.flag("defer"),
            assoc_limit_stop: values.flag("assoc_limit_stop"),
            reduce_completing_frag: values.flag("reduce_completing_frag"),
        }
    }

    /// How long the agent of `sched/builtin` sleeps [s], which is `interval` if a what-if says that: it looks for `interval=` in the whole list, and takes
    /// the number of the first option whose name ends so (builtin.c of 22.05.8 to 26.05, `_load_config`; rec w2225, w2165).
    fn builtin_interval(&mut self, interval: Option<u32>) -> Option<u32> {
        const WORD: &str = "interval=";
        let is_what_if = |setting: &Setting| setting.place.line.is_none();
        if self.scheduler_parameters().setting("bf_interval").is_some_and(is_what_if) {
            return interval;
        }
        let list = self.globals().text("SchedulerParameters").to_ascii_lowercase();
        let Some((before, behind)) = list.split_once(WORD) else { return Some(BUILTIN_INTERVAL) };
        let seconds = leading(behind).and_then(|seconds| u32::try_from(seconds).ok()).filter(|&seconds| seconds > 0);
        let seconds = seconds.unwrap_or(BUILTIN_INTERVAL);
        if Some(seconds) != interval {
            let word: String = before.chars().rev().take_while(|it| it.is_ascii_alphanumeric() || *it == '_').collect();
            let name: String = word.chars().rev().collect();
            let message = format!(
                "sched/builtin takes the number of the first option that ends in '{WORD}', which is {name}{WORD}: its agent, which works out sizes for \
                 priorities, sleeps {seconds} s"
            );
            self.note(Severity::Warning, "SchedulerParameters", message);
        }
        Some(seconds)
    }

    /// The default is half of MessageTimeout, at least 1 and at most 2 seconds.
    fn max_sched_time(&self, values: &Values) -> u32 {
        match values.setting("max_sched_time") {
            Some(_) => values.number("max_sched_time"),
            None => (self.globals().number("MessageTimeout") / 2).clamp(1, 2),
        }
    }

    pub(super) fn backfill_policy(&mut self, scheduler: Scheduler) -> BackfillPolicy {
        let values = self.scheduler_parameters();
        let mut interval = values.integer("bf_interval");
        if interval == Some(0) {
            let place =
                values.setting("bf_interval").map_or_else(|| self.whole_file(), |setting| setting.place.clone());
            let severity = if place.line.is_some() { Severity::Warning } else { Severity::Error };
            let message = "0 is not between 1 and 10800, nor -1; slurmctld takes 30, and so does this";
            let remark = place.remark(severity, "SchedulerParameters.bf_interval", message);
            self.diagnostics.push(remark.cure("write -1 for no backfill"));
            interval = Some(30);
        }
        if scheduler == Scheduler::SlurmBuiltin {
            interval = self.builtin_interval(interval);
        }
        let running_job_reserve = values.flag("bf_running_job_reserve") || values.flag("bf_licenses");
        if values.number("bf_max_job_user_part") > 0
            && values.number("bf_max_job_part") > 0
            && values.number("bf_max_job_user_part") > values.number("bf_max_job_part")
        {
            self.note(
                Severity::Warning,
                "SchedulerParameters",
                "bf_max_job_user_part exceeds bf_max_job_part and so has no effect",
            );
        }
        BackfillPolicy {
            interval,
            max_time: values.setting("bf_max_time").and_then(|_| values.integer("bf_max_time")),
            window: values.number("bf_window"),
            resolution: values.number("bf_resolution"),
            max_job_test: match values.setting("bf_max_job_test") {
                None if scheduler == Scheduler::SlurmBuiltin => BUILTIN_MAX_JOB_TEST,
                _ => values.number("bf_max_job_test"),
            },
            max_job_part: values.number("bf_max_job_part"),
            max_job_user: values.number("bf_max_job_user"),
            max_job_assoc: values.number("bf_max_job_assoc"),
            max_job_user_part: values.number("bf_max_job_user_part"),
            max_job_start: values.number("bf_max_job_start"),
            max_job_array_resv: values.number("bf_max_job_array_resv"),
            node_space_size: values.setting("bf_node_space_size").and_then(|_| values.integer("bf_node_space_size")),
            job_part_count_reserve: values.number("bf_job_part_count_reserve"),
            min_age_reserve: values.number("bf_min_age_reserve"),
            min_prio_reserve: values.number("bf_min_prio_reserve"),
            one_resv_per_job: values.flag("bf_one_resv_per_job"),
            continue_after_yield: values.flag("bf_continue"),
            yield_interval_us: values.number("bf_yield_interval").into(),
            yield_sleep_us: values.number("bf_yield_sleep").into(),
            running_job_reserve,
            licenses: values.flag("bf_licenses"),
            busy_nodes: values.flag("bf_busy_nodes"),
            hetjob_immediate: values.flag("bf_hetjob_immediate"),
            time_min_is_soft: values.flag("time_min_as_soft_limit"),
            hetjob_prio: match values.text("bf_hetjob_prio").to_ascii_lowercase().as_str() {
                "min" => Some(HetjobPriority::Min),
                "avg" => Some(HetjobPriority::Average),
                "max" => Some(HetjobPriority::Max),
                _ => None,
            },
            window_linear: values.number("bf_window_linear"),
        }
    }
}
