//! The states of studies and tasks, and other closed sets of words.

use crate::text_enum::text_enum;

text_enum! {
    /// Where a study stands. `succeeded`, `failed` and `cancelled` are final.
    StudyState {
        /// No task has started.
        Queued = "queued",
        /// A task has started.
        Running = "running",
        /// The comparison exists.
        Succeeded = "succeeded",
        /// A task failed for the last time.
        Failed = "failed",
        /// Cancelled by a user while tasks ran; they are being stopped.
        Cancelling = "cancelling",
        /// Cancelled, and nothing runs.
        Cancelled = "cancelled",
    }
}

impl StudyState {
    /// Whether nothing will change any more.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

text_enum! {
    /// Where a task stands. `succeeded`, `failed` and `cancelled` are final.
    TaskState {
        /// Waits for a worker.
        Queued = "queued",
        /// A worker holds its lease.
        Running = "running",
        /// Its results are stored.
        Succeeded = "succeeded",
        /// It failed `max_failures` times.
        Failed = "failed",
        /// Its study was cancelled or failed.
        Cancelled = "cancelled",
    }
}

text_enum! {
    /// What a task does.
    TaskKind {
        /// Simulates some replications of one scenario.
        Replicate = "replicate",
        /// Makes the comparison from all schedules.
        Summarize = "summarize",
    }
}

text_enum! {
    /// What a token may do within its tenant; each role includes those before it.
    Role {
        /// Reads.
        Viewer = "viewer",
        /// Uploads, starts and cancels studies.
        Operator = "operator",
        /// Manages tokens and limits.
        Admin = "admin",
    }
}
