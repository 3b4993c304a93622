//! The controller as it comes up: everything of it that the scenario decides.

use std::collections::{BTreeMap, BTreeSet};

use super::becomes_sharing::BecomesSharing;
use super::becomes_whole::BecomesWhole;
use super::events::Events;
use super::gpu_memory::GpuMemory;
use super::holds::Holds;
use super::jobs::LiveJobs;
use super::outages::Agenda;
use super::peculiar::Peculiar;
use super::record_age::RecordAges;
use super::reservations::Reservations;
use super::running::RunningJobs;
use super::timers::Timers;
use super::vain::Vain;
use super::waiting::Waiting;
use super::{Controller, job_priority, shapes};
use crate::Draws;
use crate::ablation::{Rule, is_off};
use crate::cluster::MemoryDefault;
use crate::ids::{NodeId, RequestId};
use crate::job::{Request, Sharing};
use crate::limits::partition::{over_memory, too_small};
use crate::limits::usage::LimitUsage;
use crate::node_set::NodeSet;
use crate::outcome::{JobRecord, SchedulerCounters};
use crate::policy::{PreemptKind, SlurmVersion, UsageReset};
use crate::preempt::Preemption;
use crate::priority::fair_share::FairShare;
use crate::priority::multifactor::Norms;
use crate::priority::usage::Usage;
use crate::scenario::Scenario;
use crate::sched::backfill::Backfill;
use crate::sched::backfill::estimate::Elsewhere;
use crate::sched::backfill::hetjobs::HetJobs;
use crate::sched::main_cycle::MainScratch;
use crate::sched::queue::Queue;
use crate::select::Selector;
use crate::select::free::Free;
use crate::select::ready::{NodeJobs, Ready};
use crate::select::rows::shares_cores;
use crate::select::shape::memory_limit;

impl<'a> Controller<'a> {
    /// Reads the scenario once. O(jobs + nodes + requests).
    pub(super) fn new(scenario: &'a Scenario, draws: Draws, every_cycle: bool) -> Self {
        let cluster = &scenario.cluster;
        let n_nodes = cluster.nodes.len();
        let mut selector = Selector::new(cluster, &scenario.policy.select, scenario.policy.version);
        // Which sockets serve changes with the first job of a partition: nothing is known ahead.
        let every_cycle = every_cycle || selector.keeps_cores;
        selector.gpus_stay = gpus_stay(scenario);
        selector.looks_at_each = every_cycle;
        if begins_anew(scenario) {
            let served = cluster.partitions.iter().fold(NodeSet::empty(n_nodes), |mut all, partition| {
                all.union(&partition.nodes);
                all
            });
            selector.weights.unseen(&served);
        }
        selector.joins_equals |= scenario.policy.preempt.kind != PreemptKind::None;
        selector.partitions_preempt =
            scenario.policy.preempt.kind == PreemptKind::PartitionPrio && !scenario.policy.select.linear;
        let free = Free::new(&selector.geometry);
        let priority = &scenario.policy.priority;
        let mut usage = Usage::new(&scenario.associations, priority.decay_half_life);
        if priority.usage_reset == UsageReset::Now {
            usage.reset();
        }
        let mut fair_share = FairShare::new(&scenario.associations);
        if priority.is_classic() {
            fair_share.accounts_anew(&scenario.associations, priority, &usage.raw);
        } else {
            fair_share.rank(&scenario.associations, &usage.raw);
        }
        let association_priority = scenario.associations.rows.iter().map(|row| row.priority).max().unwrap_or(0);
        let schedulable =
            cluster.nodes.iter().enumerate().filter(|(_, node)| node.schedulable || is_off(Rule::NodesDown));
        let jobs = &scenario.workload.jobs;
        let first_new = jobs.iter().find(|job| job.before().is_none()).or(jobs.first());
        let first_submit = first_new.map_or(0, |job| job.submit);
        let timers = Timers::new(&scenario.policy, draws, first_submit);
        let limits = LimitUsage::new(scenario);
        Self {
            now: timers.boot,
            events: Events::default(),
            live: LiveJobs::new(scenario.workload.jobs.len()),
            waiting: Waiting::new(&scenario.workload),
            holds: Holds::default(),
            queue: Queue::capped(scenario.policy.backfill.holder_cap()),
            future: free.clone().of_others_gone(),
            hetjobs: HetJobs::of(&scenario.workload),
            record_ages: RecordAges::default(),
            preempt: Preemption::of(scenario, &selector.geometry),
            empty: free.clone(),
            free,
            selector,
            reservations: Reservations::new(scenario),
            agenda: Agenda::default(),
            running: RunningJobs::default(),
            node_jobs: NodeJobs::new(n_nodes),
            ready: Ready::default(),
            up: NodeSet::from_nodes(n_nodes, schedulable.map(|(index, _)| NodeId::new(index))),
            completing: NodeSet::empty(n_nodes),
            completing_jobs: vec![0; n_nodes],
            shapes: vec![None; scenario.workload.requests.len()],
            elsewhere: Elsewhere::default(),
            preferred: BTreeMap::new(),
            becomes_whole: BecomesWhole::default(),
            longest_limit: None,
            becomes_sharing: BecomesSharing::default(),
            gpu_memory: GpuMemory::default(),
            too_small: too_small(scenario),
            over_memory: over_memory(scenario),
            thresholds_hold: scenario.qos.iter().any(|qos| qos.enforce_usage_threshold),
            free_licenses: cluster.licenses.iter().map(|&(_, total)| i64::from(total)).collect(),
            usage,
            sizes_vary: shapes::sizes_vary(scenario, limits.active),
            any_exclusive_users: any_exclusive_users(scenario),
            limits,
            fair_share,
            shares_are_read: every_cycle || shares_are_read(scenario),
            norms: Norms::new(cluster, &scenario.qos, association_priority, priority),
            backfill: Backfill::new(n_nodes),
            main_scratch: MainScratch::new(n_nodes),
            records: vec![JobRecord::PENDING; scenario.workload.jobs.len()],
            node_ranges: Vec::new(),
            counters: SchedulerCounters::default(),
            next_arrival: 0,
            arriving: 0,
            finished: 0,
            version: 0,
            refused: BTreeMap::new(),
            vain: Vain { since: timers.boot, ..Vain::default() },
            sizes_version: 0,
            array_sizes: BTreeMap::new(),
            counted_cpus: counted_cpus(scenario),
            array_sizes_at_step: BTreeMap::new(),
            untested: BTreeSet::new(),
            risen: BTreeMap::new(),
            kept_priorities: BTreeMap::new(),
            back_in_place: BTreeMap::new(),
            new_reason: false,
            reasons_version: 0,
            array_reasons: BTreeMap::new(),
            lacking: BTreeSet::new(),
            basic_ranks: job_priority::BasicRanks::of(scenario),
            peculiar: Peculiar::of(scenario, every_cycle),
            shares_cores: shares_cores(cluster),
            timers,
            scenario,
        }
    }
}

/// Whether fair-share has a weight, or keeps jobs of a QOS from starting (`UsageThreshold`).
fn shares_are_read(scenario: &Scenario) -> bool {
    scenario.policy.priority.weight_fairshare > 0 || scenario.qos.iter().any(|qos| qos.usage_threshold.is_some())
}

/// Whether nodes have no weight before they are first looked at: where backfill's tests go by what looks leave (select/cons_tres until 23.11)
/// and no job was there before the trace.
fn begins_anew(scenario: &Scenario) -> bool {
    let select = &scenario.policy.select;
    let goes_by_looks = !select.linear && !select.cons_res && scenario.policy.version < SlurmVersion::V23_11;
    goes_by_looks && scenario.workload.jobs.iter().all(|job| job.before().is_none())
}

/// Whether jobs that ask for GPUs may leave other weights to nodes that jobs without can get.
fn gpus_stay(scenario: &Scenario) -> bool {
    let cluster = &scenario.cluster;
    let is_gpu = |gres: usize| cluster.gres.get(gres).is_some_and(|gres| gres.name == "gpu");
    let reached = |with: bool| {
        let mut nodes = NodeSet::empty(cluster.nodes.len());
        let mut seen = vec![false; cluster.partitions.len()];
        let asks = |request: &Request| request.gres.iter().any(|wanted| is_gpu(wanted.gres.index()));
        for request in scenario.workload.requests.iter().filter(|request| asks(request) == with) {
            for partition in &request.partitions {
                if !std::mem::replace(&mut seen[partition.index()], true) {
                    nodes.union(&cluster.partitions[partition.index()].nodes);
                }
            }
        }
        nodes
    };
    let has_gpu = |node: &crate::cluster::Node| node.gres.iter().enumerate().any(|(gres, &n)| n > 0 && is_gpu(gres));
    let with_gpus = cluster.nodes.iter().enumerate().filter(|(_, node)| has_gpu(node));
    let mut shared = NodeSet::from_nodes(cluster.nodes.len(), with_gpus.map(|(index, _)| NodeId::new(index)));
    if scenario.policy.select.linear || scenario.policy.select.cons_res || shared.is_empty() {
        return false;
    }
    shared.intersect(&reached(true));
    shared.intersects(&reached(false))
}

/// Requests that count as others than they ask for once a scheduler has held them against their partitions, the last one's word standing.
/// O(requests × partitions), nothing where no memory of a CPU is limited.
fn counted_cpus(scenario: &Scenario) -> BTreeMap<RequestId, u32> {
    let (cluster, policy) = (&scenario.cluster, &scenario.policy);
    let by_cpu = |limit: Option<MemoryDefault>| matches!(limit, Some(MemoryDefault::PerCpu(_)));
    if !by_cpu(policy.select.max_memory) && !cluster.partitions.iter().any(|partition| by_cpu(partition.max_memory)) {
        return BTreeMap::new();
    }
    let requests = scenario.workload.requests.iter().enumerate();
    let counted = requests.filter_map(|(index, request)| {
        let cpus = memory_limit::counted_cpus(cluster, policy, *request.partitions.last()?, request)?;
        Some((RequestId::new(index), cpus)).filter(|_| cpus != request.min_cpus)
    });
    counted.collect()
}

/// Whether jobs may hold nodes for their user alone. O(partitions + requests).
fn any_exclusive_users(scenario: &Scenario) -> bool {
    scenario.cluster.partitions.iter().any(|partition| partition.exclusive_user)
        || scenario.workload.requests.iter().any(|request| request.sharing == Sharing::ExclusiveUser)
}
