//! Loops over many words, with the vector instructions of the processor at hand: of today's, not only of those that every x86-64 has.

/// Fewer words than this are not worth the way.
const MANY: usize = 32;

/// Does some work on so many words. Its loops are compiled twice, and the processor decides which of the two is run; their results are the
/// same, since all of it is whole numbers.
#[inline(always)]
pub(crate) fn wide<R>(words: usize, work: impl FnOnce() -> R) -> R {
    if words < MANY { work() } else { dispatch(work) }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn dispatch<R>(work: impl FnOnce() -> R) -> R {
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has all that the function is compiled for.
        #[allow(unsafe_code)]
        unsafe {
            with_avx2(work)
        }
    } else {
        work()
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn dispatch<R>(work: impl FnOnce() -> R) -> R {
    work()
}
