//! What a site's files say will happen to the machine, and what a scenario changes of it.

use foresite_engine::calendar::{Calendar, OutageKind, ReservationFlags};
use foresite_engine::cluster::Cluster;
use jiff::tz::TimeZone;

use crate::diagnostic::Diagnostic;
use crate::events::{self, NodeEvent};
use crate::file_set::FileSet;
use crate::reservations::{self, Fact, FlagEffect, Place, flag};
use crate::slurm_conf::near::did_you_mean;
use crate::study_document::reservation::{AddedReservation, ReservationChange};
use crate::study_document::units::Moment;
use crate::study_document::{DOCUMENT, SiteSource};

/// Reservations and node events as they are written.
#[derive(Clone, Debug)]
pub(super) struct Happenings {
    reservations: Vec<Fact>,
    events: Vec<NodeEvent>,
    zone: TimeZone,
}

impl Happenings {
    /// Reads the files of a site that say what happens. Missing files are faults.
    pub(super) fn read(site: &SiteSource, files: &FileSet, zone: TimeZone, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut happenings = Self { reservations: Vec::new(), events: Vec::new(), zone: zone.clone() };
        if let Some((name, bytes)) = super::prepare::file(&site.reservations, files, diagnostics) {
            let (facts, found) = reservations::read(name, bytes, zone.clone());
            happenings.reservations = facts;
            diagnostics.extend(found);
        }
        if let Some((name, bytes)) = super::prepare::file(&site.events, files, diagnostics) {
            let (events, found) = events::read(name, bytes, zone);
            happenings.events = events;
            diagnostics.extend(found);
        }
        happenings
    }

    /// The engine's calendar; `period` is from the first submission to the last [Unix s].
    pub(super) fn lower(&self, cluster: &Cluster, period: Option<(i64, i64)>) -> (Calendar, Vec<Diagnostic>) {
        let (reservations, mut diagnostics) = reservations::lower(&self.reservations, cluster, period, &self.zone);
        let (outages, found) = events::lower(&self.events, cluster);
        diagnostics.extend(found);
        (Calendar { reservations, outages }, diagnostics)
    }

    /// The zone of local times.
    pub(super) fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Adds or removes a reservation. `pointer` names the change in the document.
    pub(super) fn change(&mut self, change: &ReservationChange, pointer: &str) -> Result<(), Diagnostic> {
        let name = match change {
            ReservationChange::Add(added) => {
                let fact = self.fact(added, &format!("{pointer}/add"))?;
                self.reservations.push(fact);
                return Ok(());
            }
            ReservationChange::Remove(name) => name,
        };
        let before = self.reservations.len();
        let known = self.reservations.iter().map(|fact| fact.name.as_str());
        let cure = did_you_mean(name, known, "name one of the site's reservations, or one added before");
        self.reservations.retain(|fact| fact.name != *name);
        if self.reservations.len() == before {
            let fault = Diagnostic::error(DOCUMENT, format!("there is no reservation '{name}'"));
            return Err(fault.field(format!("{pointer}/remove")).cure(cure));
        }
        Ok(())
    }

    fn fact(&self, added: &AddedReservation, pointer: &str) -> Result<Fact, Diagnostic> {
        let start = added.start.unix_seconds(&self.zone);
        let end = added.ends_at(&self.zone);
        if end <= start {
            let fault = Diagnostic::error(DOCUMENT, "the reservation ends before it begins");
            return Err(fault.field(format!("{pointer}/end")).cure("write an end after the start"));
        }
        let created = added.created.map(|created| created.unix_seconds(&self.zone));
        if created.is_some_and(|created| created >= end) {
            let fault = Diagnostic::error(DOCUMENT, "the reservation is created after its end");
            return Err(fault.field(format!("{pointer}/created")).cure("write a moment before the end"));
        }
        let mut flags = ReservationFlags::default();
        let mut repeat = None;
        for word in &added.flags {
            match flag(word) {
                Some(FlagEffect::Sets(set)) => set(&mut flags),
                Some(FlagEffect::Repeats(found)) => repeat = Some(found),
                _ => {}
            }
        }
        Ok(Fact {
            place: Place { file: DOCUMENT.to_owned(), line: None, pointer: Some(pointer.to_owned()) },
            name: added.name.clone(),
            created,
            start,
            end,
            nodes: added.nodes.clone().unwrap_or_default().trim().to_owned(),
            licenses: String::new(),
            partition: added.partition.clone().unwrap_or_default(),
            users: added.users.clone(),
            accounts: added.accounts.clone(),
            flags,
            repeat,
        })
    }

    /// Drains nodes for a while.
    pub(super) fn drain(&mut self, nodes: &str, window: (Moment, Moment), pointer: &str) -> Result<(), Diagnostic> {
        let (start, end) = (window.0.unix_seconds(&self.zone), window.1.unix_seconds(&self.zone));
        if end <= start {
            let fault = Diagnostic::error(DOCUMENT, "the window ends before it begins");
            return Err(fault.field(format!("{pointer}/window")).cure("write [from, to] with from before to"));
        }
        self.events.push(NodeEvent {
            place: Place { file: DOCUMENT.to_owned(), line: None, pointer: Some(pointer.to_owned()) },
            cluster: String::new(),
            nodes: nodes.to_owned(),
            start,
            end: Some(end),
            kind: OutageKind::Drain,
        });
        Ok(())
    }
}
