//! `foresite check`: what is understood of a site's files, what is assumed or not modelled, and what is wrong.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use foresite_engine::scenario::Scenario;
use foresite_formats::diagnostic::{Diagnostic, Severity, any_error};
use foresite_formats::fidelity::{Standing, rules};
use foresite_formats::file_set::FileSet;
use foresite_formats::sdiag::Sdiag;
use foresite_formats::slurm_conf::SlurmConf;
use foresite_formats::study::{Study, read_site, read_trace};
use foresite_formats::study_document::{self, SiteSource, StudyDocument, TraceSource};
use foresite_formats::usage::RecordedUsage;
use foresite_formats::utf16;
use serde::Serialize;
use serde_json::json;

use crate::exit::Exit;
use crate::kind::{Kind, recognised};
use crate::{diagnostics, files, understood};

/// Read configurations, accounts, traces and studies, and say what is understood of them.
///
/// Files are recognised by their content. Given together, a slurm.conf, a `sacctmgr dump` and a trace are checked against each other.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    foresite check slurm.conf\n  \
    foresite check slurm.conf sacctmgr.cfg sacct.txt.zst --timezone Europe/Berlin\n  \
    foresite check study.yaml --json\n  \
    foresite check --rules --json")]
pub(crate) struct Check {
    /// slurm.conf, `sacctmgr dump`, `sacct --parsable2` or SWF, `scontrol show reservation`, `sacctmgr show event -P`,
    /// `sshare -alP`, `sdiag`, study documents.
    #[arg(required_unless_present = "rules", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The time zone in which sacct wrote its times.
    #[arg(long, value_name = "IANA")]
    timezone: Option<String>,
    /// Print what was found as JSON.
    #[arg(long)]
    json: bool,
    /// List every rule of Slurm's scheduling, modelled or not, as docs/FIDELITY.md has it.
    #[arg(long, conflicts_with = "files")]
    rules: bool,
}

/// What is said of one file, or of several that belong together.
#[derive(Debug, Serialize)]
struct Checked {
    files: Vec<String>,
    kind: &'static str,
    understood: Vec<String>,
    diagnostics: Vec<Diagnostic>,
}

/// The files of a site among those given.
#[derive(Debug, Default)]
struct SiteFiles {
    slurm_conf: Option<String>,
    accounts: Option<String>,
    trace: Option<String>,
    reservations: Option<String>,
    events: Option<String>,
    usage: Option<String>,
    sdiag: Option<String>,
}

impl Check {
    /// Checks every file.
    pub(crate) fn execute(self) -> anyhow::Result<Exit> {
        if self.rules {
            self.list_rules();
            return Ok(Exit::Done);
        }
        let mut checked = Vec::new();
        let mut sites: Vec<SiteFiles> = vec![SiteFiles::default()];
        for path in &self.files {
            let name = files::name_of(path);
            let bytes = match fs::read(path) {
                Ok(bytes) => bytes,
                Err(error) => {
                    checked.push(Checked::only(&name, "unreadable", vec![files::unreadable(&name, &error)]));
                    continue;
                }
            };
            match recognised(&name, &bytes) {
                Kind::Study => checked.push(study(path, &name, &bytes)),
                Kind::SlurmConf => place(&mut sites, name, |site| &mut site.slurm_conf),
                Kind::Accounts => place(&mut sites, name, |site| &mut site.accounts),
                Kind::Trace => place(&mut sites, name, |site| &mut site.trace),
                Kind::Reservations => place(&mut sites, name, |site| &mut site.reservations),
                Kind::Events => place(&mut sites, name, |site| &mut site.events),
                Kind::Usage => place(&mut sites, name, |site| &mut site.usage),
                Kind::Sdiag => place(&mut sites, name, |site| &mut site.sdiag),
                Kind::Utf16 => checked.push(Checked::only(&name, "unknown", vec![utf16::fault(&name)])),
                Kind::Other(command, cure) => {
                    let fault = Diagnostic::error(
                        &name,
                        format!("this is the output of {command}, which Foresite does not read"),
                    );
                    checked.push(Checked::only(&name, "unknown", vec![fault.cure(cure)]));
                }
                Kind::Neighbour(file) => {
                    let message = match file {
                        "topology.conf" | "gres.conf" => {
                            format!("{file} is read with the slurm.conf that it stands beside")
                        }
                        _ => format!("{file} decides about no schedule: not read"),
                    };
                    let remark = Diagnostic::new(Severity::Assumed, &*name, message);
                    checked.push(Checked::only(&name, file, vec![remark.cure("hand over slurm.conf alone")]));
                }
                Kind::Unknown => {
                    let fault = Diagnostic::error(&name, "this is no file Foresite knows");
                    let cure = "hand over slurm.conf, sacctmgr dump, sacct --parsable2, SWF, scontrol show reservation, sacctmgr show event -P, \
                                sshare -alP, sdiag or a study document";
                    checked.push(Checked::only(&name, "unknown", vec![fault.cure(cure)]));
                }
            }
        }
        let first = sites.first().map(|site| (site.slurm_conf.clone(), site.trace.clone()));
        for (index, site) in sites.into_iter().enumerate() {
            let remark = first.as_ref().filter(|_| index > 0).and_then(|first| of_a_further_trace(first, &site));
            self.site(site, &mut checked);
            if let (Some(remark), Some(last)) = (remark, checked.last_mut()) {
                last.diagnostics.push(remark);
            }
        }
        let is_wrong = checked.iter().any(|it| any_error(&it.diagnostics));
        if self.json {
            println!("{:#}", json!({ "checked": checked }));
        } else {
            for it in &checked {
                print!("{}", it.listed());
            }
        }
        Ok(if is_wrong { Exit::Wrong } else { Exit::Done })
    }

    /// Prints the table of rules, area by area.
    fn list_rules(&self) {
        if self.json {
            println!("{:#}", json!({ "rules": rules().collect::<Vec<_>>() }));
            return;
        }
        let mut area = "";
        for rule in rules() {
            if rule.area != area {
                area = rule.area;
                println!("{area}");
            }
            let standing = Standing::ALL.into_iter().find(|(_, standing)| *standing == rule.standing);
            let note = if rule.note.is_empty() { String::new() } else { format!(" ({})", rule.note) };
            println!("  {:<12}  {}{note}", standing.map_or("", |(word, _)| word), rule.rule);
        }
    }

    /// Checks a site's files together where a trace is among them, else each alone.
    fn site(&self, site: SiteFiles, checked: &mut Vec<Checked>) {
        let SiteFiles { slurm_conf, accounts, trace, reservations, events, usage, sdiag } = site;
        let names: Vec<String> = [&slurm_conf, &accounts, &trace, &reservations, &events, &usage, &sdiag]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        if names.is_empty() {
            return;
        }
        let source = SiteSource { slurm_conf, accounts, reservations, events, usage, sdiag, ..SiteSource::default() };
        let traced = TraceSource { file: trace, timezone: self.timezone.clone(), ..TraceSource::default() };
        let document = StudyDocument::single("check", source, traced, 1);
        let (file_set, mut found) = files::of_document(&document, Path::new(""));
        let understood = if document.trace.file.is_some() && document.site.slurm_conf.is_some() {
            let (study, diagnostics) = Study::prepare(&document, &file_set);
            found.extend(diagnostics);
            study.as_ref().and_then(|study| study.scenario(0)).map(|site| understood::of(site)).unwrap_or_default()
        } else {
            let (understood, diagnostics) = alone(&document, &file_set);
            found.extend(diagnostics);
            understood
        };
        if let Some(name) = &document.site.slurm_conf {
            found.extend(SlurmConf::read(&file_set, name).0.approximations());
        }
        found.iter_mut().for_each(diagnostics::name_option);
        let kind = match (&document.site.slurm_conf, &document.site.accounts, &document.trace.file) {
            (Some(_), None, None) => "slurm.conf",
            (None, Some(_), None) => "accounts",
            (None, None, Some(_)) => "trace",
            _ => "site",
        };
        checked.push(Checked { files: names, kind, understood, diagnostics: found });
    }
}

/// Puts a file into the first site that has none of its kind.
fn place(sites: &mut Vec<SiteFiles>, name: String, slot: impl Fn(&mut SiteFiles) -> &mut Option<String>) {
    if let Some(free) = sites.iter_mut().map(&slot).find(|slot| slot.is_none()) {
        *free = Some(name);
        return;
    }
    let mut site = SiteFiles::default();
    *slot(&mut site) = Some(name);
    sites.push(site);
}

/// What is to be said of a trace that comes after the one that a slurm.conf is checked with.
fn of_a_further_trace(first: &(Option<String>, Option<String>), further: &SiteFiles) -> Option<Diagnostic> {
    let (Some(conf), Some(checked), Some(trace), None) = (&first.0, &first.1, &further.trace, &further.slurm_conf)
    else {
        return None;
    };
    let message = format!("not checked against {conf}, since {checked} was");
    let cure = format!(
        "join the traces into one file: cat {checked} {trace} > joined.txt (a header that is repeated is fine)"
    );
    Some(Diagnostic::new(Severity::Warning, trace, message).cure(cure))
}

/// A configuration or a dump without a trace, or a trace without a configuration.
fn alone(document: &StudyDocument, file_set: &FileSet) -> (Vec<String>, Vec<Diagnostic>) {
    let (site, mut diagnostics) = read_site(document, file_set);
    let mut understood = site.map_or_else(Vec::new, |site| {
        understood::of(&Scenario {
            cluster: site.cluster,
            associations: site.associations,
            qos: site.qos,
            policy: site.policy,
            calendar: site.calendar,
            workload: std::sync::Arc::default(),
        })
    });
    if let Some(name) = &document.site.usage
        && let Some(bytes) = file_set.get(name)
    {
        diagnostics.extend(RecordedUsage::read(name, bytes).1);
    }
    if let Some(name) = &document.site.sdiag
        && let Some(bytes) = file_set.get(name)
    {
        diagnostics.extend(Sdiag::read(name, bytes).1);
    }
    if document.trace.file.is_some() {
        let (trace, mut found) = read_trace(document, file_set);
        // Both ask for the time zone.
        found.retain(|it| !diagnostics.contains(it));
        diagnostics.extend(found);
        understood.extend(trace.as_ref().map(understood::of_trace));
    }
    (understood, diagnostics)
}

fn study(path: &Path, name: &str, bytes: &[u8]) -> Checked {
    let (document, mut found) = study_document::read(name, bytes);
    let mut understood = Vec::new();
    if let Some(document) = document {
        understood.push(format!("{} scenarios, {} replications", document.scenarios.len(), document.replications));
        if let Some(fault) = document.needs_service(name) {
            found.push(Diagnostic { severity: foresite_formats::diagnostic::Severity::Warning, ..fault });
        } else {
            let (file_set, faults) = files::of_document(&document, &files::folder_of(path));
            found.extend(faults);
            if !any_error(&found) {
                let (study, diagnostics) = Study::prepare(&document, &file_set);
                found.extend(diagnostics);
                study_document::locate(&mut found, name, bytes);
                if let Some(site) = study.as_ref().and_then(|study| study.scenario(0)) {
                    understood.extend(understood::of(site));
                }
            }
        }
    }
    Checked { files: vec![name.to_owned()], kind: "study", understood, diagnostics: found }
}

impl Checked {
    fn only(name: &str, kind: &'static str, diagnostics: Vec<Diagnostic>) -> Self {
        Self { files: vec![name.to_owned()], kind, understood: Vec::new(), diagnostics }
    }

    fn listed(&self) -> String {
        let mut out = format!("{}: {}\n", self.files.join(", "), self.kind);
        for line in &self.understood {
            out += &format!("  {line}\n");
        }
        for line in diagnostics::listed(&self.diagnostics).lines() {
            out += &format!("  {line}\n");
        }
        let counts = diagnostics::counted(&self.diagnostics);
        out + &format!("  {}\n", if counts.is_empty() { "nothing to remark" } else { &counts })
    }
}
