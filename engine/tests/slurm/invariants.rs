//! What holds for every cluster, workload and seed. Scenarios are generated as text, so a failure can be read.

use foresite_engine::ids::JobId;
use foresite_engine::job::{JobPart, Memory, Sharing};
use foresite_engine::outcome::{JobState, Outcome};
use foresite_engine::policy::ConsumableUnit;
use foresite_engine::scenario::Scenario;
use proptest::prelude::*;

use crate::schedule::run;

const MEMORY: u64 = 8000;

/// One of the given words.
pub(crate) fn word(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(words).prop_map(str::to_owned)
}

/// One job of a cluster of `n_nodes` nodes of four cores and two GPUs, always feasible.
fn job(n_nodes: u32) -> impl Strategy<Value = String> {
    let size = prop_oneof![
        3 => (1..=4u32).prop_map(|tasks| format!("N=1 n={tasks}")),
        1 => (1..=2u32).prop_map(|cpus| format!("N=1 n=2 c={cpus}")),
        // One task a node, so that what each node gives is known.
        2 => (2..=n_nodes.max(2)).prop_map(move |nodes| {
            let nodes = nodes.min(n_nodes);
            format!("N={nodes} n={nodes} per_node=1")
        }),
    ];
    (
        (0..1500u32, 1..900u32, 1..15u32),
        size,
        word(&["", "", "mem=1000", "mem=5000", "mem_per_cpu=900", "mem=0"]),
        word(&["", "", "", "exclusive", "exclusive=user"]),
        word(&["", "", "gres=gpu:1", "gres=gpu:2"]),
        word(&[
            "",
            "",
            "",
            "L=lic:1",
            "L=lic:2",
            "begin=700",
            "dep=afterany:1",
            "dep=singleton name=x",
            "cancel=1600",
            "runs=40",
            "runs=30:node_fail,20",
        ]),
        word(&["user=a", "user=b", "user=c"]),
        word(&["p=p", "p=p", "p=q", "p=p,q"]),
    )
        .prop_map(|((at, run, limit), size, memory, sharing, gres, extra, user, partition)| {
            format!("at={at} run={run} t={limit} {size} {memory} {sharing} {gres} {extra} {user} {partition}")
        })
}

/// A scenario in which jobs preempt each other, by tier or by QOS, and are cancelled or requeued.
fn preempting() -> impl Strategy<Value = String> {
    let jobs = (1..=4u32).prop_flat_map(|nodes| (Just(nodes), prop::collection::vec(job(nodes), 1..30)));
    (
        jobs,
        word(&["preempt=partition", "preempt=qos", "preempt=qos within multifactor weight_job_size=10"]),
        word(&["preempt_mode=cancel", "preempt_mode=requeue", "preempt_mode=requeue strict_order exempt=60"]),
        word(&["", "youngest_first", "epilog", "bf_max_job_start=1", "sched_interval=off"]),
        word(&["", "grace=45"]),
    )
        .prop_map(|((nodes, jobs), kind, mode, option, grace)| {
            let mut text = format!(
                "node n[1-{nodes}] cores=4 sockets=2 memory={MEMORY} gres=gpu:2\n\
                 partition p {grace}\npartition q tier=2\n\
                 license lic:2\n\
                 qos normal max_jobs_per_user=50 {grace}\nqos high preempt=normal\n\
                 account x grp_jobs=6\nuser a account=x\nuser b account=x\nuser c\n\
                 set enforce=limits select=core memory {kind} {mode} {option}\n\
                 job 1 run=100 t=5 user=c\n"
            );
            for (index, job) in jobs.iter().enumerate() {
                let qos = if index % 3 == 0 { "qos=high" } else { "" };
                text += &format!("job {} {job} {qos}\n", index + 2);
            }
            text
        })
}

/// A whole scenario; job 1 is an array or not.
pub(crate) fn scenario(array: &'static [&'static str]) -> impl Strategy<Value = String> {
    let jobs = (1..=5u32).prop_flat_map(|nodes| (Just(nodes), prop::collection::vec(job(nodes), 1..40)));
    (
        jobs,
        word(&[
            "select=core",
            "select=core memory",
            "select=cpu memory mem_per_cpu=1000",
            "select=memory memory mem_per_cpu=1000",
            "select=socket",
            "select=linear",
        ]),
        word(&["", "epilog", "builtin", "bf_max_job_user=2", "multifactor weight_job_size=100 weight_fairshare=50"]),
        word(&["max_jobs_per_user=1", "max_jobs_per_user=3", "max_node_per_user=9"]),
        word(&["grp_jobs=1", "grp_jobs=3", "grp_node=9"]),
        word(&["", "", "threads=2"]),
        word(&["", "", "over=exclusive"]),
        word(array),
    )
        .prop_map(|((nodes, jobs), select, policy, per_user, group, threads, over, array)| {
            let mut text = format!(
                "node n[1-{nodes}] cores=4 sockets=2 {threads} memory={MEMORY} gres=gpu:2\n\
                 partition p {over}\npartition q tier=2\n\
                 license lic:2\n\
                 qos normal {per_user}\n\
                 account x {group}\nuser a account=x\nuser b account=x\nuser c\n\
                 set enforce=limits {select} {policy}\n\
                 job 1 run=100 t=5 user=c {array}\n"
            );
            for (index, job) in jobs.iter().enumerate() {
                text += &format!("job {} {job}\n", index + 2);
            }
            text
        })
}

/// One of many jobs on `n_nodes` nodes of four cores, in one of the given partitions.
fn one_of_many(n_nodes: u32, partitions: &'static [&'static str]) -> impl Strategy<Value = String> {
    let size = prop_oneof![
        3 => (1..=4u32).prop_map(|tasks| format!("N=1 n={tasks}")),
        2 => (1..=n_nodes).prop_map(|nodes| format!("N={nodes} n={} per_node=4", 4 * nodes)),
    ];
    // Half of them come at once, so that the queue is long from the beginning.
    let at = prop_oneof![Just(0), 0..7000u32];
    let extra = word(&["", "", "", "", "", "", "", "cancel=2400", "cancel=4700", "runs=40", "begin=3000", "L=lic:1"]);
    (at, 1..900u32, 1..20u32, size, extra, word(&["user=a", "user=b", "user=c"]), word(partitions)).prop_map(
        |(at, run, limit, size, extra, user, partition)| {
            let extra = if extra.starts_with("cancel") && at > 2000 { "" } else { &extra };
            format!("at={at} run={run} t={limit} {size} {extra} {user} {partition}")
        },
    )
}

/// A long queue, mostly without limits, and cycles that take seconds for it: far more of them than the first ones, which are gone
/// through for their counters.
fn crowded() -> impl Strategy<Value = String> {
    let jobs = |partitions| prop::collection::vec(one_of_many(3, partitions), 40..100);
    let jobs = prop_oneof![
        2 => jobs(&["p=p"]).prop_map(|jobs| ("partition p", jobs)),
        1 => jobs(&["p=p", "p=q"]).prop_map(|jobs| ("partition p nodes=n[1-3]\npartition q nodes=n[4-6] tier=2", jobs)),
        1 => jobs(&["p=p", "p=q", "p=p,q"]).prop_map(|jobs| ("partition p\npartition q nodes=n[3-6] tier=2", jobs)),
    ];
    let cost = (
        prop::sample::select(&[0, 300_000, 1_500_000][..]),
        prop::sample::select(&[30_000, 90_000, 350_000, 1_500_000][..]),
        prop::sample::select(&[0, 20][..]),
    );
    (
        jobs,
        cost,
        word(&["bf_continue", "bf_continue", "bf_continue", ""]),
        word(&["", "bf_max_time=3", "bf_max_time=9", "bf_max_job_test=7", "bf_max_job_user=4", "bf_max_job_test=40 bf_max_job_user=5 bf_max_time=5"]),
        word(&[
            "",
            "bf_yield_interval=600000 bf_yield_sleep=700000",
            "bf_yield_interval=1000000 bf_yield_sleep=4000000",
            "bf_yield_interval=100 bf_yield_sleep=100",
        ]),
        word(&["", "epilog", "multifactor weight_job_size=100 weight_fairshare=50", "multifactor weight_age=1000 max_age=9000"]),
        word(&["", "", "bf_min_prio_reserve=1", "reduce_completing_frag complete_wait=20", "default_queue_depth=3", "enforce=limits"]),
        word(&["", "", "threads=2"]),
    )
        .prop_map(|((partitions, jobs), (base, record, noise), goes_on, depth, yields, policy, rare, threads)| {
            let passed = record / 4;
            let mut text = format!(
                "node n[1-6] cores=4 {threads}\n{partitions}\nlicense lic:1\nqos normal max_jobs_per_user=2\nuser a\nuser b\nuser c\n\
                 set bf_interval=4 base_us={base} record_us={record} passed_us={passed} noise={noise} {goes_on} {depth} {yields} {policy} {rare}\n"
            );
            for (index, job) in jobs.iter().enumerate() {
                text += &format!("job {} {job}\n", index + 1);
            }
            text
        })
}

/// What a job holds of each of its nodes: CPUs, memory, GPUs.
fn share(scenario: &Scenario, outcome: &Outcome, index: usize) -> (u64, u64, u64) {
    let record = &outcome.records[index];
    let request = &scenario.workload.requests[scenario.workload.jobs[index].request.index()];
    let select = &scenario.policy.select;
    let cpus = u64::from(record.cpus / record.n_nodes);
    let memory = match request.memory {
        _ if !select.memory => 0,
        Memory::PerNode(mb) => mb,
        Memory::PerCpu(mb) => mb * cpus,
        Memory::Default if select.default_memory.is_some() => 1000 * cpus,
        _ => MEMORY,
    };
    let whole = select.linear || request.sharing == Sharing::Exclusive;
    let gpus = if whole { 2 } else { request.gres.first().map_or(0, |gres| u64::from(gres.count)) };
    (cpus, memory, gpus)
}

/// Jobs that hold nodes in second `at`.
fn running(outcome: &Outcome, at: i64) -> Vec<usize> {
    let holds = |index: &usize| {
        let record = &outcome.records[*index];
        record.start.is_some_and(|start| start <= at) && record.end.is_some_and(|end| at < end)
    };
    (0..outcome.records.len()).filter(holds).collect()
}

/// Capacity, exclusivity, limits and licences in one second.
fn check_second(scenario: &Scenario, outcome: &Outcome, at: i64) {
    let running = running(outcome, at);
    let jobs = &scenario.workload.jobs;
    let request = |index: usize| &scenario.workload.requests[jobs[index].request.index()];
    for (node, capacity) in scenario.cluster.nodes.iter().enumerate() {
        let on_node: Vec<usize> = running
            .iter()
            .copied()
            .filter(|&index| outcome.nodes(JobId::new(index)).any(|other| other.index() == node))
            .collect();
        let shares: Vec<_> = on_node.iter().map(|&index| share(scenario, outcome, index)).collect();
        // With CR_Memory nobody counts CPUs.
        assert!(
            scenario.policy.select.unit == ConsumableUnit::Memory
                || shares.iter().map(|share| share.0).sum::<u64>() <= u64::from(capacity.cpus),
            "CPUs at {at}: {on_node:?}"
        );
        assert!(shares.iter().map(|share| share.1).sum::<u64>() <= MEMORY, "memory at {at}: {on_node:?}");
        assert!(shares.iter().map(|share| share.2).sum::<u64>() <= 2, "GPUs at {at}: {on_node:?}");
        if scenario.policy.select.unit == ConsumableUnit::Socket && !scenario.policy.select.linear {
            assert!(on_node.len() <= 2, "sockets at {at}: {on_node:?}");
        }
        for &index in &on_node {
            let alone = scenario.policy.select.linear || request(index).sharing == Sharing::Exclusive;
            assert!(!alone || on_node.len() == 1, "whole node at {at}: {on_node:?}");
            let same_user = on_node.iter().all(|&other| jobs[other].user == jobs[index].user);
            assert!(request(index).sharing != Sharing::ExclusiveUser || same_user, "one user at {at}: {on_node:?}");
        }
    }
    let count = |which: &dyn Fn(usize) -> bool| running.iter().filter(|&&index| which(index)).count() as u32;
    for user in 0..scenario.workload.users.len() {
        let most = scenario.qos[0].limits.max_jobs_per_user.unwrap_or(u32::MAX);
        assert!(count(&|index| jobs[index].user.index() == user) <= most, "jobs of user {user} at {at}");
    }
    let account = scenario.associations.find("x", None).unwrap();
    let in_account = |index: usize| scenario.associations.rows[jobs[index].association.index()].parent == Some(account);
    let most = scenario.associations.rows[account.index()].limits.grp_jobs.unwrap_or(u32::MAX);
    assert!(count(&in_account) <= most, "jobs of the account at {at}");
    let limited = |index: usize| jobs[index].extra.as_ref().is_some_and(|extra| extra.array_task_limit.is_some());
    assert!(count(&limited) <= 2, "tasks of the array at {at}");
    let licences: u32 = running.iter().flat_map(|&index| &request(index).licenses).map(|(_, count)| count).sum();
    assert!(licences <= 2, "licences at {at}");
}

/// Each job by itself.
fn check_job(scenario: &Scenario, outcome: &Outcome, index: usize) {
    let (job, record) = (&scenario.workload.jobs[index], &outcome.records[index]);
    let name = job.name;
    if record.state == JobState::Cancelled {
        // Who is requeued by preemption may have run when its owner would have cancelled it.
        let left_late = outcome.counters.preempted > 0 && record.end > Some(job.cancelled_at);
        let left = record.end == Some(job.cancelled_at.max(job.submit)) || left_late;
        assert!(record.start.is_none() && left, "{name}: {record:?}");
        return;
    }
    let (Some(eligible), Some(start), Some(end)) = (record.eligible, record.start, record.end) else {
        panic!("{name} never ran: {record:?}")
    };
    assert!(job.submit <= eligible && eligible <= start && start <= end, "{name}: {record:?}");
    let request = &scenario.workload.requests[job.request.index()];
    assert_eq!(record.n_nodes, request.min_nodes, "{name}");
    assert!(record.cpus >= request.min_cpus, "{name}: {record:?}");
    let Some(foresite_engine::job::TimeLimit::Minutes(limit)) = job.time_limit else { panic!("every job has a limit") };
    let (elapsed, limit, run) = (end - start, i64::from(limit) * 60, i64::from(job.run_time));
    // Preemption may strike in a run that would have been followed by another.
    let earlier = job.extra.iter().flat_map(|extra| &extra.earlier_runs).map(|earlier| i64::from(earlier.run_time));
    let longest = earlier.fold(run, i64::max);
    match record.state {
        JobState::Completed => assert!(elapsed == run && run <= limit, "{name}: {record:?}"),
        JobState::Preempted => assert!(elapsed <= longest.min(limit + 31), "{name}: {record:?}"),
        JobState::Timeout => assert!((limit..=limit + 31).contains(&elapsed) && run >= limit, "{name}: {record:?}"),
        other => panic!("{name} is {other:?}"),
    }
    let Some(extra) = &job.extra else { return };
    assert!(extra.begin.is_none_or(|begin| start >= begin), "{name} began too early");
    if extra.dependencies.as_ref().is_some_and(|dependencies| dependencies.on.iter().any(|on| on.id == 1)) {
        let first = scenario.workload.jobs.iter().zip(&outcome.records).filter(|(other, _)| other.name.id == 1);
        assert!(
            first.into_iter().all(|(_, other)| other.end.is_some_and(|end| end <= start)),
            "{name} came before job 1"
        );
    }
    assert!(name.part == JobPart::Whole || name.id == 1);
}

fn check(text: &str, seed: u64) {
    let (scenario, outcome) = run(text, seed);
    for index in 0..outcome.records.len() {
        check_job(&scenario, &outcome, index);
    }
    // What is held changes only when a job starts.
    for start in outcome.records.iter().filter_map(|record| record.start) {
        check_second(&scenario, &outcome, start);
    }
}

/// The same where jobs of partition p share cores by two, and those of q by three if they ask for it.
fn with_sharing(text: &str) -> String {
    text.replace("partition p\npartition q tier=2", "partition p over=force:2\npartition q tier=2 over=yes:3")
        .replace("gres=gpu:1", "gres=gpu:1 oversubscribe")
        .replace("dep=singleton", "oversubscribe dep=singleton")
}

/// The same with all jobs in partition p, whose jobs might share cores by four, if one of them asked for it; in one of the releases.
fn where_nobody_shares(text: &str, seed: u64) -> String {
    let more = ["", "select=cons_res", "version=23.11", "version=25.05", "version=26.05"][(seed % 5) as usize];
    text.replace("\npartition p", "\npartition p over=yes:4")
        .replace("p=p,q", "p=p")
        .replace("p=q", "p=p")
        .replace("set enforce", &format!("set {more} enforce"))
}

/// Cores may be used so often; memory and GPUs once.
fn check_sharing(text: &str, seed: u64) {
    let (scenario, outcome) = run(text, seed);
    for index in 0..outcome.records.len() {
        check_job(&scenario, &outcome, index);
    }
    for at in outcome.records.iter().filter_map(|record| record.start) {
        let running = running(&outcome, at);
        for node in 0..scenario.cluster.nodes.len() {
            let is_here = |index: &usize| outcome.nodes(JobId::new(*index)).any(|other| other.index() == node);
            let here: Vec<usize> = running.iter().copied().filter(is_here).collect();
            let shares: Vec<_> = here.iter().map(|&index| share(&scenario, &outcome, index)).collect();
            assert!(shares.iter().map(|share| share.0).sum::<u64>() <= 4 * 5, "CPUs at {at}: {here:?}");
            assert!(shares.iter().map(|share| share.1).sum::<u64>() <= MEMORY, "memory at {at}: {here:?}");
            let asked = |index: &usize| {
                let request = &scenario.workload.requests[scenario.workload.jobs[*index].request.index()];
                request.gres.first().map_or(0, |gres| gres.count)
            };
            assert!(here.iter().map(asked).sum::<u32>() <= 2, "GPUs at {at}: {here:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_handed_out_twice_and_every_job_runs(text in scenario(&["", "array=1-6"]), seed in 0u64..1000) {
        check(&text, seed);
    }

    #[test]
    fn an_array_never_runs_more_tasks_than_it_allows(text in scenario(&["array=1-6%2"]), seed in 0u64..1000) {
        check(&text, seed);
    }

    #[test]
    fn skipped_cycles_would_have_changed_nothing(text in scenario(&["", "array=1-6%2"]), seed in 0u64..1000) {
        // Limits on nodes that some jobs are too large for, too.
        let text = text.replace("grp_node=9", "grp_node=2").replace("node_per_user=9", "node_per_user=2");
        crate::schedule::expect_equal_with_every_cycle(&text, seed);
    }

    #[test]
    fn cycles_that_take_time_are_skipped_as_exactly(
        text in scenario(&["", "array=1-6%2"]),
        seed in 0u64..1000,
        base in prop::sample::select(&[0, 400_000, 2_500_000][..]),
        record in prop::sample::select(&[700, 40_000, 350_000, 1_500_000][..]),
        noise in prop::sample::select(&[0, 20, 100][..]),
        option in word(&["", "bf_continue", "bf_max_time=2", "bf_max_job_test=5", "bf_yield_interval=600000 bf_yield_sleep=700000"]),
    ) {
        let text = format!("{text}set base_us={base} record_us={record} noise={noise} {option}\n");
        crate::schedule::expect_equal_with_every_cycle(&text, seed);
    }

    #[test]
    fn cycles_over_a_long_queue_end_where_nothing_can_start(text in crowded(), seed in 0u64..1000) {
        crate::schedule::expect_equal_with_every_cycle(&text, seed);
    }

    #[test]
    fn preemption_hands_out_nothing_twice(text in preempting(), seed in 0u64..1000) {
        check(&text, seed);
    }

    #[test]
    fn sharing_cores_hands_out_no_memory_and_no_gpu_twice(text in scenario(&["", "array=1-6%2"]), seed in 0u64..1000) {
        check_sharing(&with_sharing(&text), seed);
    }

    #[test]
    fn sharing_cores_is_the_same_with_every_cycle(text in scenario(&["", "array=1-6%2"]), seed in 0u64..1000) {
        crate::schedule::expect_equal_with_every_cycle(&with_sharing(&text), seed);
    }

    #[test]
    fn rows_that_nobody_shares_decide_nothing(text in scenario(&["", "array=1-6%2"]), seed in 0u64..1000) {
        crate::schedule::expect_equal_with_every_cycle(&where_nobody_shares(&text, seed), seed);
    }

    #[test]
    fn rows_that_nobody_shares_decide_nothing_where_jobs_preempt(text in preempting(), seed in 0u64..1000) {
        crate::schedule::expect_equal_with_every_cycle(&where_nobody_shares(&text, seed), seed);
    }

    #[test]
    fn sharing_cores_and_preemption_hold_together(text in preempting(), seed in 0u64..1000) {
        let text = text.replace("\npartition p ", "\npartition p over=force:2 ").replace("\npartition q ", "\npartition q over=yes:3 ");
        check_sharing(&text, seed);
    }

    #[test]
    fn preemption_is_the_same_with_every_cycle(text in preempting(), seed in 0u64..1000) {
        crate::schedule::expect_equal_with_every_cycle(&text, seed);
    }

    #[test]
    fn one_seed_gives_one_outcome(text in scenario(&["", "array=1-6%2"]), seed in 0u64..1000) {
        let (_, first) = run(&text, seed);
        let (_, second) = run(&text, seed);
        prop_assert_eq!(first, second);
    }

    /// With one node, so that no job can be planned on a node that is still completing while a later one starts beside.
    #[test]
    fn equal_jobs_start_in_order_of_submission(
        submits in prop::collection::vec(0..600u32, 2..30),
        tasks in 1..=4u32,
        runs in prop::collection::vec(1..300u32, 30),
        seed in 0u64..1000,
    ) {
        let mut submits = submits;
        submits.sort_unstable();
        let jobs: String = submits
            .iter()
            .zip(&runs)
            .enumerate()
            .map(|(index, (at, run))| format!("job {} at={at} run={run} t=5 n={tasks}\n", index + 1))
            .collect();
        let (_, outcome) = run(&format!("node n1 cores=4\n{jobs}"), seed);
        let starts: Vec<Option<i64>> = outcome.records.iter().map(|record| record.start).collect();
        prop_assert!(starts.iter().all(Option::is_some));
        prop_assert!(starts.is_sorted(), "{:?}", starts);
    }
}
