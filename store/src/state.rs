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
        /// Manages tokens, webhooks and limits, and reads the audit log.
        Admin = "admin",
    }
}

text_enum! {
    /// What a token is narrowed to, within its role. Writing and managing include reading the same things.
    Scope {
        /// Reads sites, configurations and traces.
        SitesRead = "sites:read",
        /// Makes sites, uploads and deletes their files.
        SitesWrite = "sites:write",
        /// Reads studies and their results.
        StudiesRead = "studies:read",
        /// Starts, cancels and deletes studies.
        StudiesWrite = "studies:write",
        /// Makes, lists and revokes tokens.
        TokensManage = "tokens:manage",
        /// Makes, reads and deletes webhooks.
        WebhooksManage = "webhooks:manage",
        /// Reads limits and what is used of them.
        QuotasRead = "quotas:read",
        /// Sets limits.
        QuotasManage = "quotas:manage",
        /// Reads the audit log.
        AuditRead = "audit:read",
    }
}

impl Scope {
    /// Whether a token that has this scope may do what needs `other`.
    pub fn includes(self, other: Self) -> bool {
        let stronger = match other {
            Self::SitesRead => Some(Self::SitesWrite),
            Self::StudiesRead => Some(Self::StudiesWrite),
            Self::QuotasRead => Some(Self::QuotasManage),
            _ => None,
        };
        self == other || Some(self) == stronger
    }
}
