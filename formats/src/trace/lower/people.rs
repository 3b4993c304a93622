//! Users, accounts and QOS of a trace among those of a site.

use std::collections::HashMap;

use foresite_engine::association::{Association, AssociationTree, Qos};
use foresite_engine::ids::{AssociationId, QosId, UserId};

use super::super::maps::Map;
use super::super::strings::{Strings, Symbol};
use super::remarks::{About, Remarked};
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
    associations: Map<(Symbol, Symbol), Found>,
    users: Vec<String>,
    user_ids: Map<Symbol, UserId>,
}

/// An association, and what was missing: each of its jobs is counted.
#[derive(Clone)]
struct Found {
    id: AssociationId,
    missing_account: bool,
    missing_user: bool,
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
            users: Vec::new(),
            user_ids: Map::default(),
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

    /// All users met, in the order of their ids.
    pub(super) fn into_users(self) -> Vec<String> {
        self.users
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
    pub(super) fn association_in(
        &self,
        account: Symbol,
        user: Symbol,
        partition: Option<&str>,
        texts: &Strings,
    ) -> Option<AssociationId> {
        if self.in_partition.is_empty() {
            return None;
        }
        let key = (account_of(account, texts), name_of(user, texts).to_owned(), partition?.to_owned());
        self.in_partition.get(&key).copied()
    }

    /// The association of a user in an account; made where it is missing.
    pub(super) fn association(
        &mut self,
        account: Symbol,
        user: Symbol,
        texts: &Strings,
        site: &mut Site,
        about: &mut Remarked<'_>,
    ) -> AssociationId {
        let found = match self.associations.get(&(account, user)) {
            Some(found) => found.clone(),
            None => {
                let found = self.find_or_make(account, user, texts, site);
                self.associations.insert((account, user), found.clone());
                found
            }
        };
        if found.missing_account {
            about.say(About::Account, texts.text(account));
        } else if found.missing_user {
            let account = if account.is_empty() { ROOT } else { texts.text(account) };
            about.say(About::User, &format!("{} in {account}", name_of(user, texts)));
        }
        found.id
    }

    fn find_or_make(&mut self, account: Symbol, user: Symbol, texts: &Strings, site: &mut Site) -> Found {
        let user = name_of(user, texts).to_owned();
        if account.is_empty()
            && let Some(&id) = self.first_of_user.get(&user)
        {
            return Found { id, missing_account: false, missing_user: false };
        }
        let account = account_of(account, texts);
        if let Some(&id) = self.rows.get(&(account.clone(), Some(user.clone()))) {
            return Found { id, missing_account: false, missing_user: false };
        }
        let known = if account == ROOT {
            Some(AssociationTree::ROOT)
        } else {
            self.rows.get(&(account.clone(), None)).copied()
        };
        let parent = known.unwrap_or_else(|| self.add(&account, None, AssociationTree::ROOT, site));
        let id = self.add(&account, Some(user), parent, site);
        Found { id, missing_account: parent.index() >= self.made_rows_from, missing_user: true }
    }

    fn add(&mut self, account: &str, user: Option<String>, parent: AssociationId, site: &mut Site) -> AssociationId {
        let id = AssociationId::new(site.associations.rows.len());
        site.associations.rows.push(Association::new(account, user.clone(), Some(parent)));
        self.rows.insert((account.to_owned(), user), id);
        id
    }

    /// The QOS of a job: the named one, else the association's default, else `normal`.
    pub(super) fn qos(
        &mut self,
        qos: Symbol,
        association: AssociationId,
        texts: &Strings,
        site: &mut Site,
        about: &mut Remarked<'_>,
    ) -> QosId {
        if qos.is_empty() {
            let default = site.associations.rows.get(association.index()).and_then(|row| row.default_qos);
            return default.or_else(|| self.qos_by_name.get("normal").copied()).unwrap_or(QosId(0));
        }
        let name = &texts.text(qos).to_ascii_lowercase();
        let made = self.qos_by_name.get(name).copied();
        let id = made.unwrap_or_else(|| {
            let id = QosId::new(site.qos.len());
            site.qos.push(Qos { name: name.to_owned(), ..Qos::default() });
            self.qos_by_name.insert(name.to_owned(), id);
            id
        });
        if id.index() >= self.made_qos_from {
            about.say(About::Qos, name);
        }
        id
    }
}

/// The account's name, in lower case as sacctmgr keeps it.
fn account_of(account: Symbol, texts: &Strings) -> String {
    if account.is_empty() { ROOT.to_owned() } else { texts.text(account).to_ascii_lowercase() }
}

fn name_of(user: Symbol, texts: &Strings) -> &str {
    if user.is_empty() { UNKNOWN_USER } else { texts.text(user) }
}
