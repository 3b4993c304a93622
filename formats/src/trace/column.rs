//! The columns of sacct that matter, and what may stand in them.

use super::job_id::{JobId, number, whole};
use super::states::TraceState;
use super::times::elapsed;

/// What a column holds; decides where a stray delimiter can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A number, or nothing.
    Number,
    /// A number with an optional unit, or nothing.
    Amount,
    /// `name=value` pairs, or nothing.
    Counts,
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

/// The likeliest column to hold a delimiter.
const SUBMIT_LINE: Content = Content::Free(1);

macro_rules! columns {
    (@first $first:literal $(, $other:literal)*) => { str_of($first) };
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

            /// Its name in a header.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$name => columns!(@first $($alias),+),)+ }
            }

            pub(crate) fn content(self) -> Content {
                match self { $(Self::$name => $content,)+ }
            }
        }
    };
}

/// A column's name as text; all are ASCII.
const fn str_of(name: &'static [u8]) -> &'static str {
    match std::str::from_utf8(name) {
        Ok(name) => name,
        Err(_) => "",
    }
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
    NodeList, Content::Word, [b"NodeList"];
    NNodes, Content::Amount, [b"NNodes", b"AllocNodes"];
    ReqNodes, Content::Amount, [b"ReqNodes"];
    NCpus, Content::Amount, [b"NCPUS", b"AllocCPUS"];
    ReqCpus, Content::Amount, [b"ReqCPUS"];
    ReqMem, Content::Amount, [b"ReqMem"];
    ReqTres, Content::Counts, [b"ReqTRES"];
    AllocTres, Content::Counts, [b"AllocTRES"];
    ReqGres, Content::Word, [b"ReqGRES"];
    AllocGres, Content::Word, [b"AllocGRES"];
    Constraints, Content::Free(2), [b"Constraints"];
    Reservation, Content::Word, [b"Reservation"];
    Licenses, Content::Word, [b"Licenses"];
    Suspended, Content::Duration, [b"Suspended"];
    SubmitLine, SUBMIT_LINE, [b"SubmitLine"];
}

impl Column {
    /// Whether people gave the names in it.
    pub(crate) fn names(self) -> bool {
        matches!(self, Self::JobName | Self::User | Self::Account | Self::Partition | Self::Qos | Self::Cluster)
    }

    /// Whether numbers stand in it that may have been written with decimals. A job id `1.0` is a step.
    pub(crate) fn may_have_decimals(self) -> bool {
        matches!(self.content(), Content::Number | Content::Amount | Content::Time) || self == Self::TimelimitRaw
    }
}

/// What a column that the reader does not use may hold.
pub(crate) fn content_of_other(name: &[u8]) -> Content {
    let is = |names: &[&[u8]]| names.iter().any(|other| name.eq_ignore_ascii_case(other));
    if is(&[
        b"Comment",
        b"AdminComment",
        b"SystemComment",
        b"Extra",
        b"WCKey",
        b"Container",
        b"StdIn",
        b"StdOut",
        b"StdErr",
    ]) {
        Content::Free(4)
    } else if is(&[b"WorkDir"]) {
        Content::Path
    } else if is(&[
        b"GID",
        b"Priority",
        b"AssocID",
        b"QOSRAW",
        b"DBIndex",
        b"CPUTimeRAW",
        b"ReservationId",
        b"Restarts",
        b"ResvCPURAW",
    ]) {
        Content::Number
    } else if is(&[
        b"Planned",
        b"Reserved",
        b"CPUTime",
        b"TotalCPU",
        b"UserCPU",
        b"SystemCPU",
        b"PlannedCPU",
        b"ResvCPU",
    ]) {
        Content::Duration
    } else {
        Content::Word
    }
}

impl Content {
    /// How much a text that can stand in such a column surprises there; weighs against other ways to read a row.
    pub(crate) fn strangeness(self, text: &[u8]) -> u32 {
        /// More than any weight of free text.
        const STRANGE: u32 = 100;
        let starts = |start: &[u8]| text.starts_with(start);
        match self {
            Self::Time | Self::Duration if text.is_empty() => STRANGE,
            SUBMIT_LINE
                if !(text.is_empty() || starts(b"/") || starts(b"sbatch") || starts(b"srun") || starts(b"salloc")) =>
            {
                STRANGE
            }
            _ => 0,
        }
    }

    /// Whether a text can stand in such a column. Free text can be anything.
    pub(crate) fn admits(self, text: &[u8]) -> bool {
        match self {
            Self::Number => text.is_empty() || number(whole(text)).is_some(),
            Self::Amount => text.first().is_none_or(|byte| byte.is_ascii_digit() || *byte == b'?'),
            Self::Counts => text.is_empty() || text.contains(&b'='),
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
    let has_year = || text.iter().take(4).all(u8::is_ascii_digit) && text.get(4) == Some(&b'-');
    matches!(text, b"" | b"Unknown" | b"None")
        || (text.len() >= 19 && has_year() && matches!(text.get(10), Some(b'T' | b' ')))
        || (text.len() >= 9 && number(whole(text)).is_some())
}
