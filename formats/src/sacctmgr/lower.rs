//! From rows to the engine's association tree and qualities of service.

use std::collections::{BTreeMap, BTreeSet};

use foresite_engine::association::{Association, AssociationTree, Qos, Shares};
use foresite_engine::ids::{AssociationId, QosId};
use foresite_engine::policy::PreemptMode;

use super::left_out::flags_left_out;
use super::limits::Reader;
use super::loops::preemption_loops;
use super::{Change, Field, Fields, QosRow, Row, Sacctmgr};
use crate::diagnostic::{Diagnostic, Severity};
use crate::slurm_conf::tres::TresNames;

/// What sacctmgr prints for `Fairshare=parent`.
const PARENT_SHARES: u32 = 0x7fff_ffff;

/// What lowering shares.
struct Lowering<'a> {
    tres: &'a mut TresNames,
    ids: BTreeMap<String, QosId>,
    diagnostics: Vec<Diagnostic>,
}

impl Sacctmgr {
    /// Tree and QOS; resources met on the way get their ids. `normal` is always among the QOS. O(rows × log rows).
    pub(crate) fn lower(&self, tres: &mut TresNames) -> (AssociationTree, Vec<Qos>, Vec<Diagnostic>) {
        let mut lowering = Lowering { tres, ids: BTreeMap::new(), diagnostics: Vec::new() };
        let names = self.all_qos_names(&mut lowering.diagnostics);
        lowering.ids = names.iter().enumerate().map(|(index, name)| (name.clone(), QosId::new(index))).collect();
        let described: BTreeMap<&str, &QosRow> = self.qos.iter().map(|row| (row.name.as_str(), row)).collect();
        let qos: Vec<Qos> = names
            .iter()
            .map(|name| match described.get(name.as_str()) {
                Some(row) => lowering.qos(row),
                None => Qos { name: name.clone(), ..Qos::default() },
            })
            .collect();
        for circle in preemption_loops(&qos) {
            let field = circle.first().and_then(|name| described.get(name)).and_then(|row| row.fields.get("Preempt"));
            let message = format!("QOS preempt each other in a circle: {}", circle.join(" → "));
            let fault = field.map(|field| field.place.error("Preempt", message));
            lowering.diagnostics.extend(fault.map(|it| it.cure("take one out of a list: slurmdbd refuses circles")));
        }
        let tree = self.tree(&mut lowering);
        (tree, qos, lowering.diagnostics)
    }

    /// Described QOS in their order, `normal`, then those that rows only name.
    fn all_qos_names(&self, diagnostics: &mut Vec<Diagnostic>) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for row in &self.qos {
            if seen.insert(row.name.clone()) {
                names.push(row.name.clone());
            }
        }
        if seen.insert("normal".to_owned()) {
            names.push("normal".to_owned());
        }
        let mut undescribed = Vec::new();
        for fields in std::iter::once(&self.root).chain(self.rows.iter().map(|row| &row.fields)) {
            let lists = [fields.get("QOS"), fields.get("DefaultQOS")].into_iter().flatten();
            for field in lists.filter(|field| field.value != "-1") {
                for name in field.value.split(',').map(|word| signed(word.trim()).1).filter(|name| !name.is_empty()) {
                    if seen.insert(name.to_owned()) {
                        undescribed.push(name.to_owned());
                    }
                }
            }
        }
        if !undescribed.is_empty() {
            let list: String = undescribed.join(", ").chars().take(200).collect();
            let message = format!("QOS named but not described: {list}; taken with priority 0 and without limits");
            let remark = Diagnostic::new(Severity::Assumed, self.name.as_str(), message).field("QOS");
            diagnostics.push(remark.cure("add the output of sacctmgr show qos -P"));
        }
        names.extend(undescribed);
        names
    }

    fn tree(&self, lowering: &mut Lowering) -> AssociationTree {
        let mut children: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in &self.rows {
            children.entry(row.parent.as_str()).or_default().push(row);
        }
        let defaults = self.default_accounts();
        let mut root = Association::new("root", None, None);
        lowering.fill(&mut root, &self.root, &[]);
        let mut rows = vec![root];
        // Accounts still to be placed, last first, so that rows come out in the order of the file.
        let mut open: Vec<(&Row, AssociationId)> = Vec::new();
        push_children_of("root", AssociationTree::ROOT, &mut open, &mut children);
        while let Some((row, parent)) = open.pop() {
            let mut association = Association::new(row.account.clone(), row.user.clone(), Some(parent));
            association.partition.clone_from(&row.partition);
            let default = row.user.as_deref().and_then(|user| defaults.get(user));
            association.is_default = default.is_some_and(|default| *default == row.account);
            let inherited = if row.fields.get("QOS").is_some_and(changes_inherited) {
                inherited_qos(&rows, parent)
            } else {
                Vec::new()
            };
            // A priority of the account is that of whoever has none (as_mysql_assoc.c of 22.05.8).
            association.priority = rows.get(parent.index()).map_or(0, |row| row.priority);
            lowering.fill(&mut association, &row.fields, &inherited);
            // As limits are, a default QOS is that of the nearest row above that has one (as_mysql_assoc.c of 22.05.8); dumps leave it out.
            let above = rows.get(parent.index()).and_then(|row| row.default_qos);
            association.default_qos = association.default_qos.or(above);
            let id = AssociationId::new(rows.len());
            rows.push(association);
            if row.user.is_none() {
                push_children_of(&row.account, id, &mut open, &mut children);
            }
        }
        for (parent, orphans) in children {
            for row in orphans {
                let who = row.user.as_deref().unwrap_or(&row.account);
                let message =
                    format!("'{who}' stands under account '{parent}', which is not described or is below itself");
                lowering
                    .diagnostics
                    .push(row.place.error("Parent", message).cure("describe the account, or move the row"));
            }
        }
        AssociationTree { rows }
    }
}

impl Sacctmgr {
    /// How many users stand in three accounts or more and have no `DefaultAccount`. O(rows × log users).
    pub(crate) fn users_of_unknown_default(&self) -> usize {
        let mut accounts: BTreeMap<&str, Option<BTreeSet<&str>>> = BTreeMap::new();
        for (user, row) in self.rows.iter().filter_map(|row| Some((row.user.as_deref()?, row))) {
            let named = row.fields.get("DefaultAccount").is_some_and(|field| !field.value.is_empty());
            let of_user = accounts.entry(user).or_insert_with(|| Some(BTreeSet::new()));
            match of_user {
                _ if named => *of_user = None,
                Some(of_user) => _ = of_user.insert(&row.account),
                None => {}
            }
        }
        accounts.values().flatten().filter(|accounts| accounts.len() > 2).count()
    }

    /// Each user's default account: what his rows name, else the first that he stands in, as sacctmgr loads a dump. O(rows × log users).
    fn default_accounts(&self) -> BTreeMap<&str, String> {
        let mut defaults = BTreeMap::new();
        let of_users = || self.rows.iter().filter_map(|row| Some((row.user.as_deref()?, row)));
        for (user, row) in of_users() {
            if let Some(named) = row.fields.get("DefaultAccount").filter(|field| !field.value.is_empty()) {
                defaults.entry(user).or_insert_with(|| named.value.to_ascii_lowercase());
            }
        }
        for (user, row) in of_users() {
            defaults.entry(user).or_insert_with(|| row.account.clone());
        }
        defaults
    }
}

fn push_children_of<'a>(
    name: &str,
    id: AssociationId,
    open: &mut Vec<(&'a Row, AssociationId)>,
    children: &mut BTreeMap<&str, Vec<&'a Row>>,
) {
    let below = children.remove(name).unwrap_or_default();
    open.extend(below.into_iter().rev().map(|row| (row, id)));
}

/// The sign and the name of a list's word: `+gpu` and `-normal` add to what is inherited and take from it.
fn signed(word: &str) -> (Option<Change>, &str) {
    match (word.strip_prefix('+'), word.strip_prefix('-')) {
        (Some(name), _) => (Some(Change::Add), name.trim_start()),
        (_, Some(name)) => (Some(Change::Remove), name.trim_start()),
        _ => (None, word),
    }
}

/// Whether a list of QOS changes the inherited one (`QOS+=gpu`, `QOS='+gpu,-normal'`) and does not replace it.
fn changes_inherited(field: &Field) -> bool {
    field.change != Change::Set || field.value.split(',').any(|word| signed(word.trim()).0.is_some())
}

/// The QOS list in force at a row: its own, else the nearest one above.
fn inherited_qos(rows: &[Association], id: AssociationId) -> Vec<QosId> {
    let mut at = Some(id);
    while let Some(row) = at.and_then(|id| rows.get(id.index())) {
        if !row.qos.is_empty() {
            return row.qos.clone();
        }
        at = row.parent;
    }
    Vec::new()
}

impl Lowering<'_> {
    fn reader<'b>(&'b mut self, fields: &'b Fields) -> Reader<'b> {
        Reader { fields, tres: self.tres, diagnostics: &mut self.diagnostics }
    }

    /// Fills in shares, limits and QOS of an association.
    fn fill(&mut self, association: &mut Association, fields: &Fields, inherited: &[QosId]) {
        let mut reader = self.reader(fields);
        association.limits = reader.limits();
        association.priority = reader.number("Priority").unwrap_or(association.priority);
        association.shares = match reader.field("Fairshare").map(|field| field.value.as_str()) {
            Some(text) if text.eq_ignore_ascii_case("parent") => Shares::Parent,
            Some(text) => match text.parse() {
                Ok(PARENT_SHARES) => Shares::Parent,
                Ok(count) => Shares::Count(count),
                Err(_) => Shares::Count(1),
            },
            None => Shares::Count(1),
        };
        let (list, default_qos) = (reader.names("QOS"), reader.names("DefaultQOS"));
        let change_of = |word: &String, otherwise: Change| {
            let (sign, name) = signed(word);
            self.ids.get(name).map(|&id| (sign.unwrap_or(otherwise), id))
        };
        association.default_qos = default_qos.first().and_then(|name| self.ids.get(name).copied());
        association.qos = match fields.get("QOS") {
            // Empty: what the parent has.
            None => Vec::new(),
            Some(field) if changes_inherited(field) => {
                let mut ids: BTreeSet<QosId> = inherited.iter().copied().collect();
                for (change, id) in list.iter().filter_map(|word| change_of(word, field.change)) {
                    match change {
                        Change::Remove => ids.remove(&id),
                        Change::Add | Change::Set => ids.insert(id),
                    };
                }
                ids.into_iter().collect()
            }
            Some(field) => list.iter().filter_map(|word| change_of(word, field.change)).map(|(_, id)| id).collect(),
        };
    }

    fn qos(&mut self, row: &QosRow) -> Qos {
        let mut reader = self.reader(&row.fields);
        let limits = reader.limits();
        let mut qos = Qos {
            name: row.name.clone(),
            priority: reader.number("Priority").unwrap_or(0),
            limits,
            usage_factor: reader.factor("UsageFactor").filter(|&factor| factor != 1.0),
            limit_factor: reader.factor("LimitFactor").filter(|&factor| factor > 0.0 && factor != 1.0),
            usage_threshold: reader.factor("UsageThreshold"),
            preempt_exempt_time: reader
                .field("PreemptExemptTime")
                .and_then(|field| crate::slurm_conf::value::span(&field.value))
                .map(|span| span.seconds()),
            grace_time: reader.seconds("GraceTime").unwrap_or(0),
            ..Qos::default()
        };
        let (flags, preempt) = (reader.names("Flags"), reader.names("Preempt"));
        let mode = reader.field("PreemptMode").map(|field| field.value.to_ascii_uppercase());
        qos.preempt = preempt.iter().filter_map(|name| self.ids.get(name).copied()).collect();
        let unknown: Vec<&String> = preempt.iter().filter(|name| !self.ids.contains_key(*name)).collect();
        for name in unknown {
            self.remark(row, Severity::Warning, "Preempt", format!("QOS '{name}' is not described; left out"));
        }
        qos.preempt_mode = match mode.as_deref() {
            Some("CANCEL") => Some(PreemptMode::Cancel),
            Some("REQUEUE") => Some(PreemptMode::Requeue),
            Some("SUSPEND" | "SUSPEND,GANG" | "GANG,SUSPEND") => Some(PreemptMode::Suspend),
            Some("OFF") => Some(PreemptMode::Off),
            Some(mode) if !["", "CLUSTER"].contains(&mode) => {
                self.remark(
                    row,
                    Severity::NotModelled,
                    "PreemptMode",
                    format!("'{mode}' is not modelled; the cluster's mode is taken"),
                );
                None
            }
            _ => None,
        };
        for flag in flags {
            self.set_flag(row, &flag, &mut qos);
        }
        qos
    }

    fn set_flag(&mut self, row: &QosRow, flag: &str, qos: &mut Qos) {
        let flag = if flag.eq_ignore_ascii_case("DenyLimit") { "DenyOnLimit" } else { flag };
        let known: [(&str, &mut bool); 9] = [
            ("DenyOnLimit", &mut qos.deny_on_limit),
            ("EnforceUsageThreshold", &mut qos.enforce_usage_threshold),
            ("UsageFactorSafe", &mut qos.usage_factor_safe),
            ("NoReserve", &mut qos.no_reserve),
            ("NoDecay", &mut qos.no_decay),
            ("OverPartQOS", &mut qos.over_part_qos),
            ("PartitionMinNodes", &mut qos.partition_min_nodes),
            ("PartitionMaxNodes", &mut qos.partition_max_nodes),
            ("PartitionTimeLimit", &mut qos.partition_time_limit),
        ];
        for (name, value) in known {
            if name.eq_ignore_ascii_case(flag) {
                *value = true;
                return;
            }
        }
        let says_nothing = ["None", "NotSet"].iter().any(|word| word.eq_ignore_ascii_case(flag));
        if !says_nothing && flags_left_out(flag).next().is_none() {
            self.remark(row, Severity::Warning, "Flags", format!("'{flag}' is no flag of a QOS; left out"));
        }
    }

    fn remark(&mut self, row: &QosRow, severity: Severity, field: &str, message: String) {
        if let Some(known) = row.fields.get(field) {
            self.diagnostics.push(known.place.remark(severity, format!("QOS {}.{field}", row.name), message));
        }
    }
}
