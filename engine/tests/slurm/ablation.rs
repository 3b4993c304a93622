//! Every first-order rule, switched off, is missed: the golden scenarios named beside it fail then, by a schedule that is
//! not the expected one. One table, a row a rule (slurm-semantics 9, items 1 to 7).

use std::panic::{AssertUnwindSafe, catch_unwind};

use foresite_engine::ablation::{Rule, without};

use crate::{backfill, conformance, limits, main_scheduler, outages, priority, reservations, selection, waiting};

/// A golden scenario: an ordinary test of this binary.
type Golden = fn();

const TABLE: &[(Rule, &[(&str, Golden)])] = &[
    (
        Rule::Plans,
        &[(
            "a_lower_job_starts_only_if_its_limit_ends_before_the_plan",
            backfill::a_lower_job_starts_only_if_its_limit_ends_before_the_plan,
        )],
    ),
    (Rule::WholeNodePlans, &[("a_plan_hides_whole_nodes", backfill::a_plan_hides_whole_nodes)]),
    (Rule::ConservativePlans, &[("every_tested_job_is_planned", backfill::every_tested_job_is_planned)]),
    (Rule::QueueOrder, &[("a_higher_qos_goes_first", priority::a_higher_qos_goes_first)]),
    (Rule::BackfillWindow, &[("no_plan_is_made_beyond_the_window", backfill::no_plan_is_made_beyond_the_window)]),
    (
        Rule::BackfillDepth,
        &[("a_cycle_tests_as_many_jobs_as_allowed", backfill::a_cycle_tests_as_many_jobs_as_allowed)],
    ),
    (
        Rule::BackfillCaps,
        &[(
            "a_cycle_tests_as_many_jobs_of_a_user_as_allowed",
            backfill::a_cycle_tests_as_many_jobs_of_a_user_as_allowed,
        )],
    ),
    (
        Rule::BackfillInterval,
        &[(
            "a_cycle_starts_as_many_jobs_as_allowed_and_the_next_comes_an_interval_later",
            backfill::a_cycle_starts_as_many_jobs_as_allowed_and_the_next_comes_an_interval_later,
        )],
    ),
    (
        Rule::Blocking,
        &[(
            "a_job_that_does_not_fit_blocks_its_partition",
            main_scheduler::a_job_that_does_not_fit_blocks_its_partition,
        )],
    ),
    (
        Rule::BlockedNodes,
        &[(
            "test_10_the_nodes_of_a_blocked_partition_serve_no_overlapping_partition",
            conformance::test_10_the_nodes_of_a_blocked_partition_serve_no_overlapping_partition,
        )],
    ),
    (
        Rule::BatchDelay,
        &[(
            "a_request_waits_until_the_batch_delay_has_passed",
            main_scheduler::a_request_waits_until_the_batch_delay_has_passed,
        )],
    ),
    (
        Rule::MainDepth,
        &[(
            "test_9_the_queue_depth_tests_one_record_more_than_it_says",
            conformance::test_9_the_queue_depth_tests_one_record_more_than_it_says,
        )],
    ),
    (
        Rule::FairShare,
        &[("who_has_used_less_of_an_equal_share_goes_first", priority::who_has_used_less_of_an_equal_share_goes_first)],
    ),
    (
        Rule::UsageCharging,
        &[("running_jobs_are_charged_at_priority_steps", priority::running_jobs_are_charged_at_priority_steps)],
    ),
    (Rule::UsageDecay, &[("usage_of_long_ago_counts_less", priority::usage_of_long_ago_counts_less)]),
    (
        Rule::Age,
        &[("age_grows_in_steps_of_the_calculation_period", priority::age_grows_in_steps_of_the_calculation_period)],
    ),
    (Rule::Qos, &[("a_higher_qos_goes_first", priority::a_higher_qos_goes_first)]),
    (
        Rule::Tiers,
        &[(
            "a_higher_tier_goes_first_though_it_came_later",
            main_scheduler::a_higher_tier_goes_first_though_it_came_later,
        )],
    ),
    (
        Rule::PrioritySteps,
        &[
            ("running_jobs_are_charged_at_priority_steps", priority::running_jobs_are_charged_at_priority_steps),
            ("age_grows_in_steps_of_the_calculation_period", priority::age_grows_in_steps_of_the_calculation_period),
        ],
    ),
    (
        Rule::PartitionRecords,
        &[(
            "a_job_of_two_partitions_takes_the_one_that_has_room",
            main_scheduler::a_job_of_two_partitions_takes_the_one_that_has_room,
        )],
    ),
    (Rule::LimitsInPlans, &[("plans_trust_limits_not_run_times", backfill::plans_trust_limits_not_run_times)]),
    (
        Rule::EarlyEnds,
        &[("a_successor_starts_when_a_job_ends_early", waiting::a_successor_starts_when_a_job_ends_early)],
    ),
    (
        Rule::TimeLimitKills,
        &[(
            "the_time_limit_is_enforced_by_a_scan_every_thirty_seconds",
            waiting::the_time_limit_is_enforced_by_a_scan_every_thirty_seconds,
        )],
    ),
    (
        Rule::Limits,
        &[
            ("a_group_limit_holds_back_the_group_alone", limits::a_group_limit_holds_back_the_group_alone),
            ("a_qos_limits_what_each_user_holds", limits::qos::a_qos_limits_what_each_user_holds),
        ],
    ),
    (
        Rule::LimitsPassBy,
        &[(
            "test_11_a_job_at_its_limit_blocks_nobody_unless_assoc_limit_stop",
            conformance::test_11_a_job_at_its_limit_blocks_nobody_unless_assoc_limit_stop,
        )],
    ),
    (Rule::Cores, &[("cores_are_shared_out_and_used_once", selection::cores::cores_are_shared_out_and_used_once)]),
    (
        Rule::Memory,
        &[("memory_is_shared_out_where_it_is_consumed", selection::cores::memory_is_shared_out_where_it_is_consumed)],
    ),
    (
        Rule::MemoryDefaults,
        &[(
            "test_16_without_memory_defaults_a_job_takes_all_memory",
            conformance::test_16_without_memory_defaults_a_job_takes_all_memory,
        )],
    ),
    (
        Rule::Gres,
        &[("generic_resources_are_counted_on_each_node", selection::nodes::generic_resources_are_counted_on_each_node)],
    ),
    (Rule::Exclusive, &[("whole_nodes_are_never_shared", selection::nodes::whole_nodes_are_never_shared)]),
    (
        Rule::Reservations,
        &[(
            "no_job_starts_whose_limit_would_cross_a_maintenance",
            reservations::no_job_starts_whose_limit_would_cross_a_maintenance,
        )],
    ),
    (
        Rule::Outages,
        &[(
            "a_drained_node_lets_its_jobs_finish_and_takes_no_new_ones",
            outages::a_drained_node_lets_its_jobs_finish_and_takes_no_new_ones,
        )],
    ),
    (Rule::NodesDown, &[("a_node_that_is_down_serves_nobody", waiting::a_node_that_is_down_serves_nobody)]),
];

/// The message of a golden scenario's failure; `None` where it holds.
fn failure(golden: Golden) -> Option<String> {
    let error = catch_unwind(AssertUnwindSafe(golden)).err()?;
    let text = error.downcast_ref::<String>().cloned();
    Some(text.or_else(|| error.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default())
}

#[test]
fn every_rule_has_its_row() {
    for rule in Rule::ALL {
        assert_eq!(TABLE.iter().filter(|(known, _)| *known == rule).count(), 1, "{rule:?}");
    }
}

#[test]
fn a_rule_that_is_off_is_missed_by_its_golden_scenarios() {
    let mut wrong = String::new();
    for (rule, scenarios) in TABLE {
        for (name, golden) in *scenarios {
            if let Some(failure) = failure(*golden) {
                wrong += &format!("{name} fails with every rule on: {failure}\n");
                continue;
            }
            match without(*rule, || failure(*golden)) {
                None => wrong += &format!("{rule:?} is off, and {name} holds all the same\n"),
                // An engine that falls over proves nothing: the schedule must be another.
                Some(message) if !is_about_the_schedule(&message) => {
                    wrong += &format!("{rule:?} is off, and {name} fails otherwise: {message}\n");
                }
                Some(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Whether a failure comes from comparing a schedule, or what was made of one, with the expected.
fn is_about_the_schedule(message: &str) -> bool {
    message.starts_with("seed ") || message.starts_with("assertion ")
}

#[test]
fn rules_are_on_again_afterwards() {
    let golden: Golden = main_scheduler::a_job_that_does_not_fit_blocks_its_partition;
    assert!(without(Rule::Blocking, || failure(golden)).is_some());
    assert!(failure(golden).is_none());
}
