//! Reading slurm.conf, what it includes, gres.conf and topology.conf.

mod files;
mod lines;
mod options;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) use options::read_options;

use super::records::PlainRecord;
use super::settings::{Place, Settings};
use super::{Scope, SlurmConf, Status, find_parameter, pairs, text};
use crate::diagnostic::{Diagnostic, Severity, bounded};
use crate::file_set::{FileSet, beside};
use crate::utf16;

/// Nodes of one configuration at most.
pub(super) const MAX_NODES: usize = 200_000;
/// Nodes × partitions of one configuration at most.
pub(super) const MAX_PAIRS: usize = 100_000_000;
/// A larger slurm.conf is refused unread [bytes]; the largest real ones have some hundred thousand.
const BYTES_MAX: usize = 8 << 20;

impl SlurmConf {
    /// Reads slurm.conf `name` of `files`, with what it includes and with gres.conf and topology.conf beside it.
    /// Every fault is reported; what could be read is returned all the same. O(bytes + nodes + partitions × log partitions).
    pub fn read(files: &FileSet, name: &str) -> (Self, Vec<Diagnostic>) {
        let reader = Self::read_files(files, name);
        (reader.conf, bounded(reader.diagnostics, name))
    }

    /// Which files slurm.conf `name` consists of, as far as `files` tells. Those found may want further ones. O(as [`Self::read`]).
    pub fn sources(files: &FileSet, name: &str) -> Sources {
        Self::read_files(files, name).sources
    }

    fn read_files<'a>(files: &'a FileSet, name: &str) -> Reader<'a> {
        let conf = Self {
            name: name.to_owned(),
            version: None,
            simulator: Settings::default(),
            globals: Settings::default(),
            scheduler_parameters: Settings::default(),
            preempt_parameters: Settings::default(),
            nodes: Vec::new(),
            node_sets: Vec::new(),
            down_nodes: Vec::new(),
            partitions: Vec::new(),
            gres: Vec::new(),
            switches: Vec::new(),
            has_topology: false,
            has_topology_yaml: false,
        };
        let mut reader = Reader {
            files,
            conf,
            node_defaults: Settings::default(),
            partition_defaults: Settings::default(),
            diagnostics: Vec::new(),
            sources: Sources::default(),
            open: Vec::new(),
            partition_at: BTreeMap::new(),
            n_includes: 0,
            n_bytes: 0,
            n_nodes: 0,
        };
        match files.get(name) {
            Some(bytes) if bytes.len() > BYTES_MAX => {
                let fault = format!("the file has {} bytes, more than {BYTES_MAX}", bytes.len());
                reader.diagnostics.push(Diagnostic::error(name, fault).cure("hand over the site's slurm.conf"));
            }
            Some(bytes) => reader.file(name, bytes),
            None => {
                reader.diagnostics.push(Diagnostic::error(name, "there is no such file").cure("hand over the file"))
            }
        }
        reader.split_options();
        reader.conf.gres = reader.neighbour("gres.conf").unwrap_or_default();
        let switches = reader.neighbour("topology.conf");
        reader.conf.has_topology = switches.is_some();
        reader.conf.switches = switches.unwrap_or_default();
        reader.conf.has_topology_yaml = reader.has_neighbour("topology.yaml");
        reader
    }
}

/// The files of one configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Those that were there, slurm.conf first.
    pub found: Vec<String>,
    /// Of each that was not: the names it may have, best first.
    pub wanted: Vec<Vec<String>>,
}

/// The state of reading.
struct Reader<'a> {
    files: &'a FileSet,
    conf: SlurmConf,
    /// What `NodeName=DEFAULT` lines have said so far.
    node_defaults: Settings,
    /// What `PartitionName=DEFAULT` lines have said so far.
    partition_defaults: Settings,
    /// Where in `conf.partitions` each partition is, by name.
    partition_at: BTreeMap<String, usize>,
    diagnostics: Vec<Diagnostic>,
    sources: Sources,
    /// Files being read, outermost first.
    open: Vec<String>,
    n_includes: usize,
    /// Bytes of included files, a file as often as it is included.
    n_bytes: usize,
    /// Nodes named so far.
    n_nodes: usize,
}

impl Reader<'_> {
    fn file(&mut self, name: &str, bytes: &[u8]) {
        let file = self.opened(name);
        for line in self.logical_lines(name, bytes) {
            self.line(&file, &line);
        }
        self.open.pop();
    }

    fn logical_lines(&mut self, name: &str, bytes: &[u8]) -> Vec<text::Line> {
        if utf16::is_utf16(bytes) {
            self.diagnostics.push(utf16::fault(name));
            return Vec::new();
        }
        text::logical_lines(bytes)
    }

    fn opened(&mut self, name: &str) -> Arc<str> {
        self.open.push(name.to_owned());
        if !self.sources.found.iter().any(|known| known == name) {
            self.sources.found.push(name.to_owned());
        }
        name.into()
    }

    fn line(&mut self, file: &Arc<str>, line: &text::Line) {
        let place = |offset: usize| Place { file: file.clone(), line: Some(line.number_at(offset)) };
        if let Some(remark) = template_remark(line, &place(0)) {
            self.diagnostics.push(remark);
            return;
        }
        if let Some((comment, number)) = &line.glued_comment {
            let place = Place { file: file.clone(), line: Some(*number) };
            let shown: String = comment.chars().take(40).collect();
            let message = format!("'#{shown}' touches the value before it and is read as a comment, as slurmctld does");
            self.diagnostics.push(place.remark(Severity::Warning, "#", message).cure("put a blank before the #"));
        }
        if let Some(path) = files::include_path(&line.text) {
            if let Some((name, bytes)) = self.included(path, &place(0)) {
                self.file(&name, bytes);
            }
            return;
        }
        let (pairs, strays) = pairs::pairs(&line.text);
        self.diagnostics.extend(told(&strays).map(|stray| stray_error(stray, &place)));
        self.pairs(&pairs, &place);
    }

    /// The lines of gres.conf or topology.conf; `None` if it is not there.
    fn neighbour(&mut self, name: &str) -> Option<Vec<PlainRecord>> {
        let path = beside(&self.conf.name, name);
        let Some(bytes) = self.files.get(&path) else {
            self.sources.wanted.push(vec![path]);
            return None;
        };
        let mut records = Vec::new();
        self.plain_file(&path, bytes, &mut records);
        Some(records)
    }

    /// Whether a file that is not read lies beside slurm.conf.
    fn has_neighbour(&mut self, name: &str) -> bool {
        let path = beside(&self.conf.name, name);
        let has = self.files.get(&path).is_some();
        if !has {
            self.sources.wanted.push(vec![path]);
        }
        has
    }

    fn plain_file(&mut self, name: &str, bytes: &[u8], records: &mut Vec<PlainRecord>) {
        let file = self.opened(name);
        for line in self.logical_lines(name, bytes) {
            let place = |offset: usize| Place { file: file.clone(), line: Some(line.number_at(offset)) };
            if let Some(remark) = template_remark(&line, &place(0)) {
                self.diagnostics.push(remark);
                continue;
            }
            if let Some(path) = files::include_path(&line.text) {
                if let Some((name, bytes)) = self.included(path, &place(0)) {
                    self.plain_file(&name, bytes, records);
                }
                continue;
            }
            let (pairs, strays) = pairs::pairs(&line.text);
            self.diagnostics.extend(told(&strays).map(|stray| stray_error(stray, &place)));
            let pairs = pairs.into_iter().map(|pair| (pair.key, pair.value)).collect();
            records.push(PlainRecord { pairs, place: place(0) });
        }
        self.open.pop();
    }
}

/// All but the second and later words of prose: one remark tells that a line is none of Slurm's.
fn told(strays: &[pairs::Stray]) -> impl Iterator<Item = &pairs::Stray> {
    let mut words = 0;
    strays.iter().filter(move |stray| {
        let is_word = matches!(stray, pairs::Stray::Text(..));
        words += usize::from(is_word);
        !is_word || words == 1
    })
}

fn stray_error(stray: &pairs::Stray, place: &impl Fn(usize) -> Place) -> Diagnostic {
    let brief = |text: &str| text.chars().take(60).collect::<String>();
    match stray {
        pairs::Stray::Text(word, offset) => place(*offset)
            .error(brief(word), "this is not Key=Value; slurmctld would refuse the line")
            .cure("remove it, or comment it out with #"),
        pairs::Stray::NoValue(key, offset) => {
            // Passwords and paths are often cut out before a file is handed over; without effect here, they are not missed.
            let is_harmless = find_parameter(Scope::Global, key).is_some_and(|known| known.status != Status::Modelled);
            let severity = if is_harmless { Severity::Warning } else { Severity::Error };
            place(*offset).remark(severity, brief(key), "the value is missing").cure("give a value, or remove the line")
        }
        pairs::Stray::Operator(key, offset) => place(*offset)
            .error(brief(key), "operators such as += are not understood")
            .cure("write the whole value with ="),
    }
}

/// Whether the line is a template that was never filled in.
fn template_remark(line: &text::Line, place: &Place) -> Option<Diagnostic> {
    let text = &line.text;
    let marker = ["{{", "{%"].into_iter().find(|marker| text.contains(marker)).map(str::to_owned);
    let marker = marker.or_else(|| placeholder(text)).or_else(|| {
        let (comment, _) = line.glued_comment.as_ref()?;
        let word: String = comment.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
        let rest = comment.get(word.len()..)?;
        (word.len() > 2 && rest.starts_with(['-', '[', '.', ','])).then(|| format!("#{word}"))
    })?;
    Some(
        place
            .error(marker.clone(), format!("'{marker}' is a template's placeholder, not a value"))
            .cure("hand over the file that the template produces"),
    )
}

/// A word in angle brackets, such as `<qos_list>`.
fn placeholder(text: &str) -> Option<String> {
    let open = text.find('<')?;
    let tail = text.get(open..)?;
    let inner = tail.get(1..tail.find('>')?)?;
    let is_word = !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || "_- .".contains(c));
    is_word.then(|| format!("<{inner}>"))
}
