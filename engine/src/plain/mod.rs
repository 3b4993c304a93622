//! The literature's plain algorithms on the engine's cluster: FCFS, SJF, EASY and conservative backfilling.
//!
//! Papers and peer simulators speak in them. The machine is one counter of processors: a job takes its request's least
//! number of CPUs ([`crate::job::Request::min_cpus`]) of all CPUs of schedulable nodes, and nothing else it asks for
//! matters. Which nodes it stands on is written down all the same: the lowest free CPUs, in node order.
//!
//! - A job is considered from its release time on. A job larger than the machine stays `PENDING` and blocks nobody.
//! - It is expected to run for its requested time ([`crate::job::Job::estimate`]; the run time if unknown; at least 1 s)
//!   and runs for its run time. What happens where that is longer is [`Overrun`].
//! - A job whose `cancelled_at` comes before its start leaves the queue then.
//! - Everything the literature leaves open is a field of [`PlainOptions`].
//!
//! The counters of the outcome count passes (`main_cycles`), starts and the longest queue. The others stay zero: plain
//! algorithms have no limits on tests, and the searches here skip most tests.
//!
//! Reading order: [`options`], `jobs`, `machine`, `event_loop`, then `fcfs`, `sjf`, `easy`, `conservative`.

pub mod options;

mod conservative;
mod easy;
mod event_loop;
mod fcfs;
mod first_fit;
mod freed;
mod jobs;
mod machine;
mod processors;
mod profile;
mod releases;
mod sjf;

use crate::observer::{Interrupted, Observer};
use crate::outcome::Outcome;
use crate::scenario::Scenario;

use conservative::Conservative;
use easy::Easy;
use event_loop::run;
use fcfs::Fcfs;
use jobs::Jobs;
use machine::Machine;
pub use options::{Batching, Compression, ExtraProcessors, Overrun, PlainOptions, ShadowBound, ShadowRefresh};
use sjf::Sjf;

/// A plain algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainAlgorithm {
    /// First come, first served, strictly.
    Fcfs,
    /// Shortest requested time first, without backfilling.
    Sjf,
    /// Aggressive backfilling: one planned start, the head's.
    Easy,
    /// Conservative backfilling: a planned start for every job.
    Conservative,
}

/// Simulates the scenario's cluster and workload under a plain algorithm; associations, QOS and policy play no part.
/// Deterministic: nothing is drawn. Costs: see each algorithm; memory O(jobs), some 150 bytes each beside the workload.
///
/// # Errors
/// [`Interrupted`] when the observer asked to stop.
pub fn simulate(
    scenario: &Scenario,
    algorithm: PlainAlgorithm,
    options: &PlainOptions,
    observer: &mut impl Observer,
) -> Result<Outcome, Interrupted> {
    let capacity = processors::capacity_of(&scenario.cluster);
    let mut jobs = Jobs::new(&scenario.workload, capacity, options.overrun);
    let (never_queued, cancellations) = (jobs.never_queued, std::mem::take(&mut jobs.cancellations));
    let mut machine = Machine::new(&scenario.cluster, jobs);
    let n_jobs = machine.n_jobs();
    let (m, batching) = (&mut machine, options.batching);
    match algorithm {
        PlainAlgorithm::Fcfs => run(m, &cancellations, never_queued, Fcfs::default(), batching, observer),
        PlainAlgorithm::Sjf => run(m, &cancellations, never_queued, Sjf::default(), batching, observer),
        PlainAlgorithm::Easy => run(m, &cancellations, never_queued, Easy::new(n_jobs, *options), batching, observer),
        PlainAlgorithm::Conservative => {
            let discipline = Conservative::new(n_jobs, m, options.compression);
            run(m, &cancellations, never_queued, discipline, batching, observer)
        }
    }?;
    Ok(machine.into_outcome())
}
