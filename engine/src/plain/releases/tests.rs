#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn released_by(ends: &BTreeMap<i64, u32>, needed: u32) -> Option<(i64, u32)> {
    let mut released = 0;
    ends.iter().find_map(|(&end, &procs)| {
        released += procs;
        (released >= needed).then_some((end, released))
    })
}

proptest! {
    #[test]
    fn sums_are_those_of_a_sorted_map(steps in prop::collection::vec((0i64..300, 1u32..9, any::<bool>()), 1..900)) {
        let (mut releases, mut model) = (Releases::default(), BTreeMap::<i64, u32>::new());
        for (end, procs, add) in steps {
            if add || !model.contains_key(&end) {
                releases.add(end, procs);
                *model.entry(end).or_default() += procs;
            } else {
                let all = model[&end];
                let procs = procs.min(all);
                releases.remove(end, procs);
                if procs == all { model.remove(&end); } else { model.insert(end, all - procs); }
            }
            let needed = procs * end as u32;
            prop_assert_eq!(releases.released_by(needed.max(1)), released_by(&model, needed.max(1)));
        }
    }
}
