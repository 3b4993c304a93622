//! Which field of a row holds which column: from a header, from the fixed form of Open XDMoD, or from `key=value` rows.

use super::column::{Column, Content, content_of_other, looks_like_time};
use super::job_id::JobId;
use super::row::{Cut, RowCutter};
use super::times::limit_field;

/// How rows are cut into fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Fields between delimiters, in a fixed order.
    Delimited(Box<Delimited>),
    /// `JobID=1,User=x,"AllocTRES=cpu=1,mem=2G"`: names with every value.
    KeyValue,
}

/// Fields between delimiters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delimited {
    /// The delimiter.
    pub(crate) delimiter: Vec<u8>,
    /// Whether a row ends with a delimiter (`--parsable`).
    pub(crate) trailing: bool,
    /// What each field holds.
    pub(crate) contents: Vec<Content>,
    /// The field of each [`Column`].
    pub(crate) fields: [Option<usize>; Column::COUNT],
}

/// Why the first line of a file tells no layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayoutError {
    /// Columns of fixed width, which sacct cuts off.
    FixedWidth,
    /// Rows, and nothing that names their columns.
    NoHeader,
    /// Not sacct's output.
    Unknown,
}

impl Layout {
    /// The columns it names; all of them for `key=value` rows.
    pub(crate) fn has(&self, column: Column) -> bool {
        match self {
            Self::Delimited(delimited) => delimited.field(column).is_some(),
            Self::KeyValue => true,
        }
    }

    /// The layout of a file by its first line; true if that line is a header.
    pub(crate) fn detect(line: &[u8]) -> Result<(Self, bool), LayoutError> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if let Some(delimiter) = header_delimiter(line) {
            if delimiter.iter().all(|&byte| byte == b' ') {
                return Err(LayoutError::FixedWidth);
            }
            let layout = Delimited::from_header(line, delimiter);
            // A command line may name columns, too.
            if layout.fields.iter().any(Option::is_some) {
                return Ok((Self::Delimited(Box::new(layout)), true));
            }
        }
        let start = line.get(..line.len().min(200)).unwrap_or(line);
        if memchr::memmem::find(start, b"JobID=").is_some_and(|at| at == 0 || line.get(at - 1) == Some(&b',')) {
            return Ok((Self::KeyValue, false));
        }
        match Delimited::of_xdmod(line).map(|layout| Self::Delimited(Box::new(layout))) {
            Some(layout) if !layout.is_too_narrow(line) => Ok((layout, false)),
            _ if is_row(line) => Err(LayoutError::NoHeader),
            _ => Err(LayoutError::Unknown),
        }
    }

    /// Whether a row has more fields than this names, and not for delimiters in them.
    fn is_too_narrow(&self, line: &[u8]) -> bool {
        match (self, RowCutter::default().cut(self, line)) {
            (Self::Delimited(layout), Cut::Broken(found)) => found > layout.contents.len(),
            _ => false,
        }
    }
}

/// Whether a line without header is a row of a trace all the same: the fewest columns that a job needs, a time among them.
fn is_row(line: &[u8]) -> bool {
    const FEWEST: usize = 4;
    let fields = || line.split(|byte| matches!(byte, b'|' | b',' | b';' | b'\t' | b'^')).map(without_quotes);
    fields().nth(FEWEST).is_some() && fields().any(|field| field.len() >= 19 && looks_like_time(field))
}

/// Whether a line somewhere in a file is a header: names alone, a job's id and its submission or state among them. Of a row only the
/// first fields are looked at.
pub(crate) fn is_header_of_jobs(line: &[u8]) -> bool {
    let mut names = line.split(|&byte| !is_name_byte(byte)).filter(|name| !name.is_empty());
    if !names.all(|name| name.first().is_some_and(u8::is_ascii_alphabetic)) {
        return false;
    }
    let has = |layout: &Layout, columns: [Column; 2]| columns.iter().any(|&column| layout.has(column));
    matches!(Layout::detect(line), Ok((layout, true))
        if has(&layout, [Column::JobId, Column::JobIdRaw]) && has(&layout, [Column::Submit, Column::State]))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The text between the first two column names of a header; `None` if the line is no header.
fn header_delimiter(line: &[u8]) -> Option<&[u8]> {
    let names: Vec<&[u8]> = line.split(|&byte| !is_name_byte(byte)).filter(|name| !name.is_empty()).collect();
    let known = names.iter().filter(|name| Column::named(name).is_some()).count();
    if known < 2 || !names.iter().all(|name| name.first().is_some_and(u8::is_ascii_alphabetic)) {
        return None;
    }
    let first = line.iter().position(|&byte| is_name_byte(byte))?;
    let rest = line.get(first..)?;
    let from = rest.iter().position(|&byte| !is_name_byte(byte))?;
    let rest = rest.get(from..)?;
    let to = rest.iter().position(|&byte| is_name_byte(byte))?;
    // A header whose names are quoted.
    match rest.get(..to)? {
        [b'"', delimiter, b'"'] if may_quote(*delimiter) => rest.get(1..2),
        delimiter => Some(delimiter),
    }
}

/// Whether files with this delimiter may have fields in quotes: sacct never quotes, what writes such files (R, pandas) does.
pub(crate) fn may_quote(delimiter: u8) -> bool {
    matches!(delimiter, b',' | b';' | b'\t')
}

/// A field without the quotes around it.
pub(crate) fn without_quotes(field: &[u8]) -> &[u8] {
    match field {
        [b'"', inner @ .., b'"'] => inner,
        field => field,
    }
}

impl Delimited {
    /// The field that holds a column.
    pub(crate) fn field(&self, column: Column) -> Option<usize> {
        self.fields.get(column as usize).copied().flatten()
    }

    /// Whether commas stand both between fields and in them: in lists of counts or of nodes.
    pub(crate) fn has_commas_of_its_own(&self) -> bool {
        let is_list = |content: &Content| matches!(content, Content::Counts);
        *self.delimiter == *b"," && (self.field(Column::NodeList).is_some() || self.contents.iter().any(is_list))
    }

    /// Whether some field is free text.
    pub(crate) fn has_free_text(&self) -> bool {
        self.contents.iter().any(|content| matches!(content, Content::Free(_)))
    }

    /// Whether the last field may hold a newline, so that a row may go on where it seems complete.
    pub(crate) fn ends_in_free_text(&self) -> bool {
        matches!(self.contents.last(), Some(Content::Free(_) | Content::Path))
    }

    /// Whether a line, the last one of the file if `is_last`, begins no row, not even a torn one: it has too few fields, and no job id
    /// where rows have theirs. Of lines that begin one only the first fields are looked at.
    pub(crate) fn begins_no_row(&self, line: &[u8], is_last: impl FnOnce() -> bool) -> bool {
        let Some(field) = self.field(Column::JobId).or(self.field(Column::JobIdRaw)) else { return false };
        let line = self.without_trailing(line);
        // Nearly all lines; the rest costs more.
        if field == 0
            && let [delimiter] = *self.delimiter
            && memchr::memchr(delimiter, line)
                .is_some_and(|at| line.get(..at).is_some_and(|id| JobId::parse(id).is_some()))
        {
            return false;
        }
        let mut from = 0;
        let mut pieces = memchr::memmem::find_iter(line, &*self.delimiter).chain([line.len()]).map(|end| {
            let piece = line.get(from..end).unwrap_or_default();
            from = end + self.delimiter.len();
            without_quotes(piece)
        });
        let id = pieces.nth(field);
        let more = pieces.next().is_some();
        match id {
            Some(id) if JobId::parse(id).is_none() => {
                field + 1 + usize::from(more) + pieces.count() < self.contents.len()
            }
            Some(_) if more || field > 0 => false,
            // Too little to tell: a file that is torn ends so.
            _ => !is_last(),
        }
    }

    /// A row without the delimiter behind its last field (`--parsable`).
    pub(crate) fn without_trailing<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        if self.trailing { line.strip_suffix(&*self.delimiter).unwrap_or(line) } else { line }
    }

    fn new(delimiter: &[u8], trailing: bool) -> Self {
        Self { delimiter: delimiter.to_vec(), trailing, contents: Vec::new(), fields: [None; Column::COUNT] }
    }

    fn push(&mut self, column: Column) {
        if let Some(field @ None) = self.fields.get_mut(column as usize) {
            *field = Some(self.contents.len());
        }
        self.contents.push(column.content());
    }

    fn from_header(line: &[u8], delimiter: &[u8]) -> Self {
        let trailing = line.ends_with(delimiter);
        let line = if trailing { line.strip_suffix(delimiter).unwrap_or(line) } else { line };
        let mut layout = Self::new(delimiter, trailing);
        let mut from = 0;
        let ends = memchr::memmem::find_iter(line, delimiter).chain([line.len()]);
        for end in ends {
            let name = without_quotes(line.get(from..end).unwrap_or_default().trim_ascii());
            match Column::named(name) {
                Some(column) => layout.push(column),
                None => layout.contents.push(content_of_other(name)),
            }
            from = end + delimiter.len();
        }
        layout
    }

    /// The form that Open XDMoD's tools export: no header, job ids first, four times in a row, and after the memory up to
    /// three of ReqGRES, ReqTRES, AllocTRES before the time limit.
    fn of_xdmod(line: &[u8]) -> Option<Self> {
        let fields: Vec<&[u8]> = line.split(|&byte| byte == b'|').collect();
        JobId::parse(fields.first()?)?;
        let submit = fields.windows(4).position(|four| {
            four.iter().all(|field| looks_like_time(field)) && four.first().is_some_and(|field| !field.is_empty())
        })?;
        use Column as C;
        let mut layout = Self::new(b"|", false);
        let before: &[Option<C>] = match submit {
            10 => &[Some(C::JobIdRaw), Some(C::Cluster), Some(C::Partition), Some(C::Qos), Some(C::Account)],
            9 => &[Some(C::JobIdRaw), Some(C::Cluster), Some(C::Partition), Some(C::Account)],
            8 => &[Some(C::Cluster), Some(C::Partition), Some(C::Account)],
            _ => return None,
        };
        // From the times on: elapsed, exit code, state, nnodes, ncpus, reqcpus, reqmem stand at submit + 4 … submit + 10.
        let after_memory = submit + 11;
        let limit = (1..=3).find(|&gap| {
            fields.get(after_memory + gap).is_some_and(|field| !field.is_empty() && limit_field(field).is_some())
        })?;
        let amounts: &[C] = match limit {
            1 => &[C::ReqTres],
            2 if fields.get(after_memory).is_some_and(|field| is_gres(field)) => &[C::ReqGres, C::AllocTres],
            2 => &[C::ReqTres, C::AllocTres],
            _ => &[C::ReqGres, C::ReqTres, C::AllocTres],
        };
        layout.push(C::JobId);
        let people = [None, None, Some(C::User), Some(C::Uid)];
        let times = [C::Submit, C::Eligible, C::Start, C::End, C::Elapsed].map(Some);
        let counts = [None, Some(C::State), Some(C::NNodes), Some(C::NCpus), Some(C::ReqCpus), Some(C::ReqMem)];
        let amounts: Vec<Option<C>> = amounts.iter().copied().map(Some).collect();
        let end = [Some(C::Timelimit), None, Some(C::JobName)];
        for column in before.iter().chain(&people).chain(&times).chain(&counts).chain(&amounts).chain(&end) {
            match column {
                Some(column) => layout.push(*column),
                None => layout.contents.push(Content::Word),
            }
        }
        Some(layout)
    }
}

fn is_gres(field: &[u8]) -> bool {
    !field.is_empty() && !field.contains(&b'=')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn delimited(line: &str) -> Delimited {
        match Layout::detect(line.as_bytes()) {
            Ok((Layout::Delimited(layout), _)) => *layout,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_delimiter_is_what_stands_between_the_names() {
        assert_eq!(delimited("JobID|State|End").delimiter, b"|");
        assert_eq!(delimited("Account|#JobID|#State").delimiter, b"|#");
        assert_eq!(delimited("JobID;|;JobIDRaw;|;State").delimiter, b";|;");
        let parsable = delimited("JobID|State|");
        assert!(parsable.trailing);
        assert_eq!(parsable.contents.len(), 2);
    }

    #[test]
    fn the_xdmod_form_is_known_by_its_times() {
        let row = "2|2|hpc|compute|normal|staff|g|1|u|1|2023-05-09T19:50:03|2023-05-09T19:50:03|2023-05-09T19:50:04|2023-05-09T19:53:05\
                   |00:03:01|0:0|COMPLETED|1|1|1|500M|billing=1|billing=1|00:05:00|cpn02|1";
        let layout = delimited(row);
        assert_eq!(layout.contents.len(), 26);
        assert_eq!(layout.field(Column::Qos), Some(4));
        assert_eq!(layout.field(Column::AllocTres), Some(22));
        assert_eq!(layout.field(Column::JobName), Some(25));
        let old = row.replace("|normal|", "|").replace("|billing=1|billing=1|", "|gpu:1||billing=1|");
        let layout = delimited(&old);
        assert_eq!(layout.contents.len(), 26);
        assert_eq!(layout.field(Column::Qos), None);
        assert_eq!(layout.field(Column::ReqGres), Some(20));
        assert_eq!(delimited(&row.replace("|billing=1|billing=1|", "|billing=1|")).contents.len(), 25);
    }

    #[test]
    fn other_shapes_are_named() {
        assert_eq!(Layout::detect(b"v=0.1.0,JobID=1,State=FAILED"), Ok((Layout::KeyValue, false)));
        assert_eq!(Layout::detect(b"JobID           JobName     MaxRSS      State "), Err(LayoutError::FixedWidth));
        assert_eq!(Layout::detect(b"hello"), Err(LayoutError::Unknown));
        assert_eq!(Layout::detect(b""), Err(LayoutError::Unknown));
    }
}
