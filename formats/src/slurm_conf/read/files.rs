//! `Include`.

use super::Reader;
use crate::diagnostic::Severity;
use crate::slurm_conf::settings::Place;

/// How deep files may include one another.
const MAX_DEPTH: usize = 16;
/// How many includes there may be in all.
const MAX_INCLUDES: usize = 1000;

/// The path of an `Include path` line.
pub(super) fn include_path(line: &str) -> Option<&str> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace)?;
    (word.eq_ignore_ascii_case("include") && !rest.trim_start().starts_with('=')).then(|| rest.trim().trim_matches('"'))
}

impl Reader<'_> {
    pub(super) fn include(&mut self, path: &str, place: &Place) {
        let cluster = self.conf.globals.get("ClusterName").map_or("cluster", |setting| setting.value.as_str());
        let path = path.replace("%c", cluster);
        self.n_includes += 1;
        if self.n_includes > MAX_INCLUDES || self.open.len() >= MAX_DEPTH {
            let message = format!("more than {MAX_INCLUDES} includes, or more than {MAX_DEPTH} within one another");
            self.diagnostics.push(place.error("Include", message).cure("include fewer files"));
            return;
        }
        let Some((name, is_guess)) = self.find_included(&path) else {
            let message = format!("the included file '{path}' is not there");
            self.diagnostics.push(
                place.error("Include", message).cure("hand it over beside slurm.conf, under the same relative name"),
            );
            return;
        };
        if self.open.contains(&name) {
            let message = format!("'{name}' includes itself");
            self.diagnostics.push(place.error("Include", message).cure("remove the include"));
            return;
        }
        if is_guess {
            let message = format!("'{path}' is taken from '{name}'");
            self.diagnostics.push(place.remark(Severity::Assumed, "Include", message));
        }
        if let Some(bytes) = self.files.get(&name) {
            self.file(&name, bytes);
        }
    }

    /// The file meant, and whether only its last part was found: first as named, then beside the including file, then
    /// beside slurm.conf, then by its bare name, since folders get lost when files are handed over.
    fn find_included(&self, path: &str) -> Option<(String, bool)> {
        let normal = normalized(path);
        let beside = |from: &str, name: &str| self.files.beside(from, name).map(|(found, _)| found);
        let including = self.open.last().map_or("", String::as_str);
        if !path.starts_with('/') {
            let found = beside(including, path)
                .or_else(|| beside(including, &normal))
                .or_else(|| beside(&self.conf.name, &normal))
                .or_else(|| self.files.get(&normal).map(|_| normal.clone()));
            if let Some(name) = found {
                return Some((name, false));
            }
        } else if self.files.get(path).is_some() {
            return Some((path.to_owned(), false));
        }
        let bare = path.rsplit('/').next().unwrap_or(path);
        beside(including, bare).or_else(|| beside(&self.conf.name, bare)).map(|name| (name, true))
    }
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
