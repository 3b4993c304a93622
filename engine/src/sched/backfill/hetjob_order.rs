//! `bf_hetjob_prio`: a heterogeneous job's components stand together in the queue, each as if it had the lowest, mean or highest
//! tier and priority among them; if one asks for a reservation, all stand as if they did. Among themselves they stand by what they have
//! of their own. Source: slurm.conf(5); slurm-semantics 2.2; `sort_job_queue2` of 22.05.8; rec w-het.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::policy::HetjobPriority;
use crate::sched::queue::Record;
use crate::simulation::Controller;
use crate::simulation::reservations::RESERVED_TIER;

/// What each waiting component's records have of their own, since the last priority step.
#[derive(Debug, Default)]
pub(super) struct OwnStanding {
    of_records: BTreeMap<(u32, u16), (u32, u32)>,
    /// What the last cycle gave whole jobs, by base id (`het_details`, rec c1006).
    whole: BTreeMap<u64, (u32, u32)>,
    /// Priority steps before.
    steps: u64,
    /// Their turns by submit time and number, and those that they have among their siblings instead; of all steps.
    turns: BTreeMap<(u32, u16), (u64, u64)>,
}

impl HetjobPriority {
    /// The tier and priority of the whole. The mean is rounded down.
    fn of(self, all: &[(u32, u32)]) -> (u32, u32) {
        let reserved = all.iter().any(|(tier, _)| tier & RESERVED_TIER != 0);
        let tier = self.among(all.iter().map(|(tier, _)| tier & !RESERVED_TIER));
        (tier | if reserved { RESERVED_TIER } else { 0 }, self.among(all.iter().map(|&(_, priority)| priority)))
    }

    fn among(self, values: impl ExactSizeIterator<Item = u32>) -> u32 {
        let count = values.len().max(1) as u64;
        match self {
            Self::Min => values.min().unwrap_or(0),
            Self::Max => values.max().unwrap_or(0),
            Self::Average => (values.map(u64::from).sum::<u64>() / count) as u32,
        }
    }
}

/// A component's own tier and priority, its turn, and which record it is.
type Sibling = (Reverse<(u32, u32)>, u64, (u32, u16));

/// Hands the turns of each job's components out in the order in which these stand by their own; whether one has another than before.
fn in_order(siblings: BTreeMap<u64, Vec<Sibling>>, turns: &mut BTreeMap<(u32, u16), (u64, u64)>) -> bool {
    let mut moves = false;
    for mut siblings in siblings.into_values() {
        siblings.sort_unstable();
        let mut free: Vec<u64> = siblings.iter().map(|&(_, turn, _)| turn).collect();
        free.sort_unstable();
        // The records of a component in several partitions have one turn between them (rec be-h7); between jobs there are many.
        for next in 1..free.len() {
            free[next] = free[next].max(free[next - 1] + 1);
        }
        for ((_, _, key), turn) in siblings.into_iter().zip(free) {
            if let Some(turns) = turns.get_mut(&key).filter(|turns| turns.1 != turn) {
                turns.1 = turn;
                moves = true;
            }
        }
    }
    moves
}

impl OwnStanding {
    /// The priority that a record has of its own.
    pub(super) fn priority(&self, record: &Record) -> Option<u32> {
        self.of_records.get(&(record.job.0, record.place)).map(|&(_, priority)| priority)
    }
}

/// A cycle begins: components get the standing of their whole job, which they keep until the next one. Among
/// themselves they stand by their own, in each other's turns. O(queue) while components wait.
pub(super) fn order(controller: &mut Controller<'_>) {
    stand(controller, true);
}

/// A priority step gave components new standings of their own: the cycles until backfill's next know those of the whole job that its last
/// one found. O(queue) while components wait.
pub(crate) fn keep_order(controller: &mut Controller<'_>) {
    stand(controller, false);
}

/// Gives components the standing of their whole job, as it is `anew` or as it last was.
fn stand(controller: &mut Controller<'_>, anew: bool) {
    let Some(rule) = controller.scenario.policy.backfill.hetjob_priority() else { return };
    if !controller.components_wait() {
        return;
    }
    let Some(mut hetjobs) = controller.hetjobs.take() else { return };
    let steps = controller.counters.priority_steps;
    let mut own = std::mem::take(&mut hetjobs.own);
    if own.steps != steps {
        own = OwnStanding { steps, turns: own.turns, whole: own.whole, ..OwnStanding::default() };
    }
    let jobs = &controller.scenario.workload.jobs;
    let mut queue = std::mem::take(&mut controller.queue);
    let mut siblings: BTreeMap<u64, Vec<Sibling>> = BTreeMap::new();
    for record in queue.iter().filter(|record| hetjobs.waits(record.job)) {
        let key = (record.job.0, record.place);
        let standing = *own.of_records.entry(key).or_insert((record.tier(), record.priority()));
        let turns = own.turns.entry(key).or_insert((record.turn, record.turn));
        if turns.1 != record.turn {
            // It was queued again.
            *turns = (record.turn, record.turn);
        }
        siblings.entry(jobs[record.job.index()].name.id).or_default().push((Reverse(standing), turns.0, key));
    }
    let standings = |all: &[Sibling]| all.iter().map(|&(Reverse(standing), ..)| standing).collect::<Vec<_>>();
    if anew {
        own.whole.extend(siblings.iter().map(|(&base, all)| (base, rule.of(&standings(all)))));
    }
    let moves = in_order(siblings, &mut own.turns);
    let of = |record: &Record| {
        let of_whole = hetjobs.waits(record.job).then(|| own.whole.get(&jobs[record.job.index()].name.id).copied());
        of_whole.flatten().unwrap_or((record.tier(), record.priority()))
    };
    if queue.iter().any(|record| of(record) != (record.tier(), record.priority())) {
        let live = &controller.live;
        queue.reprioritise(|record| live.is_pending(record.job), |_| (), |record, ()| of(record));
        controller.version += 1;
    }
    if moves {
        queue.take_turns(|record| own.turns.get(&(record.job.0, record.place)).map(|turns| turns.1));
        controller.version += 1;
    }
    controller.queue = queue;
    hetjobs.own = own;
    controller.hetjobs = Some(hetjobs);
}
