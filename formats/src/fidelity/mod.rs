//! The table of rules: what of Slurm is modelled, approximated or left out, with source, evidence and test.
//!
//! `docs/FIDELITY.md` *is* the table; it is read here, so that `foresite check` reports from what people read. Its list of
//! every key is made by [`keys`] from the tables that the readers use. `tests.rs` keeps both true.

mod keys;
mod site;
#[cfg(test)]
mod tests;

pub(crate) use keys::ByStanding;
pub use keys::keys;

/// The document.
const DOCUMENT: &str = include_str!("../../../docs/FIDELITY.md");

/// How a rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Decides as Slurm does, as far as is known.
    Modelled,
    /// Decides alike in common cases; the note says where not.
    Approximated,
    /// Has no effect in the simulation.
    LeftOut,
}

impl Standing {
    /// Every one, with the word that its rules' status begins with.
    pub const ALL: [(&'static str, Self); 3] =
        [("modelled", Self::Modelled), ("approximated", Self::Approximated), ("left out", Self::LeftOut)];
}

/// A line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Rule {
    /// The heading it stands under.
    pub area: &'static str,
    /// What Slurm does.
    pub rule: &'static str,
    /// How it stands.
    pub standing: Standing,
    /// Where it differs, or what happens instead; empty if there is nothing to say.
    pub note: &'static str,
    /// Code.
    pub place: &'static str,
    /// Section of the specification, or manual page.
    pub source: &'static str,
    /// Recording, laboratory, behaviour read, or manual.
    pub evidence: &'static str,
    /// What fails without it.
    pub test: &'static str,
}

impl Rule {
    /// The names in code type in what Slurm does: parameters, options, words.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.rule.split('`').skip(1).step_by(2)
    }
}

/// Every rule, in the document's order. A line that is none of the three is left away; a test sees that there is none.
pub fn rules() -> impl Iterator<Item = Rule> {
    let (mut area, mut columns) = ("", Vec::new());
    DOCUMENT.lines().filter_map(move |line| {
        if let Some(heading) = line.strip_prefix("## ") {
            (area, columns) = (heading, Vec::new());
        }
        let cells = cells(line)?;
        if columns.is_empty() || cells.get(1) == Some(&"status") {
            columns = cells;
            return None;
        }
        rule(area, &columns, &cells)
    })
}

/// The cells of a table's line; a bar behind a backslash belongs to its cell.
fn cells(line: &'static str) -> Option<Vec<&'static str>> {
    let inside = line.strip_prefix('|')?.strip_suffix('|')?;
    let bars = inside.match_indices('|').map(|(at, _)| at);
    let ends = bars.filter(|&at| !inside.get(..at).is_some_and(|before| before.ends_with('\\')));
    let (mut cells, mut begin) = (Vec::new(), 0);
    for end in ends.chain([inside.len()]) {
        cells.push(inside.get(begin..end).unwrap_or_default().trim());
        begin = end + 1;
    }
    Some(cells)
}

fn rule(area: &'static str, columns: &[&str], cells: &[&'static str]) -> Option<Rule> {
    let cell = |name: &str| {
        let at = columns.iter().position(|column| *column == name);
        at.and_then(|at| cells.get(at)).copied().unwrap_or_default()
    };
    let status = cell("status");
    let (standing, note) =
        Standing::ALL.iter().find_map(|&(word, standing)| Some((standing, status.strip_prefix(word)?)))?;
    Some(Rule {
        area,
        rule: cells.first().copied().unwrap_or_default(),
        standing,
        note: note.trim_start_matches([':', ';', ',', ' ']),
        place: cell("where"),
        source: cell("source"),
        evidence: cell("evidence"),
        test: cell("test"),
    })
}
