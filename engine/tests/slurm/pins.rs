//! The hash of every golden outcome, in one file (`golden/pins.txt`): `scenario hash outcome hash test`, sorted.
//!
//! A golden scenario allows what chance may do; the pin says that nothing moved at all, on any machine, at any optimisation
//! level. A scenario that changed its outcome fails here even where its expectation still holds: look at the change, then
//! rewrite the file with `UPDATE_EXPECT=1 cargo test -p foresite-engine --test slurm`. New scenarios are added by the same
//! command; where `REQUIRE_PINS` is set (tests/run.sh) one without a pin fails too.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use foresite_engine::outcome::Outcome;

/// FNV-1a over every number of the outcome.
pub(crate) fn fingerprint(outcome: &Outcome) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |number: i64| {
        for byte in number.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for record in &outcome.records {
        let times = [record.eligible, record.start, record.end].map(|time| time.unwrap_or(-1));
        let by = record.started_by.map_or(-1, |by| by as i64);
        times.into_iter().for_each(&mut add);
        [record.state as i64, by, i64::from(record.cpus), i64::from(record.n_nodes)].into_iter().for_each(&mut add);
    }
    outcome.node_ranges.iter().for_each(|&(first, last)| add(i64::from(first) << 32 | i64::from(last)));
    hash
}

/// FNV-1a of a text.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn path() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slurm/golden/pins.txt")
}

/// By scenario: the outcome and the test that is about it.
type Pins = BTreeMap<String, (String, String)>;

static PINS: LazyLock<Mutex<Pins>> = LazyLock::new(|| {
    let text = std::fs::read_to_string(path()).unwrap_or_default();
    let line = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some((words.next()?, (words.next()?, words.next()?)))
    };
    Mutex::new(text.lines().filter_map(line).collect())
});

/// Asserts that a scenario's outcomes, one for each seed, are the pinned ones.
#[track_caller]
pub(crate) fn expect_pinned(scenario: &str, outcomes: u64) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("main").replace(' ', "_");
    // With a rule off the outcome is another by intent.
    if test.starts_with("ablation::") {
        return;
    }
    let lines: Vec<&str> = scenario.lines().map(str::trim).collect();
    let key = format!("{:016x}", hash(&lines.join("\n")));
    let found = format!("{outcomes:016x}");
    let mut pins = PINS.lock().unwrap_or_else(PoisonError::into_inner);
    match pins.get(&key).cloned() {
        Some((pinned, _)) if pinned == found => {}
        _ if std::env::var_os("UPDATE_EXPECT").is_some() => {
            pins.insert(key, (found, test));
            let text: String = pins.iter().map(|(key, (outcome, test))| format!("{key} {outcome} {test}\n")).collect();
            std::fs::write(path(), text).unwrap();
        }
        Some((pinned, _)) => {
            panic!("the outcome is {found}, pinned is {pinned} (UPDATE_EXPECT=1 rewrites it):\n{scenario}");
        }
        None => {
            assert!(
                std::env::var_os("REQUIRE_PINS").is_none(),
                "the outcome is not pinned (UPDATE_EXPECT=1 adds it):\n{scenario}"
            );
        }
    }
}
