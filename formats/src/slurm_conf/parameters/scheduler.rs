//! Options inside `SchedulerParameters` and `PreemptParameters`.

use super::Scope::{PreemptParameters, SchedulerParameters};
use super::{Kind, Parameter};

const fn range(
    name: &'static str,
    min: i64,
    max: i64,
    unit: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Parameter {
    Parameter::modelled(SchedulerParameters, name, Kind::Option { min, max }, unit, default, meaning)
}

const fn flag(name: &'static str, meaning: &'static str) -> Parameter {
    Parameter::modelled(SchedulerParameters, name, Kind::Flag, "", "false", meaning)
}

const fn alias(name: &'static str, of: &'static str) -> Parameter {
    Parameter::alias(SchedulerParameters, name, of, Kind::Option { min: 0, max: U32 })
}

const fn harmless(name: &'static str) -> Parameter {
    Parameter::harmless(SchedulerParameters, name, "no effect on when and where jobs start")
}

const fn not_modelled(name: &'static str, reason: &'static str) -> Parameter {
    Parameter::not_modelled(SchedulerParameters, name, "", reason)
}

const U32: i64 = u32::MAX as i64;

const BACKFILL_TIME: &str = "with CostModel=ideal a backfill cycle takes no time, so it neither yields nor is cut off";

/// Every option known.
pub(super) static PARAMETERS: &[Parameter] = &[
    flag("assoc_limit_stop", "jobs blocked by limits block those behind them"),
    range("batch_sched_delay", 0, U32, "s", "3", "least time between runs of the main scheduler after submissions"),
    flag("bf_busy_nodes", "plans prefer nodes already in use"),
    flag("bf_continue", "a backfill cycle goes on after yielding although jobs or nodes changed")
        .with_time(BACKFILL_TIME),
    range("bf_interval", -1, 10_800, "s", "30", "pause between backfill cycles; -1 is no backfill"),
    range(
        "bf_job_part_count_reserve",
        0,
        100_000,
        "jobs",
        "0",
        "jobs of each partition that get planned starts; 0 is all",
    ),
    flag("bf_hetjob_immediate", "heterogeneous jobs start within the cycle, not after the queue"),
    Parameter::modelled(
        SchedulerParameters,
        "bf_hetjob_prio",
        Kind::OneOf(&["min", "avg", "max"]),
        "",
        "",
        "whose priority all components of a heterogeneous job stand with in the queue",
    ),
    flag("bf_licenses", "backfill plans licences"),
    range("bf_max_job_array_resv", 0, 1000, "tasks", "20", "planned starts of one array"),
    range("bf_max_job_assoc", 0, U32, "jobs", "0", "jobs of an association tested in a backfill cycle; 0 is unlimited"),
    range("bf_max_job_part", 0, U32, "jobs", "0", "jobs of a partition tested in a backfill cycle; 0 is unlimited"),
    range("bf_max_job_start", 0, 10_000, "jobs", "0", "jobs started in a backfill cycle; 0 is unlimited"),
    range("bf_max_job_test", 1, 1_000_000, "jobs", "500", "jobs tested in a backfill cycle"),
    range(
        "bf_max_job_user",
        0,
        U32,
        "jobs",
        "0",
        "jobs of a user (in each account) tested in a backfill cycle; 0 is unlimited",
    ),
    range(
        "bf_max_job_user_part",
        0,
        U32,
        "jobs",
        "0",
        "jobs of a user in a partition tested in a backfill cycle; 0 is unlimited",
    ),
    range("bf_max_time", 1, 3600, "s", "=bf_interval", "time after which a backfill cycle ends")
        .with_time(BACKFILL_TIME),
    range("bf_min_age_reserve", 0, 2_592_000, "s", "0", "age from which jobs get planned starts"),
    range("bf_min_prio_reserve", 0, U32, "", "0", "priority from which jobs get planned starts"),
    range("bf_node_space_size", 2, 2_000_000, "records", "=bf_max_job_test", "slots of the backfill plan"),
    flag("bf_one_resv_per_job", "one planned start for a job in several partitions"),
    range("bf_resolution", 1, 3600, "s", "60", "rounding of the backfill plan"),
    flag("bf_running_job_reserve", "running whole-node jobs stand in the plan"),
    flag("time_min_as_soft_limit", "jobs that backfill starts with --time-min keep their limit (from 23.11 on)"),
    range("bf_window", 1, 43_200, "min", "1440", "how far backfill plans ahead"),
    range("bf_window_linear", 0, U32, "s", "0", "linear steps of the end times tested; 0 doubles them"),
    range("bf_yield_interval", 1, 10_000_000, "µs", "2000000", "work between two yields of a backfill cycle")
        .with_time(BACKFILL_TIME),
    range("bf_yield_sleep", 1, 10_000_000, "µs", "500000", "length of a yield").with_time(BACKFILL_TIME),
    range("default_queue_depth", 0, U32, "jobs", "100", "jobs tested by a run of the main scheduler"),
    flag("defer", "no start at submission, fewer runs of the main scheduler"),
    range("max_sched_time", 1, U32, "s", "2", "time after which a run of the main scheduler ends")
        .with_time("with CostModel=ideal starts in the main scheduler take no time"),
    flag("pack_serial_at_end", "one-CPU jobs are placed on the last nodes"),
    range(
        "partition_job_depth",
        0,
        U32,
        "jobs",
        "0",
        "jobs of each partition tested by the main scheduler; 0 is unlimited",
    ),
    range("preempt_reorder_count", 0, U32, "", "1", "attempts to find better victims"),
    flag("preempt_strict_order", "victims are found in strict order"),
    flag("preempt_youngest_first", "the youngest jobs are preempted first"),
    flag("spec_cores_first", "CoreSpecCount keeps the first cores, not the last"),
    flag("reduce_completing_frag", "CompleteWait holds back only the partitions concerned"),
    range("max_switch_wait", 0, U32, "s", "300", "how long a job waits for few switches at most"),
    range("sched_interval", -1, U32, "s", "60", "period of the main scheduler's full runs; -1 is no main scheduler"),
    range("sched_max_job_start", 0, U32, "jobs", "0", "jobs started by a run of the main scheduler; 0 is unlimited"),
    range("sched_min_interval", 0, 1_000_000_000, "µs", "2", "least time between runs of the main scheduler"),
    alias("interval", "bf_interval"),
    alias("max_job_bf", "bf_max_job_test"),
    Parameter::modelled(PreemptParameters, "reorder_count", Kind::NATURAL, "", "1", "attempts to find better victims"),
    Parameter::modelled(
        PreemptParameters,
        "strict_order",
        Kind::Flag,
        "",
        "false",
        "victims are found in strict order",
    ),
    Parameter::modelled(
        PreemptParameters,
        "youngest_first",
        Kind::Flag,
        "",
        "false",
        "the youngest jobs are preempted first",
    ),
    Parameter::not_modelled(PreemptParameters, "min_exempt_priority", "", "jobs are not exempt by priority"),
    Parameter::not_modelled(PreemptParameters, "reclaim_licenses", "", "jobs are not preempted for licences"),
    Parameter::not_modelled(PreemptParameters, "suspend_grace_time", "", "suspending takes no time"),
    Parameter::harmless(PreemptParameters, "send_user_signal", "no effect on when and where jobs start"),
    not_modelled("bf_allow_magnetic_slot", "magnetic reservations follow the default"),
    not_modelled("bf_ignore_newly_avail_nodes", "the releases modelled always do what it asked for"),
    not_modelled("bf_topopt_enable", "backfill does not try several start times for a better topology"),
    not_modelled("bf_topopt_iterations", "backfill does not try several start times for a better topology"),
    not_modelled("build_queue_timeout", "building the queue never times out"),
    not_modelled(
        "correspond_after_task_cnt",
        "up to ten tasks of an array that waits for another get records of their own, the default",
    ),
    not_modelled("delay_boot", "nodes do not reboot"),
    not_modelled("max_rpc_cnt", "the load of remote calls is not simulated"),
    not_modelled("max_rpc_count", "the load of remote calls is not simulated"),
    not_modelled("bf_yield_rpc_cnt", "the load of remote calls is not simulated"),
    not_modelled("bf_yield_rpc_count", "the load of remote calls is not simulated"),
    not_modelled("extra_constraints", "jobs' extra constraints are not in traces"),
    not_modelled("requeue_delay", "jobs queued again wait as by default"),
    harmless("allow_zero_lic"),
    harmless("assoc_limit_continue"),
    harmless("bb_array_stage_cnt"),
    harmless("CheckGhalQuiesce"),
    harmless("default_gbytes"),
    harmless("enable_job_state_cache"),
    harmless("defer_batch"),
    harmless("disable_hetjob_steps"),
    harmless("disable_job_shrink"),
    harmless("disable_user_top"),
    harmless("enable_hetjob_steps"),
    harmless("enable_user_top"),
    harmless("Ignore_NUMA"),
    harmless("ignore_constraint_validation"),
    harmless("ignore_prefer_validation"),
    harmless("inventory_interval"),
    Parameter::harmless(SchedulerParameters, "kill_invalid_depend", "it has moved to DependencyParameters in 20.02"),
    harmless("max_array_tasks"),
    harmless("max_depend_depth"),
    harmless("max_script_size"),
    harmless("max_submit_line_size"),
    harmless("no_backup_scheduling"),
    harmless("no_env_cache"),
    harmless("nohold_on_prolog_fail"),
    harmless("permit_job_expansion"),
    harmless("preempt_send_user_signal"),
    harmless("requeue_on_resume_failure"),
    harmless("requeue_setup_env_fail"),
    harmless("salloc_wait_nodes"),
    harmless("sbatch_wait_nodes"),
    harmless("step_retry_count"),
    harmless("step_retry_time"),
    harmless("whole_hetjob"),
    harmless("whole_pack"),
];
