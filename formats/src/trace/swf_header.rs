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
    /// Takes a comment line. Text after a number is ignored: `MaxProcs: 1664 (72, 1368, 224)`.
    pub(crate) fn take(&mut self, line: &[u8]) {
        let comment = line.trim_ascii_start().strip_prefix(b";").unwrap_or(line);
        let Some(at) = memchr::memchr(b':', comment) else { return };
        let (name, value) =
            (comment.get(..at).unwrap_or_default().trim_ascii(), comment.get(at + 1..).unwrap_or_default());
        let value = value.trim_ascii();
        let digits = value.get(..value.iter().take_while(|byte| byte.is_ascii_digit()).count()).unwrap_or_default();
        let positive = number32(digits).filter(|&value| value > 0);
        match name {
            b"MaxNodes" => self.max_nodes = self.max_nodes.or(positive),
            b"MaxProcs" => self.max_procs = self.max_procs.or(positive),
            b"UnixStartTime" => {
                let start = number(digits).and_then(|time| i64::try_from(time).ok()).filter(|&time| time < 1 << 40);
                self.unix_start = self.unix_start.or(start);
            }
            b"TimeZoneString" if !value.is_empty() => {
                self.time_zone.get_or_insert_with(|| text(value));
            }
            b"Queue" => name_of(&mut self.queues, digits, value),
            b"Partition" => name_of(&mut self.partitions, digits, value),
            _ => {}
        }
    }
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value.get(..value.len().min(200)).unwrap_or(value)).into_owned()
}

fn name_of(names: &mut Vec<(u32, String)>, digits: &[u8], value: &[u8]) {
    let rest = value.get(digits.len()..).unwrap_or_default().trim_ascii();
    if let (Some(number), true) = (number32(digits), names.len() < NAMES_KEPT) {
        names.push((number, text(rest)));
    }
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
            "; MaxNodes: many",
        ] {
            header.take(line.as_bytes());
        }
        assert_eq!((header.max_procs, header.max_nodes, header.unix_start), (Some(1664), Some(338), Some(835_823_160)));
        assert_eq!(header.time_zone.as_deref(), Some("US/Eastern"));
        assert_eq!((header.queues, header.partitions), (vec![(1, "DSI".into())], vec![(0, "gpu".into())]));
    }
}
