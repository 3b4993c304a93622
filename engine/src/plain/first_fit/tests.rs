#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn the_next_fit_is_the_one_a_walk_finds(
        len in 1usize..700,
        steps in prop::collection::vec((any::<prop::sample::Index>(), 1u32..20, 1u32..20, any::<bool>()), 1..400),
    ) {
        let (mut tree, mut model) = (FirstFit::new(len), vec![None; len]);
        for (index, procs, estimate, add) in steps {
            let rank = index.index(len);
            if add && model[rank].is_none() {
                model[rank] = Some((procs, estimate));
                tree.insert(rank as Rank, procs, estimate);
            } else {
                model[rank] = None;
                tree.remove(rank as Rank);
            }
            let narrowest = model.iter().flatten().map(|job| job.0).min();
            prop_assert_eq!(tree.narrowest(), narrowest.unwrap_or(u32::MAX));
            let hole = Hole { free: procs, extra: procs / 3, window: Some(estimate) };
            let from = rank / 2;
            let walked = (from..len).find(|&rank| model[rank].is_some_and(|(p, e)| hole.admits(p, e)));
            prop_assert_eq!(tree.next(from as Rank, hole), walked.map(|rank| rank as Rank));
        }
    }
}

#[test]
fn a_hole_without_a_window_admits_only_what_fits_the_extra_processors() {
    let hole = Hole { free: 8, extra: 2, window: None };
    assert!(hole.admits(2, u32::MAX));
    assert!(!hole.admits(3, 0));
}
