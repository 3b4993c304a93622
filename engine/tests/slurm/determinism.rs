//! One larger scenario, pinned: the same numbers in debug and release, on every machine.

use std::fmt::Write;

use crate::pins::fingerprint;
use crate::schedule::{expect_equal_with_every_cycle, expect_file, run};

/// Numerical Recipes' 64-bit linear congruential generator, so that the scenario depends on nothing else.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// 1,500 jobs of twelve users on 24 nodes in two partitions: fair-share, GPUs, memory, arrays, dependencies.
fn scenario() -> String {
    let mut text = "node c[1-16] cores=16 sockets=2 memory=64000 features=cpu
        node g[1-8] cores=32 sockets=2 memory=128000 weight=10 features=gpu gres=gpu:4
        partition all
        partition gpu nodes=g[1-8] tier=2 job_factor=10
        qos normal max_jobs_per_user=60
        qos high priority=10
        license lic:3
        account x shares=3
        account y grp_cpu=300
        set select=core memory mem_per_cpu=2000 enforce=limits bf_max_job_user=20
        set multifactor weight_age=1000 max_age=86400 weight_fairshare=10000 weight_qos=2000 weight_job_size=500
        set weight_partition=1000 half_life=86400\n"
        .to_owned();
    for user in 0..12 {
        writeln!(text, "user u{user} account={}", ["x", "y"][user % 2]).unwrap();
    }
    let mut numbers = Numbers(42);
    let mut at = 0;
    for job in 1..=1500 {
        at += numbers.below(60);
        let limit = 1 + numbers.below(120);
        let run = 1 + numbers.below(limit * 70);
        write!(text, "job {job} at={at} t={limit} run={run} user=u{}", numbers.below(12)).unwrap();
        match numbers.below(8) {
            0 => write!(text, " N={} n=32 exclusive", 2 + numbers.below(6)),
            1 => write!(text, " n={}", 1 + numbers.below(64)),
            2 => write!(text, " p=gpu n=4 gres=gpu:{}", 1 + numbers.below(4)),
            3 => write!(text, " p=all,gpu n=8 C=gpu qos=high"),
            4 => write!(text, " array=1-4%2"),
            5 => write!(text, " dep=afterany:{} L=lic:1", job - 1),
            _ => write!(text, " n={} mem_per_cpu={}", 1 + numbers.below(8), 500 * (1 + numbers.below(8))),
        }
        .unwrap();
        text.push('\n');
    }
    text
}

#[test]
fn a_large_scenario_gives_the_pinned_outcome() {
    let text = scenario();
    let mut found = String::new();
    for seed in 0..3 {
        let (_, outcome) = run(&text, seed);
        let counters = &outcome.counters;
        let waits: i64 = outcome.records.iter().filter_map(|record| Some(record.start? - record.eligible?)).sum();
        writeln!(
            found,
            "seed {seed}: {:016x} started by main {} by backfill {} waited {waits} s",
            fingerprint(&outcome),
            counters.main_started,
            counters.backfill_started
        )
        .unwrap();
    }
    expect_file("large", &found);
}

#[test]
fn skipped_cycles_would_have_changed_nothing() {
    for seed in 0..3 {
        expect_equal_with_every_cycle(&scenario(), seed);
    }
}

#[test]
fn other_seeds_give_other_schedules() {
    let text = scenario();
    assert_ne!(fingerprint(&run(&text, 0).1), fingerprint(&run(&text, 1).1));
}
