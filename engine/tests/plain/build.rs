//! Scenarios for the plain algorithms from a few numbers.

use std::sync::Arc;

use foresite_engine::association::AssociationTree;
use foresite_engine::cluster::{Cluster, Node};
use foresite_engine::ids::{AssociationId, PartitionId, QosId, RequestId, UserId};
use foresite_engine::job::{Job, JobName, JobPart, Request, Workload};
use foresite_engine::observer::Unobserved;
use foresite_engine::outcome::{JobState, Outcome};
use foresite_engine::plain::{PlainAlgorithm, PlainOptions, simulate};
use foresite_engine::policy::Policy;
use foresite_engine::scenario::Scenario;

/// What the plain algorithms look at in a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) submit: i64,
    pub(crate) release: i64,
    pub(crate) run_time: u32,
    pub(crate) estimate: u32,
    pub(crate) procs: u32,
    pub(crate) cancelled_at: i64,
}

impl Row {
    /// A job that is released when submitted, and never cancelled.
    pub(crate) fn new(submit: i64, procs: u32, run_time: u32, estimate: u32) -> Self {
        Self { submit, release: submit, run_time, estimate, procs, cancelled_at: i64::MAX }
    }
}

pub(crate) fn scenario(node_cpus: &[u32], rows: &[Row]) -> Scenario {
    let nodes = node_cpus.iter().enumerate().map(|(index, &cpus)| node(index, cpus)).collect();
    let mut requests: Vec<Request> = Vec::new();
    let jobs = rows.iter().enumerate().map(|(index, row)| job(index, row, &mut requests)).collect();
    Scenario {
        cluster: Cluster { nodes, ..Cluster::default() },
        associations: AssociationTree::default(),
        qos: Vec::new(),
        policy: Policy::default(),
        calendar: Default::default(),
        workload: Arc::new(Workload { jobs, requests, ..Workload::default() }),
    }
}

pub(crate) fn run(node_cpus: &[u32], rows: &[Row], algorithm: PlainAlgorithm, options: &PlainOptions) -> Outcome {
    simulate(&scenario(node_cpus, rows), algorithm, options, &mut Unobserved).expect("nobody interrupts")
}

fn node(index: usize, cpus: u32) -> Node {
    Node {
        name: format!("n{index}"),
        sockets: 1,
        cores_per_socket: cpus,
        threads_per_core: 1,
        cpus,
        spec_cores: Vec::new(),
        kept_memory_mb: 0,
        tmp_disk_mb: None,
        memory_mb: 1,
        weight: 1,
        features: Vec::new(),
        gres: Vec::new(),
        gres_near: Vec::new(),
        config_record: 0,
        schedulable: true,
    }
}

fn job(index: usize, row: &Row, requests: &mut Vec<Request>) -> Job {
    let known = requests.iter().position(|request| request.min_cpus == row.procs);
    let request = known.unwrap_or_else(|| {
        requests.push(Request { min_cpus: row.procs, ..Request::serial(PartitionId(0)) });
        requests.len() - 1
    });
    Job {
        name: JobName { id: index as u64 + 1, part: JobPart::Whole },
        submit: row.submit,
        release: row.release,
        cancelled_at: row.cancelled_at,
        run_time: row.run_time,
        estimate: row.estimate,
        time_limit: None,
        run_time_is_bound: false,
        ends: JobState::Completed,
        user: UserId(0),
        association: AssociationId(0),
        qos: QosId(0),
        request: RequestId::new(request),
        nice: 0,
        extra: None,
    }
}
