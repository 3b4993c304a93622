//! The comments at the head of an SWF log.

use serde::{Deserialize, Serialize};

use super::job_id::{number, number32};

/// What an SWF header says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwfHeader {
    /// `MaxNodes`.
    pub max_nodes: Option<u32>,
    /// `MaxProcs`.
    pub max_procs: Option<u32>,
    /// `UnixStartTime` [Unix s].
    pub unix_start: Option<i64>,
    /// `TimeZoneString`.
    pub time_zone: Option<String>,
    /// `Queue:` number and name.
    pub queues: Vec<(u32, String)>,
    /// `Partition:` number and name.
    pub partitions: Vec<(u32, String)>,
}

/// Queue and partition names kept.
const NAMES_KEPT: usize = 1000;

impl SwfHeader {
    /// Takes a comment line; false if it has a number of the machine or the start that is not understood, which is left out then.
    /// Words after a number are ignored: `MaxProcs: 1664 (72, 1368, 224)`.
    pub(crate) fn take(&mut self, line: &[u8]) -> bool {
        let comment = line.trim_ascii_start().strip_prefix(b";").unwrap_or(line);
        let Some(at) = memchr::memchr(b':', comment) else { return true };
        let (name, value) =
            (comment.get(..at).unwrap_or_default().trim_ascii(), comment.get(at + 1..).unwrap_or_default());
        let value = value.trim_ascii();
        match name {
            b"MaxNodes" => take_number(&mut self.max_nodes, value, positive),
            b"MaxProcs" => take_number(&mut self.max_procs, value, positive),
            b"UnixStartTime" => {
                let time = |time: u64| i64::try_from(time).ok().filter(|&time| time < 1 << 40);
                take_number(&mut self.unix_start, value, time)
            }
            b"TimeZoneString" if !value.is_empty() => {
                self.time_zone.get_or_insert_with(|| text(value));
                true
            }
            b"Queue" => name_of(&mut self.queues, value),
            b"Partition" => name_of(&mut self.partitions, value),
            _ => true,
        }
    }
}

fn positive(count: u64) -> Option<u32> {
    u32::try_from(count).ok().filter(|&count| count > 0)
}

/// Keeps the first number said; false if the value is none. Nothing and -1 are no number, but no fault either.
fn take_number<T>(place: &mut Option<T>, value: &[u8], fits: impl FnOnce(u64) -> Option<T>) -> bool {
    if matches!(value, b"" | b"-1") {
        return true;
    }
    let number = leading_number(value).and_then(fits);
    let is_good = number.is_some();
    *place = place.take().or(number);
    is_good
}

/// The number at the start of a value, also with commas between thousands (`2,048`); none if it goes on in another way, as `2.048`
/// and `2 048` do.
fn leading_number(value: &[u8]) -> Option<u64> {
    let (digits, mut rest) = value.split_at(value.iter().take_while(|byte| byte.is_ascii_digit()).count());
    let mut plain = digits.to_vec();
    while let [b',', a, b, c, after @ ..] = rest
        && digits.len() <= 3
        && [a, b, c].iter().all(|byte| byte.is_ascii_digit())
    {
        plain.extend_from_slice(&[*a, *b, *c]);
        rest = after;
    }
    let is_between = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'.' | b'\'' | b'_' | b'-');
    let goes_on = rest.first().is_some_and(u8::is_ascii_alphanumeric)
        || rest.iter().find(|byte| !is_between(byte)).is_some_and(u8::is_ascii_digit);
    number(&plain).filter(|_| !goes_on)
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value.get(..value.len().min(200)).unwrap_or(value)).into_owned()
}

fn name_of(names: &mut Vec<(u32, String)>, value: &[u8]) -> bool {
    let digits = value.get(..value.iter().take_while(|byte| byte.is_ascii_digit()).count()).unwrap_or_default();
    let rest = value.get(digits.len()..).unwrap_or_default().trim_ascii();
    if let (Some(number), true) = (number32(digits), names.len() < NAMES_KEPT) {
        names.push((number, text(rest)));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_before_any_text() {
        let mut header = SwfHeader::default();
        for line in [
            "; MaxProcs: 1664 (72, 1368, 224)",
            ";MaxNodes: 338 (batch partition; 512 total)",
            "; UnixStartTime: 835823160",
            ";  TimeZoneString: US/Eastern",
            "; Queue:  1 DSI      ",
            "; Partition: 0 gpu ",
            "; Queues: these are classes",
            "; a remark",
            "; MaxNodes: -1",
        ] {
            assert!(header.take(line.as_bytes()), "{line}");
        }
        assert_eq!((header.max_procs, header.max_nodes, header.unix_start), (Some(1664), Some(338), Some(835_823_160)));
        assert_eq!(header.time_zone.as_deref(), Some("US/Eastern"));
        assert_eq!((header.queues, header.partitions), (vec![(1, "DSI".into())], vec![(0, "gpu".into())]));
    }

    #[test]
    fn numbers_with_other_separators_or_none_are_left_out() {
        let procs = |value: &str| {
            let mut header = SwfHeader::default();
            (header.take(format!("; MaxProcs: {value}").as_bytes()), header.max_procs)
        };
        for (value, number) in
            [("2,048", 2048), ("1,002,048 cores", 1_002_048), ("128, of which 4 are down", 128), ("64 nodes", 64)]
        {
            assert_eq!(procs(value), (true, Some(number)), "{value}");
        }
        for value in ["2.048", "2 048", "2,0481", "1024,512", "2'048", "128x2", "2k", "many", "0", "9,999,999,999"] {
            assert_eq!(procs(value), (false, None), "{value}");
        }
    }
}
