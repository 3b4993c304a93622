//! What later releases decide otherwise (slurm-semantics 11; sources of 24.11.5 and 25.05.3).

use crate::schedule::{expect, expect_equal_with_every_cycle};

/// Job 6 needs four nodes. Its try at 1200 s, when job 5 will have left n1 and n4, looks 22.05 from the first running job's end on, with
/// windows that have grown to more than an hour when job 3 leaves: it finds 4500 s, with job 4 gone too. 24.11 lets go at once who has ended
/// by 1200 s, and finds that job 3's end will do, with n5: job 7 would be in the way, until job 5 has started and is the first to end.
#[test]
fn a_try_begins_with_what_is_free_when_it_begins() {
    let scenario = |version: &str| {
        format!(
            "node n[1-5] cores=4
             partition p over=exclusive
             boot 300
             set bf_interval=10 {version}
             job 1 w=n4 run=300 t=5
             job 2 w=n1 run=600 t=10
             job 3 w=n2 run=4200 t=70
             job 4 w=n3 run=4500 t=75
             job 5 N=2 w=n1,n4 run=600 t=10 at=10
             job 6 N=4 run=100 t=30 at=20
             job 7 N=1 w=n5 run=100 t=72 at=30"
        )
    };
    let expected = |start: &str| {
        format!(
            "1  0   0..4         +300   *  n4     *
             2  0   0..4         +600   *  n1     *
             3  0   0..4         +4200  *  n2     *
             4  0   0..4         +4500  *  n3     *
             5  10  2.end+0..14  +600   *  n1,n4  *
             6  20  *            +100   *  *      *
             7  30  {start}      +100   *  n5     *"
        )
    };
    expect(&scenario(""), &expected("30..44"));
    expect(&scenario("version=24.05"), &expected("30..44"));
    for version in ["version=24.11", "version=25.05"] {
        expect(&scenario(version), &expected("600..624"));
        expect_equal_with_every_cycle(&scenario(version), 3);
    }
}
