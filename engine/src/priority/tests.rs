#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
//! Promises of job priorities (slurm-semantics 4, oracle FACTS). A tree is text: a row a line, `account` or
//! `user@account`, then shares and raw usage.

use super::fair_share::FairShare;
use super::multifactor::{JobFactors, Norms};
use super::usage::Usage;
use crate::association::{Association, AssociationTree, Qos, Shares};
use crate::cluster::{Cluster, Node, Partition, Tres};
use crate::ids::{AssociationId, PartitionId};
use crate::node_set::NodeSet;
use crate::policy::PriorityPolicy;

fn tree(text: &str) -> AssociationTree {
    let mut tree = AssociationTree::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (user, account) =
            words[0].split_once('@').map_or((None, words[0]), |(user, account)| (Some(user), account));
        let parent = user.and_then(|_| tree.find(account, None)).unwrap_or(AssociationTree::ROOT);
        let mut row = Association::new(account, user.map(str::to_owned), Some(parent));
        row.shares = words[1].parse().map_or(Shares::Parent, Shares::Count);
        row.initial_usage = words[2].parse().unwrap();
        tree.rows.push(row);
    }
    tree
}

/// `user factor` of every user, to four digits.
fn factors(text: &str, policy: &PriorityPolicy) -> String {
    let tree = tree(text);
    let mut fair_share = FairShare::new(&tree);
    let usage = Usage::new(&tree, 0).raw;
    if policy.is_classic() {
        fair_share.accounts_anew(&tree, policy, &usage);
        (0..tree.rows.len()).for_each(|index| fair_share.settle(AssociationId::new(index), policy, &usage));
    } else {
        fair_share.rank(&tree, &usage);
    }
    let users =
        tree.rows.iter().zip(&fair_share.factors).filter_map(|(row, factor)| Some((row.user.as_ref()?, factor)));
    users.map(|(user, factor)| format!("{user} {factor:.4}")).collect::<Vec<_>>().join(", ")
}

fn fair_tree(text: &str) -> String {
    factors(text, &PriorityPolicy::default())
}

fn classic(text: &str) -> String {
    factors(text, &PriorityPolicy { no_fair_tree: true, ..PriorityPolicy::default() })
}

/// The children of an account with the parent's shares stand among its siblings: b, who used nothing, then c, with a tenth of the usage
/// and a third of the shares, then a. (If `misc` were a level of its own, a would stand before c.)
#[test]
fn an_account_with_the_parents_shares_is_no_level() {
    assert_eq!(fair_tree("misc parent 90\nc@root 1 10\na@misc 1 90\nb@misc 1 0"), "c 0.6667, a 0.3333, b 1.0000");
}

#[test]
fn fair_tree_ranks_users_in_steps_of_one_over_their_number() {
    let found = fair_tree("a@root 1 30\nb@root 1 10\nc@root 1 20\nd@root 4 100");
    // Shares over usage: a 1/30, b 1/10, c 1/20, d 4/100.
    assert_eq!(found, "a 0.2500, b 1.0000, c 0.7500, d 0.5000");
}

#[test]
fn users_without_usage_are_tied_in_front_and_those_without_shares_at_the_end() {
    let found = fair_tree("a@root 1 0\nb@root 0 0\nc@root 5 0\nd@root 1 10\ne@root parent 1000");
    assert_eq!(found, "a 1.0000, b 0.2000, c 1.0000, d 0.4000, e 1.0000");
}

#[test]
fn every_user_of_the_better_account_stands_before_the_other_accounts() {
    let found = fair_tree("x 1 0\ny 1 0\na@x 1 1\nb@x 1 99\nc@y 1 900\nd@y 1 100");
    assert_eq!(found, "a 1.0000, b 0.7500, c 0.2500, d 0.5000");
}

#[test]
fn users_stand_before_accounts_of_equal_rank() {
    let found = fair_tree("x 1 0\na@x 1 50\nb@root 1 50");
    // b keeps its rank; x is tied with it, which its first child inherits.
    assert_eq!(found, "a 1.0000, b 1.0000");
}

/// Conformance test 14. Merged, the children would rank b1, a1, a2, b2. Siblings are walked latest first.
#[test]
fn tied_accounts_are_walked_one_after_the_other() {
    let found = fair_tree("a 1 0\na1@a 1 15\na2@a 1 25\nb 1 0\nb1@b 1 10\nb2@b 1 30");
    assert_eq!(found, "a1 0.7500, a2 0.2500, b1 1.0000, b2 0.7500");
}

#[test]
fn classic_factor_is_two_to_the_minus_usage_over_shares() {
    // Half of the shares each; usage 1/4 and 3/4: 2^-0.5, 2^-1.5.
    assert_eq!(classic("a@root 1 25\nb@root 1 75"), "a 0.7071, b 0.3536");
    assert_eq!(classic("a@root 1 0\nb@root 1 0"), "a 1.0000, b 1.0000");
    assert_eq!(classic("a@root 0 0\nb@root 1 5"), "a 0.0000, b 0.5000");
}

#[test]
fn classic_usage_is_partly_the_accounts() {
    // x: shares 1/2, usage 3/4. a: own 1/4 + (3/4 - 1/4) / 2 = 1/2 over shares 1/4; b: 1/2 + 1/4 / 2 = 5/8.
    let found = classic("x 1 0\na@x 1 25\nb@x 1 50\nc@root 1 25");
    assert_eq!(found, "a 0.2500, b 0.1768, c 0.7071");
}

#[test]
fn classic_accounts_are_worked_out_at_the_step_and_users_when_a_job_asks_first() {
    let tree = tree("x 1 0\na@x 1 25\nb@x 1 50\nc@root 1 25");
    let policy = PriorityPolicy { no_fair_tree: true, ..PriorityPolicy::default() };
    let [a, b] = [2, 3].map(AssociationId::new);
    let mut fair_share = FairShare::new(&tree);
    let mut usage = Usage::new(&tree, 0);
    fair_share.accounts_anew(&tree, &policy, &usage.raw);
    fair_share.settle(a, &policy, &usage.raw);
    // Charged after that: b sees 150 of 200 as its own, but 3/4 as its account's; a is as it was.
    usage.add(&tree, b, 100.0);
    fair_share.settle(a, &policy, &usage.raw);
    fair_share.settle(b, &policy, &usage.raw);
    let factor = |fair_share: &FairShare, id: AssociationId| format!("{:.4}", fair_share.factors[id.index()]);
    assert_eq!([a, b].map(|id| factor(&fair_share, id)), ["0.2500", "0.1250"]);
    // The next step sees 7/8 at the account: a has 1/8 + (7/8 - 1/8) / 2 = 1/2, b 3/4 + 1/8 / 2.
    fair_share.accounts_anew(&tree, &policy, &usage.raw);
    [a, b].into_iter().for_each(|id| fair_share.settle(id, &policy, &usage.raw));
    assert_eq!([a, b].map(|id| factor(&fair_share, id)), ["0.2500", "0.1051"]);
}

#[test]
fn dampening_softens_the_classic_factor() {
    let policy = PriorityPolicy { no_fair_tree: true, dampening: 2, ..PriorityPolicy::default() };
    assert_eq!(factors("a@root 1 50\nb@root 1 50", &policy), "a 0.7071, b 0.7071");
}

#[test]
fn usage_counts_for_every_ancestor() {
    let tree = tree("x 1 0\na@x 1 10\nb@x 1 5");
    assert_eq!(Usage::new(&tree, 0).raw, [15.0, 15.0, 10.0, 5.0]);
}

#[test]
fn usage_halves_in_about_a_half_life() {
    let mut usage = Usage::new(&tree("a@root 1 1000"), 1000);
    // Slurm's factor is 1 - 0.693/1000 a second.
    let factor = usage.decay(1000);
    assert!((factor - 0.499_953).abs() < 1e-5, "{factor}");
    assert!((usage.raw[1] - 499.953).abs() < 1e-2, "{:?}", usage.raw);
    assert!((Usage::new(&tree("a@root 1 1000"), 0).decay(1000) - 1.0).abs() < f64::EPSILON);
}

#[test]
fn a_new_slice_is_charged_as_if_all_of_it_were_as_old_as_its_beginning() {
    let mut usage = Usage::new(&AssociationTree::default(), 1000);
    let charge = usage.charge_of(1000, 4.0);
    assert!((charge - 4000.0 * 0.499_953).abs() < 0.1, "{charge}");
}

/// Ten nodes of twelve CPUs, two partitions over all of them with job factors 1 and 4.
fn machine() -> Cluster {
    let node = |index| Node {
        name: format!("n{index}"),
        sockets: 2,
        cores_per_socket: 6,
        threads_per_core: 1,
        cpus: 12,
        spec_cores: Vec::new(),
        kept_memory_mb: 0,
        tmp_disk_mb: None,
        memory_mb: 1000,
        weight: 1,
        features: Vec::new(),
        gres: Vec::new(),
        gres_near: Vec::new(),
        config_record: 0,
        schedulable: true,
    };
    let mut cluster = Cluster { nodes: (1..=10).map(node).collect(), ..Cluster::default() };
    for (name, factor) in [("low", 1), ("high", 4)] {
        let mut partition = Partition::new(name, 10);
        partition.nodes = NodeSet::full(10);
        partition.priority_job_factor = factor;
        cluster.partitions.push(partition);
    }
    cluster
}

/// The priority of a one-CPU job, changed by `change`, on [`machine`].
fn priority(policy: &PriorityPolicy, change: impl FnOnce(&mut JobFactors<'_>)) -> u32 {
    let cluster = machine();
    let all = [
        Qos { name: "normal".to_owned(), priority: 10, ..Qos::default() },
        Qos { name: "high".to_owned(), priority: 40, ..Qos::default() },
    ];
    let mut job = JobFactors {
        age: 0,
        fair_share: 0.0,
        association_priority: 0,
        nodes: 1,
        cpus: 1,
        limit: 60,
        partition: PartitionId(0),
        qos: &all[0],
        tres: &[],
        nice: 0,
    };
    change(&mut job);
    Norms::new(&cluster, &all, 8, policy).priority(policy, &cluster, job)
}

fn policy(change: impl FnOnce(&mut PriorityPolicy)) -> PriorityPolicy {
    let mut policy = PriorityPolicy { multifactor: true, ..PriorityPolicy::default() };
    change(&mut policy);
    policy
}

/// Recorded: one CPU on one node of 10 nodes and 120 CPUs is 0.054167 of the machine; 20312.5 becomes 20312.
#[test]
fn job_size_is_the_mean_of_the_parts_of_nodes_and_cpus_and_priorities_are_truncated() {
    assert_eq!(priority(&policy(|policy| policy.weight_job_size = 375_000), |_| {}), 20_312);
}

#[test]
fn favouring_small_turns_job_size_round() {
    let small = policy(|policy| (policy.weight_job_size, policy.favor_small) = (1000, true));
    assert_eq!(priority(&small, |_| {}), 945);
    assert_eq!(priority(&small, |job| (job.nodes, job.cpus) = (10, 120)), 1);
}

#[test]
fn job_size_relative_to_time_divides_by_the_limit() {
    let relative = policy(|policy| (policy.weight_job_size, policy.small_relative_to_time) = (120_000, true));
    // One node is worth twelve CPUs: 12 / 60 min / 120 CPUs.
    assert_eq!(priority(&relative, |_| {}), 200);
}

#[test]
fn age_grows_to_its_maximum_and_no_further() {
    let aged = policy(|policy| (policy.weight_age, policy.max_age) = (1000, 1000));
    assert_eq!([0, 1, 500, 1000, 5000].map(|age| priority(&aged, |job| job.age = age)), [1, 1, 500, 1000, 1000]);
}

#[test]
fn factors_are_normalised_by_the_largest_unless_told_otherwise() {
    let normal = policy(|policy| {
        (policy.weight_partition, policy.weight_qos, policy.weight_assoc) = (100, 1000, 10_000);
    });
    // 1 of 4, 10 of 40, 2 of 8.
    assert_eq!(priority(&normal, |job| job.association_priority = 2), 25 + 250 + 2500);
    let raw = PriorityPolicy { no_normal_part: true, no_normal_qos: true, no_normal_assoc: true, ..normal };
    assert_eq!(priority(&raw, |job| job.association_priority = 2), 100 + 10_000 + 20_000);
}

#[test]
fn tres_are_weighed_by_their_part_of_the_partition() {
    let weighted = policy(|policy| policy.weight_tres = vec![(Tres::Cpu, 1200.0), (Tres::Memory, 1000.0)]);
    assert_eq!(priority(&weighted, |job| job.tres = &[30.0, 5000.0]), 300 + 500);
}

#[test]
fn nice_is_taken_off_and_no_priority_leaves_its_range() {
    let shared = policy(|policy| policy.weight_fairshare = 1000);
    assert_eq!(priority(&shared, |job| (job.fair_share, job.nice) = (0.5, 100)), 400);
    assert_eq!(priority(&shared, |job| (job.fair_share, job.nice) = (0.5, -100)), 600);
    assert_eq!(priority(&shared, |job| (job.fair_share, job.nice) = (0.5, 9999)), 1);
    let huge = policy(|policy| (policy.weight_fairshare, policy.weight_qos) = (u32::MAX, u32::MAX));
    assert_eq!(priority(&huge, |job| job.fair_share = 1.0), u32::MAX);
}
