//! One simulation, measured.

use std::time::Instant;

use anyhow::{Context, bail};
use foresite_engine::Draws;
use foresite_engine::observer::Unobserved;
use foresite_formats::study_document::Change;
use foresite_formats::study_document::change::{
    ControllerNodes, Either, NodeSharing, SeparateControllers, SharingMode, TooLarge,
};
use foresite_formats::study_document::units::Setting;

use crate::input::Input;
use crate::measure::Congestion;
use crate::report::{Budget, Judged, Report};
use crate::site::Site;
use crate::{Benchmark, Options, machines, memory};

/// Runs a benchmark and prints its figures.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let (site, budget) = machine(options.benchmark);
    let changes = options.variants.iter().map(|variant| change(options.benchmark, variant));
    let changes = changes.collect::<anyhow::Result<Vec<_>>>()?;
    let input = Input::generate(&site.scaled(options.scale), options.seed)?;
    if let Some(folder) = &options.emit {
        return input.write_to(folder);
    }
    let mut report = Report {
        name: format!("{:?} {}", options.benchmark, options.variants.join(" ")).to_lowercase(),
        hash: input.hash(),
        jobs: 0,
        trace_bytes: input.trace_bytes(),
        made_in: input.made_in,
        read_in: 0.0,
        engine: 0.0,
        congestion: None,
        resident: 0,
        peak: 0,
        budget: Some(budget).filter(|_| (options.scale - 1.0).abs() < 1e-9),
    };
    let begun = Instant::now();
    let scenario_number = usize::from(!changes.is_empty());
    let study = input.read(changes, 1, options.seed)?;
    report.read_in = begun.elapsed().as_secs_f64();
    report.jobs = study.n_jobs();
    report.resident = memory::now();
    let draws = Draws { seed: options.seed, boot_offset: None };
    let begun = Instant::now();
    if options.variants.iter().any(|variant| variant == "separate") || options.schedule.is_some() {
        let replicated = study.replicate_with(scenario_number, draws, &mut Unobserved)?;
        report.engine = begun.elapsed().as_secs_f64();
        report.peak = memory::peak();
        if let Some(path) = &options.schedule {
            std::fs::write(path, replicated.schedule_csv()).with_context(|| path.display().to_string())?;
        }
        println!("{}", replicated.summary.to_json());
    } else {
        let scenario = study.scenario(scenario_number).context("there is no such scenario")?;
        let outcome = foresite_engine::simulate(scenario, draws, &mut Unobserved)?;
        report.engine = begun.elapsed().as_secs_f64();
        report.peak = memory::peak();
        report.congestion = Some(Congestion::of(scenario, &outcome));
    }
    println!("{report}");
    Ok(())
}

/// The machine of a benchmark, and its budget.
fn machine(benchmark: Benchmark) -> (Site, Budget) {
    let whole = |must, aim| Budget { must, aim, of: Judged::Whole };
    match benchmark {
        Benchmark::Rush => (machines::rush(), whole(10.0, 3.0)),
        Benchmark::Edison => (machines::edison(), whole(1.5, 0.5)),
        Benchmark::Curie => (machines::curie(), whole(40.0, 10.0)),
        Benchmark::Stampede2 => (machines::stampede2(), Budget { must: 3.0, aim: 0.5, of: Judged::Day }),
    }
}

/// What a variant changes.
fn change(benchmark: Benchmark, variant: &str) -> anyhow::Result<Change> {
    let sharing =
        |partition: &str, mode| Change::NodeSharing(NodeSharing { partition: Some(partition.to_owned()), mode });
    let controller = |partition: &str| {
        let nodes = ControllerNodes { partitions: vec![partition.to_owned()], nodes: None };
        (partition.to_owned(), nodes)
    };
    Ok(match (benchmark, variant) {
        (Benchmark::Rush, "exclusive") => {
            Change::NodeSharing(NodeSharing { partition: None, mode: SharingMode::Exclusive })
        }
        (Benchmark::Rush, "user10") => {
            let option = "SchedulerParameters.bf_max_job_user".to_owned();
            Change::Set([(option, Setting("10".to_owned()))].into_iter().collect())
        }
        (Benchmark::Stampede2, "sockets") => sharing("skx", SharingMode::Sockets),
        (Benchmark::Stampede2, "cores") => sharing("skx", SharingMode::Cores),
        (Benchmark::Stampede2, "separate") => Change::SeparateControllers(SeparateControllers {
            controllers: [controller("normal"), controller("skx")].into_iter().collect(),
            either: Either::default(),
            too_large: TooLarge::default(),
        }),
        _ => bail!("{benchmark:?} has no variant `{variant}`"),
    })
}
