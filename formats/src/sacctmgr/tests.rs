#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use foresite_engine::association::{AssociationTree, Qos, Shares};
use foresite_engine::cluster::Tres;
use foresite_engine::ids::{AssociationId, GresId, QosId};
use proptest::prelude::*;

use super::*;
use crate::slurm_conf::tres::TresNames;

fn read_and_lower(text: &str) -> (AssociationTree, Vec<Qos>, String) {
    let (accounts, mut diagnostics) = Sacctmgr::read("dump", text.as_bytes());
    let (tree, qos, remarks) = accounts.lower(&mut TresNames::default());
    diagnostics.extend(remarks);
    let said: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    (tree, qos, said.join("\n"))
}

/// `account/user@parent=shares` of every row.
fn rows(tree: &AssociationTree) -> Vec<String> {
    let show = |row: &foresite_engine::association::Association| {
        let user = row.user.as_deref().unwrap_or("-");
        let parent = row.parent.map_or("-".to_owned(), |AssociationId(id)| id.to_string());
        let shares = match row.shares {
            Shares::Count(count) => count.to_string(),
            Shares::Parent => "parent".to_owned(),
        };
        format!("{}/{user}@{parent}={shares}", row.account)
    };
    tree.rows.iter().map(show).collect()
}

const DUMP: &str = "\
# To edit this file start with a cluster line for the new cluster
Cluster - 'feat':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'acct1':Description='science: dept':Organization='acct1':Fairshare=50:QOS='capped,normal'
Account - acct2:Fairshare=2147483647:MaxJobs=4
Parent - 'acct1'
User - 'user1':DefaultAccount='acct1':FairShare=10:QOS+='high'
User - 'acct1':Fairshare=parent:GrpTRES=cpu=60,gres/gpu:a100=2:MaxSubmitJobs=9
Account - 'sub'
Parent - 'sub'
User - 'user5'
";

#[test]
fn a_dump_gives_the_tree_with_parents_before_children() {
    let (tree, qos, said) = read_and_lower(DUMP);
    assert_eq!(
        said,
        "dump: assumed: QOS: QOS named but not described: capped, high; taken with priority 0 and without limits; add the output of sacctmgr show qos -P"
    );
    assert_eq!(
        rows(&tree),
        [
            "root/-@-=1",
            "root/root@0=1",
            "acct1/-@0=50",
            "acct1/user1@2=10",
            "acct1/acct1@2=parent",
            "sub/-@2=1",
            "sub/user5@5=1",
            "acct2/-@0=parent"
        ]
    );
    assert_eq!(qos.iter().map(|qos| qos.name.as_str()).collect::<Vec<_>>(), ["normal", "capped", "high"]);
    assert_eq!(tree.rows[2].qos, [QosId(1), QosId(0)]);
    assert_eq!(tree.rows[3].qos, [QosId(0), QosId(1), QosId(2)]);
    assert!(tree.rows[4].qos.is_empty(), "inherited");
    assert_eq!(tree.rows[4].limits.grp_tres, [(Tres::Cpu, 60), (Tres::Gres(GresId(0)), 2)]);
    assert_eq!((tree.rows[4].limits.max_submit_jobs, tree.rows[7].limits.max_jobs), (Some(9), Some(4)));
}

#[test]
fn a_default_account_is_the_one_named_or_else_the_first() {
    let (tree, _, _) = read_and_lower(
        "Cluster - 'c'\nParent - 'root'\nAccount - 'a'\nAccount - 'b'\n\
         Parent - 'a'\nUser - 'ann':DefaultAccount='B'\nUser - 'bob'\nParent - 'b'\nUser - 'ann'\nUser - 'bob'\n",
    );
    let defaults = tree.rows.iter().filter(|row| row.is_default);
    let shown: Vec<String> =
        defaults.map(|row| format!("{} {}", row.user.as_deref().unwrap_or("-"), row.account)).collect();
    assert_eq!(shown, ["bob a", "ann b"]);
}

#[test]
fn qos_lines_and_tables_give_the_same() {
    let line = "QOS - 'high':Description='x':Priority=1000:Flags='DenyOnLimit,NoDecay':GrpTRESMins=billing=1000:MaxWallDurationPerJob=1440:GraceTime=90:MaxTRESPerUser=mem=2T";
    let table = "Name|Priority|GraceTime|Flags|UsageThres|UsageFactor|GrpTRESMins|MaxWall|MaxTRESPU\nhigh|1000|00:01:30|DenyOnLimit,NoDecay||1.000000|billing=1000|1-00:00:00|mem=2T\n";
    for text in [line, table] {
        let (_, qos, said) = read_and_lower(text);
        assert_eq!(said, "");
        let high = &qos[0];
        assert_eq!(
            (high.priority, high.grace_time, high.deny_on_limit, high.no_decay, high.usage_factor),
            (1000, 90, true, true, None)
        );
        assert_eq!(high.limits.grp_tres_mins, [(Tres::Billing, 1000)]);
        assert_eq!(
            (high.limits.max_wall, &high.limits.max_tres_per_user[..]),
            (Some(1440), &[(Tres::Memory, 2 << 20)][..])
        );
        assert_eq!(qos[1].name, "normal");
    }
}

#[test]
fn old_limits_by_resource_become_lists() {
    let (tree, _, said) = read_and_lower(
        "Cluster - 'c'\nParent - 'root'\nAccount - a:GrpCPUs=10:GrpNodes=4:MaxNodesPerJob=2:MaxWall=1-0:GrpSubmitJobs=-1\n",
    );
    assert_eq!(said, "");
    let limits = &tree.rows[1].limits;
    assert_eq!(
        (&limits.grp_tres[..], &limits.max_tres_per_job[..]),
        (&[(Tres::Cpu, 10), (Tres::Node, 4)][..], &[(Tres::Node, 2)][..])
    );
    assert_eq!((limits.max_wall, limits.grp_submit_jobs), (Some(1440), None));
}

/// slurmdbd gives the nearest one above, and dumps leave out what is inherited.
#[test]
fn a_default_qos_is_inherited() {
    let dump = "Cluster - 'c':DefaultQOS='low'\nParent - 'root'\nAccount - 'a':Description='bob's lab':DefaultQOS='High'\nAccount - 'b'\n\
                Parent - 'a'\nUser - 'ann'\nUser - 'ben':DefaultQOS='low'\nParent - 'b'\nUser - 'ann':Fairshare=3\nQOS - 'low'\nQOS - 'High'\n";
    let (tree, qos, said) = read_and_lower(dump);
    let named =
        |row: &foresite_engine::association::Association| row.default_qos.map(|id| qos[id.index()].name.as_str());
    let found: Vec<_> = tree.rows.iter().map(|row| (row.account.as_str(), row.user.as_deref(), named(row))).collect();
    assert_eq!(
        (said.as_str(), found),
        (
            "",
            vec![
                ("root", None, Some("low")),
                ("a", None, Some("high")),
                ("a", Some("ann"), Some("high")),
                ("a", Some("ben"), Some("low")),
                ("b", None, Some("low")),
                ("b", Some("ann"), Some("low")),
            ]
        )
    );
    assert_eq!(tree.rows[5].shares, Shares::Count(3));
}

/// sacctmgr lowers the names of accounts and QOS.
#[test]
fn scripts_name_accounts_in_any_case() {
    let (tree, qos, said) =
        read_and_lower("add qos Long GrpJobs=2\nadd account Bio qos=Long\nadd user Ann account=Bio\n");
    assert!(!said.contains("not described"), "{said}");
    assert!(qos.iter().any(|qos| qos.name == "long"));
    assert!(rows(&tree).iter().any(|row| row.starts_with("bio/Ann")), "{:?}", rows(&tree));
}

#[test]
fn a_table_of_associations_takes_parents_from_its_column_or_its_indentation() {
    let column = "Cluster|Account|User|Partition|Share|ParentName|QOS|Def QOS\nc|root|||1||normal|\nc|a|||3|root|normal|\nc|b|||5|a||\nc|b|eve||2|||normal\n";
    let indented = "Cluster|Account|User|Partition|Share|QOS|Def QOS\nc|root|||1|normal|\nc| a|||3|normal|\nc|  b|||5||\nc|  b|eve||2||normal\n";
    for text in [column, indented] {
        let (tree, _, said) = read_and_lower(text);
        assert_eq!(
            (said.as_str(), rows(&tree)),
            ("", ["root/-@-=1", "a/-@0=3", "b/-@1=5", "b/eve@2=2"].map(str::to_owned).to_vec())
        );
        assert_eq!(tree.rows[3].default_qos, Some(QosId(0)));
    }
    let flat = "Account|User|Share\nroot||1\na||3\na|eve|1\n";
    assert!(
        read_and_lower(flat)
            .2
            .contains("dump: assumed: ParentName: the table does not say which account is above which")
    );
}

const SCRIPT: &str = "\
sacctmgr -i add qos high priority=100 MaxJobsPerUser=2
add qos name=capped priority=10 MaxTRESPerUser=cpu=30 Flags=DenyOnLimit
modify qos where name=high set MaxJobsPerUser=3
add account acct1,acct2 fairshare=50 cluster=feat
create account sub parent=acct1 Description='a b'
add user user1 account=acct1,sub fairshare=10
add user user1 account=acct1 fairshare=99
modify account acct1 set qos=normal,high,capped
modify user user1 where account=sub set GrpTRES=cpu=60
";

#[test]
fn a_script_of_commands_gives_the_tree_that_it_would_make() {
    let (tree, qos, said) = read_and_lower(SCRIPT);
    assert_eq!(said, "");
    assert_eq!(
        rows(&tree),
        [
            "root/-@-=1",
            "root/root@0=1",
            "acct1/-@0=50",
            "sub/-@2=1",
            "sub/user1@3=10",
            "acct1/user1@2=10",
            "acct2/-@0=50"
        ]
    );
    let named = |name: &str| qos.iter().find(|qos| qos.name == name).unwrap();
    assert_eq!((named("high").priority, named("high").limits.max_jobs_per_user), (100, Some(3)));
    assert_eq!(named("capped").limits.max_tres_per_user, [(Tres::Cpu, 30)]);
    assert_eq!(tree.rows[4].limits.grp_tres, [(Tres::Cpu, 60)]);
    assert!(tree.rows[5].limits.grp_tres.is_empty());
}

#[test]
fn a_command_changes_of_amounts_only_those_that_it_names() {
    let (_, qos, said) = read_and_lower(
        "add qos high MaxTRESPerUser=cpu=36,mem=2T\nmodify qos high set MaxTRESPerUser=node=5,mem=-1\nmodify qos high set MaxJobs=3\n",
    );
    assert_eq!(said, "");
    let high = qos.iter().find(|qos| qos.name == "high").unwrap();
    assert_eq!(high.limits.max_tres_per_user, [(Tres::Cpu, 36), (Tres::Node, 5)]);
}

#[test]
fn a_script_after_a_dump_adds_what_the_dump_leaves_out() {
    let (alone, ..) = read_and_lower(DUMP);
    let (tree, qos, _) = read_and_lower(&format!("{DUMP}add qos high priority=7\nadd account acct1 fairshare=2\n"));
    assert_eq!(rows(&tree), rows(&alone));
    assert!(qos.iter().any(|qos| qos.name == "high" && qos.priority == 7));
}

#[test]
fn a_line_that_stands_for_too_many_users_is_refused() {
    let names = |letter: char| (0..1100).map(|at| format!("{letter}{at}")).collect::<Vec<_>>().join(",");
    let (_, _, said) = read_and_lower(&format!("add user {} account={}", names('u'), names('a')));
    assert!(said.contains("dump:1: error: add: with this command there are more than 1000000 accounts and users"));
}

#[test]
fn the_default_account_is_one_of_a_users_and_other_clusters_are_others() {
    let (tree, _, said) = read_and_lower(
        "add cluster t\nadd account a,b cluster=t\nadd user bob account=a DefaultAccount=b\nadd user ann DefaultAccount=A\n\
         add cluster other\nmodify account where name=a cluster=other set MaxJobs=1\n",
    );
    let users: Vec<String> =
        rows(&tree).into_iter().filter(|row| !row.contains("/-") && !row.contains("root")).collect();
    assert_eq!(users, ["a/bob@2=1", "a/ann@2=1", "b/bob@5=1"]);
    assert!(said.contains("dump:5: warning: cluster: commands about 'other' are passed over"), "{said}");
    assert_eq!(said.matches("passed over").count(), 1);
}

#[test]
fn commands_that_cannot_be_followed_are_told() {
    let said = |text: &str| read_and_lower(text).2;
    for (line, expected) in [
        (
            "delete user ann",
            "dump:1: warning: delete: commands that remove or print are passed over; leave it out, and with it what it removes",
        ),
        (
            "modify user ann set MaxJobs=1",
            "dump:1: error: modify: there is no user 'ann' before this line; add it first",
        ),
        ("add user ann MaxJobs=1", "dump:1: error: add user: it names no account; add account=NAME"),
        (
            "add qso long",
            "dump:1: error: add: 'qso' is nothing that sacctmgr adds; known are account, user, qos and cluster",
        ),
        ("add qos long MaxJobs=many", "dump:1: error: MaxJobs"),
    ] {
        assert!(said(line).contains(expected), "{line}: {}", said(line));
    }
}

#[test]
fn what_is_no_dump_is_told() {
    let said = |text: &str| read_and_lower(text).2;
    assert!(said("").starts_with("dump: error: the file holds nothing"));
    assert!(
        said("hello\n")
            .starts_with("dump:1: error: hello: this is neither Cluster, Parent, Account, User nor QOS - 'name'")
    );
    assert!(
        said("Cluster - 'c'\nParent - 'gone'\nUser - 'u'\n")
            .contains("dump:3: error: Parent: 'u' stands under account 'gone', which is not described")
    );
    assert!(
        said("Cluster - 'c'\nParent - 'root'\nAccount - 'a':Fairshare=lots\n")
            .contains("dump:3: error: Fairshare: 'lots' is not a number of shares or 'parent'")
    );
    assert!(
        said("Cluster - 'c'\nParent - 'root'\nAccount - 'a':MaxJob=3\n")
            .contains("dump:3: warning: MaxJob: unknown; left out; did you mean 'MaxJobs'?")
    );
    assert!(said("Cluster - 'c':GrpTRES=cpuu=3\n").contains("dump:1: error: GrpTRES: there is no resource 'cpuu'"));
    assert!(said("QOS - 'a':Flags='Deny,NoReserve'\n").contains("'Deny' is no flag of a QOS"));
    assert!(said("Cluster - 'c'\nParent - 'x'\nAccount - 'x'\n").contains("is below itself"));
}

#[test]
fn files_printed_separately_can_be_put_together() {
    let (mut accounts, _) = Sacctmgr::read("dump", DUMP.as_bytes());
    let (qos, _) = Sacctmgr::read("qos", b"Name|Priority\ncapped|5\nhigh|9\nnormal|1\n");
    assert!(!qos.has_associations());
    accounts.merge(qos);
    let (_, qos, diagnostics) = accounts.lower(&mut TresNames::default());
    assert!(diagnostics.is_empty());
    assert_eq!(qos.iter().map(|qos| qos.priority).collect::<Vec<_>>(), [5, 9, 1]);
}

#[test]
fn a_dump_and_tables_may_follow_each_other_in_one_file() {
    let text = format!("{DUMP}Name|Priority|MaxJobsPU|GrpTRES\ncapped|5|2|\nhigh|9||cpu=3\nnormal|1||cpu=many\n");
    let (accounts, diagnostics) = Sacctmgr::read("dump", text.as_bytes());
    let table = DUMP.lines().count() + 1;
    let (tree, qos, more) = accounts.lower(&mut TresNames::default());
    let said: Vec<String> = diagnostics.iter().chain(&more).map(ToString::to_string).collect();
    assert!(said.iter().any(|line| line.starts_with(&format!("dump:{}: error: GrpTRES", table + 3))), "{said:?}");
    assert_eq!(qos.iter().map(|qos| qos.priority).collect::<Vec<_>>(), [5, 9, 1]);
    assert_eq!((qos[0].limits.max_jobs_per_user, qos[1].limits.grp_tres.as_slice()), (Some(2), &[(Tres::Cpu, 3)][..]));
    assert!(tree.rows.len() > 3, "{tree:?}");
}

#[test]
fn what_ifs_change_one_value_and_refuse_unknown_names() {
    let (mut accounts, _) = Sacctmgr::read("dump", format!("QOS - 'high':Priority=3\n{DUMP}").as_bytes());
    accounts.set_qos("high", "MaxJobsPU", "4").unwrap();
    accounts.set_association("acct1", None, "Fairshare", "70").unwrap();
    accounts.set_association("acct1", Some("user1"), "GrpCPUs", "8").unwrap();
    accounts.set_association("root", None, "MaxJobs", "100").unwrap();
    let (tree, qos, _) = accounts.lower(&mut TresNames::default());
    assert_eq!((qos[0].priority, qos[0].limits.max_jobs_per_user), (3, Some(4)));
    assert_eq!((tree.rows[2].shares, tree.rows[0].limits.max_jobs), (Shares::Count(70), Some(100)));
    assert_eq!(tree.rows[3].limits.grp_tres, [(Tres::Cpu, 8)]);
    let fault = |result: Result<(), Diagnostic>| result.unwrap_err().to_string();
    assert_eq!(
        fault(accounts.set_qos("hihg", "Priority", "4")),
        "dump: error: qos.hihg: no QOS 'hihg' is described; describe it: add the output of sacctmgr show qos -P"
    );
    assert!(fault(accounts.set_qos("high", "Prioritty", "4")).contains("did you mean 'Priority'?"));
    assert!(
        fault(accounts.set_association("acct3", None, "MaxJobs", "1"))
            .contains("there is no account 'acct3'; did you mean 'acct1' or 'acct2'?")
    );
    assert!(
        fault(accounts.set_association("acct1", Some("user2"), "MaxJobs", "1"))
            .contains("there is no user 'user2' in account 'acct1'; did you mean 'user1'?")
    );
    assert!(fault(accounts.set_association("acct1", None, "MaxJobs", "many")).contains("'many' is not a whole number"));
}

/// What is left out of these lines where limits and preemption are in force.
fn left_out(text: &str, limits: bool, preemption: bool) -> String {
    let (accounts, _) = Sacctmgr::read("dump", text.as_bytes());
    let said: Vec<String> = accounts.left_out(InForce { limits, preemption }).iter().map(ToString::to_string).collect();
    said.join("\n")
}

#[test]
fn limits_and_flags_left_out_are_counted_where_they_are_in_force() {
    let text = "Name|Flags|MaxSubmitPU|LimitFactor|Preempt|PreemptMode|GraceTime\n\
                a|NoReserve,Relative,NoDecay|5|1.0|b|cluster|00:00:00\nb|NoReserve|7|2.0||suspend|00:01:00\n";
    assert_eq!(left_out(text, false, false), "");
    assert_eq!(
        left_out(text, true, true),
        "dump:3: not modelled: PreemptMode: PreemptMode of 1 QOS: jobs are not suspended, so those of this QOS are not preempted\n\
         dump:2: not modelled: Relative: Relative of 1 QOS: limits are absolute"
    );
    assert_eq!(left_out(DUMP, true, false), "");
}

#[test]
fn what_ifs_of_what_is_left_out_are_refused() {
    let (mut accounts, _) = Sacctmgr::read("dump", format!("QOS - 'high':Flags=Relative\n{DUMP}").as_bytes());
    let fault = |result: Result<(), Diagnostic>| result.unwrap_err().to_string();
    assert_eq!(
        fault(accounts.set_qos("high", "Flags", "NoDecay")),
        "dump: error: qos.high.Flags: 'Relative' is not modelled: limits are absolute; leave it as it is: the simulation would not show the change"
    );
    for (key, value) in [("Flags", "Relative,RequiresReservation"), ("Flags", "")] {
        assert!(fault(accounts.set_qos("high", key, value)).contains("is not modelled: "), "{key}={value}");
    }
    accounts.set_qos("high", "Flags", "Relative,NoDecay").unwrap();
    for (key, value) in [("MaxTRESRunMins", "cpu=3"), ("QOS", "high")] {
        assert!(fault(accounts.set_association("acct1", None, key, value)).contains("is not modelled: "), "{key}");
    }
    for (key, value) in [("Preempt", "normal"), ("MaxSubmitPU", "3"), ("LimitFactor", "2"), ("MinPrioThreshold", "5")] {
        accounts.set_qos("high", key, value).unwrap();
    }
}

#[test]
fn a_users_association_in_one_partition_stands_beside_the_one_for_all() {
    let text = "Cluster - 'c'\nParent - 'root'\nAccount - 'a'\nParent - 'a'\n\
                User - 'u':MaxJobs=5\nUser - 'u':Partition='p':MaxJobs=2\n";
    let (mut accounts, diagnostics) = Sacctmgr::read("dump", text.as_bytes());
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    accounts.set_association("a", Some("u"), "MaxJobs", "7").unwrap();
    let (tree, _, _) = accounts.lower(&mut TresNames::default());
    let rows: Vec<_> = tree.rows.iter().map(|row| (row.partition.as_deref(), row.limits.max_jobs)).skip(2).collect();
    assert_eq!(rows, [(None, Some(7)), (Some("p"), Some(2))]);
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(lines in prop::collection::vec("(Cluster|Parent|Account|User|QOS|Name[|]Priority|Account[|]User)?( - )?[a-zA-Z0-9=,:'\"|+ /é-]{0,40}", 0..10)) {
        let _ = read_and_lower(&lines.join("\n"));
    }
}

#[test]
fn qos_that_preempt_each_other_in_a_circle_are_refused() {
    let said = |lists: &[(&str, &str)]| {
        let line = |(name, preempt): &(&str, &str)| format!("add qos {name} preempt={preempt}\n");
        read_and_lower(&lists.iter().map(line).collect::<String>()).2
    };
    assert_eq!(said(&[("a", "b,c"), ("b", "c"), ("c", "")]), "");
    let fault = "QOS preempt each other in a circle:";
    let cure = "take one out of a list: slurmdbd refuses circles";
    assert_eq!(said(&[("a", "b"), ("b", "a")]), format!("dump:1: error: Preempt: {fault} a → b → a; {cure}"));
    assert_eq!(
        said(&[("low", ""), ("a", "low,b"), ("b", "c"), ("c", "low,a")]),
        format!("dump:2: error: Preempt: {fault} a → b → c → a; {cure}")
    );
    assert_eq!(said(&[("a", "a")]), format!("dump:1: error: Preempt: {fault} a → a; {cure}"));
}

/// A list whose names have signs changes the parent's.
#[test]
fn signed_names_of_qos_add_to_the_inherited_list_and_take_from_it() {
    let (tree, qos, said) = read_and_lower(
        "Cluster - 'c':QOS='normal,long'\nParent - 'root'\nAccount - 'a':QOS='+gpu,-normal'\nAccount - 'b':QOS='gpu'\n\
         Parent - 'a'\nUser - 'ann':QOS='-long'\nUser - 'ben'\nQOS - 'gpu'\nQOS - 'long'\n",
    );
    assert_eq!(said, "");
    assert_eq!(qos.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["gpu", "long", "normal"]);
    let named = |row: &foresite_engine::association::Association| {
        row.qos.iter().map(|id| qos[id.index()].name.as_str()).collect::<Vec<_>>().join(" ")
    };
    let lists: Vec<String> = tree.rows.iter().map(named).collect();
    assert_eq!(lists, ["normal long", "gpu long", "gpu", "", "gpu"]);
}
