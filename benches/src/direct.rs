//! Jobs straight into the engine's structures, where text would be larger than memory: the same site files, the same draws.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context, bail};
use foresite_engine::ids::{AssociationId, JobId, QosId, RequestId, UserId};
use foresite_engine::job::{Job, JobName, JobPart, Memory, Request, TimeLimit, Workload};
use foresite_engine::outcome::JobState;
use foresite_engine::scenario::Scenario;
use foresite_formats::file_set::FileSet;
use foresite_formats::sacctmgr::Sacctmgr;
use foresite_formats::slurm_conf::SlurmConf;
use sha2::{Digest, Sha256};

use crate::input::faults;
use crate::population::{Ending, Submission};
use crate::site::{BEGIN, Site};

/// A machine's scenario with all its jobs, and what they hash to. Constraints and GRES are not carried over: a site that has them
/// is refused. O(jobs).
pub(crate) fn scenario(site: &Site, seed: u64) -> anyhow::Result<(Scenario, String)> {
    let mut files = FileSet::default();
    files.insert("slurm.conf", site.slurm_conf.clone().into_bytes());
    let (conf, mut found) = SlurmConf::read(&files, "slurm.conf");
    let (accounts, more) = Sacctmgr::read("sacctmgr.cfg", site.accounts_text().as_bytes());
    found.extend(more);
    let (lowered, more) = conf.lower(Some(&accounts));
    found.extend(more);
    let Some(lowered) = lowered.filter(|_| !found.iter().any(foresite_formats::diagnostic::Diagnostic::is_error))
    else {
        bail!("the site is faulty:\n{}", faults(&found))
    };
    let rows = lowered.associations.rows.iter().enumerate();
    let associations: HashMap<&str, AssociationId> =
        rows.filter_map(|(index, row)| Some((row.user.as_deref()?, AssociationId::new(index)))).collect();
    let mut hash = Sha256::new();
    hash.update(&site.slurm_conf);
    hash.update(site.accounts_text());
    let n_jobs = usize::try_from(site.populations.iter().map(|it| it.jobs).sum::<u64>())?;
    let mut workload = Workload { jobs: Vec::with_capacity(n_jobs), ..Workload::default() };
    let mut requests: HashMap<Request, RequestId> = HashMap::new();
    let mut users: HashMap<u16, (UserId, AssociationId)> = HashMap::new();
    for (index, job) in site.submissions(seed).enumerate() {
        hash.update(format!("{job:?}"));
        let kind = &site.populations[usize::from(job.population)].kinds[usize::from(job.kind)];
        if job.constraint > 0 || kind.gres.is_some() || !kind.options.is_empty() {
            bail!("constraints, GRES and other options need the text path");
        }
        let partition = lowered.cluster.partition_named(kind.partition).context("the partition is not there")?;
        let asked = request(&job, kind.node_cpus, Request::serial(partition));
        let next = RequestId::new(workload.requests.len());
        let requests_of = &mut workload.requests;
        let request = *requests.entry(asked).or_insert_with_key(|asked| {
            requests_of.push(asked.clone());
            next
        });
        let names = &mut workload.users;
        let (user, association) = match users.get(&job.user) {
            Some(&known) => known,
            None => {
                let name = format!("u{}", job.user);
                let association = *associations.get(name.as_str()).context("the user has no association")?;
                names.push(name);
                let ids = (UserId::new(names.len() - 1), association);
                users.insert(job.user, ids);
                ids
            }
        };
        workload.jobs.push(made(index, &job, request, user, association));
    }
    workload.trace_order = (0..workload.jobs.len()).map(JobId::new).collect();
    let scenario = Scenario {
        cluster: lowered.cluster,
        associations: lowered.associations,
        qos: lowered.qos,
        policy: lowered.policy,
        calendar: lowered.calendar,
        workload: Arc::new(workload),
    };
    if let Err(errors) = scenario.validate() {
        bail!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
    Ok((scenario, crate::input::short(hash)))
}

fn request(job: &Submission, node_cpus: Option<u64>, serial: Request) -> Request {
    let memory = if job.memory > 0 { Memory::PerCpu(u64::from(job.memory)) } else { Memory::Default };
    match node_cpus.map(|per_node| per_node as u32) {
        None => Request { tasks: job.size, min_cpus: job.size, memory, ..serial },
        Some(per_node) => Request {
            min_nodes: job.size,
            max_nodes: Some(job.size),
            tasks: job.size * per_node,
            min_cpus: job.size * per_node,
            ntasks_per_node: Some(per_node),
            memory,
            ..serial
        },
    }
}

fn made(index: usize, job: &Submission, request: RequestId, user: UserId, association: AssociationId) -> Job {
    let submit = (BEGIN + job.submit) as i64;
    Job {
        name: JobName { id: index as u64 + 1, part: JobPart::Whole },
        submit,
        release: submit,
        cancelled_at: match job.ending {
            Ending::Cancelled(after) => submit + i64::from(after),
            _ => i64::MAX,
        },
        run_time: job.run,
        estimate: job.minutes * 60,
        time_limit: Some(TimeLimit::Minutes(job.minutes)),
        run_time_is_bound: job.ending == Ending::Timeout,
        ends: if job.ending == Ending::Completed { JobState::Completed } else { JobState::Failed },
        user,
        association,
        qos: QosId(0),
        request,
        nice: 0,
        extra: None,
    }
}
