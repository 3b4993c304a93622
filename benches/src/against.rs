//! With every cycle gone through, and with those skipped that provably repeat: the outcome must be the same, byte for byte.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use foresite_engine::observer::Unobserved;
use foresite_engine::policy::{CostModel, SlurmVersion};
use foresite_engine::scenario::Scenario;
use foresite_engine::{Draws, simulate, simulate_every_cycle};

use crate::Options;
use crate::input::Input;
use crate::process::Stopwatch;

/// Compares one scenario both ways; outcomes hold everything a schedule file is written from, and the counters.
pub(crate) fn compare(name: &str, scenario: &Scenario, draws: Draws) -> anyhow::Result<()> {
    let watch = Stopwatch::start();
    let quick = simulate(scenario, draws, &mut Unobserved)?;
    let quick_in = watch.read().cpu;
    let watch = Stopwatch::start();
    let whole = simulate_every_cycle(scenario, draws, &mut Unobserved)?;
    let whole_in = watch.read().cpu;
    let jobs = scenario.workload.jobs.len();
    if let Some(index) = quick.records.iter().zip(&whole.records).position(|(one, other)| one != other) {
        let (job, one, other) = (scenario.workload.jobs[index].name, quick.records[index], whole.records[index]);
        bail!("{name}, seed {}: job {job} differs:\n  skipping     {one:?}\n  every cycle  {other:?}", draws.seed);
    }
    if quick != whole {
        bail!("{name}, seed {}: the counters differ:\n  {:?}\n  {:?}", draws.seed, quick.counters, whole.counters);
    }
    println!(
        "{name:<40} seed {:<4} {jobs:>8} jobs identical; {quick_in:.3} s, every cycle {whole_in:.3} s",
        draws.seed
    );
    Ok(())
}

/// All recorded cases: every `cases/NAME/slurm.conf` with every `results/NAME/*/sacct.txt` of a folder such as `../shared/oracle`, and every case's
/// slurm.conf with the base trace.
pub(crate) fn recorded(options: &Options) -> anyhow::Result<()> {
    let folder = options.data.join("../oracle");
    let cases = folders(&folder.join("cases"));
    if cases.is_empty() {
        println!("{} holds no recorded cases: nothing was compared", folder.display());
        return Ok(());
    }
    let mut compared = 0;
    for case in &cases {
        let conf = folder.join("cases").join(case);
        for result in folders(&folder.join("results").join(case)) {
            let recorded = folder.join("results").join(case).join(&result);
            let read = |path: &Path| fs::read(path).with_context(|| path.display().to_string());
            let (trace, accounts) = (recorded.join("sacct.txt"), recorded.join("sacctmgr.cfg"));
            if !trace.is_file() || !accounts.is_file() {
                continue;
            }
            let mut files = vec![("slurm.conf", read(&conf.join("slurm.conf"))?)];
            for name in ["topology.conf", "gres.conf"] {
                if let Ok(bytes) = fs::read(conf.join(name)) {
                    files.push((name, bytes));
                }
            }
            files.extend([("sacctmgr.cfg", read(&accounts)?), ("sacct.txt", read(&trace)?)]);
            let name = format!("{case}/{result}");
            let study = Input { files, ..Input::default() }.read(Vec::new(), 1, options.seed);
            let study = match study {
                Ok(study) => study,
                Err(error) => {
                    println!("{name:<40} not read: {error}");
                    continue;
                }
            };
            let scenario = study.scenario(0).context("there is no baseline")?;
            for seed in options.seed..options.seed + 3 {
                compare(&name, scenario, Draws { seed, boot_offset: None })?;
                compared += 1;
            }
        }
    }
    println!("{compared} simulations of recorded cases are identical with and without skipping");
    Ok(())
}

/// Names of a folder's folders, in order.
fn folders(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter(|it| it.path().is_dir()).filter_map(|it| it.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Releases after 22.05.
const NEWER: [SlurmVersion; 7] = [
    SlurmVersion::V23_02,
    SlurmVersion::V23_11,
    SlurmVersion::V24_05,
    SlurmVersion::V24_11,
    SlurmVersion::V25_05,
    SlurmVersion::V25_11,
    SlurmVersion::V26_05,
];

/// Small machines with a few hundred jobs, of `--jobs` seeds (1,000 if not given), under parameters drawn from the seed, as 22.05
/// and as a newer release decide.
pub(crate) fn random(options: &Options) -> anyhow::Result<()> {
    let many = options.jobs.unwrap_or(1000);
    let mut unlike = 0;
    for seed in options.seed..options.seed + many {
        let study = Input::generate(&crate::machines::random(seed), seed)?.read(Vec::new(), 1, seed)?;
        let mut scenario = Scenario::clone(study.scenario(0).context("there is no baseline")?);
        // Instantaneous cycles, cycles of seconds, cycles that sleep or run out of time.
        let record_us = [0, 20_000, 200_000, 700_000][(seed % 4) as usize];
        let noise_percent = if record_us > 0 { 20 } else { 0 };
        let (backfill_record_us, backfill_passed_us) = (record_us, record_us / 4);
        scenario.policy.cost =
            CostModel { backfill_record_us, backfill_passed_us, noise_percent, ..CostModel::default() };
        let draws = Draws { seed, boot_offset: None };
        // 22.05, and one of the releases after it, which have select/cons_tres and select/linear only.
        let newer = (!scenario.policy.select.cons_res).then(|| NEWER[(seed / 4) as usize % NEWER.len()]);
        for version in [Some(scenario.policy.version), newer].into_iter().flatten() {
            scenario.policy.version = version;
            let scenario = &scenario;
            let same =
                simulate(scenario, draws, &mut Unobserved)? == simulate_every_cycle(scenario, draws, &mut Unobserved)?;
            if !same {
                unlike += 1;
                println!("{version:?}");
                if let Err(difference) = compare("random", scenario, draws) {
                    println!("{difference}");
                }
            }
        }
    }
    if unlike > 0 {
        bail!("{unlike} of {many} random scenarios differ with and without skipping");
    }
    println!("{many} random scenarios are identical with and without skipping");
    Ok(())
}
