//! Times and durations as Slurm's tools print them.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use super::job_id::{number, number32};

const DAY: i64 = 86_400;
/// The latest time that a number may say [Unix s]: in the year 2242. Milliseconds, and dates without dashes that say the hour too, are larger.
const LATEST_NUMBER: i64 = 1 << 33;
/// Numbers that are dates without dashes, and no times: they would all be of August 1970.
const DATES: std::ops::Range<i64> = 19_700_101..21_000_101;

/// Turns local times into Unix seconds. Days without a change of clock cost one look-up; others ask the time zone.
pub(crate) struct Clock {
    zone: TimeZone,
    /// By day of month: the last date seen and its local midnight [Unix s], `None` on a day with a change of clock.
    days: Vec<([u8; 10], Option<i64>)>,
    /// How many times fell into an hour that the clock shows twice, or never.
    pub(crate) ambiguous: u64,
}

/// What a time field says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Unix seconds.
    At(i64),
    /// `Unknown`, `None`, empty.
    Unknown,
}

impl Moment {
    pub(crate) fn known(self) -> Option<i64> {
        match self {
            Self::At(time) => Some(time),
            Self::Unknown => None,
        }
    }
}

impl Clock {
    pub(crate) fn new(zone: TimeZone) -> Self {
        Self { zone, days: vec![([0; 10], None); 32], ambiguous: 0 }
    }

    /// Reads `2024-01-01T00:08:00` (also with a blank, a fraction, `Z` or `+02:00`), Unix seconds, or a word for unknown.
    pub(crate) fn parse(&mut self, text: &[u8]) -> Option<Moment> {
        if matches!(text, b"" | b"Unknown" | b"None" | b"N/A" | b"UNKNOWN" | b"none" | b"NaT") {
            return Some(Moment::Unknown);
        }
        let Some((civil, rest)) = text.split_at_checked(19) else {
            let time = number(text).and_then(|time| i64::try_from(time).ok());
            return time.filter(|time| *time <= LATEST_NUMBER && !DATES.contains(time)).map(Moment::At);
        };
        let date: [u8; 10] = civil.get(..10)?.try_into().ok()?;
        if !matches!(civil.get(10)?, b'T' | b' ' | b't') {
            return None;
        }
        let (clock, shape) = (civil.get(11..)?, (civil.get(13)?, civil.get(16)?));
        let (hour, minute, second) = (two(clock, 0)?, two(clock, 3)?, two(clock, 6)?);
        if shape != (&b':', &b':') || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let seconds = hour * 3600 + minute * 60 + second.min(59);
        match offset(rest)? {
            Some(offset) => Some(Moment::At(epoch_day(&date)? * DAY + seconds - offset)),
            None => self.local(date, seconds).map(Moment::At),
        }
    }

    fn local(&mut self, date: [u8; 10], seconds: i64) -> Option<i64> {
        let slot = usize::try_from(two(&date, 8)?).ok()?;
        let (known, midnight) = self.days.get(slot).copied()?;
        let midnight = if known == date {
            midnight
        } else {
            let midnight = self.plain_midnight(&date)?;
            *self.days.get_mut(slot)? = (date, midnight);
            midnight
        };
        match midnight {
            Some(midnight) => Some(midnight + seconds),
            None => self.ask(&date, seconds),
        }
    }

    /// Local midnight, if the day has twenty-four hours.
    fn plain_midnight(&self, date: &[u8; 10]) -> Option<Option<i64>> {
        let day = civil_date(date)?;
        let at = |date: Date| {
            let zoned = self.zone.to_ambiguous_timestamp(date.to_datetime(Time::midnight()));
            (!zoned.is_ambiguous()).then(|| zoned.compatible().ok().map(|time| time.as_second())).flatten()
        };
        let (Some(midnight), Some(next)) = (at(day), day.tomorrow().ok().and_then(at)) else { return Some(None) };
        Some((next - midnight == DAY).then_some(midnight))
    }

    fn ask(&mut self, date: &[u8; 10], seconds: i64) -> Option<i64> {
        let part = |value: i64| i8::try_from(value).ok();
        let time = Time::new(part(seconds / 3600)?, part(seconds / 60 % 60)?, part(seconds % 60)?, 0).ok()?;
        let timestamp = self.zone.to_ambiguous_timestamp(DateTime::from_parts(civil_date(date)?, time));
        self.ambiguous += u64::from(timestamp.is_ambiguous());
        Some(timestamp.compatible().ok()?.as_second())
    }

    /// The next time at or after `from` [Unix s] when the local clock shows `seconds` after midnight.
    pub(crate) fn next_clock(&self, from: i64, seconds: i64) -> Option<i64> {
        let now = jiff::Timestamp::from_second(from).ok()?.to_zoned(self.zone.clone());
        let part = |value: i64| i8::try_from(value).ok();
        let time = Time::new(part(seconds / 3600)?, part(seconds / 60 % 60)?, part(seconds % 60)?, 0).ok()?;
        let today = self.zone.to_ambiguous_timestamp(now.date().to_datetime(time)).compatible().ok()?.as_second();
        if today >= from {
            return Some(today);
        }
        let tomorrow = now.date().tomorrow().ok()?;
        Some(self.zone.to_ambiguous_timestamp(tomorrow.to_datetime(time)).compatible().ok()?.as_second())
    }

    /// Local midnight of the day after `from` [Unix s].
    pub(crate) fn tomorrow(&self, from: i64) -> Option<i64> {
        self.next_clock(from + 1, 0)
    }
}

/// What is to be said besides of a text that [`Clock::parse`] refused; empty if there is nothing.
pub(crate) fn too_large(text: &[u8]) -> &'static str {
    if number(text).is_some() {
        " in seconds: it seems to count milliseconds, or to be a date without dashes"
    } else {
        ""
    }
}

fn two(text: &[u8], at: usize) -> Option<i64> {
    number32(text.get(at..at + 2)?).map(i64::from)
}

fn civil_date(date: &[u8; 10]) -> Option<Date> {
    if date.get(4) != Some(&b'-') || date.get(7) != Some(&b'-') {
        return None;
    }
    let year = i16::try_from(number32(date.get(..4)?)?).ok()?;
    Date::new(year, i8::try_from(two(date, 5)?).ok()?, i8::try_from(two(date, 8)?).ok()?).ok()
}

fn epoch_day(date: &[u8; 10]) -> Option<i64> {
    let midnight = civil_date(date)?.to_datetime(Time::midnight());
    Some(TimeZone::UTC.to_timestamp(midnight).ok()?.as_second() / DAY)
}

/// What stands behind the seconds: nothing (`None`), or a zone's offset [s], after an ignored fraction.
fn offset(mut rest: &[u8]) -> Option<Option<i64>> {
    if let Some(fraction) = rest.strip_prefix(b".") {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest = fraction.get(digits..)?;
    }
    let (sign, digits) = match rest {
        b"" => return Some(None),
        b"Z" | b"z" => return Some(Some(0)),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let minutes = match digits.len() {
        2 => 0,
        4 => two(digits, 2)?,
        5 if digits.get(2) == Some(&b':') => two(digits, 3)?,
        _ => return None,
    };
    Some(Some(sign * (two(digits, 0)? * 3600 + minutes * 60)))
}

/// Reads an elapsed time [s], fractions cut: `1-02:03:04`, `02:03:04`, `03:04.385`, `2 days 03:04:05`, `INVALID` (`None` inside).
pub(crate) fn elapsed(text: &[u8]) -> Option<Option<u64>> {
    if matches!(text, b"" | b"INVALID" | b"Unknown" | b"None") {
        return Some(None);
    }
    let (days, clock) = split_days(text)?;
    let whole = clock.split(|&byte| byte == b'.').next()?;
    if whole.is_empty() {
        return Some(Some(days * DAY as u64));
    }
    let mut seconds = 0u64;
    let mut parts = 0;
    for part in whole.split(|&byte| byte == b':') {
        seconds = seconds.checked_mul(60)?.checked_add(number(part)?)?;
        parts += 1;
    }
    if parts > 3 { None } else { Some((days * DAY as u64).checked_add(seconds)) }
}

/// The days and the rest of `1-02:03:04`, `2 days 03:04:05` or `3 days`.
fn split_days(text: &[u8]) -> Option<(u64, &[u8])> {
    const MOST_DAYS: u64 = 1_000_000;
    if let Some(at) = text.iter().position(|&byte| byte == b'-') {
        return Some((number(text.get(..at)?).filter(|&days| days < MOST_DAYS)?, text.get(at + 1..)?));
    }
    let Some(at) = memchr::memmem::find(text, b" day") else { return Some((0, text)) };
    let days = number(text.get(..at)?).filter(|&days| days < MOST_DAYS)?;
    let rest = text.get(at + 4..)?;
    Some((days, rest.strip_prefix(b"s").unwrap_or(rest).trim_ascii()))
}

/// A time limit as the fields and options word it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Seconds.
    Seconds(u64),
    /// `UNLIMITED`, `INFINITE`, `-1`.
    Unlimited,
    /// `Partition_Limit`, empty: none was given.
    NotGiven,
}

impl Limit {
    /// As Slurm keeps it: whole minutes, rounded up.
    pub(crate) fn minutes(self) -> Option<foresite_engine::job::TimeLimit> {
        use foresite_engine::job::TimeLimit;
        match self {
            Self::Seconds(seconds) => {
                Some(TimeLimit::Minutes(u32::try_from(seconds.div_ceil(60)).unwrap_or(u32::MAX - 2)))
            }
            Self::Unlimited => Some(TimeLimit::Unlimited),
            Self::NotGiven => None,
        }
    }
}

fn limit_word(text: &[u8]) -> Option<Limit> {
    match text {
        b"UNLIMITED" | b"INFINITE" | b"unlimited" | b"infinite" | b"Unlimited" | b"-1" | b"4294967295" => {
            Some(Limit::Unlimited)
        }
        b"Partition_Limit" | b"" | b"4294967294" | b"Unknown" | b"None" | b"INVALID" => Some(Limit::NotGiven),
        _ => None,
    }
}

/// TimelimitRaw: minutes.
pub(crate) fn limit_raw(text: &[u8]) -> Option<Limit> {
    limit_word(text).or_else(|| Some(Limit::Seconds(number(text)?.checked_mul(60)?)))
}

/// Timelimit: `[days-]hours:minutes:seconds`.
pub(crate) fn limit_field(text: &[u8]) -> Option<Limit> {
    limit_word(text).or_else(|| elapsed(text)?.map(Limit::Seconds))
}

/// The value of `--time`: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds.
pub(crate) fn limit_option(text: &[u8]) -> Option<Limit> {
    if let Some(limit) = limit_word(text) {
        return Some(limit);
    }
    let (days, clock, units) = match text.iter().position(|&byte| byte == b'-') {
        Some(at) => (number(text.get(..at)?)?, text.get(at + 1..)?, &[3600, 60, 1][..]),
        None if text.iter().filter(|&&byte| byte == b':').count() >= 2 => (0, text, &[3600, 60, 1][..]),
        None => (0, text, &[60, 1][..]),
    };
    let mut seconds = days.checked_mul(DAY as u64)?;
    let mut units = units.iter();
    for part in clock.split(|&byte| byte == b':') {
        seconds = seconds.checked_add(number(part)?.checked_mul(*units.next()?)?)?;
    }
    Some(Limit::Seconds(seconds))
}

#[cfg(test)]
mod tests;
