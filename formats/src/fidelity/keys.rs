//! Every key and option that the readers know, and what becomes of it: the last part of `docs/FIDELITY.md`.

use std::fmt::Write as _;

use crate::sacctmgr;
use crate::slurm_conf::{Parameter, Scope, Status, parameters};
use crate::trace;

/// Where keys are written, in the document's order.
const SCOPES: [(Scope, &str); 6] = [
    (Scope::Global, "slurm.conf"),
    (Scope::SchedulerParameters, "`SchedulerParameters`"),
    (Scope::PreemptParameters, "`PreemptParameters`"),
    (Scope::Partition, "Partitions"),
    (Scope::Node, "Nodes"),
    (Scope::Simulator, "Settings of the simulator (`--set`)"),
];

/// The list as Markdown. O(parameters).
pub fn keys() -> String {
    let mut out = String::new();
    for (scope, title) in SCOPES {
        let of_scope = || parameters().filter(move |parameter| parameter.scope == scope);
        let names = |keep: &dyn Fn(&Parameter) -> bool| {
            of_scope().filter(|parameter| keep(parameter)).map(|parameter| parameter.name).collect::<Vec<_>>()
        };
        let modelled = names(&|parameter| parameter.is_modelled() || matches!(parameter.status, Status::WithTime(_)));
        let harmless = names(&|parameter| parameter.status == Status::Harmless);
        let whole = of_scope().filter_map(|parameter| match parameter.status {
            Status::NotModelled(reason) => Some((parameter.name.to_owned(), reason)),
            _ => None,
        });
        let words = of_scope().flat_map(|parameter| {
            let name = parameter.name;
            parameter.words_left_out.iter().map(move |(word, reason)| (format!("{name}={word}"), *reason))
        });
        section(&mut out, title, &modelled, whole.chain(words).collect(), &harmless);
    }
    for (title, keys) in sacctmgr::keys_by_standing() {
        section(&mut out, title, &keys.modelled, keys.left_out, &keys.harmless);
    }
    let options = trace::options_by_standing();
    section(&mut out, "Options of a recorded command line", &options.modelled, options.left_out, &options.harmless);
    out
}

/// Names of one kind of key.
#[derive(Debug, Default)]
pub(crate) struct ByStanding {
    pub(crate) modelled: Vec<&'static str>,
    /// With what happens instead.
    pub(crate) left_out: Vec<(String, &'static str)>,
    pub(crate) harmless: Vec<&'static str>,
}

fn section(out: &mut String, title: &str, modelled: &[&str], left_out: Vec<(String, &str)>, harmless: &[&str]) {
    let list = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let _ = writeln!(out, "### {title}\n\nModelled: {}.\n", list(modelled));
    if !left_out.is_empty() {
        let _ = writeln!(out, "| left out | what happens instead |\n| --- | --- |");
        for (name, reason) in left_out {
            let _ = writeln!(out, "| `{name}` | {reason} |");
        }
        out.push('\n');
    }
    if !harmless.is_empty() {
        let _ = writeln!(out, "Without effect on when and where jobs start: {}.\n", list(harmless));
    }
}
