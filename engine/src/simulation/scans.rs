//! The scan for jobs whose time is over: in the background loop, before the main scheduler's run of the same wake-up.
//! Source: controller.c of 22.05.8, `_slurmctld_background`: whole seconds are compared, so a scan that finds no wake-up in its second
//! comes in the next, and so do all after it. A full-queue run does the same by itself; until then the two come together
//! (docs/FACTS.md, facts 73).

use super::{SECOND, seconds};

/// Between two scans [s].
const PERIOD: i64 = 30;

/// When they come.
#[derive(Debug)]
pub(super) struct Scans {
    /// When the background loop began [ms].
    zero: i64,
    /// How much longer than a second it sleeps [ms].
    late: i64,
    /// Seconds of scans from which on they come in this beat; the first is the loop's begin, without a scan.
    beats: Vec<i64>,
    /// Seconds that no wake-up fell in so far.
    missed: i64,
}

impl Scans {
    /// Of a loop that begins at `zero` and wakes every `tick` [ms].
    pub(super) fn new(zero: i64, tick: i64) -> Self {
        Self { zero, late: tick - SECOND, beats: vec![seconds(zero)], missed: 0 }
    }

    /// The second of the first scan that is not before second `end`. Amortised O(seconds simulated / 60), O(log of it) afterwards.
    pub(super) fn after(&mut self, end: i64) -> i64 {
        self.look_ahead(end + PERIOD);
        let after = self.beats.partition_point(|&beat| beat <= end).max(1);
        let beat = self.beats[after - 1];
        // The loop's begin is none.
        let periods = (end - beat + PERIOD - 1).div_euclid(PERIOD).max(i64::from(after == 1));
        let next = beat + periods * PERIOD;
        // The beat changes by a scan that comes a second late.
        self.beats.get(after).filter(|&&changed| changed <= next + 1).copied().unwrap_or(next)
    }

    /// Knows the beat up to a second.
    fn look_ahead(&mut self, until: i64) {
        if self.late <= 0 {
            return;
        }
        let within = self.zero.rem_euclid(SECOND);
        loop {
            let missed = self.missed + 1;
            // The wake-up that comes two seconds after the one before.
            let wake_up = (SECOND * missed - within + self.late - 1).div_euclid(self.late);
            let second = seconds(self.zero) + wake_up + missed - 1;
            if second > until {
                return;
            }
            self.missed = missed;
            let beat = self.beats.last().copied().unwrap_or(second);
            if second > beat && (second - beat) % PERIOD == 0 {
                self.beats.push(second + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wake-up by wake-up, as the loop goes.
    #[test]
    fn scans_are_those_of_a_loop_that_compares_whole_seconds() {
        let mut late = 0;
        for (zero, tick) in [(0, 1018), (1_700_000_000_345, 1003), (999, 1027), (500, 1250), (1_700_000_000_000, 1000)]
        {
            let (mut scans, mut last) = (Scans::new(zero, tick), seconds(zero));
            for wake_up in 1..40_000 {
                let now = seconds(zero + wake_up * tick);
                if now - last >= PERIOD {
                    for end in [last + 1, now - 7, now] {
                        assert_eq!(scans.after(end), now, "after {end} with {tick} from {zero}");
                    }
                    late += now - last - PERIOD;
                    last = now;
                }
            }
        }
        assert!(late > 40, "{late}");
    }
}
