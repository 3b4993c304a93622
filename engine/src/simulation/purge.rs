//! Records of jobs that have ended are purged once a minute, when they are `MinJobAge` old. A purge changes nothing that a
//! scheduler decides, but backfill, which looks only when something has changed, has its next cycle after it. Source:
//! slurm.conf(5), MinJobAge; docs/FACTS.md, facts 41.

use std::collections::VecDeque;

/// Between two purges [s], or `MinJobAge` if that is less,
const INTERVAL_SECONDS: i64 = 60;
/// but not less than this.
const LEAST_INTERVAL_SECONDS: i64 = 10;

/// When records are purged.
#[derive(Debug)]
pub(super) struct Purge {
    /// `MinJobAge` [s]; 0 keeps all records.
    min_age: i64,
    interval: i64,
    /// The last purge, of something or of nothing [s].
    last: i64,
    /// The last purge of something [s].
    of_something: i64,
    /// Seconds in which jobs ended that are not purged, each once.
    ends: VecDeque<i64>,
    /// The first purge that finds something [ms].
    pub(super) at: i64,
    /// Records of jobs that have ended are there, those that nothing purges, too.
    pub(super) holds_any: bool,
}

impl Purge {
    /// Nothing to purge yet; the first look is an interval after `begin` [s].
    pub(super) fn new(min_age: u32, begin: i64) -> Self {
        let min_age = i64::from(min_age);
        let interval = INTERVAL_SECONDS.min(min_age.max(LEAST_INTERVAL_SECONDS));
        Self {
            min_age,
            interval,
            last: begin,
            of_something: i64::MIN,
            ends: VecDeque::new(),
            at: i64::MAX,
            holds_any: false,
        }
    }

    /// Whether purges come once a minute. O(1).
    pub(super) fn is_by_the_minute(&self) -> bool {
        self.interval == INTERVAL_SECONDS
    }

    /// Whether the record of a job that ended in second `end` is gone. O(1).
    pub(super) fn has_purged(&self, end: i64) -> bool {
        self.min_age > 0 && end + self.min_age <= self.of_something
    }

    /// A job has ended in second `end`, no earlier than those before. `tick` is the background loop's first tick at or after an
    /// instant [ms]. O(1).
    pub(super) fn ended(&mut self, end: i64, tick: impl Fn(i64) -> i64) {
        self.holds_any = true;
        if self.min_age == 0 || self.ends.back() == Some(&end) {
            return;
        }
        self.ends.push_back(end);
        if self.ends.len() == 1 {
            self.plan(tick);
        }
    }

    /// The first purge at or after an instant, of something or of nothing [ms]. O(1).
    pub(super) fn first_from(&self, from: i64, tick: impl Fn(i64) -> i64) -> i64 {
        let mut at = i64::MIN;
        // In the beat of the last one that is known, which may be long ago, or one to come that finds nothing.
        let passed = (from.div_euclid(1000) - self.last).div_euclid(self.interval);
        let mut last = self.last + (passed - 1) * self.interval;
        while at < from {
            at = tick((last + self.interval) * 1000);
            last = at.div_euclid(1000);
        }
        at
    }

    /// A purge in second `now`. O(1) amortised.
    pub(super) fn purge(&mut self, now: i64, tick: impl Fn(i64) -> i64) {
        self.last = now;
        self.of_something = now;
        while self.ends.front().is_some_and(|end| end + self.min_age <= now) {
            self.ends.pop_front();
        }
        self.holds_any = !self.ends.is_empty();
        self.plan(tick);
    }

    /// Finds the first purge that finds something. O(purges that find nothing), O(1) amortised over a simulation's minutes.
    fn plan(&mut self, tick: impl Fn(i64) -> i64) {
        let Some(ripe) = self.ends.front().map(|end| end + self.min_age) else {
            self.at = i64::MAX;
            return;
        };
        loop {
            self.at = tick((self.last + self.interval) * 1000);
            if self.at.div_euclid(1000) >= ripe {
                return;
            }
            self.last = self.at.div_euclid(1000);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks at whole seconds: purges are a minute apart, and come when the oldest record is old enough.
    #[test]
    fn a_record_is_purged_in_the_first_purge_that_finds_it_old_enough() {
        let tick = |at: i64| at;
        let mut purge = Purge::new(300, 0);
        purge.ended(10, tick);
        purge.ended(100, tick);
        assert_eq!(purge.at, 360_000);
        purge.purge(360, tick);
        assert_eq!(purge.at, 420_000);
        assert_eq!((purge.has_purged(10), purge.has_purged(100)), (true, false));
        purge.purge(420, tick);
        assert_eq!(purge.at, i64::MAX);
        purge.ended(1000, tick);
        assert_eq!(purge.at, 1_320_000);
    }

    #[test]
    fn short_ages_are_looked_for_more_often_and_none_never() {
        let tick = |at: i64| at;
        let mut purge = Purge::new(20, 0);
        purge.ended(5, tick);
        assert_eq!(purge.at, 40_000);
        let mut never = Purge::new(0, 0);
        never.ended(5, tick);
        assert_eq!(never.at, i64::MAX);
    }
}
