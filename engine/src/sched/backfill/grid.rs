//! The grid that plans begin and end on: `bf_resolution`, by the controller's clock. Source: slurm-semantics 3.3.

use crate::simulation::Controller;

/// The grid, against the trace's times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// `bf_resolution` [s].
    pub(super) resolution: i64,
    /// How far the controller's clock is ahead of the trace's [s].
    ahead: i64,
}

impl Grid {
    /// Of a scenario's backfill.
    pub(super) fn of(controller: &Controller<'_>) -> Self {
        let resolution = i64::from(controller.scenario.policy.backfill.resolution.max(1));
        Self { resolution, ahead: controller.timers.clock_ahead }
    }

    /// The last line not after a time [Unix s].
    pub(super) fn floor(self, time: i64) -> i64 {
        time - (time + self.ahead).rem_euclid(self.resolution)
    }

    /// The first line not before a time [Unix s].
    pub(super) fn ceil(self, time: i64) -> i64 {
        self.floor(time + self.resolution - 1)
    }
}
