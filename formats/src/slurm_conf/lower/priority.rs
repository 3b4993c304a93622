//! Job priorities.

use foresite_engine::cluster::Tres;
use foresite_engine::policy::{PriorityPolicy, SlurmVersion, UsageReset};

use super::Lowering;
use crate::diagnostic::Severity;
use crate::slurm_conf::value::Span;

impl Lowering<'_> {
    pub(super) fn priority_policy(&mut self) -> PriorityPolicy {
        let values = self.globals();
        let multifactor = match values.setting("PriorityType") {
            Some(setting) => !setting.value.eq_ignore_ascii_case("priority/basic"),
            None => self.version >= SlurmVersion::V23_11,
        };
        let has_flag = |flag: &str| values.has_word("PriorityFlags", flag);
        let all_raw = has_flag("NO_NORMAL_ALL");
        let mut policy = PriorityPolicy {
            no_steps: false,
            multifactor,
            weight_age: values.number("PriorityWeightAge"),
            weight_assoc: values.number("PriorityWeightAssoc"),
            weight_fairshare: values.number("PriorityWeightFairshare"),
            weight_job_size: values.number("PriorityWeightJobSize"),
            weight_partition: values.number("PriorityWeightPartition"),
            weight_qos: values.number("PriorityWeightQOS"),
            weight_tres: self.priority_tres_weights(),
            max_age: self.max_age(),
            calc_period: self.seconds("PriorityCalcPeriod", false),
            decay_half_life: self.seconds("PriorityDecayHalfLife", true),
            usage_reset: match values.text("PriorityUsageResetPeriod").to_ascii_uppercase().as_str() {
                "NOW" => UsageReset::Now,
                "DAILY" => UsageReset::Daily,
                "WEEKLY" => UsageReset::Weekly,
                "MONTHLY" => UsageReset::Monthly,
                "QUARTERLY" => UsageReset::Quarterly,
                "YEARLY" => UsageReset::Yearly,
                _ => UsageReset::None,
            },
            dampening: values.number("FairShareDampeningFactor").max(1),
            favor_small: values.flag("PriorityFavorSmall"),
            accrue_always: has_flag("ACCRUE_ALWAYS"),
            calculate_running: has_flag("CALCULATE_RUNNING"),
            depth_oblivious: has_flag("DEPTH_OBLIVIOUS"),
            no_fair_tree: has_flag("NO_FAIR_TREE") || has_flag("DEPTH_OBLIVIOUS"),
            increase_only: has_flag("INCR_ONLY"),
            max_tres: has_flag("MAX_TRES"),
            max_tres_gres: has_flag("MAX_TRES_GRES"),
            no_normal_assoc: all_raw || has_flag("NO_NORMAL_ASSOC"),
            no_normal_part: all_raw || has_flag("NO_NORMAL_PART"),
            no_normal_qos: all_raw || has_flag("NO_NORMAL_QOS"),
            no_normal_tres: all_raw || has_flag("NO_NORMAL_TRES"),
            small_relative_to_time: has_flag("SMALL_RELATIVE_TO_TIME"),
        };
        if policy.decay_half_life == 0 && self.conf.globals.get("PriorityUsageResetPeriod").is_none() {
            // read_config.c of 22.05.8, `validate_and_set_defaults`.
            let message = "slurmctld does not start with 0 where PriorityUsageResetPeriod is not given; simulated: usage never decays";
            let remark =
                self.place_of("PriorityDecayHalfLife").remark(Severity::Warning, "PriorityDecayHalfLife", message);
            self.diagnostics.push(remark.cure("give PriorityUsageResetPeriod, be it NONE"));
        }
        self.without_database(&mut policy);
        policy
    }

    /// Without slurmdbd, slurmctld forces the weights of age and fair share to zero, and has no priority thread
    /// (priority_multifactor.c, `init`, of 22.05.8).
    fn without_database(&mut self, policy: &mut PriorityPolicy) {
        let have_weights = policy.weight_age > 0 || policy.weight_fairshare > 0;
        match self.globals().setting("AccountingStorageType") {
            _ if !policy.multifactor => {}
            None if !have_weights => {}
            None => self.note(
                Severity::Assumed,
                "AccountingStorageType",
                "not set: taken as accounting_storage/slurmdbd, since age or fair share have weights",
            ),
            Some(setting)
                if setting.value.to_ascii_lowercase().ends_with("slurmdbd")
                    || setting.value.to_ascii_lowercase().ends_with("mysql") => {}
            Some(_) => {
                let message = "without slurmdbd, slurmctld takes PriorityWeightAge and PriorityWeightFairshare as 0 and works out no \
                               priority anew, and so does this";
                self.note(Severity::Warning, "AccountingStorageType", message);
                (policy.weight_age, policy.weight_fairshare, policy.no_steps) = (0, 0, true);
            }
        }
    }

    /// Seconds after which an age counts whole; with zero any does (priority_multifactor.c of 22.05.8, `set_priority_factors`).
    fn max_age(&mut self) -> u32 {
        match self.globals().span("PriorityMaxAge") {
            Some(Span::Seconds(0)) => 0,
            _ => self.seconds("PriorityMaxAge", false),
        }
    }

    /// A time in seconds; zero is a fault unless it means something.
    fn seconds(&mut self, name: &str, zero_is_allowed: bool) -> u32 {
        let seconds = match self.globals().span(name) {
            Some(Span::Unlimited) if zero_is_allowed => 0,
            Some(span) => span.seconds(),
            None => 0,
        };
        if seconds == 0 && !zero_is_allowed {
            let error = self.place_of(name).error(name, "the time must be longer than zero");
            self.diagnostics.push(error.cure("write minutes, or days-hours:minutes:seconds"));
            return 60;
        }
        seconds
    }

    fn priority_tres_weights(&mut self) -> Vec<(Tres, f64)> {
        let Some(setting) = self.conf.globals.get("PriorityWeightTRES") else { return Vec::new() };
        let list = crate::slurm_conf::parameters::weights(&setting.value).unwrap_or_default();
        self.remark_on_untracked(setting, "PriorityWeightTRES", &list);
        let (weights, faults) = self.tres.weights(&list);
        for fault in faults {
            self.diagnostics.push(setting.place.remark(Severity::NotModelled, "PriorityWeightTRES", fault));
        }
        weights
    }
}
