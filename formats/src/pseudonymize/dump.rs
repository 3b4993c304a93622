//! `sacctmgr dump`: `Account - 'name':Key=value:…`.

use super::{NameKind, Pseudonyms};
use crate::sacctmgr::{is_harmless_key, split_outside_quotes};

impl Pseudonyms {
    /// A dump of accounts. Comments are removed; lines keep their numbers.
    pub fn accounts(&mut self, text: &str) -> String {
        if text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.contains('|')) {
            return self.table_text(text);
        }
        let mut out = String::with_capacity(text.len());
        for line in text.lines() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                self.dump_line(line, &mut out);
            }
            out.push('\n');
        }
        out
    }

    fn dump_line(&mut self, line: &str, out: &mut String) {
        let mut segments = split_outside_quotes(line).into_iter();
        let head = segments.next().unwrap_or_default();
        let Some((kind, name)) = head.split_once(" - ") else {
            // No record of a dump: what it is cannot be told, so it does not leave the site.
            self.rows_left_out += 1;
            return;
        };
        let name = name.trim().trim_matches(['\'', '"']);
        let renamed = match kind.trim().to_ascii_lowercase().as_str() {
            "account" | "parent" => self.of(NameKind::Account, name),
            "user" => self.of(NameKind::User, name),
            _ => name.to_owned(),
        };
        out.push_str(&format!("{} - '{renamed}'", kind.trim()));
        // Typed resources bring colons of their own: in `GrpTRES=gres/gpu:a100=4`, `a100=4` belongs to what stands before it.
        let mut open_resource = false;
        for segment in segments {
            let (key, value) = segment.split_once('=').unwrap_or((segment, ""));
            let bare = key.trim().trim_end_matches(['+', '-']);
            if ["DefaultAccount", "Parent"].iter().any(|name| bare.eq_ignore_ascii_case(name)) {
                let account = self.of(NameKind::Account, value.trim().trim_matches(['\'', '"']));
                out.push_str(&format!(":{key}='{account}'"));
                open_resource = false;
            } else if is_harmless_key(bare) || open_resource {
                out.push_str(&format!(":{segment}"));
                open_resource =
                    segment.rsplit(',').next().is_some_and(|last| last.contains('/') && !last.ends_with('\''))
                        && segment.rsplit('/').next().is_some_and(|last| !last.contains('='));
            } else {
                self.leave_out(bare);
            }
        }
    }
}
