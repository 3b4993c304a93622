//! What-ifs: one value of a QOS or of an association.

use super::keys::{ASSOCIATION, Key, Kind, QOS, find_key};
use super::left_out::why_unseen;
use super::{Change, Field, Fields, Row, Sacctmgr};
use crate::diagnostic::Diagnostic;
use crate::slurm_conf::near::did_you_mean;
use crate::slurm_conf::settings::Place;

impl Sacctmgr {
    /// Sets a key of a QOS (`MaxJobsPerUser`, `Priority`, `GrpTRES`, …); -1 clears a limit.
    ///
    /// # Errors
    /// An unknown QOS or key (naming near ones), or a value that the key cannot have.
    pub fn set_qos(&mut self, name: &str, key: &str, value: &str) -> Result<(), Diagnostic> {
        let flags = self.qos.iter().find(|qos| qos.name == name).and_then(|qos| qos.fields.get("Flags"));
        let flags = flags.map_or("", |field| field.value.as_str());
        let field = self.checked(QOS, &format!("qos.{name}.{key}"), key, value, flags)?;
        match self.qos.iter_mut().find(|qos| qos.name == name) {
            Some(qos) => replace(&mut qos.fields, field),
            None => {
                let cure = did_you_mean(name, self.qos_names(), "describe it: add the output of sacctmgr show qos -P");
                return Err(self.edit_error(&format!("qos.{name}"), format!("no QOS '{name}' is described"), &cure));
            }
        }
        Ok(())
    }

    /// Sets a key of an account, or of a user in it (`Fairshare`, `MaxJobs`, `GrpTRES`, …); -1 clears a limit.
    ///
    /// # Errors
    /// An unknown account, user or key (naming near ones), or a value that the key cannot have.
    pub fn set_association(
        &mut self,
        account: &str,
        user: Option<&str>,
        key: &str,
        value: &str,
    ) -> Result<(), Diagnostic> {
        let who = user.map_or_else(|| account.to_owned(), |user| format!("{account}.{user}"));
        let field = self.checked(ASSOCIATION, &format!("association.{who}.{key}"), key, value, "")?;
        if account == "root" && user.is_none() {
            replace(&mut self.root, field);
            return Ok(());
        }
        // The row for all partitions, or each of those for one.
        let is_named = |row: &Row| row.account == account && row.user.as_deref() == user;
        let for_all = self.rows.iter().any(|row| is_named(row) && row.partition.is_none());
        let mut rows =
            self.rows.iter_mut().filter(|row| is_named(row) && row.partition.is_none() == for_all).peekable();
        if rows.peek().is_some() {
            rows.for_each(|row| replace(&mut row.fields, field.clone()));
            return Ok(());
        }
        drop(rows);
        let path = format!("association.{who}");
        match user {
            Some(user) if self.account_names().any(|known| known == account) => {
                let users = self.rows.iter().filter(|row| row.account == account).filter_map(|row| row.user.as_deref());
                let cure = did_you_mean(user, users, "name a user of that account");
                Err(self.edit_error(&path, format!("there is no user '{user}' in account '{account}'"), &cure))
            }
            _ => {
                let cure = did_you_mean(account, self.account_names(), "name an account of the dump");
                Err(self.edit_error(&path, format!("there is no account '{account}'"), &cure))
            }
        }
    }

    /// A field whose change the engine would see; `flags` are those of the QOS as it is.
    fn checked(
        &self,
        keys: &'static [Key],
        path: &str,
        name: &str,
        value: &str,
        flags: &str,
    ) -> Result<Field, Diagnostic> {
        let Some((key, implied)) = find_key(keys, name) else {
            let cure = did_you_mean(name, keys.iter().map(|key| key.name), "see sacctmgr(1)");
            return Err(self.edit_error(
                path,
                format!("there is no key '{}'", name.chars().take(60).collect::<String>()),
                &cure,
            ));
        };
        if key.kind == Kind::Ignored {
            let message = format!("'{}' has no effect on scheduling", key.name);
            return Err(self.edit_error(path, message, "leave it out: it would change nothing"));
        }
        if let Some((name, reason)) = why_unseen(key, flags, value) {
            let message = format!("'{name}' is not modelled: {reason}");
            return Err(self.edit_error(path, message, "leave it as it is: the simulation would not show the change"));
        }
        let value = implied.map_or_else(|| value.to_owned(), |tres| format!("{tres}={value}"));
        key.kind.check(&value).map_err(|fault| self.edit_error(path, fault, "see sacctmgr(1)"))?;
        Ok(Field {
            key,
            value,
            change: Change::Set,
            place: Place { file: format!("what-if {path}").into(), line: None },
        })
    }

    fn edit_error(&self, field: &str, message: String, cure: &str) -> Diagnostic {
        let field: String = field.chars().take(120).collect();
        Diagnostic::error(self.name.as_str(), message).field(field).cure(cure)
    }
}

fn replace(fields: &mut Fields, field: Field) {
    fields.insert(field.key.name, field);
}
