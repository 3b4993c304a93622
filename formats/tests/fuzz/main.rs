//! Every file of the kept corpus, and deterministic mutations of them, through every target; on any compiler.
//!
//! `FORESITE_FUZZ_SECONDS` is the time for mutations of each target (default 1, 0 for the corpus alone), `FORESITE_FUZZ_SEED` where the
//! mutations begin, `FORESITE_FUZZ_TARGET` the only target. With `FORESITE_FUZZ_LAST=FILE` each input is written there before it is
//! tried, for what a limit of memory ends without a word.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

use mutate::Mutator;
use targets::{TARGETS, Target};

/// One input may not take longer, in a build without optimisation on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{target} has no corpus");
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn attempt(target: Target, input: &[u8]) {
    if let Ok(last) = env::var("FORESITE_FUZZ_LAST") {
        fs::write(last, input).unwrap();
    }
    let begin = Instant::now();
    let ended = catch_unwind(AssertUnwindSafe(|| target.1(input)));
    if ended.is_err() || begin.elapsed() > PATIENCE {
        let kept = env::temp_dir().join(format!("foresite-fuzz-{}-{}", target.0, input.len()));
        fs::write(&kept, input).unwrap();
        panic!("{}: {:?}; the input is {}", target.0, begin.elapsed(), kept.display());
    }
}

#[test]
fn no_input_makes_a_reader_panic_or_hang() {
    let budget = Duration::from_secs(number("FORESITE_FUZZ_SECONDS", 1));
    let only = env::var("FORESITE_FUZZ_TARGET").ok();
    for target in TARGETS.into_iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == name)) {
        let corpus = corpus(target.0);
        corpus.iter().for_each(|input| attempt(target, input));
        let mut mutator = Mutator::new(number("FORESITE_FUZZ_SEED", 1), &corpus);
        let (begin, mut count) = (Instant::now(), 0_u64);
        while begin.elapsed() < budget {
            attempt(target, &mutator.next());
            count += 1;
        }
        println!("{:<16} {} files, {count} mutations in {:?}", target.0, corpus.len(), begin.elapsed());
    }
}
