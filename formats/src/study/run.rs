//! A whole study: all replications on some threads, or from stored schedules, to a comparison.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foresite_engine::observer::Interrupted;

use super::{Replicated, Study};
use crate::comparison::fidelity::StartsWithin;
use crate::comparison::{Comparer, Comparison, Measured, Measures, measure};

/// Compares a study's replications, however they were stored: `load(scenario, replication)` hands out one at a time.
/// At most two schedules are held at once.
///
/// # Errors
/// Those of `load`.
pub fn compare<E>(study: &Study, mut load: impl FnMut(usize, u32) -> Result<Replicated, E>) -> Result<Comparison, E> {
    let mut comparer = Comparer::new(study.plan.clone());
    for replication in 0..study.replications() {
        let baseline = load(0, replication)?;
        let recorded = study.measure_recorded(&baseline);
        if study.n_scenarios() == 1 {
            comparer.add(Measured { scenarios: vec![study.measure(&baseline, 0, &baseline)], recorded });
            continue;
        }
        let measures = (1..study.n_scenarios()).map(|scenario| {
            load(scenario, replication).map(|replicated| study.measure(&baseline, scenario, &replicated))
        });
        comparer.add(Measured { scenarios: measures.collect::<Result<_, E>>()?, recorded });
    }
    Ok(comparer.finish())
}

/// What threads share: replications until their replication is complete, measures until their turn.
struct Gathered {
    replicated: BTreeMap<u32, BTreeMap<usize, Replicated>>,
    measures: BTreeMap<u32, Measured>,
    next: u32,
    comparer: Comparer,
}

impl Study {
    /// Simulates everything on `threads` threads and compares. The comparison is the same for any number of threads.
    ///
    /// `progress(scenario, replication, finished, total)` is called now and then; `done(scenario, replication, …)` once for each
    /// replication, in no certain order, on the thread that ran it. Either stops the study with `Break`.
    ///
    /// # Errors
    /// [`Interrupted`] when asked to stop.
    pub fn simulate_all(
        &self,
        threads: usize,
        progress: impl Fn(usize, u32, usize, usize) -> ControlFlow<()> + Sync,
        done: impl Fn(usize, u32, &Replicated) -> ControlFlow<()> + Sync,
    ) -> Result<Comparison, Interrupted> {
        let n_scenarios = self.n_scenarios();
        let n_tasks = n_scenarios * self.replications() as usize;
        let next = AtomicUsize::new(0);
        let stopped = AtomicBool::new(false);
        let gathered = Mutex::new(Gathered {
            replicated: BTreeMap::new(),
            measures: BTreeMap::new(),
            next: 0,
            comparer: Comparer::new(self.plan.clone()),
        });
        let work = || {
            while !stopped.load(Ordering::Relaxed) {
                let task = next.fetch_add(1, Ordering::Relaxed);
                if task >= n_tasks {
                    return;
                }
                // All scenarios of a replication stand together, so that few schedules wait to be measured.
                let (replication, scenario) = ((task / n_scenarios) as u32, task % n_scenarios);
                let mut observer = |finished: usize, total: usize| {
                    if stopped.load(Ordering::Relaxed) {
                        return ControlFlow::Break(());
                    }
                    progress(scenario, replication, finished, total)
                };
                let replicated = self.replicate(scenario, replication, &mut observer);
                let Some(replicated) = replicated.ok().filter(|it| done(scenario, replication, it).is_continue())
                else {
                    stopped.store(true, Ordering::Relaxed);
                    return;
                };
                self.gather(&gathered, scenario, replication, replicated);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.clamp(1, n_tasks.max(1)) {
                scope.spawn(work);
            }
            work();
        });
        if stopped.load(Ordering::Relaxed) {
            return Err(Interrupted);
        }
        Ok(gathered.into_inner().unwrap_or_else(PoisonError::into_inner).comparer.finish())
    }

    fn gather(&self, gathered: &Mutex<Gathered>, scenario: usize, replication: u32, replicated: Replicated) {
        let complete = {
            let mut gathered = lock(gathered);
            let all = gathered.replicated.entry(replication).or_default();
            all.insert(scenario, replicated);
            if all.len() == self.n_scenarios() { gathered.replicated.remove(&replication) } else { None }
        };
        let Some(all) = complete else { return };
        let measures = all.get(&0).map_or_else(Measured::default, |baseline| {
            let others = all.iter().filter(|(scenario, _)| **scenario > 0 || all.len() == 1);
            let scenarios =
                others.map(|(scenario, replicated)| self.measure(baseline, *scenario, replicated)).collect();
            Measured { scenarios, recorded: self.measure_recorded(baseline) }
        });
        let mut gathered = lock(gathered);
        gathered.measures.insert(replication, measures);
        let turn = gathered.next;
        let mut at = turn;
        while let Some(measures) = gathered.measures.remove(&at) {
            gathered.comparer.add(measures);
            at += 1;
        }
        gathered.next = at;
    }

    fn measure(&self, baseline: &Replicated, scenario: usize, replicated: &Replicated) -> Measures {
        let Some((before, after)) = self.horizon(0).zip(self.horizon(scenario)) else { return Measures::default() };
        let schedules = ((&baseline.schedule, before), (&replicated.schedule, after));
        measure(schedules.0, schedules.1, |row| self.asked_first(row))
            .with_pending(&baseline.summary.jobs_pending, &replicated.summary.jobs_pending)
    }

    /// The record beside the baseline; `None` where the trace tells too little.
    fn measure_recorded(&self, baseline: &Replicated) -> Option<(Measures, StartsWithin)> {
        let (recorded, horizon) = (self.recorded.as_ref()?, self.horizon(0)?);
        let schedule = recorded.schedule(&baseline.schedule);
        let starts = StartsWithin::of((&baseline.schedule, horizon), &schedule)?;
        let schedules = ((&baseline.schedule, horizon), (&schedule, horizon));
        let mut measures = measure(schedules.0, schedules.1, |row| self.asked_first(row));
        if !recorded.is_whole() {
            for group in measures.groups.values_mut() {
                group.values.retain(|metric, _| metric.is_by_group());
            }
        }
        Some((measures, starts))
    }

    /// The partition that the job of a row of the baseline's schedules asks for first.
    fn asked_first(&self, row: usize) -> Option<&str> {
        let site = self.scenario(0)?;
        let job = site.workload.jobs.get(site.workload.trace_order.get(row)?.index())?;
        let partition = site.workload.requests.get(job.request.index())?.partitions.first()?;
        Some(&site.cluster.partitions.get(partition.index())?.name)
    }
}

fn lock(gathered: &Mutex<Gathered>) -> MutexGuard<'_, Gathered> {
    gathered.lock().unwrap_or_else(PoisonError::into_inner)
}
