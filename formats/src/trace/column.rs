//! The columns of sacct that matter, and what may stand in them.

use super::job_id::{JobId, number};
use super::states::TraceState;
use super::times::elapsed;

/// What a column holds; decides where a stray delimiter can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A number, or nothing.
    Number,
    /// A time stamp or a word for none.
    Time,
    /// A duration, or nothing.
    Duration,
    /// A state.
    State,
    /// A job id.
    JobId,
    /// An absolute path, or nothing.
    Path,
    /// One word that never holds a delimiter.
    Word,
    /// Free text that may hold a delimiter; the number orders which of several is likelier to.
    Free(u32),
}

macro_rules! columns {
    ($($name:ident, $content:expr, [$($alias:literal),+];)+) => {
        /// A column the reader uses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Column {
            $($name,)+
        }

        impl Column {
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)+];
            pub(crate) const COUNT: usize = Self::ALL.len();

            /// The column of a header's name, whatever its case.
            pub(crate) fn named(name: &[u8]) -> Option<Self> {
                $($(if name.eq_ignore_ascii_case($alias) { return Some(Self::$name); })+)+
                None
            }

            pub(crate) fn content(self) -> Content {
                match self { $(Self::$name => $content,)+ }
            }
        }
    };
}

columns! {
    JobId, Content::JobId, [b"JobID"];
    JobIdRaw, Content::JobId, [b"JobIDRaw"];
    JobName, Content::Free(3), [b"JobName"];
    Cluster, Content::Word, [b"Cluster"];
    User, Content::Word, [b"User"];
    Uid, Content::Number, [b"UID"];
    Account, Content::Word, [b"Account"];
    Partition, Content::Word, [b"Partition"];
    Qos, Content::Word, [b"QOS"];
    Submit, Content::Time, [b"Submit"];
    Eligible, Content::Time, [b"Eligible"];
    Start, Content::Time, [b"Start"];
    End, Content::Time, [b"End"];
    Elapsed, Content::Duration, [b"Elapsed"];
    ElapsedRaw, Content::Number, [b"ElapsedRaw"];
    State, Content::State, [b"State"];
    Timelimit, Content::Word, [b"Timelimit"];
    TimelimitRaw, Content::Word, [b"TimelimitRaw"];
    NNodes, Content::Word, [b"NNodes", b"AllocNodes"];
    ReqNodes, Content::Word, [b"ReqNodes"];
    NCpus, Content::Word, [b"NCPUS", b"AllocCPUS"];
    ReqCpus, Content::Word, [b"ReqCPUS"];
    ReqMem, Content::Word, [b"ReqMem"];
    ReqTres, Content::Word, [b"ReqTRES"];
    AllocTres, Content::Word, [b"AllocTRES"];
    ReqGres, Content::Word, [b"ReqGRES"];
    Constraints, Content::Free(2), [b"Constraints"];
    Reservation, Content::Word, [b"Reservation"];
    Licenses, Content::Word, [b"Licenses"];
    Suspended, Content::Duration, [b"Suspended"];
    SubmitLine, Content::Free(1), [b"SubmitLine"];
}

/// What a column that the reader does not use may hold.
pub(crate) fn content_of_other(name: &[u8]) -> Content {
    let is = |names: &[&[u8]]| names.iter().any(|other| name.eq_ignore_ascii_case(other));
    if is(&[b"Comment", b"AdminComment", b"SystemComment", b"Extra", b"WCKey", b"Container", b"StdIn", b"StdOut", b"StdErr"]) {
        Content::Free(4)
    } else if is(&[b"WorkDir"]) {
        Content::Path
    } else if is(&[b"GID", b"Priority", b"AssocID", b"QOSRAW", b"DBIndex", b"CPUTimeRAW", b"ReservationId", b"Restarts", b"ResvCPURAW"]) {
        Content::Number
    } else if is(&[b"Planned", b"Reserved", b"CPUTime", b"TotalCPU", b"UserCPU", b"SystemCPU", b"PlannedCPU", b"ResvCPU"]) {
        Content::Duration
    } else {
        Content::Word
    }
}

impl Content {
    /// Whether a text can stand in such a column. Free text can be anything.
    pub(crate) fn admits(self, text: &[u8]) -> bool {
        match self {
            Self::Number => text.is_empty() || number(text).is_some(),
            Self::Time => looks_like_time(text),
            Self::Duration => elapsed(text).is_some(),
            Self::State => TraceState::parse(text).is_some(),
            Self::JobId => JobId::parse(text).is_some(),
            Self::Path => text.is_empty() || text.first() == Some(&b'/'),
            Self::Word => !text.starts_with(b" ") && !text.ends_with(b" "),
            Self::Free(_) => true,
        }
    }
}

/// Whether a text has the shape of a time stamp, or is a word for none.
pub(crate) fn looks_like_time(text: &[u8]) -> bool {
    matches!(text, b"" | b"Unknown" | b"None")
        || (text.len() >= 19 && text.get(4) == Some(&b'-') && matches!(text.get(10), Some(b'T' | b' ')))
        || (text.len() >= 9 && number(text).is_some())
}
