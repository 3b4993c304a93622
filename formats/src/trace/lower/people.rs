//! Users, accounts and QOS of a trace among those of a site.

use std::collections::HashMap;

use foresite_engine::association::{Association, AssociationTree, Qos};
use foresite_engine::ids::{AssociationId, QosId, UserId};

use super::super::maps::Map;
use super::super::strings::{Strings, Symbol};
use super::remarks::{About, Remarks};
use crate::site::Site;

/// The name of a user that the trace does not name.
const UNKNOWN_USER: &str = "unknown";
/// The account of jobs without one.
const ROOT: &str = "root";

/// Look-up tables over a site, and the users met so far.
pub(super) struct People {
    rows: HashMap<(String, Option<String>), AssociationId>,
    /// Rows of users for one partition only: account, user, partition.
    in_partition: HashMap<(String, String, String), AssociationId>,
    /// The first association of each user: what Slurm uses where no account is named.
    first_of_user: HashMap<String, AssociationId>,
    qos_by_name: HashMap<String, QosId>,
    /// QOS from here on were made for the trace.
    made_qos_from: usize,
    /// Associations from here on were made for the trace.
    made_rows_from: usize,
    associations: Map<(Symbol, Symbol), Found<AssociationId>>,
    named_qos: Map<Symbol, Found<QosId>>,
    users: Vec<String>,
    user_ids: Map<Symbol, UserId>,
    missing: Vec<Missing>,
}

/// What a name stands for, and which of [`People::missing`] counts its jobs.
#[derive(Clone, Copy)]
struct Found<Id> {
    id: Id,
    missing: Option<usize>,
}

/// A name that the site does not have, and the jobs that use it.
struct Missing {
    about: About,
    name: String,
    jobs: u64,
    line: u64,
}

impl People {
    pub(super) fn of(site: &Site) -> Self {
        let mut people = Self {
            rows: HashMap::new(),
            in_partition: HashMap::new(),
            first_of_user: HashMap::new(),
            qos_by_name: HashMap::new(),
            made_qos_from: site.qos.len(),
            made_rows_from: site.associations.rows.len(),
            associations: Map::default(),
            named_qos: Map::default(),
            users: Vec::new(),
            user_ids: Map::default(),
            missing: Vec::new(),
        };
        for (index, row) in site.associations.rows.iter().enumerate() {
            let id = AssociationId::new(index);
            if let (Some(user), Some(partition)) = (&row.user, &row.partition) {
                people.in_partition.entry((row.account.clone(), user.clone(), partition.clone())).or_insert(id);
                continue;
            }
            people.rows.entry((row.account.clone(), row.user.clone())).or_insert(id);
            if let Some(user) = &row.user {
                people.first_of_user.entry(user.clone()).or_insert(id);
            }
        }
        for (index, qos) in site.qos.iter().enumerate() {
            people.qos_by_name.entry(qos.name.clone()).or_insert(QosId::new(index));
        }
        people
    }

    /// All users met, in the order of their ids; says what was missing.
    pub(super) fn finish(self, remarks: &mut Remarks) -> Vec<String> {
        for missing in &self.missing {
            remarks.of(missing.jobs, missing.line).say(missing.about, &missing.name);
        }
        self.users
    }

    /// A job on `line` uses a name; counts it where the name is missing.
    fn count<Id>(&mut self, found: Found<Id>, line: u64) -> Id {
        if let Some(missing) = found.missing.and_then(|index| self.missing.get_mut(index)) {
            missing.jobs += 1;
            missing.line = missing.line.min(line);
        }
        found.id
    }

    fn miss(&mut self, about: About, name: String) -> Option<usize> {
        self.missing.push(Missing { about, name, jobs: 0, line: u64::MAX });
        Some(self.missing.len() - 1)
    }

    /// The id of a user.
    pub(super) fn user(&mut self, user: Symbol, texts: &Strings) -> UserId {
        let users = &mut self.users;
        *self.user_ids.entry(user).or_insert_with(|| {
            users.push(name_of(user, texts).to_owned());
            UserId::new(users.len() - 1)
        })
    }

    /// Where the user has an association of its own in a partition: that one.
    pub(super) fn association_in<'p>(
        &self,
        account: Symbol,
        user: Symbol,
        partition: impl FnOnce() -> Option<&'p str>,
        texts: &Strings,
    ) -> Option<AssociationId> {
        if self.in_partition.is_empty() {
            return None;
        }
        let key = (account_of(account, texts), name_of(user, texts).to_owned(), partition()?.to_owned());
        self.in_partition.get(&key).copied()
    }

    /// The association of a user in an account, for a job on `line`; made where it is missing.
    pub(super) fn association(
        &mut self,
        account: Symbol,
        user: Symbol,
        texts: &Strings,
        site: &mut Site,
        line: u64,
    ) -> AssociationId {
        let found = match self.associations.get(&(account, user)) {
            Some(found) => *found,
            None => {
                let found = self.find_or_make(account, user, texts, site);
                self.associations.insert((account, user), found);
                found
            }
        };
        self.count(found, line)
    }

    fn find_or_make(&mut self, named: Symbol, user: Symbol, texts: &Strings, site: &mut Site) -> Found<AssociationId> {
        let user = name_of(user, texts).to_owned();
        if named.is_empty()
            && let Some(&id) = self.first_of_user.get(&user)
        {
            return Found { id, missing: None };
        }
        let account = account_of(named, texts);
        if let Some(&id) = self.rows.get(&(account.clone(), Some(user.clone()))) {
            return Found { id, missing: None };
        }
        let known = if account == ROOT {
            Some(AssociationTree::ROOT)
        } else {
            self.rows.get(&(account.clone(), None)).copied()
        };
        let parent = known.unwrap_or_else(|| self.add(&account, None, AssociationTree::ROOT, site));
        let missing = if parent.index() >= self.made_rows_from {
            self.miss(About::Account, texts.text(named).to_owned())
        } else {
            let account = if named.is_empty() { ROOT } else { texts.text(named) };
            self.miss(About::User, format!("{user} in {account}"))
        };
        Found { id: self.add(&account, Some(user), parent, site), missing }
    }

    fn add(&mut self, account: &str, user: Option<String>, parent: AssociationId, site: &mut Site) -> AssociationId {
        let id = AssociationId::new(site.associations.rows.len());
        let mut row = Association::new(account, user.clone(), Some(parent));
        // A user's first account is the default one.
        row.is_default = user.as_ref().is_some_and(|user| !self.first_of_user.contains_key(user));
        site.associations.rows.push(row);
        if let Some(user) = &user {
            self.first_of_user.entry(user.clone()).or_insert(id);
        }
        self.rows.insert((account.to_owned(), user), id);
        id
    }

    /// The QOS of a job on `line`: the named one, else the association's default, else `normal`.
    pub(super) fn qos(
        &mut self,
        qos: Symbol,
        association: AssociationId,
        texts: &Strings,
        site: &mut Site,
        line: u64,
    ) -> QosId {
        if qos.is_empty() {
            let default = site.associations.rows.get(association.index()).and_then(|row| row.default_qos);
            return default.or_else(|| self.qos_by_name.get("normal").copied()).unwrap_or(QosId(0));
        }
        let found = match self.named_qos.get(&qos) {
            Some(found) => *found,
            None => {
                let found = self.find_or_make_qos(texts.text(qos).to_ascii_lowercase(), site);
                self.named_qos.insert(qos, found);
                found
            }
        };
        self.count(found, line)
    }

    fn find_or_make_qos(&mut self, name: String, site: &mut Site) -> Found<QosId> {
        let id = *self.qos_by_name.entry(name.clone()).or_insert_with(|| {
            site.qos.push(Qos { name: name.clone(), ..Qos::default() });
            QosId::new(site.qos.len() - 1)
        });
        let missing = if id.index() >= self.made_qos_from { self.miss(About::Qos, name) } else { None };
        Found { id, missing }
    }
}

/// The account's name, in lower case as sacctmgr keeps it.
fn account_of(account: Symbol, texts: &Strings) -> String {
    if account.is_empty() { ROOT.to_owned() } else { texts.text(account).to_ascii_lowercase() }
}

fn name_of(user: Symbol, texts: &Strings) -> &str {
    if user.is_empty() { UNKNOWN_USER } else { texts.text(user) }
}
