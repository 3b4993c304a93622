//! Changes to the jobs themselves, resolved once ([`resolve`]) and made anew for each replication ([`Edits::apply`]), because
//! chance decides which jobs a fraction is. Every draw has a stream of its own (seed, change, job), so that replications of
//! scenarios with the same change share them, and a larger fraction holds the smaller one.

mod arrivals;
mod resolve;

use foresite_engine::ids::{AssociationId, PartitionId, QosId, RequestId, UserId};
use foresite_engine::job::{Job, JobName, JobPart, TimeLimit, Workload};
use foresite_engine::rng::{Purpose, Stream};
use foresite_engine::scenario::Scenario;

use super::replicate::mixed;
pub(super) use resolve::resolve;

/// The workload changes of one scenario, in order.
#[derive(Clone, Debug)]
pub(super) struct Edits(Vec<Edit>);

/// One change, its names made ids.
#[derive(Clone, Debug)]
struct Edit {
    which: Which,
    /// Of 2³².
    fraction: u64,
    action: Action,
}

/// Which jobs are meant; by association and request whether they are.
#[derive(Clone, Debug)]
struct Which {
    user: Option<UserId>,
    associations: Option<Vec<bool>>,
    requests: Option<Vec<bool>>,
    qos: Option<QosId>,
}

#[derive(Clone, Debug)]
enum Action {
    /// So many copies of each job for certain, and one more with a chance of so many of 2³².
    Arrivals {
        copies: u32,
        chance: u64,
    },
    /// Another user, and by association the one that is charged now.
    Reassign {
        to: UserId,
        associations: Vec<AssociationId>,
    },
    Limit(LimitRule),
    /// Requested time over run time.
    Estimates(f64),
    /// By request, the one for the other partition.
    Move(Vec<RequestId>),
}

#[derive(Clone, Copy, Debug)]
enum LimitRule {
    /// Minutes.
    To(u32),
    Factor(f64),
    /// Minutes.
    Cap(u32),
}

/// A probability of one.
const CERTAIN: u64 = 1 << 32;

impl Which {
    /// What ran or waited before the simulation stays as it was.
    fn includes(&self, job: &Job) -> bool {
        if job.before().is_some() {
            return false;
        }
        let among = |list: &Option<Vec<bool>>, index: usize| {
            list.as_ref().is_none_or(|list| list.get(index).copied().unwrap_or(false))
        };
        self.user.is_none_or(|user| user == job.user)
            && self.qos.is_none_or(|qos| qos == job.qos)
            && among(&self.associations, job.association.index())
            && among(&self.requests, job.request.index())
    }
}

impl Edits {
    /// The workload of one replication. O(changes × jobs), and a sort where arrivals change.
    pub(super) fn apply(&self, site: &Scenario, seed: u64) -> Workload {
        self.counted(site, seed).0
    }

    /// As [`Self::apply`], with the number of jobs that each change is about (before its fraction is drawn).
    fn counted(&self, site: &Scenario, seed: u64) -> (Workload, Vec<usize>) {
        let mut workload = Workload::clone(&site.workload);
        let mut counts = Vec::with_capacity(self.0.len());
        for (number, edit) in self.0.iter().enumerate() {
            let chance = Chance { seed, change: number as u64 };
            counts.push(workload.jobs.iter().filter(|job| edit.which.includes(job)).count());
            if let Action::Arrivals { copies, chance: one_more } = edit.action {
                workload = arrivals::scaled(workload, &edit.which, copies, one_more, chance);
                continue;
            }
            for job in workload.jobs.iter_mut().filter(|job| edit.which.includes(job)) {
                if chance.draw(job.name, CERTAIN) < edit.fraction {
                    edit.action.change(job, site);
                }
            }
        }
        (workload, counts)
    }
}

impl Action {
    fn change(&self, job: &mut Job, site: &Scenario) {
        match self {
            Self::Arrivals { .. } => {}
            Self::Reassign { to, associations } => {
                job.user = *to;
                job.association = associations.get(job.association.index()).copied().unwrap_or(job.association);
            }
            Self::Limit(rule) => limit(job, *rule, site),
            Self::Estimates(factor) => {
                // Whole seconds for plain algorithms. Slurm knows whole minutes, and its scan may end a job in the very second of
                // its limit: a limit that is meant to suffice is longer than the run time.
                let seconds = (f64::from(job.run_time) * factor).ceil().max(1.0) as u32;
                let spare = u32::from(*factor >= 1.0);
                job.estimate = seconds;
                job.time_limit = Some(TimeLimit::Minutes(seconds.saturating_add(spare).div_ceil(60)));
                // What is changed is what users ask for: a job that its limit ended runs as long as it did.
                job.run_time_is_bound = false;
            }
            Self::Move(requests) => {
                job.request = requests.get(job.request.index()).copied().unwrap_or(job.request);
            }
        }
    }
}

fn limit(job: &mut Job, rule: LimitRule, site: &Scenario) {
    let request = site.workload.requests.get(job.request.index());
    let partition = request.and_then(|request| request.partitions.first());
    let partition = partition.and_then(|id| site.cluster.partitions.get(id.index()));
    let most = partition.and_then(|partition| partition.max_time);
    // As sbatch without `--time`: the partition's default, else its maximum.
    let minutes = match job.time_limit {
        Some(TimeLimit::Minutes(minutes)) => Some(minutes),
        Some(TimeLimit::Unlimited) => most,
        None if job.estimate > 0 => Some(job.estimate.div_ceil(60)),
        None => partition.and_then(|partition| partition.default_time).or(most),
    };
    let before = if job.estimate > 0 { job.estimate } else { minutes.unwrap_or(u32::MAX).saturating_mul(60) };
    let (minutes, seconds) = match (rule, minutes) {
        (LimitRule::To(minutes), _) => (minutes, minutes * 60),
        (LimitRule::Cap(cap), minutes) => (minutes.unwrap_or(cap).min(cap), before.min(cap * 60)),
        (LimitRule::Factor(factor), Some(minutes)) => {
            let scaled = |value: u32| (f64::from(value) * factor).round().max(1.0) as u32;
            (scaled(minutes), scaled(before))
        }
        // A multiple of no limit is no limit.
        (LimitRule::Factor(_), None) => return,
    };
    job.time_limit = Some(TimeLimit::Minutes(minutes));
    job.estimate = seconds;
}

/// The draws of one change in one replication.
#[derive(Clone, Copy, Debug)]
struct Chance {
    seed: u64,
    change: u64,
}

impl Chance {
    /// The stream of a job. Components of one heterogeneous job share theirs, for they come together.
    fn stream(self, name: JobName) -> Stream {
        let part = if let JobPart::Task(task) = name.part { u64::from(task) + 1 } else { 0 };
        Stream::new(self.seed, Purpose::Workload, mixed(mixed(self.change, name.id), part))
    }

    fn draw(self, name: JobName, bound: u64) -> u64 {
        self.stream(name).below(bound)
    }
}

/// By request, whether it asks for the partition.
fn asking_for(workload: &Workload, partition: PartitionId) -> Vec<bool> {
    workload.requests.iter().map(|request| request.partitions.contains(&partition)).collect()
}
