//! The choices that papers and peers make silently when they say "EASY" or "conservative".
//!
//! Tools that differ in one of them differ by a factor of up to 8.6 in mean wait on the same log, so each has a name
//! here. The defaults are those of the schedules on which independent simulators agree start for start.
//! One choice is fixed: the machine is one counter of processors. A job may take CPUs on any nodes, and geometry
//! never refuses a start; node lists are written for the schedule file only.

/// How a plain algorithm decides where the literature leaves it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlainOptions {
    /// What happens between two passes.
    pub batching: Batching,
    /// Whether a backfilled job may end exactly when the head's planned start begins (EASY).
    pub shadow_bound: ShadowBound,
    /// Whether processors that the head will not need may be taken for longer (EASY).
    pub extra_processors: ExtraProcessors,
    /// When the head's planned start is computed (EASY).
    pub shadow_refresh: ShadowRefresh,
    /// What happens to planned starts when a job ends early (conservative).
    pub compression: Compression,
    /// What happens to a job whose run time exceeds its requested time.
    pub overrun: Overrun,
}

/// How events of the same second are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Batching {
    /// All completions of the second, then cancellations, then submissions, then one pass.
    #[default]
    PerTimestamp,
    /// One pass after every event: submissions first, then cancellations, then completions.
    PerEvent,
}

/// The comparison of a backfilled job's expected end with the shadow time (the head's planned start).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShadowBound {
    /// `end <= shadow`.
    #[default]
    AtOrBefore,
    /// `end < shadow`.
    Before,
}

/// The rule for processors that stay free at the shadow time after the head has started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExtraProcessors {
    /// A job that ends after the shadow time may start on them, and uses them up.
    #[default]
    Consumed,
    /// Only jobs that end by the shadow time are backfilled.
    Unused,
}

/// When shadow time and extra processors are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShadowRefresh {
    /// Afresh at every pass, so that early ends pull the head forward.
    #[default]
    EveryPass,
    /// Once, when a job becomes the blocked head; early ends then never tighten it.
    OncePerHead,
}

/// What conservative backfilling does with planned starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// At every completion (and cancellation) each waiting job, in submit order, is taken out of the plan and put back
    /// at its earliest place, never later.
    #[default]
    EveryCompletion,
    /// A planned start is kept; only later submissions use what early ends free.
    Never,
}

/// What happens when a trace's run time exceeds the requested time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overrun {
    /// The run time stands, and the requested time is raised to it.
    #[default]
    RaiseEstimate,
    /// The job is killed at its requested time and ends as `TIMEOUT`.
    Kill,
}
