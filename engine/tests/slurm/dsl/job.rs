//! The line of a job: sbatch's options, shortened.

use foresite_engine::association::{Association, AssociationTree, Qos};
use foresite_engine::cluster::Cluster;
use foresite_engine::ids::{AssociationId, FeatureId, GresId, LicenseId, PartitionId, QosId, RequestId, UserId};
use foresite_engine::job::{
    Before, Dependencies, Dependency, DependencyKind, EarlierRun, FeatureExpr, GresRequest, GresScope, Job, JobExtra,
    JobName, JobPart, Memory, Request, RunEnd, Sharing, TimeLimit, Workload,
};
use foresite_engine::outcome::JobState;

use super::{Line, T0, intern, nodes_named, partition};

/// `a`, `a&b`, `a|b`, `[a|b]`.
fn features(cluster: &Cluster, text: &str) -> FeatureExpr {
    let parts = |text: &str, by: char| text.split(by).map(|part| features(cluster, part)).collect();
    if let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        FeatureExpr::MatchingOr(parts(inner, '|'))
    } else if text.contains('*') {
        let counted = |part: &str| {
            let (feature, count) = part.split_once('*').expect("a count of each");
            (features(cluster, feature), count.parse().expect("a count"))
        };
        FeatureExpr::Counted(text.split('&').map(counted).collect())
    } else if text.contains('|') {
        FeatureExpr::Or(parts(text, '|'))
    } else if text.contains('&') {
        FeatureExpr::And(parts(text, '&'))
    } else {
        match cluster.features.iter().position(|feature| feature == text) {
            Some(feature) => FeatureExpr::Has(FeatureId::new(feature)),
            None => FeatureExpr::Unknown(text.to_owned()),
        }
    }
}

/// `afterok:1,after:2+5`, `afterok:1_3`, `singleton`, `afterany:1?afterany:2`.
fn dependencies(line: &Line<'_>, text: &str) -> Dependencies {
    let any = text.contains('?');
    let one = |part: &str| {
        let (kind, rest) = part.split_once(':').unwrap_or((part, "0"));
        let (job, minutes) = rest.split_once('+').unwrap_or((rest, "0"));
        let kind = match kind {
            "after" => DependencyKind::After(line.number(minutes)),
            "afterany" => DependencyKind::AfterAny,
            "afterok" => DependencyKind::AfterOk,
            "afternotok" => DependencyKind::AfterNotOk,
            "aftercorr" => DependencyKind::AfterCorr,
            "singleton" => DependencyKind::Singleton,
            other => line.unknown(other),
        };
        let (id, task) = job.split_once('_').map_or((job, None), |(id, task)| (id, Some(line.number(task))));
        Dependency { kind, id: line.number(id), task }
    };
    Dependencies { any, on: text.split([',', '?']).map(one).collect() }
}

/// Adds the job of a line, or its tasks.
pub(super) fn add(
    line: &Line<'_>,
    cluster: &mut Cluster,
    tree: &mut AssociationTree,
    qos: &[Qos],
    workload: &mut Workload,
) {
    if cluster.partitions.is_empty() {
        partition(&Line { text: "", name: "p", options: Vec::new() }, cluster, qos);
    }
    let (id, part) = match (line.name.split_once('_'), line.name.split_once('+')) {
        (Some((id, task)), _) => (id, JobPart::Task(line.number(task))),
        (_, Some((id, component))) => (id, JobPart::Component(line.number(component))),
        _ => (line.name, JobPart::Whole),
    };
    let mut request = Request::serial(PartitionId(0));
    let mut extra = JobExtra::default();
    let mut job = Job {
        name: JobName { id: line.number(id), part },
        submit: T0,
        release: T0,
        cancelled_at: i64::MAX,
        run_time: 0,
        estimate: 0,
        time_limit: Some(TimeLimit::Minutes(60)),
        run_time_is_bound: false,
        ends: JobState::Completed,
        user: UserId(0),
        association: AssociationId(0),
        qos: QosId(0),
        request: RequestId(0),
        nice: 0,
        extra: None,
    };
    let (mut user, mut account, mut tasks, mut released) = ("u", None, None, None);
    for &(key, value) in &line.options {
        match key {
            "at" => job.submit = T0 + line.number::<i64>(value),
            "run" => job.run_time = line.number(value),
            "t" if value == "none" => job.time_limit = None,
            "t" => job.time_limit = Some(TimeLimit::Minutes(line.number(value))),
            "cancel" => job.cancelled_at = T0 + line.number::<i64>(value),
            "runs" => {
                let run = |text: &str| {
                    let (time, word) = text.split_once(':').unwrap_or((text, "requeued"));
                    let ended_by = match word {
                        "requeued" => RunEnd::Requeued,
                        "preempted" => RunEnd::Preempted,
                        "node_fail" => RunEnd::NodeFail,
                        other => line.unknown(other),
                    };
                    EarlierRun { run_time: line.number(time), ended_by }
                };
                extra.earlier_runs = value.split(',').map(run).collect();
            }
            "waits" => extra.before = Some(Before::Waiting),
            "since" => {
                let (since, nodes) = value.split_once('@').unwrap_or((value, ""));
                let nodes = if nodes.is_empty() { Vec::new() } else { nodes_named(cluster, nodes) };
                extra.before = Some(Before::Running { since: T0 + line.number::<i64>(since), nodes });
            }
            "released" => released = Some(T0 + line.number::<i64>(value)),
            "kill_on_invalid_dep" => extra.kill_on_invalid_dep = Some(value != "no"),
            "no_requeue" => extra.requeue = Some(false),
            "fails" => job.ends = JobState::Failed,
            "cancelled" => job.ends = JobState::Cancelled,
            "nice" => job.nice = line.number(value),
            "user" => user = value,
            "account" => account = Some(value),
            "qos" => job.qos = QosId::new(qos.iter().position(|qos| qos.name == value).expect("a known QOS")),
            "p" => {
                let known = |name: &str| cluster.partition_named(name).unwrap_or_else(|| panic!("no partition {name}"));
                request.partitions = value.split(',').map(known).collect();
            }
            "n" => request.tasks = line.number(value),
            "c" => request.cpus_per_task = line.number(value),
            "cpus_per_gpu" => request.cpus_per_gpu = Some(line.number(value)),
            "switches" => {
                let (count, wait) = value.split_once('@').unwrap_or((value, ""));
                request.switches = Some((line.number(count), (!wait.is_empty()).then(|| line.number(wait))));
            }
            "N" => {
                let (min, max) = value.split_once('-').unwrap_or((value, value));
                request.min_nodes = line.number(min);
                request.max_nodes = (!max.is_empty()).then(|| line.number(max));
            }
            "plane" => request.plane = Some(line.number(value)),
            "overcommit" => request.overcommitted = Some(line.number(value)),
            "gives_cpus" => request.overcommit_gives_cpus = true,
            "per_node" => request.ntasks_per_node = Some(line.number(value)),
            "tmp" => request.tmp_disk_mb = line.number(value),
            "ntasks_per_gpu" => request.ntasks_per_gpu = Some(line.number(value)),
            "enforce_binding" => request.enforces_binding = true,
            "mincpus" => request.min_cpus_per_node = Some(line.number(value)),
            "per_socket" => request.ntasks_per_socket = Some(line.number(value)),
            "mem" if value == "0" => request.memory = Memory::WholeNode,
            "mem" => request.memory = Memory::PerNode(line.number(value)),
            "mem_per_cpu" => request.memory = Memory::PerCpu(line.number(value)),
            "prefer" => extra.prefer = Some(features(cluster, value)),
            "C" => request.features = features(cluster, value),
            "gres" => {
                let (name, count) = value.split_once(':').unwrap();
                let gres = cluster.gres.iter().position(|gres| gres.name == name).expect("a known GRES");
                let count = line.number(count);
                request.gres.push(GresRequest { gres: GresId::new(gres), count, scope: GresScope::PerNode });
            }
            "sockets" => request.sockets_per_node = Some(line.number(value)),
            "gpus" | "gpus_per_task" | "gpus_per_socket" => {
                let gres = cluster.gres.iter().position(|gres| gres.name == "gpu").expect("GPUs");
                let scope = match key {
                    "gpus" => GresScope::PerJob,
                    "gpus_per_task" => GresScope::PerTask,
                    _ => GresScope::PerSocket,
                };
                request.gres.push(GresRequest { gres: GresId::new(gres), count: line.number(value), scope });
            }
            "exclusive" if value == "user" => request.sharing = Sharing::ExclusiveUser,
            "oversubscribe" => request.sharing = Sharing::OverSubscribe,
            "exclusive" => request.sharing = Sharing::Exclusive,
            "w" => request.required_nodes = nodes_named(cluster, value),
            "x" => request.excluded_nodes = nodes_named(cluster, value),
            "resv" => request.reservation = Some(value.to_owned()),
            "contiguous" => request.contiguous = true,
            "spread" => request.spread = true,
            "L" => {
                request.licenses.push(license(line, cluster, value));
            }
            "time_min" => extra.time_min = Some(line.number(value)),
            "deadline" => extra.deadline = Some(T0 + line.number::<i64>(value)),
            "begin" => extra.begin = Some(T0 + line.number::<i64>(value)),
            "dep" => extra.dependencies = Some(dependencies(line, value)),
            "name" => extra.job_name = Some(value.to_owned()),
            "array" => {
                let (range, most) = value.split_once('%').unwrap_or((value, ""));
                let (first, last) = range.split_once('-').unwrap();
                tasks = Some(line.number(first)..=line.number(last));
                extra.array_task_limit = (!most.is_empty()).then(|| line.number(most));
            }
            other => line.unknown(other),
        }
    }
    job.release = released.unwrap_or(job.submit);
    // No tasks are those of GPUs alone; nodes of a partition's `MinNodes` (`N=2-`) make no tasks.
    if request.tasks > 0 && (request.max_nodes.is_some() || request.min_nodes == 1) {
        request.tasks = request.tasks.max(request.min_nodes);
    }
    request.min_cpus = request.tasks.max(1) * request.cpus_per_task;
    // As a trace is lowered.
    if request.overcommitted.is_some() {
        request.overcommitted_per_node = request.ntasks_per_node.take();
        request.min_cpus = request.min_nodes.max(1);
    }
    if let Some(qos) = qos.get(job.qos.index()) {
        (request.past_min_nodes, request.past_max_nodes) = (qos.partition_min_nodes, qos.partition_max_nodes);
        request.past_memory_limits = qos.enforce_usage_threshold;
    }
    job.request = RequestId::new(intern(&mut workload.requests, request));
    job.user = UserId::new(intern(&mut workload.users, user.to_owned()));
    job.association = match tree
        .rows
        .iter()
        .position(|row| row.user.as_deref() == Some(user) && account.is_none_or(|account| row.account == account))
    {
        Some(row) => AssociationId::new(row),
        None => {
            tree.rows.push(Association::new("root", Some(user.to_owned()), Some(AssociationTree::ROOT)));
            AssociationId::new(tree.rows.len() - 1)
        }
    };
    job.extra = (extra != JobExtra::default()).then(|| Box::new(extra));
    match tasks {
        None => workload.jobs.push(job),
        Some(tasks) => workload
            .jobs
            .extend(tasks.map(|task| Job { name: JobName { part: JobPart::Task(task), ..job.name }, ..job.clone() })),
    }
}

/// `matlab:2`.
pub(super) fn license(line: &Line<'_>, cluster: &Cluster, value: &str) -> (LicenseId, u32) {
    let (name, count) = value.split_once(':').unwrap();
    let license = cluster.licenses.iter().position(|(other, _)| other == name).expect("a known licence");
    (LicenseId::new(license), line.number(count))
}
