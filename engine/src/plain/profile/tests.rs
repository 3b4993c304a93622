#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proptest::prelude::*;

use super::*;

const END: i64 = 200;

proptest! {
    #[test]
    fn places_are_those_of_a_second_by_second_table(
        steps in prop::collection::vec((0i64..END, 1u32..40, 1u32..10, any::<bool>()), 1..120),
    ) {
        let capacity = 16;
        let mut table = vec![capacity; 2 * END as usize];
        let mut profile = Profile::new(0, capacity);
        let mut taken = Vec::new();
        let mut now = 0;
        for (at, seconds, procs, take) in steps {
            let from = at.max(now);
            let fits = |table: &[u32], t: i64, until: i64| {
                (t..(t + i64::from(seconds)).min(until)).all(|second| table[second as usize] >= procs)
            };
            let limit = END + 100;
            let expected = (from..limit).find(|&t| fits(&table, t, limit));
            prop_assert_eq!(profile.earliest(procs, seconds, from, limit, limit), expected);
            let most = (from..from + i64::from(seconds)).map(|second| table[second as usize]).max();
            prop_assert_eq!(Some(profile.most_free(from, from + i64::from(seconds))), most);
            if take && fits(&table, from, limit) {
                let to = from + i64::from(seconds);
                profile.take(from, to, procs);
                (from..to).for_each(|second| table[second as usize] -= procs);
                taken.push((from, to, procs));
            } else if let Some((from, to, procs)) = taken.pop() {
                let from = from.max(now);
                profile.give_back(from, to, procs);
                (from..to).for_each(|second| table[second as usize] += procs);
            }
            now = now.max(at / 8);
            profile.advance(now);
        }
    }
}
