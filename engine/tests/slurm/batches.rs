//! Users submit batches of like jobs: what one of them was told, the next is told without a try.

use proptest::prelude::*;

use crate::invariants::{scenario, word};
use crate::schedule::expect_equal_with_every_cycle;

/// Every job but the first five times, on nodes of two kinds.
fn in_batches(text: &str, options: &str) -> String {
    let mut whole = String::from("node w[1-2] cores=6 memory=8000 gres=gpu:1 weight=5\n");
    for line in text.lines() {
        match line.strip_prefix("job ").and_then(|job| job.split_once(' ')) {
            Some((id, asks)) if id != "1" => {
                (0..5).for_each(|copy| whole += &format!("job {id}0{copy} {asks}\n"));
            }
            _ => whole += &format!("{line}\n"),
        }
    }
    format!("{whole}set bf_interval=30 {options}\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn like_jobs_beyond_the_window_are_told_alike(
        text in scenario(&["", "array=1-6%2"]),
        seed in 0u64..1000,
        window in 1..20u32,
        kind in word(&["", "", "select=cons_res", "lln", "version=23.11", "version=24.05 lln", "version=24.11", "version=25.05", "version=26.05"]),
        option in word(&[
            "", "", "bf_one_resv_per_job", "bf_continue base_us=400000 record_us=90000", "bf_licenses", "assoc_limit_stop", "bf_max_job_test=7", "multifactor weight_job_size=900",
            "preempt=partition preempt_mode=requeue",
        ]),
    ) {
        expect_equal_with_every_cycle(&in_batches(&text, &format!("bf_window={window} {kind} {option}")), seed);
    }
}
