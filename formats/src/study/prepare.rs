//! Documents and files to a study: read once, lowered per scenario, every fault at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use foresite_engine::cluster::Cluster;
use foresite_engine::job::Workload;
use foresite_engine::plain::PlainOptions;
use foresite_engine::policy::SelectPolicy;
use foresite_engine::scenario::{Scenario, ScenarioError};
use jiff::tz::TimeZone;

use super::apply::{Beyond, Consumed, Edited, apply};
use super::controllers::{capacity, split};
use super::happenings::Happenings;
use super::settled::Settled;
use super::window::Window;
use super::workload::resolve;
use super::{Prepared, Study, caveats, idle, inputs};
use crate::comparison::{Dimension, Plan};
use crate::diagnostic::{Diagnostic, Severity, any_error};
use crate::file_set::FileSet;
use crate::hostlist::NodeNames;
use crate::sacctmgr::Sacctmgr;
use crate::sdiag::Sdiag;
use crate::site::Site;
use crate::slurm_conf::{SlurmConf, plain};
use crate::study_document::{BASELINE, Change, DOCUMENT, SiteSource, StudyDocument};
use crate::summary_file::Horizon;
use crate::trace::compact::{self, CompactError, Origin};
use crate::trace::{self, Trace, TraceOptions};
use crate::usage::RecordedUsage;

/// A plain machine, for traces without a slurm.conf; what is `None` comes from the trace's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// How many nodes.
    pub nodes: Option<u32>,
    /// CPUs of each.
    pub cpus_per_node: Option<u32>,
}

/// Everything a study reads, read once.
struct Sources {
    conf: Option<SlurmConf>,
    accounts: Option<Sacctmgr>,
    usage: Option<RecordedUsage>,
    happenings: Happenings,
    trace: Trace,
    /// First and last submission [Unix s].
    period: Option<(i64, i64)>,
    machine: Machine,
}

impl Study {
    /// Reads all files of a document and makes the study ready. The document's file names are names in `files`; the study is
    /// `Some` only if nothing is wrong.
    pub fn prepare(document: &StudyDocument, files: &FileSet) -> (Option<Self>, Vec<Diagnostic>) {
        Self::prepare_on(document, files, Machine::default())
    }

    /// As [`Self::prepare`], on a plain machine where the document names no slurm.conf.
    pub fn prepare_on(document: &StudyDocument, files: &FileSet, machine: Machine) -> (Option<Self>, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let sources = Sources::read(document, files, machine, &mut diagnostics);
        let Some(sources) = sources else { return (None, diagnostics) };
        let window = Window::of(&document.trace);
        let baseline = match any_error(&diagnostics) {
            true => None,
            false => sources.baseline(window, &mut diagnostics),
        };
        let Some((baseline, settled)) = baseline else {
            sources.check_changes(document, &mut diagnostics);
            return (None, diagnostics);
        };
        let mut plan = Plan {
            inputs: inputs::inputs(document, files, window.counted),
            caveats: caveats::of_study(&diagnostics, window, &baseline.site.workload),
            gates: document.gates.clone(),
            idle: Vec::new(),
            scenarios: Vec::new(),
        };
        check_gates(document, &baseline, &mut diagnostics);
        let mut scenarios = vec![baseline];
        for (index, changed) in document.scenarios.iter().enumerate() {
            let pointer = format!("/scenarios/{index}/changes");
            let prepared =
                sources.scenario(&changed.name, &changed.changes, &pointer, window, &settled, &mut diagnostics);
            let Some(prepared) = prepared else { continue };
            let counts = prepared.split.as_ref().map(|split| split.counts.clone());
            if let Some(counts) = &counts {
                plan.caveats.extend(caveats::of_controllers(&changed.name, counts));
            }
            plan.caveats.extend(caveats::of_workload(&changed.name, &changed.changes));
            plan.idle.extend(idle::reasons(&changed.name, &changed.changes, &prepared.site, sources.happenings.zone()));
            plan.scenarios.push((changed.name.clone(), counts));
            scenarios.push(prepared);
        }
        let recorded = settled.recorded.map(Arc::new);
        plan.caveats.extend(recorded.is_none().then(caveats::without_record));
        let study = Self { document: document.clone(), scenarios, plan, recorded };
        ((!any_error(&diagnostics)).then_some(study), diagnostics)
    }
}

/// The site alone, without a trace: `None` without a slurm.conf, or if anything is wrong.
pub fn read_site(document: &StudyDocument, files: &FileSet) -> (Option<Site>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let (conf, accounts) = read_configuration(&document.site, files, &mut diagnostics);
    let zone = time_zone(document, &mut diagnostics).unwrap_or(TimeZone::UTC);
    let happenings = Happenings::read(&document.site, files, zone, &mut diagnostics);
    // Lowered even after a fault in reading, so that all faults are told at once.
    let Some(conf) = conf else { return (None, diagnostics) };
    let (mut site, found) = conf.lower(accounts.as_ref());
    diagnostics.extend(found);
    if let Some(site) = &mut site {
        let (calendar, found) = happenings.lower(&site.cluster, None);
        site.calendar = calendar;
        diagnostics.extend(found);
    }
    (site.filter(|_| !any_error(&diagnostics)), diagnostics)
}

/// The trace alone: `None` if anything is wrong with it.
pub fn read_trace(document: &StudyDocument, files: &FileSet) -> (Option<Trace>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let trace = read_traced(document, files, &mut diagnostics);
    (trace.filter(|_| !any_error(&diagnostics)), diagnostics)
}

/// The compact form of a document's trace as [`Study::prepare`] would read it; `None` if anything is wrong with it.
pub fn compact_trace(document: &StudyDocument, files: &FileSet) -> Option<Vec<u8>> {
    let name = document.trace.file.as_deref()?;
    let bytes = files.get(name)?;
    let options = trace_options(document, &mut Vec::new());
    let (trace, diagnostics) = Trace::read(name, bytes, &options);
    compact::write(&Origin::new(name, inputs::sha256(bytes), &options), &trace?, &diagnostics).ok()
}

fn trace_options(document: &StudyDocument, diagnostics: &mut Vec<Diagnostic>) -> TraceOptions {
    let opens = Window::of(&document.trace).opens();
    TraceOptions { time_zone: time_zone(document, diagnostics), opens, ..TraceOptions::default() }
}

fn read_traced(document: &StudyDocument, files: &FileSet, diagnostics: &mut Vec<Diagnostic>) -> Option<Trace> {
    let options = trace_options(document, diagnostics);
    if let Some((name, bytes)) = document.trace.file.as_deref().and_then(|name| Some((name, files.compact(name)?))) {
        return read_compact(name, bytes, &options, diagnostics);
    }
    let (name, bytes) = file(&document.trace.file, files, diagnostics)?;
    let (trace, found) = Trace::read(name, bytes, &options);
    diagnostics.extend(found);
    trace
}

/// The trace that an earlier reading of the same file left, if it was read as it would be now.
fn read_compact(name: &str, bytes: &[u8], options: &TraceOptions, diagnostics: &mut Vec<Diagnostic>) -> Option<Trace> {
    let read = compact::read(bytes).and_then(|read| {
        let wanted = Origin::new(name, read.origin.sha256.clone(), options);
        if read.origin == wanted { Ok(read) } else { Err(CompactError::of_another(&read.origin)) }
    });
    match read {
        Ok(read) => {
            diagnostics.extend(read.diagnostics);
            Some(read.trace)
        }
        Err(error) => {
            diagnostics.push(Diagnostic::error(name, error.to_string()).cure("upload the trace again"));
            None
        }
    }
}

fn read_configuration(
    site: &SiteSource,
    files: &FileSet,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Option<SlurmConf>, Option<Sacctmgr>) {
    let mut conf = None;
    if let Some(name) = &site.slurm_conf {
        let (read, found) = SlurmConf::read(files, name);
        diagnostics.extend(found);
        conf = Some(read);
    }
    let mut accounts = None;
    if let Some((name, bytes)) = file(&site.accounts, files, diagnostics) {
        let (read, found) = Sacctmgr::read(name, bytes);
        diagnostics.extend(found);
        accounts = Some(read);
    }
    (conf, accounts)
}

/// Jobs of another cluster were made for its nodes and partitions.
fn of_another_cluster(trace: &Trace, conf: &SlurmConf) -> Option<Diagnostic> {
    let (ours, theirs) = (conf.cluster_name()?, trace.cluster.as_str());
    if theirs.is_empty() || ours.eq_ignore_ascii_case(theirs) {
        return None;
    }
    let message =
        format!("the jobs are those of the cluster '{theirs}', slurm.conf is of '{ours}': taken all the same");
    let warning = Diagnostic::new(Severity::Warning, &trace.file, message).field("Cluster");
    let warning = trace.jobs.iter().map(|job| job.line).min().map_or(warning.clone(), |line| warning.at(line));
    Some(warning.cure(format!("export with sacct --clusters {ours}")))
}

impl Sources {
    fn read(
        document: &StudyDocument,
        files: &FileSet,
        machine: Machine,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let site = &document.site;
        let (mut conf, accounts) = read_configuration(site, files, diagnostics);
        if let Some((name, bytes)) = file(&site.sdiag, files, diagnostics) {
            let (sdiag, found) = Sdiag::read(name, bytes);
            diagnostics.extend(found);
            diagnostics.extend(match (&sdiag, &mut conf) {
                (Some(sdiag), Some(conf)) => Some(sdiag.calibrate(conf)),
                (Some(_), None) => {
                    let message = "cycle times have no effect without a slurm.conf";
                    Some(Diagnostic::new(Severity::NotModelled, name, message))
                }
                (None, _) => None,
            });
        }
        let usage = file(&site.usage, files, diagnostics).and_then(|(name, bytes)| {
            let (usage, found) = RecordedUsage::read(name, bytes);
            diagnostics.extend(found);
            usage
        });
        let zone =
            document.trace.timezone.as_deref().and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC);
        let happenings = Happenings::read(site, files, zone, diagnostics);
        let trace = read_traced(document, files, diagnostics)?;
        diagnostics.extend(conf.as_ref().and_then(|conf| of_another_cluster(&trace, conf)));
        let submits = trace.jobs.iter().map(|job| (job.submit, job.submit));
        let period = submits.reduce(|(first, last), (submit, _)| (first.min(submit), last.max(submit)));
        Some(Self { conf, accounts, usage, happenings, trace, period, machine })
    }

    fn lower(
        &self,
        conf: Option<&SlurmConf>,
        accounts: Option<&Sacctmgr>,
        happenings: &Happenings,
    ) -> (Option<Site>, Vec<Diagnostic>) {
        let (mut site, mut diagnostics) = match conf {
            Some(conf) => conf.lower(accounts),
            None => match trace::swf_site(&self.trace, self.machine.nodes, self.machine.cpus_per_node) {
                Ok(site) => (Some(site), Vec::new()),
                Err(fault) => (None, vec![fault]),
            },
        };
        if let Some(site) = &mut site {
            let (calendar, found) = happenings.lower(&site.cluster, self.period);
            site.calendar = calendar;
            diagnostics.extend(found);
        }
        (site, diagnostics)
    }

    /// The trace's jobs among the site's people.
    fn settle(&self, site: Site, window: Window, diagnostics: &mut Vec<Diagnostic>) -> Option<Settled> {
        Settled::new(site, &self.trace, self.usage.as_ref(), window, diagnostics)
    }

    fn baseline(&self, window: Window, diagnostics: &mut Vec<Diagnostic>) -> Option<(Prepared, Settled)> {
        let (site, found) = self.lower(self.conf.as_ref(), self.accounts.as_ref(), &self.happenings);
        diagnostics.extend(found);
        let settled = self.settle(site?, window, diagnostics)?;
        if settled.workload.jobs.iter().all(|job| job.before().is_some()) {
            let fault = Diagnostic::error(DOCUMENT, "no job of the trace was submitted in the window");
            diagnostics.push(fault.field("/trace/window").cure("choose a window within the trace"));
        }
        let baseline = prepared(BASELINE, settled.site.clone(), settled.workload.clone(), window, diagnostics)?;
        Some((baseline, settled))
    }

    /// The faults of all changes, where something else is wrong too: the site must be right for that.
    fn check_changes(&self, document: &StudyDocument, diagnostics: &mut Vec<Diagnostic>) {
        let (Some(site), _) = self.lower(self.conf.as_ref(), self.accounts.as_ref(), &self.happenings) else { return };
        for (index, changed) in document.scenarios.iter().enumerate() {
            let pointer = format!("/scenarios/{index}/changes");
            let (.., faults) = self.edited(&changed.changes, &pointer, &site.cluster, &site.policy.select);
            diagnostics.extend(faults);
        }
    }

    /// The files as a scenario's changes leave them.
    fn edited<'c>(
        &self,
        changes: &'c [Change],
        pointer: &str,
        cluster: &Cluster,
        select: &SelectPolicy,
    ) -> (Edited, Beyond<'c>, Vec<Diagnostic>) {
        let (conf, accounts, happenings) = (self.conf.clone(), self.accounts.clone(), self.happenings.clone());
        let mut edited = Edited { conf, accounts, happenings, plain: BTreeMap::new(), origins: BTreeMap::new() };
        let partitions: Vec<String> = cluster.partitions.iter().map(|partition| partition.name.clone()).collect();
        let consumed = Consumed { linear: select.linear, memory: select.memory, n_partitions: partitions.len() };
        let (beyond, faults) = apply(changes, pointer, &mut edited, &partitions, consumed);
        (edited, beyond, faults)
    }

    fn scenario(
        &self,
        name: &str,
        changes: &[Change],
        pointer: &str,
        window: Window,
        baseline: &Settled,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Prepared> {
        let (edited, beyond, faults) =
            self.edited(changes, pointer, &baseline.site.cluster, &baseline.site.policy.select);
        let is_faulty = any_error(&faults);
        diagnostics.extend(faults);
        if is_faulty {
            return None;
        }
        // What the baseline's files said already is not said again for each scenario.
        let mut found = Vec::new();
        let prepared = self.lowered(name, &edited, &beyond, window, baseline, &mut found);
        for mut diagnostic in found.into_iter().filter(|it| !diagnostics.contains(it)).collect::<Vec<_>>() {
            edited.locate(&mut diagnostic);
            diagnostic.message = format!("in scenario `{name}`: {}", diagnostic.message);
            diagnostics.push(diagnostic);
        }
        prepared
    }

    fn lowered(
        &self,
        name: &str,
        edited: &Edited,
        beyond: &Beyond,
        window: Window,
        baseline: &Settled,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Prepared> {
        let (site, found) = self.lower(edited.conf.as_ref(), edited.accounts.as_ref(), &edited.happenings);
        diagnostics.extend(found);
        let mut site = site?;
        if let Some(scheduler) = beyond.scheduler {
            site.policy.scheduler = scheduler.algorithm(site.policy.scheduler);
        }
        if edited.conf.is_none() {
            site.policy.plain = plain::options(|name| edited.plain.get(name).map(String::as_str));
        }
        if site.policy.plain != PlainOptions::default() && !site.policy.scheduler.is_plain() {
            let message = "Plain options have no effect on Slurm's schedulers";
            let fault = Diagnostic::new(Severity::Warning, DOCUMENT, message);
            diagnostics.push(fault.cure("choose the scheduler fcfs, sjf, easy or conservative"));
        }
        let (site, workload) = match baseline.of(&site) {
            Some(known) => known,
            None => {
                let settled = self.settle(site, window, diagnostics)?;
                (settled.site, shared(settled.workload, &baseline.workload))
            }
        };
        let mut prepared = prepared(name, site, workload, window, diagnostics)?;
        if !beyond.workload.is_empty() {
            match resolve(&beyond.workload, Arc::make_mut(&mut prepared.site)) {
                Ok(edits) => prepared.edits = Some(Arc::new(edits)),
                Err(faults) => {
                    diagnostics.extend(faults);
                    return None;
                }
            }
        }
        let Some((change, pointer)) = &beyond.controllers else { return Some(prepared) };
        match split(change, &prepared.site) {
            Ok((split, notes)) => {
                let note = |text| Diagnostic::new(Severity::Warning, DOCUMENT, text).field(pointer);
                diagnostics.extend(notes.into_iter().map(note));
                prepared.horizon.cpus = split.controllers.iter().map(|controller| controller.capacity).sum();
                prepared.split = Some(Arc::new(split));
                Some(prepared)
            }
            Err(faults) => {
                diagnostics.extend(faults.into_iter().map(|(place, message)| {
                    let fault = Diagnostic::error(DOCUMENT, message).field(format!("{pointer}/controllers{place}"));
                    fault.cure("name partitions and nodes as slurm.conf does, each node once")
                }));
                None
            }
        }
    }
}

/// The zone a document names; that it is unknown is a fault.
fn time_zone(document: &StudyDocument, diagnostics: &mut Vec<Diagnostic>) -> Option<TimeZone> {
    let name = document.trace.timezone.as_deref()?;
    let zone = TimeZone::get(name).ok();
    if zone.is_none() {
        let fault = Diagnostic::error(DOCUMENT, format!("unknown time zone `{name}`")).field("/trace/timezone");
        diagnostics.push(fault.cure("use an IANA name such as Europe/Berlin"));
    }
    zone
}

/// The file of an option, if it is named; that it is missing is a fault.
pub(super) fn file<'a>(
    option: &'a Option<String>,
    files: &'a FileSet,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(&'a str, &'a [u8])> {
    let name = option.as_deref()?;
    let bytes = files.get(name);
    if bytes.is_none() {
        diagnostics.push(Diagnostic::error(name, "the file is not there").cure("check the name in the study document"));
    }
    Some((name, bytes?))
}

/// The baseline's copy of the jobs where the scenario's are equal: one trace in memory serves all.
fn shared(workload: Arc<Workload>, baseline: &Arc<Workload>) -> Arc<Workload> {
    if workload == *baseline { baseline.clone() } else { workload }
}

fn prepared(
    name: &str,
    site: Site,
    workload: Arc<Workload>,
    window: Window,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Prepared> {
    let Site { cluster, associations, qos, policy, calendar, .. } = site;
    let horizon = Horizon { window: window.counted, cpus: capacity(&cluster) };
    if policy.scheduler.is_plain() && !calendar.is_empty() {
        let message = "plain algorithms know neither reservations nor outages: all nodes are always there";
        diagnostics.push(Diagnostic::new(Severity::NotModelled, DOCUMENT, message));
    }
    let names = NodeNames::of(&cluster);
    let scenario = Scenario { cluster, associations, qos, policy, calendar, workload };
    if let Err(errors) = scenario.validate() {
        let fault = |error: ScenarioError| Diagnostic::error(DOCUMENT, error.to_string());
        let cure = "correct what it names, in the site's files or in the changes";
        diagnostics.extend(errors.into_iter().map(|error| fault(error).cure(cure)));
        return None;
    }
    Some(Prepared { name: name.to_owned(), site: Arc::new(scenario), names, split: None, edits: None, horizon })
}

/// Gates that name a group which the simulated jobs do not have.
fn check_gates(document: &StudyDocument, baseline: &Prepared, diagnostics: &mut Vec<Diagnostic>) {
    let site = &baseline.site;
    for (index, gate) in document.gates.iter().enumerate() {
        let Some(key) = &gate.key else { continue };
        let is_known = match gate.by {
            Dimension::Overall => true,
            Dimension::User => site.workload.users.contains(key),
            Dimension::Account => site.associations.rows.iter().any(|row| row.account == *key),
            Dimension::Partition => site.cluster.partition_named(key).is_some(),
            Dimension::Qos => site.qos.iter().any(|qos| qos.name == *key),
        };
        if !is_known {
            let fault = Diagnostic::error(DOCUMENT, format!("there is no {} `{key}`", gate.by));
            diagnostics.push(fault.field(format!("/gates/{index}/key")).cure("name a group that the trace has"));
        }
    }
}
