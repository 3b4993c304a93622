#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
//! The document is true: every line of it is one of the three, what it names is there, and no key is forgotten.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::*;
use crate::slurm_conf::{Parameter, Status, parameters};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What stands in code type.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_line_of_a_table_of_rules_is_one_of_the_three() {
    let mut in_table = false;
    let mut wrong = Vec::new();
    for line in DOCUMENT.lines() {
        let Some(cells) = cells(line) else {
            in_table = false;
            continue;
        };
        if cells.get(1) == Some(&"status") {
            in_table = true;
        } else if in_table
            && !cells[0].starts_with("---")
            && !Standing::ALL.iter().any(|(word, _)| cells[1].starts_with(word))
        {
            wrong.push(cells[0]);
        }
    }
    assert_eq!(wrong, Vec::<&str>::new());
    assert!(rules().count() > 150, "{}", rules().count());
    for rule in rules().filter(|rule| rule.standing == Standing::Approximated) {
        assert!(!rule.note.is_empty(), "what is approximate about: {}", rule.rule);
    }
}

#[test]
fn code_and_tests_that_the_table_names_are_there() {
    let mut wrong = Vec::new();
    for rule in rules() {
        let mut text = String::new();
        for word in quoted(rule.place) {
            let path =
                if word.starts_with("formats/") { root().join(word) } else { root().join("engine/src").join(word) };
            match std::fs::read_to_string(&path) {
                Ok(code) => text += &code,
                Err(_) if path.is_dir() => {}
                // A name in the code before it; of several files the folder may be named once.
                Err(_) if !word.contains('/') && (word.ends_with(".rs") || has(&text, word)) => {}
                Err(_) => wrong.push(format!("{}: there is no {word}", rule.rule)),
            }
        }
        for word in rule.test.split([',', ' ']).filter(|word| word.starts_with("slurm/")) {
            let path = root().join("engine/tests").join(word);
            if !path.is_dir() && !path.with_extension("rs").exists() {
                wrong.push(format!("{}: there is no {word}", rule.rule));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Whether code has the name; of `Type::function` the last part.
fn has(code: &str, name: &str) -> bool {
    name.rsplit("::").next().is_some_and(|last| code.contains(last))
}

/// By the golden scenarios, a test beside the code, or a recording that is scored.
#[test]
fn what_counts_as_modelled_is_tested() {
    let untested = rules()
        .filter(|rule| {
            rule.standing == Standing::Modelled && !rule.evidence.contains("rec ") && !rule.test.contains(['/', '`'])
        })
        .filter(|rule| !["Versions (§11)", "Traces (§10)"].contains(&rule.area))
        .map(|rule| rule.rule)
        .collect::<Vec<_>>();
    assert!(untested.is_empty(), "{}", untested.join("\n"));
}

/// What the readers take as modelled stands in a rule that is not left out; what they name as not modelled in no modelled rule.
#[test]
fn every_parameter_stands_in_a_rule_of_its_standing() {
    let mut wrong = Vec::new();
    for parameter in parameters().filter(|parameter| parameter.alias_of.is_none()) {
        let named = rules().filter(|rule| rule.names().any(|name| name == parameter.name));
        let standings: BTreeSet<Standing> = named.map(|rule| rule.standing).collect();
        let is_modelled = standings.contains(&Standing::Modelled);
        let fits = match parameter.status {
            Status::Harmless => true,
            // Names the cluster.
            Status::Modelled if parameter.name == "ClusterName" => true,
            Status::Modelled => is_modelled || standings.contains(&Standing::Approximated),
            Status::WithTime(_) => is_modelled,
            Status::NotModelled(_) => !is_modelled || is_elsewhere(parameter),
        };
        if !fits {
            wrong.push(parameter.key());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join(" "));
}

/// Whether a key of that name is modelled in another place.
fn is_elsewhere(parameter: &Parameter) -> bool {
    parameters().any(|other| other.name == parameter.name && other.is_modelled())
}

const BEGIN: &str = "<!-- keys: begin, by UPDATE_EXPECT=1 cargo test -p foresite-formats fidelity -->\n";
const END: &str = "<!-- keys: end -->\n";

#[test]
fn the_list_of_every_key_is_the_one_that_the_readers_use() {
    let (before, rest) = DOCUMENT.split_once(BEGIN).expect("the mark where the list begins");
    let (found, after) = rest.split_once(END).expect("the mark where it ends");
    let expected = format!("\n{}", keys());
    if found != expected && std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(root().join("docs/FIDELITY.md"), format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
        return;
    }
    assert!(found == expected, "docs/FIDELITY.md: the list of every key is out of date");
}

#[test]
fn a_site_is_told_what_is_approximated_for_it() {
    use crate::file_set::FileSet;
    use crate::slurm_conf::SlurmConf;

    let said = |lines: &str| {
        let mut files = FileSet::default();
        let text = format!("ClusterName=c\nSlurmctldHost=h\n{lines}\nNodeName=n1 CPUs=4\nPartitionName=p Nodes=n1\n");
        files.insert("slurm.conf", text.into_bytes());
        SlurmConf::read(&files, "slurm.conf").0.approximations().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(said("SelectType=select/cons_tres\nSelectTypeParameters=CR_Core"), Vec::<String>::new());
    let reset = said("PriorityUsageResetPeriod=MONTHLY");
    assert_eq!(
        reset,
        ["slurm.conf:3: assumed: PriorityUsageResetPeriod: approximated: PriorityUsageResetPeriod: calendar of UTC"]
    );
    assert_eq!(said("PriorityUsageResetPeriod=NONE"), Vec::<String>::new());
    // `YES` of another parameter is not that of OverSubscribe, and EXCLUSIVE is another rule's.
    assert_eq!(said("PriorityFavorSmall=YES"), Vec::<String>::new());
    assert_eq!(said("PartitionName=q Nodes=n1 OverSubscribe=EXCLUSIVE"), Vec::<String>::new());
    assert_eq!(said("PartitionName=q Nodes=n1 OverSubscribe=FORCE:2").len(), 1);
}
