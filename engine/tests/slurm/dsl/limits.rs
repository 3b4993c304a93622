//! Limits of associations and QOS: `grp_cpu=8`, `max_jobs_per_user=1`, …, in sacctmgr's words.

use foresite_engine::association::{Limits, Qos};
use foresite_engine::cluster::{Cluster, Tres};
use foresite_engine::ids::{GresId, QosId};

use super::{Line, preempt_mode};

/// One option of an association or a QOS that is a limit; false if it is none.
pub(super) fn limit(line: &Line<'_>, limits: &mut Limits, cluster: &Cluster, key: &str, value: &str) -> bool {
    let number = || Some(line.number(value));
    match key {
        "grp_jobs" => limits.grp_jobs = number(),
        "grp_submit_jobs" => limits.grp_submit_jobs = number(),
        "grp_jobs_accrue" => limits.grp_jobs_accrue = number(),
        "grp_wall" => limits.grp_wall = number(),
        "grp_cpu" => limits.grp_tres.push((Tres::Cpu, line.number(value))),
        "grp_node" => limits.grp_tres.push((Tres::Node, line.number(value))),
        "grp_gpu" => {
            let gpu = cluster.gres.iter().position(|gres| gres.name == "gpu").unwrap();
            limits.grp_tres.push((Tres::Gres(GresId::new(gpu)), line.number(value)));
        }
        "grp_gpu_mins" => {
            let gpu = cluster.gres.iter().position(|gres| gres.name == "gpu").unwrap();
            limits.grp_tres_mins.push((Tres::Gres(GresId::new(gpu)), line.number(value)));
        }
        "max_cpu_per_node" => limits.max_tres_per_node.push((Tres::Cpu, line.number(value))),
        "grp_cpu_mins" => limits.grp_tres_mins.push((Tres::Cpu, line.number(value))),
        "grp_cpu_run_mins" => limits.grp_tres_run_mins.push((Tres::Cpu, line.number(value))),
        "max_jobs" => limits.max_jobs = number(),
        "max_submit_jobs" => limits.max_submit_jobs = number(),
        "max_jobs_accrue" => limits.max_jobs_accrue = number(),
        "max_jobs_per_user" => limits.max_jobs_per_user = number(),
        "max_jobs_per_account" => limits.max_jobs_per_account = number(),
        "max_submit_jobs_per_user" => limits.max_submit_jobs_per_user = number(),
        "max_cpu_per_user" => limits.max_tres_per_user.push((Tres::Cpu, line.number(value))),
        "max_node_per_user" => limits.max_tres_per_user.push((Tres::Node, line.number(value))),
        "max_cpu_run_mins_per_user" => limits.max_tres_run_mins_per_user.push((Tres::Cpu, line.number(value))),
        "max_cpu_per_job" => limits.max_tres_per_job.push((Tres::Cpu, line.number(value))),
        "max_cpu_mins_per_job" => limits.max_tres_mins_per_job.push((Tres::Cpu, line.number(value))),
        "min_cpu_per_job" => limits.min_tres_per_job.push((Tres::Cpu, line.number(value))),
        "max_wall" => limits.max_wall = number(),
        "min_prio_threshold" => limits.min_prio_threshold = number(),
        _ => return false,
    }
    true
}

/// The line of a QOS; `normal` may be described anew.
pub(super) fn add_qos(line: &Line<'_>, cluster: &Cluster, all: &mut Vec<Qos>) {
    let mut qos = Qos { name: line.name.to_owned(), ..Qos::default() };
    for &(key, value) in &line.options {
        match key {
            "priority" => qos.priority = line.number(value),
            "preempt" => {
                let known = |name: &str| all.iter().position(|other| other.name == name).map(QosId::new).unwrap();
                qos.preempt = value.split(',').map(known).collect();
            }
            "preempt_mode" => qos.preempt_mode = Some(preempt_mode(line, value)),
            "grace" => qos.grace_time = line.number(value),
            "exempt" => qos.preempt_exempt_time = Some(line.number(value)),
            "usage_factor" => qos.usage_factor = Some(line.number(value)),
            "limit_factor" => qos.limit_factor = Some(line.number(value)),
            "usage_threshold" => qos.usage_threshold = Some(line.number(value)),
            "flags" => {
                for flag in value.split(',') {
                    let field = match flag {
                        "DenyOnLimit" => &mut qos.deny_on_limit,
                        "EnforceUsageThreshold" => &mut qos.enforce_usage_threshold,
                        "NoDecay" => &mut qos.no_decay,
                        "NoReserve" => &mut qos.no_reserve,
                        "PartitionMaxNodes" => &mut qos.partition_max_nodes,
                        "PartitionMinNodes" => &mut qos.partition_min_nodes,
                        "PartitionTimeLimit" => &mut qos.partition_time_limit,
                        "OverPartQOS" => &mut qos.over_part_qos,
                        "UsageFactorSafe" => &mut qos.usage_factor_safe,
                        other => line.unknown(other),
                    };
                    *field = true;
                }
            }
            _ if limit(line, &mut qos.limits, cluster, key, value) => {}
            other => line.unknown(other),
        }
    }
    match all.iter_mut().find(|other| other.name == qos.name) {
        Some(same) => *same = qos,
        None => all.push(qos),
    }
}
