//! Records of several keys on one line.

use super::settings::{Place, Settings};

/// A `NodeName` line.
#[derive(Clone, Debug)]
pub(crate) struct NodeRecord {
    /// The nodes, in the order written.
    pub(crate) names: Vec<String>,
    pub(crate) settings: Settings,
    pub(crate) place: Place,
}

/// A `PartitionName` line.
#[derive(Clone, Debug)]
pub(crate) struct PartitionRecord {
    pub(crate) name: String,
    pub(crate) settings: Settings,
    pub(crate) place: Place,
}

/// A `NodeSet` line.
#[derive(Clone, Debug)]
pub(crate) struct NodeSetRecord {
    pub(crate) name: String,
    /// `Feature=`: nodes that have one of these features.
    pub(crate) features: Vec<String>,
    /// `Nodes=`: a hostlist.
    pub(crate) nodes: Option<String>,
}

/// A line of keys that no table describes: `DownNodes`, gres.conf, topology.conf.
#[derive(Clone, Debug)]
pub(crate) struct PlainRecord {
    /// Key, as written, and value.
    pub(crate) pairs: Vec<(String, String)>,
    pub(crate) place: Place,
}

impl PlainRecord {
    /// The value of a key, letter case ignored.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known.eq_ignore_ascii_case(key)).map(|(_, value)| value.as_str())
    }
}
