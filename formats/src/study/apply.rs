//! A scenario's changes, applied to slurm.conf as an administrator would write them.

use std::collections::BTreeMap;

use super::happenings::Happenings;
use crate::diagnostic::Diagnostic;
use crate::sacctmgr::Sacctmgr;
use crate::slurm_conf::{SlurmConf, plain};
use crate::study_document::change::{NodeSharing, NodesChange, SchedulerName, SeparateControllers, SharingMode};
use crate::study_document::reservation::ReservationChange;
use crate::study_document::units::Setting;
use crate::study_document::workload::WorkloadChange;
use crate::study_document::{Change, DOCUMENT};

/// What slurm.conf cannot say.
#[derive(Clone, Debug, Default)]
pub(super) struct Beyond<'a> {
    /// The last algorithm named.
    pub(super) scheduler: Option<SchedulerName>,
    /// The last split, and its JSON pointer.
    pub(super) controllers: Option<(&'a SeparateControllers, String)>,
    /// Changes to the jobs, in order, and their JSON pointers.
    pub(super) workload: Vec<(&'a WorkloadChange, String)>,
}

/// Which nodes are consumed by what, as the configuration stands: needed to keep memory consumed when the unit changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Consumed {
    /// `select/linear`.
    pub(super) linear: bool,
    /// `CR_*_Memory`.
    pub(super) memory: bool,
    /// How many partitions there are.
    pub(super) n_partitions: usize,
}

/// The files that changes edit; a scenario's own copies.
#[derive(Debug)]
pub(super) struct Edited {
    /// slurm.conf.
    pub(super) conf: Option<SlurmConf>,
    /// The accounting dump.
    pub(super) accounts: Option<Sacctmgr>,
    /// Reservations and node events.
    pub(super) happenings: Happenings,
    /// Settings of plain algorithms where there is no slurm.conf.
    pub(super) plain: BTreeMap<&'static str, String>,
    /// By the place that an edit's value names as its own (`what-if KEY`): where in the document it was asked for.
    pub(super) origins: BTreeMap<String, String>,
}

impl Edited {
    /// Tells a remark about an edited value its place in the document.
    pub(super) fn locate(&self, diagnostic: &mut Diagnostic) {
        if let Some(pointer) = self.origins.get(&diagnostic.file) {
            let field = Some(pointer.clone());
            *diagnostic = Diagnostic { file: DOCUMENT.to_owned(), line: None, field, ..diagnostic.clone() };
        }
    }
}

/// Applies changes in order. `pointer` names the list of changes in the document.
pub(super) fn apply<'a>(
    changes: &'a [Change],
    pointer: &str,
    edited: &mut Edited,
    partitions: &[String],
    consumed: Consumed,
) -> (Beyond<'a>, Vec<Diagnostic>) {
    let mut beyond = Beyond::default();
    let mut faults = Vec::new();
    for (index, change) in changes.iter().enumerate() {
        let here = format!("{pointer}/{index}/{}", change.kind());
        match change {
            Change::Scheduler(name) => beyond.scheduler = Some(*name),
            Change::SeparateControllers(separate) => beyond.controllers = Some((separate, here)),
            Change::Reservation(reservation) => {
                faults.extend(edited.happenings.change(reservation, &here).err());
                if let ReservationChange::Add(added) = reservation {
                    faults.extend(added.slip(&here));
                }
            }
            Change::Nodes(NodesChange::Drain { nodes, window }) => {
                faults.extend(edited.happenings.drain(nodes, *window, &format!("{here}/drain")).err());
            }
            Change::Workload(workload) => beyond.workload.push((workload, here)),
            _ => match edits(change, partitions, consumed) {
                Ok(edits) => faults.extend(edits.iter().filter_map(|edit| edit.apply(edited, &here).err())),
                Err((message, cure)) => faults.push(Diagnostic::error(DOCUMENT, message).field(here).cure(cure)),
            },
        }
    }
    (beyond, faults)
}

fn edits(change: &Change, partitions: &[String], consumed: Consumed) -> Result<Vec<Edit>, Refusal> {
    let all = |set: &BTreeMap<String, Setting>, place: &str, action: &dyn Fn(&str, String) -> Action| {
        set.iter().map(|(key, value)| Edit::new(&format!("{place}{key}"), action(key, value.0.clone()))).collect()
    };
    Ok(match change {
        Change::Set(settings) => all(settings, "", &|key, value| Action::Set(key.to_owned(), value)),
        Change::Scale(factors) => {
            factors.iter().map(|(key, factor)| Edit::new(key, Action::Scale(key.clone(), *factor))).collect()
        }
        Change::Partition(partition) => {
            all(&partition.set, "set/", &|key, value| Action::Set(format!("partition.{}.{key}", partition.name), value))
        }
        Change::NodeSharing(sharing) => node_sharing(sharing, partitions, consumed)?,
        Change::Nodes(NodesChange::Add { nodes, like }) => {
            vec![Edit::new("add", Action::AddNodes(nodes.clone(), like.clone()))]
        }
        Change::Nodes(NodesChange::Remove(nodes)) => vec![Edit::new("remove", Action::RemoveNodes(nodes.clone()))],
        Change::Nodes(NodesChange::Resize { nodes, set }) => {
            all(set, "resize/set/", &|key, value| Action::Set(format!("node.{nodes}.{key}"), value))
        }
        Change::Qos(qos) => {
            all(&qos.set, "set/", &|key, value| Action::SetQos(qos.name.clone(), key.to_owned(), value))
        }
        Change::Association(row) => all(&row.set, "set/", &|key, value| {
            Action::SetAssociation(row.account.clone(), row.user.clone(), key.to_owned(), value)
        }),
        // Made elsewhere.
        Change::Scheduler(_)
        | Change::SeparateControllers(_)
        | Change::Workload(_)
        | Change::Reservation(_)
        | Change::Nodes(NodesChange::Drain { .. }) => Vec::new(),
    })
}

/// One edit of a file, and where in the change it was asked for.
struct Edit {
    place: String,
    action: Action,
}

enum Action {
    Set(String, String),
    Scale(String, f64),
    AddNodes(String, String),
    RemoveNodes(String),
    SetQos(String, String, String),
    SetAssociation(String, Option<String>, String, String),
}

impl Action {
    /// What readers call the place of the value.
    fn place(&self) -> Option<String> {
        Some(match self {
            Self::Set(key, _) | Self::Scale(key, _) => format!("what-if {key}"),
            Self::SetQos(name, key, _) => format!("what-if qos.{name}.{key}"),
            Self::SetAssociation(account, None, key, _) => format!("what-if association.{account}.{key}"),
            Self::SetAssociation(account, Some(user), key, _) => format!("what-if association.{account}.{user}.{key}"),
            Self::AddNodes(..) | Self::RemoveNodes(_) => return None,
        })
    }
}

impl Edit {
    fn new(place: &str, action: Action) -> Self {
        Self { place: place.to_owned(), action }
    }

    fn set(place: &str, key: String, value: &str) -> Self {
        Self::new(place, Action::Set(key, value.to_owned()))
    }

    fn apply(&self, edited: &mut Edited, pointer: &str) -> Result<(), Diagnostic> {
        let field = format!("{pointer}/{}", self.place);
        let missing = |what: &str, option: &str| {
            let fault = Diagnostic::error(DOCUMENT, format!("the change needs {what}")).field(&field);
            fault.cure(format!("name it as `{option}` under `site:`"))
        };
        edited.origins.extend(self.action.place().map(|place| (place, field.clone())));
        let accounts = edited.accounts.as_mut().ok_or_else(|| missing("a sacctmgr dump", "accounts"));
        let own = match &self.action {
            Action::Set(key, value) if edited.conf.is_none() => plain::setting(key).map(|setting| (setting, value)),
            _ => None,
        };
        if let Some((setting, value)) = own {
            plain::check(setting, value).map_err(|fault| fault.field(&field))?;
            edited.plain.insert(setting.name, value.clone());
            return Ok(());
        }
        let conf = edited.conf.as_mut().ok_or_else(|| missing("a slurm.conf", "slurm_conf"));
        let result = match &self.action {
            Action::Set(key, value) => conf?.set(key, value),
            Action::Scale(key, factor) => conf?.scale(key, *factor),
            Action::AddNodes(nodes, like) => conf?.add_nodes(nodes, like),
            Action::RemoveNodes(nodes) => conf?.remove_nodes(nodes).map(|_| ()),
            Action::SetQos(name, key, value) => accounts?.set_qos(name, key, value),
            Action::SetAssociation(account, user, key, value) => {
                accounts?.set_association(account, user.as_deref(), key, value)
            }
        };
        // The fault is the document's, whichever file the value would have stood in.
        result.map_err(|fault| Diagnostic { file: DOCUMENT.to_owned(), line: None, field: Some(field), ..fault })
    }
}

/// Message and cure.
type Refusal = (String, String);

fn node_sharing(sharing: &NodeSharing, partitions: &[String], consumed: Consumed) -> Result<Vec<Edit>, Refusal> {
    if let Some(name) = &sharing.partition
        && !partitions.contains(name)
    {
        return Err((format!("partition {name} is not in slurm.conf"), format!("it has {}", partitions.join(", "))));
    }
    let over_subscribe = if sharing.mode == SharingMode::Exclusive { "EXCLUSIVE" } else { "NO" };
    let named = partitions.iter().filter(|name| sharing.partition.as_ref().is_none_or(|wanted| wanted == *name));
    let mut edits: Vec<Edit> =
        named.map(|name| Edit::set("partition", format!("partition.{name}.OverSubscribe"), over_subscribe)).collect();
    if sharing.mode == SharingMode::Exclusive {
        return Ok(edits);
    }
    if sharing.partition.is_some() && consumed.n_partitions > 1 {
        let message = "sockets or cores for one partition of several are not yet modelled";
        return Err((message.to_owned(), "leave out `partition`, so that the whole cluster changes".to_owned()));
    }
    let unit = if sharing.mode == SharingMode::Sockets { "CR_Socket" } else { "CR_Core" };
    let memory = if consumed.memory { "_Memory" } else { "" };
    if consumed.linear {
        edits.push(Edit::set("mode", "SelectType".to_owned(), "select/cons_tres"));
    }
    edits.push(Edit::set("mode", "SelectTypeParameters".to_owned(), &format!("{unit}{memory}")));
    Ok(edits)
}
