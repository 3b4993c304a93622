//! Jobs that share cores: `OverSubscribe=YES` and `FORCE` (slurm-semantics 6.3).

use crate::schedule::{expect, expect_equal_with_every_cycle};

/// Three jobs that each fill the only node.
fn three(partition: &str, settings: &str, options: &str) -> String {
    format!(
        "node n1 cores=4
         partition p over={partition}
         set {settings}
         job 1 n=4 run=200 t=10 {options}
         job 2 n=4 run=200 t=10 {options}
         job 3 n=4 run=200 t=10 {options}"
    )
}

const ONE_BY_ONE: &str = "1  0  0..4        +200  *  n1  *
                          2  0  1.end+0..4  +200  *  n1  *
                          3  0  2.end+0..4  +200  *  n1  *";
const TWO_AT_ONCE: &str = "1  0  0..4        +200  *  n1  *
                           2  0  0..4        +200  *  n1  *
                           3  0  1.end+0..4  +200  *  n1  *";

#[test]
fn forced_sharing_lets_so_many_jobs_use_a_core() {
    for select in ["", "select=linear"] {
        expect(&three("no", select, ""), ONE_BY_ONE);
        expect(&three("force:1", select, ""), ONE_BY_ONE);
        expect(&three("force:2", select, ""), TWO_AT_ONCE);
        expect_equal_with_every_cycle(&three("force:2", select, ""), 3);
    }
}

#[test]
fn elsewhere_only_who_asks_for_it_shares() {
    for select in ["", "select=linear"] {
        expect(&three("yes:2", select, ""), ONE_BY_ONE);
        expect(&three("yes:2", select, "oversubscribe"), TWO_AT_ONCE);
    }
    // In a partition that does not share, asking changes nothing.
    expect(&three("no", "", "oversubscribe"), ONE_BY_ONE);
}

/// Recorded (c1019): with select/linear who shares gets a lighter node that is in use before an idle one of the next weight; of one weight an
/// idle one comes first, as it does with cores.
#[test]
fn with_linear_used_nodes_of_a_lower_weight_come_before_idle_ones() {
    let scenario = |select: &str, weight: u32| {
        format!(
            "node n1 cores=4 weight=1
             node n2 cores=4 weight={weight}
             partition p over=force:2
             set {select}
             job 1 n=4 run=200 t=10
             job 2 n=4 run=200 t=10
             job 3 n=4 run=200 t=10"
        )
    };
    let expected = |second: &str, third: &str| {
        format!(
            "1  0  0..4  +200  *  n1        *
             2  0  0..4  +200  *  {second}  *
             3  0  0..4  +200  *  {third}   *"
        )
    };
    expect(&scenario("select=linear", 2), &expected("n1", "n2"));
    expect(&scenario("select=linear", 1), &expected("n2", "n1"));
    expect(&scenario("bf_interval=30", 2), &expected("n2", "n1"));
}

/// Idle cores first: job 2 goes to n2 though n1 has room in its second row.
#[test]
fn idle_cores_are_taken_before_cores_are_shared() {
    expect(
        "node n[1-2] cores=4
         partition p over=force:2
         job 1 n=4 run=200 t=10
         job 2 n=4 run=200 t=10
         job 3 n=2 run=200 t=10
         job 4 n=2 run=200 t=10
         job 5 N=2 n=4 run=200 t=10",
        "1  0  0..4        +200  *  n1     *
         2  0  0..4        +200  *  n2     *
         3  0  0..4        +200  *  n1     *
         4  0  0..4        +200  *  n1     *
         5  0  1.end+0..4  +200  *  n1,n2  *",
    );
}

/// Recorded (c1010): n3 has one idle core and n1 two, and `--ntasks-per-node` cuts neither.
#[test]
fn who_shares_compares_nodes_by_all_that_they_have_free() {
    let scenario = "node n[1-3] cores=3
                    partition p over=force:4
                    job 1 n=3 w=n2 run=300
                    job 2 n=2 w=n3 run=300
                    job 3 n=1 w=n1 run=300
                    job 4 at=10 n=1 per_node=1 run=300";
    let expected = "1  0   0..4    +300  *  n2  *
                    2  0   0..4    +300  *  n3  *
                    3  0   0..4    +300  *  n1  *
                    4  10  10..14  +300  *  n3  *";
    expect(scenario, expected);
}

/// Job 2 does not share, and is on n1: job 3, which would, takes n2 and waits for its end; job 4 shares n2 with it.
#[test]
fn jobs_that_share_and_jobs_that_do_not_keep_apart() {
    expect(
        "node n[1-2] cores=4
         partition p over=yes:2
         job 2 n=1 run=200 t=10
         job 3 n=3 run=300 t=10 oversubscribe
         job 4 n=4 run=200 t=10 oversubscribe
         job 5 n=2 run=200 t=10 oversubscribe",
        "2  0  0..4        +200  *  n1  *
         3  0  0..4        +300  *  n2  *
         4  0  0..4        +200  *  n2  *
         5  0  2.end+0..4  +200  *  n1  *",
    );
}

/// When job 1 leaves, job 2 moves into its row; job 3 takes that row's last core, and job 4 the other row.
#[test]
fn who_stays_is_seated_anew_when_a_job_leaves() {
    expect(
        "node n1 cores=4
         partition p over=force:2
         job 1 n=4 run=100 t=10
         job 2 n=3 run=400 t=10
         job 3 n=1 run=400 t=10 at=150
         job 4 n=4 run=100 t=10 at=160",
        "1  0    0..4      +100  *  n1  *
         2  0    0..4      +400  *  n1  *
         3  150  150..154  +400  *  n1  *
         4  160  160..164  +100  *  n1  *",
    );
}

/// Job 5 finds no idle core. It may use those of the lower tier's job 1, although n2, lighter, has room in the fullest row
/// of its own partition.
#[test]
fn cores_of_other_tiers_are_used_before_those_of_its_own() {
    expect(
        "node n1 cores=4 weight=10
         node n2 cores=4 features=b
         node n3 cores=4
         partition lo nodes=n1 over=force:2
         partition hi over=force:2 tier=2
         job 1 p=lo n=4 run=200 t=10
         job 2 p=hi n=2 run=200 t=10
         job 3 p=hi n=4 run=200 t=10
         job 4 p=hi n=4 C=b run=200 t=10
         job 5 p=hi n=2 run=200 t=10",
        "1  0  0..4  +200  *  n1  *
         2  0  0..4  +200  *  n2  *
         3  0  0..4  +200  *  n3  *
         4  0  0..4  +200  *  n2  *
         5  0  0..4  +200  *  n1  *",
    );
}

/// Of two lower tiers' cores job 3 takes those of the lowest, on the heavier node.
#[test]
fn cores_of_lower_tiers_are_avoided_from_the_highest_down() {
    expect(
        "node n1 cores=4 weight=10
         node n2 cores=4
         partition lo nodes=n1 over=force:2
         partition mid nodes=n2 over=force:2 tier=2
         partition hi over=force:2 tier=3
         job 1 p=lo n=4 run=200 t=10
         job 2 p=mid n=4 run=200 t=10
         job 3 p=hi n=2 run=200 t=10 at=10",
        "1  0   0..4    +200  *  n1  *
         2  0   0..4    +200  *  n2  *
         3  10  10..14  +200  *  n1  *",
    );
}

/// Memory is never shared, whoever shares cores.
/// Backfill tests job 2 as one that shares with nobody, and finds room at once; its start is refused, since it does share, and
/// the node stays planned, so that job 3 waits for it. With a constraint there is
/// no such test.
#[test]
fn who_asks_to_share_is_first_tested_as_one_that_does_not() {
    let scenario = |constraint: &str| {
        format!(
            "node n1 cores=4 features=a
             partition p over=yes:2
             job 1 n=2 run=590 t=10
             job 2 at=10 n=2 run=50 t=10 oversubscribe {constraint}
             job 3 at=10 n=2 run=50 t=2"
        )
    };
    expect(
        &scenario(""),
        "1  0   0..4        +590  *  n1  *
         2  10  1.end+0..4  +50   *  n1  *
         3  10  1.end+0..4  +50   *  n1  *",
    );
    expect(
        &scenario("C=a"),
        "1  0   0..4        +590  *  n1  *
         2  10  1.end+0..4  +50   *  n1  *
         3  10  10..41      +50   *  n1  backfill",
    );
    expect_equal_with_every_cycle(&scenario(""), 3);
}

/// Recorded (bb-cpu): where partitions preempt one another, nobody shares the cores of one whose jobs cannot be preempted, itself included.
#[test]
fn cores_of_a_partition_that_cannot_be_preempted_are_not_shared() {
    let settings = "preempt=partition preempt_mode=cancel";
    expect(&three("force:2 preempt_mode=off", settings, ""), ONE_BY_ONE);
    expect(&three("force:2 preempt_mode=cancel", settings, ""), TWO_AT_ONCE);
    expect(&three("force:2 preempt_mode=off", "", ""), TWO_AT_ONCE);
}

/// Recorded (bf-c73): jobs 2 and 3 have the same first core and hold two each. When job 1 leaves, job 3, which asks for fewer CPUs, is seated before
/// job 2, and job 4 beside it, so that the other row has all of n2 for job 5 (docs/FACTS.md, facts 86 (g)).
#[test]
fn who_asks_for_fewer_cpus_is_seated_anew_first() {
    expect(
        "node n[1-3] cores=2 threads=2
         partition p over=force:2
         set bf_interval=off
         job 1 w=n3 N=1 n=4 run=100 t=10
         job 2 w=n1 N=1 n=3 run=500 t=10
         job 3 w=n1,n2 N=2 n=2 run=500 t=10
         job 4 at=10 w=n2 N=1 n=2 run=500 t=10
         job 5 at=50 w=n2 N=1 n=4 run=100 t=10",
        "1  0   0..4         +100  *  n3     *
         2  0   0..4         +500  *  n1     *
         3  0   0..4         +500  *  n1,n2  *
         4  10  10..14       +500  *  n2     *
         5  50  1.end+0..60  +100  *  n2     *",
    );
}

/// Recorded (bf-c73): job 3 starts on an idle node, for which no test goes through the rows, and sits in the first as they stand, beside job 1,
/// though job 2's is fuller by then. So neither row has seven cores for job 4 (docs/FACTS.md, facts 86 (g)).
#[test]
fn rows_change_places_only_when_a_test_goes_through_them() {
    expect(
        "node n[1-2] cores=4
         partition p over=force:2
         set bf_interval=off
         job 1 w=n1 N=1 n=1 run=500 t=10
         job 2 w=n1 N=1 n=4 run=500 t=10
         job 3 at=10 w=n2 N=1 n=1 run=300 t=10
         job 4 at=20 N=2 n=7 run=100 t=10",
        "1  0   0..4        +500  *  n1     *
         2  0   0..4        +500  *  n1     *
         3  10  10..14      +300  *  n2     *
         4  20  3.end+0..4  +100  *  n1,n2  *",
    );
}

/// Recorded (c163): with `preempt/qos` no test puts rows in order. Job 3, which finds no room, has put the fuller one of job 2 first, where job 4 then
/// sits; without that it sits beside job 1, and neither row has seven cores for job 5.
#[test]
fn with_preempt_qos_tests_leave_rows_as_they_are() {
    let scenario = |preempt: &str| {
        format!(
            "node n[1-2] cores=4
             partition p over=force:2
             set bf_interval=off multifactor weight_job_size=1000 {preempt}
             job 1 w=n1 N=1 n=1 run=500 t=10
             job 2 at=5 w=n1 N=1 n=4 run=500 t=10
             job 3 at=10 w=n1 N=1 n=4 run=100 t=10 nice=1000
             job 4 at=20 w=n2 N=1 n=1 run=300 t=10
             job 5 at=30 N=2 n=7 run=100 t=10"
        )
    };
    let expected = |fifth: &str| {
        format!(
            "1 0 0..4 +500 * n1 *\n 2 5 5..9 +500 * n1 *\n 3 * * * * * *\n 4 20 20..24 +300 * n2 *\n 5 30 {fifth} +100 * n1,n2 *"
        )
    };
    expect(&scenario(""), &expected("30..34"));
    expect(&scenario("preempt=qos preempt_mode=requeue"), &expected("4.end+0..4"));
}

/// Recorded (bf-c87): the second row shows job 2 an empty node, but that is another user's all the same (docs/FACTS.md, facts 86 (h)).
#[test]
fn a_row_that_shows_nobody_does_not_open_another_users_node() {
    let scenario = |user: &str| {
        format!(
            "node n1 cores=4
             partition p over=force:2 exclusive_user
             job 1 user=a n=1 run=300 t=10
             job 2 at=10 user={user} n=1 exclusive run=100 t=10"
        )
    };
    let first = "1  0  0..34  +300  *  n1  *\n";
    expect(&scenario("a"), &format!("{first} 2 10 10..44 +100 * n1 *"));
    expect(&scenario("b"), &format!("{first} 2 10 1.end+0..34 +100 * n1 *"));
}

#[test]
fn memory_is_handed_out_once_all_the_same() {
    let scenario = |mem: u32| three("force:3", "memory", &format!("mem={mem}"));
    expect(&scenario(8000), TWO_AT_ONCE);
    expect(&scenario(9000), ONE_BY_ONE);
}

/// Job 3 is planned for the end of the first of two jobs that share, so job 4, longer than that, waits until then.
#[test]
fn plans_know_the_rows() {
    let text = "node n1 cores=4
                partition p over=force:2
                set bf_interval=10
                job 1 n=4 run=600 t=10
                job 2 n=3 run=1200 t=20
                job 3 n=4 run=100 t=10 at=10
                job 4 n=1 run=900 t=15 at=20
                job 5 n=1 run=300 t=5 at=20";
    expect(
        text,
        "1  0   0..4         +600   *  n1  *
         2  0   0..4         +1200  *  n1  *
         3  10  1.end+0..14  +100   *  n1  *
         4  20  1.end+0..14  +900   *  n1  *
         5  20  20..34       +300   *  n1  backfill",
    );
    expect_equal_with_every_cycle(text, 4);
}

/// A test in an EXCLUSIVE partition makes a job one of whole nodes in all of its partitions (p-sel1), but there is none for who names a
/// node of another (recorded: bd-k23).
#[test]
fn who_names_a_node_outside_an_exclusive_partition_is_not_tested_there() {
    let scenario = |named: &str| {
        format!(
            "node n[1-2] cores=4
             partition w nodes=n1 over=exclusive
             partition s nodes=n2
             job 1 p=w n=4 run=300 t=10
             job 2 p=s n=1 run=300 t=10 at=10
             job 3 p=w,s n=1 {named} run=100 t=5 at=20"
        )
    };
    let first = "1 0 0..4 +300 COMPLETED n1 *\n 2 10 10..13 +300 COMPLETED n2 *\n";
    expect(&scenario(""), &format!("{first} 3 20 1.end+0..34 +100 COMPLETED n1 *"));
    expect(&scenario("w=n2"), &format!("{first} 3 20 20..54 +100 COMPLETED n2 *"));
}

/// Recorded (c1400): so it does for its preferred features. Job 2 finds no node of them in `w`, is tested there without, and takes all of g1 in `s` with them.
#[test]
fn a_test_in_an_exclusive_partition_counts_for_preferred_features_too() {
    let scenario = |partitions: &str| {
        format!(
            "node n1 cores=4 features=std
             node g1 cores=4 features=big
             partition w nodes=n1 over=exclusive
             partition s nodes=g1
             job 1 p=w n=1 run=300 t=10
             job 2 at=10 p={partitions} n=1 prefer=big run=200 t=5
             job 3 at=20 p=s n=1 run=100 t=5"
        )
    };
    let first = "1 0 0..4 +300 COMPLETED n1 *\n";
    expect(&scenario("s"), &format!("{first} 2 10 10..14 +200 COMPLETED g1 *\n 3 20 20..24 +100 COMPLETED g1 *"));
    expect(&scenario("w,s"), &format!("{first} 2 10 10..14 +200 COMPLETED g1 *\n 3 20 2.end+0..4 +100 COMPLETED g1 *"));
    expect_equal_with_every_cycle(&scenario("w,s"), 3);
}

/// Recorded (w2224): job 1 finds n1 reserved in `f`, keeps it from all behind it, and is passed over in the EXCLUSIVE `w`, so that it is planned there with
/// parts of nodes, whatever `MaxCPUsPerNode` would say of whole ones, and counts as all of n1 from then on: it starts before job 2.
#[test]
fn who_lacks_a_named_node_is_not_tested_in_an_exclusive_partition() {
    let scenario = |partitions: &str| {
        format!(
            "node n[1-2] cores=4
             partition f nodes=n[1-2] tier=2
             partition w nodes=n[1-2] over=exclusive max_cpus_per_node=2
             reservation r nodes=n1 at=1000 for=1000 users=bob
             set multifactor weight_job_size=1000
             job 1 p={partitions} N=1 n=2 w=n1 run=500 t=60
             job 2 at=10 p=f N=1 n=3 w=n1 run=500 t=60"
        )
    };
    expect(&scenario("f,w"), "1 0 2000..2061 +500 COMPLETED n1 *\n 2 10 1.end+0..34 +500 COMPLETED n1 *");
    expect(&scenario("f"), "1 0 2.end+0..34 +500 COMPLETED n1 *\n 2 10 2000..2061 +500 COMPLETED n1 *");
}

/// At its submission a job is asked of its partitions from the highest tier down, until one takes it (recorded: c1256): job 3 could run in `d`, whose
/// list keeps its account out, so it is tested in `w`, too, and asks for whole nodes in `s` from then on.
#[test]
fn who_is_kept_out_of_a_partition_is_tested_in_the_next() {
    let scenario = |user: &str| {
        format!(
            "node n[1-2] cores=4
             account a
             account b
             user a account=a
             user b account=b
             partition d nodes=n2 tier=3 allow_accounts=b
             partition w nodes=n1 tier=2 over=exclusive
             partition s nodes=n2 tier=1
             job 1 p=w user=b n=4 run=300 t=10
             job 2 p=s user=b n=1 run=400 t=10 at=10
             job 3 p=d,w,s user={user} n=1 run=100 t=5 at=20"
        )
    };
    let first = "1 0 0..4 +300 COMPLETED n1 *\n 2 10 10..13 +400 COMPLETED n2 *\n";
    expect(&scenario("b"), &format!("{first} 3 20 20..54 +100 COMPLETED n2 *"));
    expect(&scenario("a"), &format!("{first} 3 20 1.end+0..34 +100 COMPLETED n1 *"));
}

/// A test in a partition that forces sharing makes a job share where it may, too (recorded: be-k37): job 2 does in `y`, so job 3 may use its
/// node.
#[test]
fn who_was_tested_where_sharing_is_forced_shares_elsewhere() {
    let scenario = |partitions: &str| {
        format!(
            "node n[1-2] cores=4
             partition f nodes=n2 over=force:2
             partition y nodes=n1 over=yes:2
             partition g nodes=n1 over=force:2
             job 0 p=f n=4 run=500 t=10
             job 1 p=f n=4 run=500 t=10
             job 2 p={partitions} n=1 run=300 t=10 at=10
             job 3 at=50 p=g n=3 run=100 t=5"
        )
    };
    let first = "0 0 0..34 +500 COMPLETED n2 *\n 1 0 0..34 +500 COMPLETED n2 *\n 2 10 10..44 +300 COMPLETED n1 *\n";
    expect(&scenario("y"), &format!("{first} 3 50 2.end+0..34 +100 COMPLETED n1 *"));
    expect(&scenario("f,y"), &format!("{first} 3 50 50..84 +100 COMPLETED n1 *"));
}

/// Recorded (c1155): to who wants nodes for its user alone a node is in use until the other user's job there has completed. Job 2 has no plan
/// meanwhile that would keep job 3 off the other node.
#[test]
fn a_node_on_which_another_users_job_completes_is_out_of_plans_for_one_user() {
    let scenario = |user: &str| {
        format!(
            "node n[1-2] cores=4
             partition p exclusive_user
             set bf_interval=10 epilog epilog_seconds=100
             job 1 user={user} w=n1 n=1 run=100 t=10
             job 2 at=110 user=b N=2 n=8 run=50 t=5
             job 3 at=110 user=b w=n2 n=1 run=600 t=20"
        )
    };
    for (user, [second, third]) in [("a", ["3.end+100..131", "110..141"]), ("b", ["200..231", "2.end+0..131"])] {
        expect(
            &scenario(user),
            &format!(
                "1  0    0..4      +100  COMPLETED  n1     *
                 2  110  {second}  +50   COMPLETED  n1,n2  *
                 3  110  {third}   +600  COMPLETED  n2     *"
            ),
        );
    }
}

/// Recorded (c1189): who shares, but takes nodes whole, finds none where a GRES is in use: job 3 is beside job 2.
#[test]
fn whole_nodes_that_are_shared_have_no_gres_in_use() {
    let scenario = |gres: &str| {
        format!(
            "node g1 cores=4 gres=gpu:1 weight=1
             node n2 cores=4 weight=9
             partition p nodes=g1,n2 over=force:2
             job 1 n=1 {gres} w=g1 run=900 t=20
             job 2 at=5 n=1 exclusive run=600 t=20
             job 3 at=10 n=1 exclusive run=300 t=20"
        )
    };
    expect(&scenario("gres=gpu:1"), "1 * * * * g1 *\n 2 * 5..40 * * n2 *\n 3 * 10..70 * * n2 *");
    expect(&scenario(""), "1 * * * * g1 *\n 2 * 5..40 * * n2 *\n 3 * 10..70 * * g1 *");
}

/// Recorded (c1417): a job of whole nodes could run as far as `MaxCPUsPerNode` goes where the sockets that keep no core for the system are within
/// it, so it is not held; once a job of its partition has run all sockets serve, and it waits for ever, in front of the others.
#[test]
fn whole_nodes_are_held_to_the_cap_by_the_sockets_that_serve() {
    let scenario = |version: &str, before: &str| {
        format!(
            "node n[1-2] cores=12 sockets=2 spec=1,0
             set select=socket bf_interval=30 {version}
             partition p max_cpus_per_node=6
             partition q
             {before}
             job 2 at=100 p=p N=2 n=12 exclusive run=50 t=5
             job 3 at=110 p=p n=4 run=70 t=5"
        )
    };
    expect(
        &scenario("", "job 1 p=p n=4 run=20 t=5"),
        "1  0    0..4      +20  COMPLETED  n1  *
         2  100  -         -    PENDING    -   -
         3  110  111..150  +70  COMPLETED  n1  backfill",
    );
    expect(
        &scenario("", "job 1 p=q n=4 run=20 t=5"),
        "1  0    0..4          +20  COMPLETED  n1     *
         2  100  100..104      +50  COMPLETED  n1,n2  *
         3  110  2.end+0..64   +70  COMPLETED  n1     *",
    );
    // 24.11 counts the socket that serves nobody as used: job 2 is refused.
    expect(
        &scenario("version=24.11", "job 1 p=q n=4 run=20 t=5"),
        "1  0    0..4      +20  COMPLETED  n1  *
         2  -    -         -    PENDING    -   -
         3  110  110..114  +70  COMPLETED  n1  *",
    );
}
