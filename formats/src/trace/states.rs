//! Job states as sacct words them.

use foresite_engine::outcome::JobState;
use serde::{Deserialize, Serialize};

/// How a job stood when the trace was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TraceState {
    /// `COMPLETED`: ended by itself with exit code 0.
    Completed,
    /// `FAILED`, `OUT_OF_MEMORY` and the like: ended otherwise.
    Failed,
    /// `NODE_FAIL`: ended with its node; if a later row follows, it was queued again.
    NodeFail,
    /// `TIMEOUT`: ended by its limit.
    Timeout,
    /// `CANCELLED`, `REVOKED`, `DEADLINE`: ended, or removed from the queue, by somebody.
    Cancelled,
    /// `PENDING`, `REQUEUE_HOLD` and the like: still in the queue.
    Pending,
    /// `RUNNING`, `SUSPENDED`, `COMPLETING` and the like: still on its nodes.
    Running,
    /// `REQUEUED`: an incarnation that was put back into the queue.
    Requeued,
    /// `PREEMPTED`: ended for another job's sake; if a later row follows, it was queued again.
    Preempted,
    /// `RESIZING`: the part of a run before the job's size changed; a later row has what follows.
    Resizing,
}

impl TraceState {
    /// Reads a State field (`CANCELLED by 123`, `CANCELLED+`); `None` for a word that Slurm does not have.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let end = text.iter().position(|byte| matches!(byte, b' ' | b'+' | b',')).unwrap_or(text.len());
        Some(match text.get(..end)? {
            b"COMPLETED" | b"CD" => Self::Completed,
            b"FAILED" | b"F" | b"OUT_OF_MEMORY" | b"OOM" | b"OUT_OF_ME" | b"BOOT_FAIL" | b"BF" | b"LAUNCH_FAILED"
            | b"SPECIAL_EXIT" | b"RECONFIG_FAIL" => Self::Failed,
            b"TIMEOUT" | b"TO" => Self::Timeout,
            b"CANCELLED" | b"CA" | b"REVOKED" | b"RV" | b"DEADLINE" | b"DL" => Self::Cancelled,
            b"PENDING" | b"PD" | b"REQUEUE_HOLD" | b"REQUEUE_FED" | b"RESV_DEL_HOLD" => Self::Pending,
            b"RUNNING" | b"R" | b"SUSPENDED" | b"S" | b"COMPLETING" | b"CG" | b"CONFIGURING" | b"CF" | b"SIGNALING"
            | b"STAGE_OUT" | b"STOPPED" | b"POWER_UP_NODE" | b"UPDATE_DB" => Self::Running,
            b"NODE_FAIL" | b"NF" => Self::NodeFail,
            b"REQUEUED" | b"RQ" => Self::Requeued,
            b"PREEMPTED" | b"PR" => Self::Preempted,
            b"RESIZING" | b"RS" => Self::Resizing,
            _ => return None,
        })
    }

    /// How a job ends where nothing else ends it before. Who is TIMEOUT did well until then: if it ends by itself after all, it is COMPLETED
    /// or, late, TIMEOUT again (job_mgr.c of 22.05.8, `_job_complete`).
    pub(crate) fn ends(self) -> JobState {
        match self {
            Self::Completed | Self::Timeout => JobState::Completed,
            Self::Cancelled => JobState::Cancelled,
            Self::NodeFail => JobState::NodeFail,
            _ => JobState::Failed,
        }
    }
}

/// Whether a State field says that the job could not meet its deadline.
pub(crate) fn missed_deadline(text: &[u8]) -> bool {
    text.starts_with(b"DEADLINE") || text == b"DL"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_after_the_state_are_ignored_and_unknown_words_are_not_guessed() {
        assert_eq!(TraceState::parse(b"CANCELLED by 1185300516"), Some(TraceState::Cancelled));
        assert_eq!(TraceState::parse(b"CANCELLED+"), Some(TraceState::Cancelled));
        assert_eq!(TraceState::parse(b"OUT_OF_MEMORY"), Some(TraceState::Failed));
        assert_eq!(TraceState::parse(b"REQUEUED"), Some(TraceState::Requeued));
        assert_eq!(TraceState::parse(b"PREEMPTED"), Some(TraceState::Preempted));
        assert_eq!(TraceState::parse(b"NODE_FAIL"), Some(TraceState::NodeFail));
        assert_eq!(TraceState::parse(b"RESIZING"), Some(TraceState::Resizing));
        assert_eq!(TraceState::parse(b"EXPLODED"), None);
        assert_eq!(TraceState::parse(b""), None);
    }
}
