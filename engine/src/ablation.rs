//! First-order rules of scheduling that tests switch off, one at a time, to see that a golden scenario notices.
//!
//! Without the feature `ablation`, which only the engine's own tests turn on, `is_off` is constantly false: nothing of this is
//! left in a shipped engine. With it the switch is the thread's own, so the simulation stays a pure function of its arguments
//! for everyone who doesn't ask for [`without`].

/// A rule of slurm-semantics 9, "first order", items 1 to 7; each hook says in its place what happens instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// 1: backfill keeps the planned nodes free for their job.
    Plans,
    /// 1: a plan hides whole nodes, though the job needs a part of them.
    WholeNodePlans,
    /// 1: every tested job is planned, not the first alone.
    ConservativePlans,
    /// 1: jobs stand in order of tier and priority.
    QueueOrder,
    /// 1: no plan beyond `bf_window`.
    BackfillWindow,
    /// 1: `bf_max_job_test` ends a cycle.
    BackfillDepth,
    /// 1: caps per user, association and partition in a cycle.
    BackfillCaps,
    /// 1: the next cycle comes `bf_interval` after the last.
    BackfillInterval,
    /// 2: a job that doesn't fit blocks its partition for the main scheduler.
    Blocking,
    /// 2: a blocked partition's nodes are lost to overlapping partitions.
    BlockedNodes,
    /// 2: a tick serves a request only when `batch_sched_delay` has passed.
    BatchDelay,
    /// 2: `default_queue_depth`.
    MainDepth,
    /// 3: the fair-share factor.
    FairShare,
    /// 3: running jobs are charged.
    UsageCharging,
    /// 3: usage decays.
    UsageDecay,
    /// 3: the age factor.
    Age,
    /// 3: the QOS factor.
    Qos,
    /// 3: partition tiers.
    Tiers,
    /// 3: priorities are computed anew at each step.
    PrioritySteps,
    /// 3: a job of several partitions has a record in each.
    PartitionRecords,
    /// 4: plans expect jobs to run until their limits.
    LimitsInPlans,
    /// 4: a job that ends early frees its nodes then.
    EarlyEnds,
    /// 4: time limits end jobs.
    TimeLimitKills,
    /// 5: limits of associations and QOS hold.
    Limits,
    /// 5: a job held by a limit blocks nobody.
    LimitsPassBy,
    /// 6: jobs share nodes core by core.
    Cores,
    /// 6: memory is consumed.
    Memory,
    /// 6: a job that asks for no memory gets the default, or all of it.
    MemoryDefaults,
    /// 6: generic resources are consumed.
    Gres,
    /// 6: whole-node jobs share with nobody.
    Exclusive,
    /// 7: nodes that are down serve nobody.
    NodesDown,
    /// 7: reserved nodes are lost to jobs that could reach into the reservation.
    Reservations,
    /// 7: nodes go out of service in the course of time.
    Outages,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 33] = [
        Self::Plans,
        Self::WholeNodePlans,
        Self::ConservativePlans,
        Self::QueueOrder,
        Self::BackfillWindow,
        Self::BackfillDepth,
        Self::BackfillCaps,
        Self::BackfillInterval,
        Self::Blocking,
        Self::BlockedNodes,
        Self::BatchDelay,
        Self::MainDepth,
        Self::FairShare,
        Self::UsageCharging,
        Self::UsageDecay,
        Self::Age,
        Self::Qos,
        Self::Tiers,
        Self::PrioritySteps,
        Self::PartitionRecords,
        Self::LimitsInPlans,
        Self::EarlyEnds,
        Self::TimeLimitKills,
        Self::Limits,
        Self::LimitsPassBy,
        Self::Cores,
        Self::Memory,
        Self::MemoryDefaults,
        Self::Gres,
        Self::Exclusive,
        Self::NodesDown,
        Self::Reservations,
        Self::Outages,
    ];
}

#[cfg(feature = "ablation")]
std::thread_local! {
    static OFF: std::cell::Cell<Option<Rule>> = const { std::cell::Cell::new(None) };
}

/// Whether the rule is switched off on this thread.
#[cfg(feature = "ablation")]
#[inline]
pub(crate) fn is_off(rule: Rule) -> bool {
    OFF.get() == Some(rule)
}

/// No rule can be switched off.
#[cfg(not(feature = "ablation"))]
#[inline(always)]
pub(crate) const fn is_off(_: Rule) -> bool {
    false
}

/// Does something with a rule switched off on this thread; it is back on afterwards, even after a panic.
#[cfg(feature = "ablation")]
pub fn without<T>(rule: Rule, action: impl FnOnce() -> T) -> T {
    struct Back;
    impl Drop for Back {
        fn drop(&mut self) {
            OFF.set(None);
        }
    }
    let _back = Back;
    OFF.set(Some(rule));
    action()
}
