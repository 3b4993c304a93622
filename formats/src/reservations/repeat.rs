//! The occurrences of a recurring reservation, by the local clock.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::Repeat;

/// No more occurrences than this are made (a year of hours, thirty years of days).
const OCCURRENCES_MAX: usize = 10_000;
const HOUR: i64 = 3600;

/// Occurrences [Unix s, half open] that touch `horizon`, ascending and without overlap. One that would begin while the
/// one before lasts is left out, as a reservation is advanced only when it has ended. O(occurrences).
pub(super) fn occurrences(first: (i64, i64), repeat: Repeat, horizon: (i64, i64), zone: &TimeZone) -> Vec<(i64, i64)> {
    let (start, end) = first;
    let length = end - start;
    let (from, to) = (horizon.0.saturating_sub(length), horizon.1);
    let mut windows: Vec<(i64, i64)> = Vec::new();
    let mut add = |begin: i64| {
        let after_last = windows.last().is_none_or(|&(_, end)| begin >= end);
        if begin > from && begin <= to && after_last {
            windows.push((begin, begin + length));
        }
        windows.len() < OCCURRENCES_MAX
    };
    if repeat == Repeat::Hourly {
        let mut begin = start + (from - start).div_euclid(HOUR) * HOUR;
        while begin <= to && add(begin) {
            begin += HOUR;
        }
        return windows;
    }
    let local = |at: i64| Timestamp::from_second(at).ok().map(|at| at.to_zoned(zone.clone()));
    let (Some(base), Some(earliest)) = (local(start), local(from)) else { return vec![first] };
    let mut day = earliest.date();
    loop {
        if falls_on(day, base.date(), repeat) {
            let begin = zone.to_ambiguous_timestamp(day.to_datetime(base.time())).compatible();
            match begin.map(|begin| begin.as_second()) {
                Ok(begin) if begin <= to => {
                    if !add(begin) {
                        return windows;
                    }
                }
                _ => return windows,
            }
        }
        match day.checked_add(1.day()) {
            Ok(next) => day = next,
            Err(_) => return windows,
        }
    }
}

fn falls_on(day: Date, first: Date, repeat: Repeat) -> bool {
    let is_weekend = matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
    match repeat {
        Repeat::Hourly | Repeat::Daily => true,
        Repeat::Weekday => !is_weekend,
        Repeat::Weekend => is_weekend,
        Repeat::Weekly => day.weekday() == first.weekday(),
    }
}
