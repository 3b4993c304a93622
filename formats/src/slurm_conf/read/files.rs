//! `Include`.

use std::collections::BTreeSet;

use super::{BYTES_MAX, Reader};
use crate::diagnostic::Severity;
use crate::file_set::beside;
use crate::slurm_conf::settings::Place;

/// How deep files may include one another, and how deep their folders are looked into.
const MAX_DEPTH: usize = 16;
/// How many includes there may be in all.
const MAX_INCLUDES: usize = 1000;
/// No file has a longer path [bytes].
const LONGEST: usize = 4096;

/// The path of an `Include path` line.
pub(super) fn include_path(line: &str) -> Option<&str> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace)?;
    (word.eq_ignore_ascii_case("include") && !rest.trim_start().starts_with('=')).then(|| rest.trim().trim_matches('"'))
}

impl<'a> Reader<'a> {
    /// The file that an `Include` line means, unless it cannot be read: the fault is noted.
    pub(super) fn included(&mut self, path: &str, place: &Place) -> Option<(String, &'a [u8])> {
        let path = self.spelt_out(path, place)?;
        self.n_includes += 1;
        if self.n_includes > MAX_INCLUDES || self.open.len() >= MAX_DEPTH {
            let message = format!("more than {MAX_INCLUDES} includes, or more than {MAX_DEPTH} within one another");
            self.diagnostics.push(place.error("Include", message).cure("include fewer files"));
            return None;
        }
        let including = self.open.last().map_or("", String::as_str);
        let places = places(&path, including, &self.conf.name);
        let files = self.files;
        // A file that is open is meant only where it is named; another of its name in a folder that is not here is not.
        let is_open = |name: &String| self.open.contains(name) && *name != path && *name != beside(including, &path);
        let found = places.iter().filter(|name| !is_open(name)).find_map(|name| Some((name.clone(), files.get(name)?)));
        // Where it should rather be is looked into as well.
        let better: Vec<String> =
            places.iter().take_while(|place| found.as_ref().is_none_or(|(name, _)| name != *place)).cloned().collect();
        if found.is_some() && !better.is_empty() {
            self.sources.wanted.push(better);
        }
        let Some((name, bytes)) = found else {
            let message = format!("the included file '{path}' is not there");
            let cure = match path.rsplit_once('/') {
                Some((_, bare)) if path.starts_with('/') => format!("put it beside slurm.conf, as {bare}"),
                _ => "put it beside slurm.conf, under the same relative name".to_owned(),
            };
            self.diagnostics.push(place.error("Include", message).cure(cure));
            self.sources.wanted.push(places);
            return None;
        };
        self.n_bytes = self.n_bytes.saturating_add(bytes.len());
        if self.n_bytes > 4 * BYTES_MAX {
            let message = format!("the included files have more than {} bytes", 4 * BYTES_MAX);
            self.diagnostics.push(place.error("Include", message).cure("include fewer files, and each once"));
            return None;
        }
        if self.open.contains(&name) {
            let message = format!("'{name}' includes itself");
            self.diagnostics.push(place.error("Include", message).cure("remove the include"));
            return None;
        }
        let meant = [path.clone(), beside(including, &path), beside(including, &normalized(&path))];
        if !meant.contains(&name) && name != beside(&self.conf.name, &normalized(&path)) {
            let message = format!("'{path}' is taken from '{name}'");
            self.diagnostics.push(place.remark(Severity::Assumed, "Include", message));
        }
        Some((name, bytes))
    }

    /// The path with the cluster's name, in lower case, for `%c`. Source: parse_config.c; gres.conf and topology.conf do not know it.
    fn spelt_out(&mut self, path: &str, place: &Place) -> Option<String> {
        if !path.contains("%c") || path.len() > LONGEST {
            return Some(path.to_owned());
        }
        let cluster = self.conf.globals.get("ClusterName").filter(|_| self.open.first() == Some(&self.conf.name));
        if cluster.is_none() {
            let message = format!("'{path}': %c stands for ClusterName, which slurmctld does not know here");
            self.diagnostics.push(place.error("Include", message).cure("write the file's name without %c"));
        }
        let name = cluster?.value.chars().take(LONGEST / 16).collect::<String>();
        Some(path.replace("%c", &name.to_lowercase()))
    }
}

/// Where an included file may be, best first: where Slurm looks; then by ever less of its path beside the files that lead to it, since
/// folders get lost when files are handed over. An absolute path comes last: this machine may have a slurm.conf of its own.
fn places(path: &str, including: &str, slurm_conf: &str) -> Vec<String> {
    if path.len() > LONGEST {
        return Vec::new();
    }
    let relative = normalized(path);
    let mut places = Vec::new();
    if !path.starts_with('/') {
        places.extend([beside(including, path), beside(including, &relative), beside(slurm_conf, &relative)]);
    }
    let mut tails: Vec<&str> =
        relative.rmatch_indices('/').take(MAX_DEPTH).filter_map(|(at, _)| relative.get(at + 1..)).collect();
    tails.push(&relative);
    for tail in tails.into_iter().rev() {
        places.extend([beside(including, tail), beside(slurm_conf, tail)]);
    }
    if path.starts_with('/') {
        places.push(path.to_owned());
    }
    let mut seen = BTreeSet::new();
    places.retain(|place| seen.insert(place.clone()));
    places
}

/// The path without `.` and, where possible, without `..`.
fn normalized(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
