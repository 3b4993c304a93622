#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use foresite_engine::association::Association;
use foresite_engine::ids::AssociationId;
use proptest::prelude::*;

use super::*;
use crate::trace::{Trace, TraceOptions, swf_site};

/// Recorded on Slurm 22.05.8 (the project's own recording micro-bf300/run1, `sshare -a -l -P`).
const RECORDED: &str = "\
Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins
root|||0.000000|37641||1.000000||||cpu=1490,mem=2246600,energy=0,node=136,billing=1490,fs/disk=0,vmem=0,pages=0,gres/gpu=0
 root|root|1|0.009901|0|0.000000|0.000000|1.000000|inf||cpu=0,mem=0,energy=0,node=0,billing=0,fs/disk=0,vmem=0,pages=0,gres/gpu=0
 acct1||50|0.495050|35180|0.933666|0.933666||0.530221||cpu=1021,mem=1021200,energy=0,node=85,billing=1021,fs/disk=0,vmem=0,pages=0,gres/gpu=0
  acct1|user1|10|0.333333|2564|0.054296|0.058153|0.333333|5.731998||cpu=0,mem=0,energy=0,node=0,billing=0,fs/disk=0,vmem=0,pages=0,gres/gpu=0
  acct1|user2|10|0.333333|0|0.000000|0.000000|0.500000|inf||cpu=0,mem=0,energy=0,node=0,billing=0,fs/disk=0,vmem=0,pages=0,gres/gpu=0
  acct1|user3|10|0.333333|32616|0.879371|0.941847|0.166667|0.353915||cpu=1021,mem=1021200,energy=0,node=85,billing=1021,fs/disk=0,vmem=0,pages=0,gres/gpu=0
 acct2||50|0.495050|2460|0.066334|0.066334||7.463013||cpu=469,mem=1225400,energy=0,node=51,billing=469,fs/disk=0,vmem=0,pages=0,gres/gpu=0
  acct2|user5|10|0.500000|2460|0.066334|1.000000|0.666667|0.500000||cpu=469,mem=1225400,energy=0,node=51,billing=469,fs/disk=0,vmem=0,pages=0,gres/gpu=0
";

/// `acct1` with `user1` and `user3`, `acct2` with `user5`.
fn site() -> Site {
    let text = "; MaxNodes: 4\n1 0 0 1 1 -1 -1 1 1 -1 1 1 1 -1 1 -1 -1 -1\n";
    let (trace, _) = Trace::read("t", text.as_bytes(), &TraceOptions::default());
    let mut site = swf_site(&trace.unwrap(), Some(4), Some(8)).unwrap();
    let mut add = |account: &str, user: Option<&str>, parent: usize| {
        let parent = Some(AssociationId::new(parent));
        site.associations.rows.push(Association::new(account, user.map(str::to_owned), parent));
    };
    add("acct1", None, 0);
    add("acct1", Some("user1"), 1);
    add("acct1", Some("user3"), 1);
    add("acct2", None, 0);
    add("acct2", Some("user5"), 4);
    site
}

fn applied(text: &str) -> (Vec<f64>, String) {
    let (usage, diagnostics) = RecordedUsage::read("u", text.as_bytes());
    assert_eq!(diagnostics, []);
    let mut site = site();
    let said = usage.unwrap().apply(&mut site);
    let usage = site.associations.rows.iter().map(|row| row.initial_usage).collect();
    (usage, said.iter().map(|it| format!("{it}\n")).collect())
}

/// The rows' own usage; the engine adds it to the rows above. One second is what rounding left to the root.
#[test]
fn every_association_gets_its_own_usage() {
    let (usage, said) = applied(RECORDED);
    assert_eq!(usage, [1.0, 0.0, 2564.0, 32616.0, 0.0, 2460.0]);
    assert_eq!(
        said,
        "u: assumed: RawUsage: recorded usage is taken as that of the moment when the simulated part begins\n"
    );
}

/// Users that were removed leave their usage to the account; users that the site does not know, too.
#[test]
fn usage_of_unknown_associations_stays_in_the_account() {
    let text = "Account|User|RawUsage\nroot||1000\n acct1||900\n  acct1|user1|100\n  acct1|gone|300\n new||50\n  new|user9|50\n";
    let (usage, said) = applied(text);
    assert_eq!(usage, [50.0 + 50.0, 800.0, 100.0, 0.0, 0.0, 0.0]);
    assert!(said.ends_with(
        "u:5: warning: User: usage of unknown associations is charged to the account above: gone in acct1, user9 in new; \
         hand over a sacctmgr dump of the same time\n"
    ), "{said}");
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let faults = |text: &str| {
        let (usage, diagnostics) = RecordedUsage::read("u", text.as_bytes());
        assert!(usage.is_none());
        diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(faults(""), "u: error: the file is empty; hand over the output of sshare -alP");
    assert_eq!(
        faults("             Account       User  RawShares  NormShares    RawUsage\n"),
        "u:1: error: the columns Account, User, RawUsage are missing; hand over the output of sshare -alP, with its header"
    );
    assert_eq!(
        faults("Account|User|RawUsage\nroot||many\n acct1|user1\n||3\n acct1|user1|-5\n"),
        "u:2: error: RawUsage: 'many' is no usage in seconds; hand over the file as sshare printed it\n\
         u:3: error: the row has 2 columns, the header 3; hand over the file as sshare printed it\n\
         u:4: error: Account: the row names no account; hand over the file as sshare printed it\n\
         u:5: error: RawUsage: '-5' is no usage in seconds; hand over the file as sshare printed it"
    );
    assert!(faults("Account|User|RawUsage\n").contains("the file holds no association"));
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(text in "(Account\\|User\\|RawUsage\n)?( {0,3}[a-z]{0,3}\\|[a-z]{0,2}\\|[0-9.é-]{0,4}\n){0,9}") {
        if let (Some(usage), _) = RecordedUsage::read("u", text.as_bytes()) {
            let mut site = site();
            usage.apply(&mut site);
        }
    }
}
