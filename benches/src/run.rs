//! One simulation, measured.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use anyhow::{Context, bail};
use foresite_engine::Draws;
use foresite_engine::observer::Unobserved;
use foresite_engine::policy::CostModel;
use foresite_formats::study_document::Change;
use foresite_formats::study_document::change::{
    ControllerNodes, Either, NodeSharing, SchedulerName, SeparateControllers, SharingMode, TooLarge,
};
use foresite_formats::study_document::units::Setting;

use crate::input::Input;
use crate::measure::Congestion;
use crate::process::{Stopwatch, Took};
use crate::report::{Budget, Judged, Report};
use crate::site::Site;
use crate::{Benchmark, Options, against, direct, machines, plain, process};

/// Runs a benchmark and prints its figures.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let is_plain = options.benchmark == Benchmark::Plain;
    let changes = options.variants.iter().skip(usize::from(is_plain)).map(|it| change(options.benchmark, it));
    let mut changes = changes.collect::<anyhow::Result<Vec<_>>>()?;
    if !is_plain && options.ideal {
        changes.insert(0, ideal());
    }
    let (input, budget) = if is_plain {
        let log = options.variants.first().map_or("RICC-2010-2", String::as_str);
        let Some(input) = plain::input(&options.data, log, options.processors)? else {
            println!("{} holds no log {log}: nothing was measured", options.data.display());
            return Ok(());
        };
        (input, plain_budget(&options.variants))
    } else {
        let (site, budget) = machine(options.benchmark, &options.variants)?;
        (Input::generate(&site.scaled(options.scale), options.seed)?, Some(budget))
    };
    if let Some(folder) = &options.emit {
        return input.write_to(folder);
    }
    let mut report = Report {
        name: format!("{:?} {}", options.benchmark, options.variants.join(" ")).to_lowercase(),
        hash: input.hash(),
        trace_bytes: input.trace_bytes(),
        made_in: input.made_in,
        budget: budget.filter(|_| (options.scale - 1.0).abs() < 1e-9),
        ..Report::default()
    };
    let watch = Stopwatch::start();
    let number = usize::from(!changes.is_empty());
    let study = input.read(changes, 1, options.seed)?;
    report.read = watch.read();
    report.jobs = study.n_jobs();
    report.resident = process::now();
    let draws = Draws { seed: options.seed, boot_offset: None };
    let scenario = study.scenario(number).context("there is no such scenario")?;
    if options.against {
        return against::compare(&report.name, scenario, draws);
    }
    let separate = options.variants.iter().any(|variant| variant == "separate");
    let watch = Stopwatch::start();
    if separate || options.schedule.is_some() || is_plain {
        // The schedule and its summary belong to what is measured here.
        let replicated = study.replicate_with(number, draws, &mut Unobserved)?;
        report.engine = watch.read();
        report.peak = process::peak();
        if let Some(path) = &options.schedule {
            std::fs::write(path, replicated.schedule_csv()).with_context(|| path.display().to_string())?;
        }
        if separate {
            report.congestion = Some(Congestion::of_schedule(scenario, &replicated));
        } else {
            let outcome = foresite_engine::simulate(scenario, draws, &mut Unobserved)?;
            report.congestion = Some(Congestion::of(scenario, &outcome));
        }
    } else {
        let outcome = foresite_engine::simulate(scenario, draws, &mut Unobserved)?;
        report.engine = watch.read();
        report.peak = process::peak();
        report.congestion = Some(Congestion::of(scenario, &outcome));
    }
    println!("{report}");
    Ok(())
}

/// Ten million jobs, or `--jobs`, without text.
pub(crate) fn huge(options: &Options) -> anyhow::Result<()> {
    const FULL: u64 = 10_000_000;
    let jobs = options.jobs.unwrap_or(FULL);
    let watch = Stopwatch::start();
    let (mut scenario, hash) = direct::scenario(&machines::huge(jobs), options.seed)?;
    if !options.ideal {
        scenario.policy.cost = CostModel::RECORDED;
    }
    let mut report = Report {
        name: "huge".to_owned(),
        hash,
        jobs: scenario.workload.jobs.len(),
        made_in: watch.read().wall,
        resident: process::now(),
        budget: (jobs == FULL).then_some(Budget { must: 1800.0, aim: 300.0, of: Judged::Whole }),
        ..Report::default()
    };
    let draws = Draws { seed: options.seed, boot_offset: None };
    if options.against {
        return against::compare("huge", &scenario, draws);
    }
    // Rates as the jobs leave: the last million must not be slower than half of the first.
    let (mut reached, mut before) = (0, 0.0);
    let watch = Stopwatch::start();
    let mut observer = |finished: usize, _: usize| {
        if finished / 1_000_000 > reached {
            reached = finished / 1_000_000;
            let now = watch.read().cpu;
            println!("million {reached:>2}         {:.0} jobs/s", 1e6 / (now - before));
            before = now;
        }
        std::ops::ControlFlow::Continue(())
    };
    let outcome = foresite_engine::simulate(&scenario, draws, &mut observer)?;
    report.engine = watch.read();
    report.peak = process::peak();
    report.congestion = Some(Congestion::of(&scenario, &outcome));
    println!("{report}");
    Ok(())
}

/// Ten paired replications of rush and of rush with ten jobs per user, compared, on all cores.
pub(crate) fn study(options: &Options) -> anyhow::Result<()> {
    let input = Input::generate(&machines::rush().scaled(options.scale), options.seed)?;
    let mut report = Report {
        name: "study".to_owned(),
        hash: input.hash(),
        trace_bytes: input.trace_bytes(),
        made_in: input.made_in,
        budget: ((options.scale - 1.0).abs() < 1e-9).then_some(Budget { must: 120.0, aim: 30.0, of: Judged::Clock }),
        ..Report::default()
    };
    let watch = Stopwatch::start();
    let study = input.read(vec![change(Benchmark::Rush, "user10")?], 10, options.seed)?;
    report.read = watch.read();
    report.jobs = study.n_jobs() * study.n_scenarios() * study.replications() as usize;
    report.resident = process::now();
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = options.threads.map_or(cores, NonZeroUsize::get);
    let watch = Stopwatch::start();
    let go_on = ControlFlow::Continue(());
    let comparison = study.simulate_all(threads, |_, _, _, _| go_on, |_, _, _| go_on)?;
    let wall = watch.read().wall;
    report.engine = Took { wall, cpu: wall * threads as f64 };
    report.peak = process::peak();
    if let Some(path) = &options.schedule {
        std::fs::write(path, comparison.to_json()).with_context(|| path.display().to_string())?;
    }
    println!("threads            {threads}; CPU time below is threads times the clock");
    println!("{report}");
    Ok(())
}

/// Backfill cycles take no time.
fn ideal() -> Change {
    Change::Set([("CostModel".to_owned(), Setting("ideal".to_owned()))].into_iter().collect())
}

/// What issue 4 asks of a log and an algorithm.
fn plain_budget(variants: &[String]) -> Option<Budget> {
    let of = |must, aim| Some(Budget { must, aim, of: Judged::Whole });
    match variants {
        [] => of(3.0, 0.6),
        [log, algorithm] if log == "RICC-2010-2" && algorithm == "easy" => of(3.0, 0.6),
        [log, algorithm] if log == "lublin" && algorithm == "conservative" => of(0.7, 0.1),
        _ => None,
    }
}

/// The machine of a benchmark, and its budget.
fn machine(benchmark: Benchmark, variants: &[String]) -> anyhow::Result<(Site, Budget)> {
    let whole = |must, aim| Budget { must, aim, of: Judged::Whole };
    Ok(match benchmark {
        Benchmark::Rush if variants.iter().any(|variant| variant == "exclusive") => {
            (machines::rush(), whole(20.0, 5.0))
        }
        Benchmark::Rush => (machines::rush(), whole(10.0, 3.0)),
        Benchmark::Edison => (machines::edison(), whole(1.5, 0.5)),
        Benchmark::Curie => (machines::curie(), whole(40.0, 10.0)),
        Benchmark::Stampede2 => (machines::stampede2(), Budget { must: 3.0, aim: 0.5, of: Judged::Day }),
        _ => bail!("{benchmark:?} is not generated"),
    })
}

/// What a variant changes.
fn change(benchmark: Benchmark, variant: &str) -> anyhow::Result<Change> {
    // Jobs of KNL nodes ask for all their cores, whoever may share them.
    let sharing = |mode| Change::NodeSharing(NodeSharing { partition: None, mode });
    let controller = |partition: &str| {
        let nodes = ControllerNodes { partitions: vec![partition.to_owned()], nodes: None };
        (partition.to_owned(), nodes)
    };
    Ok(match (benchmark, variant) {
        (Benchmark::Plain, "fcfs") => Change::Scheduler(SchedulerName::Fcfs),
        (Benchmark::Plain, "sjf") => Change::Scheduler(SchedulerName::Sjf),
        (Benchmark::Plain, "easy") => Change::Scheduler(SchedulerName::Easy),
        (Benchmark::Plain, "conservative") => Change::Scheduler(SchedulerName::Conservative),
        (Benchmark::Rush, "exclusive") => sharing(SharingMode::Exclusive),
        (Benchmark::Rush, "user10") => {
            let option = "SchedulerParameters.bf_max_job_user".to_owned();
            Change::Set([(option, Setting("10".to_owned()))].into_iter().collect())
        }
        (Benchmark::Stampede2, "sockets") => sharing(SharingMode::Sockets),
        (Benchmark::Stampede2, "cores") => sharing(SharingMode::Cores),
        (Benchmark::Stampede2, "separate") => Change::SeparateControllers(SeparateControllers {
            controllers: [controller("normal"), controller("skx")].into_iter().collect(),
            either: Either::default(),
            too_large: TooLarge::default(),
        }),
        _ => bail!("{benchmark:?} has no variant `{variant}`"),
    })
}
