//! Scripts of sacctmgr commands (`add qos long GrpTRES=cpu=40`, `modify user ann set MaxJobs=4`): sites keep them, and QOS, which a dump
//! leaves out, are often written down nowhere else. Source: sacctmgr(1).

use super::keys::{ASSOCIATION, Key, Kind, QOS};
use super::{Change, Field, Fields, QosRow, Row, Sacctmgr, put};
use crate::diagnostic::{Diagnostic, Severity};
use crate::slurm_conf::near::did_you_mean;
use crate::slurm_conf::settings::Place;

/// Commands that say what is to be there.
const ADD: [&str; 2] = ["add", "create"];
/// Commands that change it.
const MODIFY: [&str; 2] = ["modify", "update"];
/// Commands that cannot be followed here, or print.
const OTHERS: [&str; 7] = ["remove", "delete", "show", "list", "dump", "load", "archive"];

/// Accounts and users that scripts may add, and names times accounts of one command: short lines stand for many.
const MOST: usize = 1_000_000;

/// One command: whom it is about, and what it sets.
#[derive(Debug, Default)]
struct Command {
    names: Vec<String>,
    accounts: Vec<String>,
    partition: Option<String>,
    parent: Option<String>,
    /// `cluster=`.
    clusters: Vec<String>,
    fields: Fields,
}

/// The words of a command line, without `sacctmgr` and its options; `None` if it is none.
pub(super) fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let (mut word, mut quote) = (String::new(), None);
    for character in line.chars() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, _) if character.is_whitespace() => words.push(std::mem::take(&mut word)),
            _ => word.push(character),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    let skipped = words.iter().take_while(|word| word.as_str() == "sacctmgr" || word.starts_with('-')).count();
    words.drain(..skipped);
    let first = words.first()?.to_ascii_lowercase();
    [&ADD[..], &MODIFY, &OTHERS].concat().contains(&first.as_str()).then_some(words)
}

impl Sacctmgr {
    /// Follows one command. O(its words + rows).
    pub(super) fn command(&mut self, words: &[String], place: &Place, diagnostics: &mut Vec<Diagnostic>) {
        let (action, entity) = (word(words, 0), word(words, 1));
        let (adds, is_modify) = (ADD.contains(&action.as_str()), MODIFY.contains(&action.as_str()));
        let keys = match entity.as_str() {
            _ if !adds && !is_modify => {
                let remark = place.remark(Severity::Warning, action, "commands that remove or print are passed over");
                return diagnostics.push(remark.cure("leave it out, and with it what it removes"));
            }
            "account" | "accounts" | "acct" | "user" | "users" | "cluster" => ASSOCIATION,
            "qos" => QOS,
            "coordinator" | "coord" | "wckey" | "tres" | "resource" | "federation" => return,
            _ => {
                let cure = did_you_mean(
                    &entity,
                    ["account", "user", "qos", "cluster"],
                    "known are account, user, qos and cluster",
                );
                return diagnostics
                    .push(place.error(action, format!("'{entity}' is nothing that sacctmgr adds")).cure(cure));
            }
        };
        let command = read(words, keys, is_modify, place, diagnostics);
        if !self.is_of_our_cluster(&command, entity == "cluster", place, diagnostics) {
            return;
        }
        if command.names.len().saturating_mul(command.accounts.len().max(1)).saturating_add(self.rows.len()) > MOST {
            let error = place.error(action, format!("with this command there are more than {MOST} accounts and users"));
            return diagnostics.push(error.cure("hand over sacctmgr dump"));
        }
        match entity.as_str() {
            "cluster" => take_over(&mut self.root, &command.fields),
            "qos" => self.command_qos(&command),
            "user" | "users" if adds => self.add_users(&command, place, diagnostics),
            _ if adds => self.add_accounts(&command, place),
            entity => self.modify(&command, entity.starts_with("user"), place, diagnostics),
        }
    }

    /// Whether a command is about the cluster that the file names first; one about another is passed over.
    fn is_of_our_cluster(
        &mut self,
        command: &Command,
        is_cluster: bool,
        place: &Place,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> bool {
        let meant = if is_cluster { &command.names } else { &command.clusters };
        let Some(first) = meant.first() else { return true };
        let ours = &*self.cluster.get_or_insert_with(|| first.clone());
        let is_ours = meant.iter().any(|name| name.eq_ignore_ascii_case(ours));
        if !is_ours && self.others.insert(first.clone()) {
            let message = format!("commands about '{first}' are passed over: the file is about '{ours}'");
            diagnostics
                .push(place.remark(Severity::Warning, "cluster", message).cure("hand over one cluster's commands"));
        }
        is_ours
    }

    fn command_qos(&mut self, command: &Command) {
        for name in &command.names {
            match self.qos.iter_mut().find(|qos| qos.name == *name) {
                Some(qos) => take_over(&mut qos.fields, &command.fields),
                None => self.qos.push(QosRow { name: name.clone(), fields: command.fields.clone() }),
            }
        }
    }

    /// What is there already stays: sacctmgr says so and goes on.
    fn add(&mut self, row: Row) {
        if self.seen.insert((row.account.clone(), row.user.clone(), row.partition.clone())) {
            self.rows.push(row);
        }
    }

    fn add_accounts(&mut self, command: &Command, place: &Place) {
        for account in &command.names {
            let parent = command.parent.clone().unwrap_or_else(|| "root".to_owned());
            let (account, fields, place) = (account.clone(), command.fields.clone(), place.clone());
            self.add(Row { account, user: None, partition: None, parent, fields, place });
        }
    }

    fn add_users(&mut self, command: &Command, place: &Place, diagnostics: &mut Vec<Diagnostic>) {
        // The default account is one of them (user_functions.c of 22.05.8, `sacctmgr_add_user`).
        let default = command.fields.get("DefaultAccount").map(|field| field.value.to_ascii_lowercase());
        let default = default.filter(|default| !command.accounts.contains(default));
        let accounts: Vec<&String> = command.accounts.iter().chain(&default).collect();
        if accounts.is_empty() {
            diagnostics.push(place.error("add user", "it names no account").cure("add account=NAME"));
        }
        for (user, account) in command.names.iter().flat_map(|user| accounts.iter().map(move |at| (user, *at))) {
            let (account, user) = (account.clone(), Some(user.clone()));
            let (partition, fields, place) = (command.partition.clone(), command.fields.clone(), place.clone());
            self.add(Row { parent: account.clone(), account, user, partition, fields, place });
        }
    }

    fn modify(&mut self, command: &Command, users: bool, place: &Place, diagnostics: &mut Vec<Diagnostic>) {
        for name in &command.names {
            if !users && name == "root" {
                take_over(&mut self.root, &command.fields);
                continue;
            }
            let is_meant = |row: &&mut Row| match &row.user {
                Some(user) => {
                    users && user == name && (command.accounts.is_empty() || command.accounts.contains(&row.account))
                }
                None => !users && row.account == *name,
            };
            let mut found = false;
            for row in self.rows.iter_mut().filter(is_meant) {
                take_over(&mut row.fields, &command.fields);
                found = true;
            }
            if !found {
                let kind = if users { "user" } else { "account" };
                let error = place.error("modify", format!("there is no {kind} '{name}' before this line"));
                diagnostics.push(error.cure("add it first"));
            }
        }
    }

    /// A cluster has the user root, with one share, from the start; a script does not say so. Only where nothing else is known.
    pub(super) fn add_root_user(&mut self) {
        let place = Place { file: self.name.as_str().into(), line: None };
        let mut fields = Fields::new();
        // The key and its value are known to be good.
        drop(put(&mut fields, ASSOCIATION, "Fairshare", "1", Change::Set, &place));
        let root = || "root".to_owned();
        self.add(Row { account: root(), user: Some(root()), partition: None, parent: root(), fields, place });
    }
}

/// What a command sets, over what was there: of amounts only the resources that it names (-1 takes one out), as slurmdbd does.
fn take_over(fields: &mut Fields, news: &Fields) {
    for (name, new) in news {
        match fields.get_mut(name) {
            Some(field) if new.key.kind == Kind::Amounts => {
                let value = std::mem::take(&mut field.value);
                *field = Field { value: merged(&value, &new.value), ..new.clone() };
            }
            _ => {
                fields.insert(name, new.clone());
            }
        }
    }
}

/// Amounts of both, of a resource that both name the new one. O(entries²).
fn merged(old: &str, new: &str) -> String {
    let name = |entry: &str| entry.split('=').next().unwrap_or("").trim().to_ascii_lowercase();
    let named: Vec<String> = new.split(',').map(name).collect();
    let kept = old.split(',').filter(|entry| !named.contains(&name(entry)));
    kept.chain(new.split(',')).collect::<Vec<_>>().join(",")
}

fn word(words: &[String], at: usize) -> String {
    words.get(at).map(|word| word.to_ascii_lowercase()).unwrap_or_default()
}

/// Names stand before the first option; what follows `where` says who, what follows `set` says what. Without either, of a new
/// record everything says what.
fn read(
    words: &[String],
    keys: &'static [Key],
    is_modify: bool,
    place: &Place,
    diagnostics: &mut Vec<Diagnostic>,
) -> Command {
    let mut command = Command::default();
    let mut sets = !is_modify;
    let split = |list: &str| list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    // sacctmgr lowers the names that it makes. Users' are the system's, which may be kept as they are (PreserveCaseUser).
    let lowered = |list: &str| split(&list.to_ascii_lowercase());
    let names = |list: &str| if word(words, 1).starts_with("user") { split(list) } else { lowered(list) };
    for word in words.iter().skip(2) {
        let Some((left, value)) = word.split_once('=') else {
            match word.to_ascii_lowercase().as_str() {
                "set" => sets = true,
                "where" => sets = false,
                _ => command.names.extend(names(word)),
            }
            continue;
        };
        let (key, change) = match (left.strip_suffix('+'), left.strip_suffix('-')) {
            (Some(key), _) => (key, Change::Add),
            (_, Some(key)) => (key, Change::Remove),
            _ => (left, Change::Set),
        };
        match key.to_ascii_lowercase().as_str() {
            "name" | "names" => command.names.extend(names(value)),
            "account" | "accounts" | "acct" => command.accounts.extend(lowered(value)),
            "user" | "users" if !sets => command.names.extend(split(value)),
            "partition" | "partitions" => command.partition = Some(value.to_owned()),
            "parent" => command.parent = Some(value.to_ascii_lowercase()),
            "cluster" | "clusters" => command.clusters.extend(lowered(value)),
            _ if sets => diagnostics.extend(put(&mut command.fields, keys, key, value, change, place)),
            _ => {
                let remark = place.remark(Severity::Warning, key.to_owned(), "this condition is passed over");
                diagnostics.push(remark.cure("name whom the command is about"));
            }
        }
    }
    command
}
