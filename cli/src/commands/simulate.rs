//! `foresite simulate`: one replication of one scenario.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::{Args, ValueEnum};
use foresite_engine::Draws;
use foresite_engine::observer::Unobserved;
use foresite_formats::controller_log::ControllerLog;
use foresite_formats::diagnostic::{Diagnostic, Severity};
use foresite_formats::study::{Machine, Study};
use foresite_formats::study_document::change::SchedulerName;
use foresite_formats::study_document::units::Setting;
use foresite_formats::study_document::{Change, ScenarioChanges, SiteSource, StudyDocument, TraceSource};
use foresite_formats::summary_file::Summary;
use jiff::tz::TimeZone;

use crate::exit::Exit;
use crate::progress::Progress;
use crate::{diagnostics, files, memory, written};

/// Simulate one replication of a site's history and write its schedule.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    foresite simulate --slurm-conf slurm.conf --accounts sacctmgr.cfg --trace sacct.txt.zst --schedule out.csv --summary out.json\n  \
    foresite simulate --slurm-conf slurm.conf --trace sacct.txt --set SchedulerParameters.bf_max_job_user=10\n  \
    foresite simulate --slurm-conf slurm.conf --trace sacct.txt --set partition.general.OverSubscribe=EXCLUSIVE\n  \
    foresite simulate --trace CTC-SP2-1996-3.1-cln.swf.gz --scheduler easy --schedule out.csv")]
pub(crate) struct Simulate {
    /// slurm.conf; Include files, gres.conf and topology.conf are found beside it.
    #[arg(long, value_name = "FILE")]
    slurm_conf: Option<PathBuf>,
    /// Accounts, shares and limits: output of `sacctmgr dump`. That of `sacctmgr show qos -P`, or sacctmgr commands, may follow in
    /// the same file.
    #[arg(long, value_name = "FILE", requires = "slurm_conf")]
    accounts: Option<PathBuf>,
    /// The history: output of `sacct --parsable2`, or SWF; plain, gzip or zstd.
    #[arg(long, value_name = "FILE")]
    trace: PathBuf,
    /// The time zone in which sacct wrote its times. Default: UTC, shown as an assumption.
    #[arg(long, value_name = "IANA")]
    timezone: Option<String>,
    /// The algorithm that starts jobs.
    #[arg(long, value_name = "NAME", value_enum)]
    scheduler: Option<Algorithm>,
    /// Change a parameter; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
    /// Seed of every random stream.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Seconds from the controller's start to the first submission. Default: drawn from the seed, and so is how the trace stands on its clock's minutes.
    #[arg(long, value_name = "SECONDS")]
    boot_offset: Option<u32>,
    /// Write the schedule (CSV) to this file.
    #[arg(long, value_name = "FILE")]
    schedule: Option<PathBuf>,
    /// Write the summary (JSON) to this file.
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Without a slurm.conf: how many nodes. Default: the SWF header's.
    #[arg(long, value_name = "N", conflicts_with = "slurm_conf")]
    nodes: Option<u32>,
    /// Without a slurm.conf: CPUs of a node. Default: the SWF header's.
    #[arg(long, value_name = "C", conflicts_with = "slurm_conf")]
    cpus_per_node: Option<u32>,
    /// Reservations: output of `scontrol show reservation -o`.
    #[arg(long, value_name = "FILE")]
    reservations: Option<PathBuf>,
    /// Usage before the trace: output of `sshare -alP`.
    #[arg(long, value_name = "FILE")]
    usage: Option<PathBuf>,
    /// Node events: output of `sacctmgr show event -P`.
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Measured cycle times: output of `sdiag`.
    #[arg(long, value_name = "FILE")]
    sdiag: Option<PathBuf>,
    /// A slurmctld.log of the trace's time (SlurmctldDebug=debug, DebugFlags=Backfill): the schedulers act at its very moments,
    /// so that the schedule can be compared with the recorded one job by job. With TraceJobs and Route too it tells when nodes answered.
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    controller_log: Option<PathBuf>,
    /// Simulate a second time, going through every cycle that the first run proved to be a repetition, and compare.
    #[arg(long)]
    check: bool,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
}

/// The algorithm that starts jobs.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Algorithm {
    /// Slurm's main and backfill scheduler.
    Slurm,
    /// First come, first served.
    Fcfs,
    /// Shortest requested job first.
    Sjf,
    /// EASY backfilling.
    Easy,
    /// Conservative backfilling.
    Conservative,
}

/// Whether going through every cycle gives the same outcome, counters included.
fn repeats(study: &Study, scenario: usize, draws: Draws) -> bool {
    study.scenario(scenario).is_some_and(|scenario| {
        let quick = foresite_engine::simulate(scenario, draws, &mut Unobserved);
        quick.is_ok() && quick == foresite_engine::simulate_every_cycle(scenario, draws, &mut Unobserved)
    })
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, such as PriorityWeightAge=1000")?;
    if key.trim().is_empty() {
        return Err("the parameter has no name".to_owned());
    }
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

impl Simulate {
    /// Simulates and writes.
    pub(crate) fn execute(self) -> anyhow::Result<Exit> {
        let document = self.document();
        let (file_set, mut found) = files::of_document(&document, Path::new(""));
        if !found.is_empty() {
            return Ok(diagnostics::refuse(&found, self.json));
        }
        let machine = Machine { nodes: self.nodes, cpus_per_node: self.cpus_per_node };
        let (study, prepared) = Study::prepare_on(&document, &file_set, machine);
        found.extend(prepared);
        found.iter_mut().for_each(diagnostics::name_option);
        let Some(study) = study else { return Ok(diagnostics::refuse(&found, self.json)) };
        let scenario = study.n_scenarios() - 1;
        let mut moments = None;
        if let (Some(path), Some(site)) = (&self.controller_log, study.scenario(scenario)) {
            let (log, of_log) = self.read_log(path)?;
            found.extend(of_log);
            let Some(log) = log else { return Ok(diagnostics::refuse(&found, self.json)) };
            let (of_site, unknown) = log.moments(site);
            found.push(Diagnostic::new(
                Severity::Assumed,
                files::name_of(path),
                format!("{unknown} of {} jobs are not in this log: they arrive and end as without it", study.n_jobs()),
            ));
            moments = Some(of_site);
        }
        diagnostics::note(&found);
        drop(file_set);

        let draws = Draws { seed: self.seed, boot_offset: self.boot_offset };
        let progress = Progress::new(1, study.n_jobs());
        progress.say("simulating");
        let begun = Instant::now();
        let mut observer = |finished: usize, _: usize| {
            progress.advance(0, finished);
            ControlFlow::Continue(())
        };
        let replicated = study.replicate_at(scenario, draws, moments.as_ref(), &mut observer)?;
        let wall = begun.elapsed().as_secs_f64();
        progress.clear();

        if self.check && !repeats(&study, scenario, draws) {
            anyhow::bail!("going through every cycle gave another outcome: a fault of the simulator, please report it");
        }
        if let Some(path) = &self.schedule {
            written::schedule(path, &replicated.schedule)?;
        }
        let summary = replicated.summary.timed(wall, study.n_jobs(), memory::peak_rss_bytes());
        if let Some(path) = &self.summary {
            written::file(path, summary.to_json())?;
        }
        let figures = &summary.scheduler.backfill;
        if moments.is_some() && !self.json {
            println!(
                "recorded cycles    {} of backfill: {} in time without a change known, {} late despite one",
                figures.cycles, figures.unexplained, figures.foregone
            );
        }
        print!("{}", if self.json { summary.to_json() } else { words(&summary) });
        Ok(Exit::Done)
    }

    fn read_log(&self, path: &Path) -> anyhow::Result<(Option<ControllerLog>, Vec<Diagnostic>)> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let zone = self.timezone.as_deref().and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC);
        Ok(ControllerLog::read(&files::name_of(path), &bytes, zone))
    }

    fn document(&self) -> StudyDocument {
        let name = |path: &Option<PathBuf>| path.as_deref().map(files::name_of);
        let site = SiteSource {
            slurm_conf: name(&self.slurm_conf),
            accounts: name(&self.accounts),
            reservations: name(&self.reservations),
            usage: name(&self.usage),
            events: name(&self.events),
            sdiag: name(&self.sdiag),
            ..SiteSource::default()
        };
        let trace = TraceSource {
            file: Some(files::name_of(&self.trace)),
            timezone: self.timezone.clone(),
            ..TraceSource::default()
        };
        let mut document = StudyDocument::single("simulate", site, trace, self.seed);
        // One change per option, in the order given: a later one may correct an earlier.
        let mut changes: Vec<Change> = self
            .set
            .iter()
            .map(|(key, value)| Change::Set([(key.clone(), Setting(value.clone()))].into_iter().collect()))
            .collect();
        if let Some(algorithm) = self.scheduler {
            changes.push(Change::Scheduler(algorithm.into()));
        }
        if !changes.is_empty() {
            document.scenarios.push(ScenarioChanges { name: "as asked".to_owned(), changes });
        }
        document
    }
}

impl From<Algorithm> for SchedulerName {
    fn from(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Slurm => Self::Slurm,
            Algorithm::Fcfs => Self::Fcfs,
            Algorithm::Sjf => Self::Sjf,
            Algorithm::Easy => Self::Easy,
            Algorithm::Conservative => Self::Conservative,
        }
    }
}

fn words(summary: &Summary) -> String {
    let wait = summary.wait_seconds;
    let engine = &summary.engine;
    format!(
        "jobs               {} ({} started)\nwait               mean {:.1} s, median {:.1} s, p95 {:.1} s, max {:.0} s\n\
         bounded slowdown   mean {:.2}\nresponse time      mean {:.1} s\nutilisation        {:.1} %\nmakespan           {} s\n\
         preempted          {}, back to the queue {}\n\
         engine             {:.3} s for {} s simulated: {:.0} jobs/s, {:.0} times real time\n{}",
        summary.jobs,
        summary.jobs_started,
        wait.mean,
        wait.median,
        wait.p95,
        wait.max,
        summary.bounded_slowdown.mean,
        summary.response_seconds.mean,
        summary.utilization * 100.0,
        summary.makespan_seconds,
        summary.scheduler.preempted_jobs,
        summary.scheduler.requeued_jobs,
        engine.wall_seconds,
        engine.simulated_seconds,
        engine.jobs_per_second,
        engine.speedup,
        summary.caveats.iter().map(|caveat| format!("note               {caveat}\n")).collect::<String>(),
    )
}
