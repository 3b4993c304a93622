//! The value of `--begin` and `--deadline`.

use super::job_id::number;
use super::times::{Clock, Moment};

/// Reads `now+600`, `now+2hours`, `16:00`, `4:30PM`, `2024-01-20T12:34:00`, `2024-01-20`, `today`, `tomorrow`, `midnight`, `noon`, `teatime`
/// for a job submitted at `submit` [Unix s]; `None` if it is not understood.
pub(crate) fn begin(value: &[u8], submit: i64, clock: &mut Clock) -> Option<i64> {
    if let Some(rest) = value.strip_prefix(b"now") {
        return match rest.split_first() {
            None => Some(submit),
            Some((b'+', amount)) => submit.checked_add(i64::try_from(span(amount)?).ok()?),
            Some(_) => None,
        };
    }
    let hours = match value {
        b"today" => return Some(submit),
        b"tomorrow" => return clock.tomorrow(submit),
        b"midnight" => Some(0),
        b"elevenses" => Some(11),
        b"noon" => Some(12),
        b"fika" => Some(15),
        b"teatime" => Some(16),
        _ => None,
    };
    if let Some(hours) = hours {
        return clock.next_clock(submit, hours * 3600);
    }
    if let Some((clock_time, is_afternoon)) = half_of_day(value) {
        return clock.next_clock(submit, of_half(time_of_day(clock_time)?, is_afternoon)?);
    }
    match value.len() {
        10 if value.get(4) == Some(&b'-') => written(value, b"T00:00:00", clock),
        16 if value.get(10) == Some(&b'T') => written(value, b":00", clock),
        19 => written(value, b"", clock),
        4..=8 => clock.next_clock(submit, time_of_day(value)?),
        _ => None,
    }
}

fn written(value: &[u8], rest: &[u8], clock: &mut Clock) -> Option<i64> {
    match clock.parse(&[value, rest].concat())? {
        Moment::At(time) => Some(time),
        Moment::Unknown => None,
    }
}

/// `600`, `2hours`, `3days`, `90minutes`, `1week` [s].
fn span(amount: &[u8]) -> Option<u64> {
    let digits = amount.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (count, unit) = amount.split_at_checked(digits)?;
    let unit = match unit {
        b"" | b"second" | b"seconds" | b"s" => 1,
        b"minute" | b"minutes" | b"min" | b"m" => 60,
        b"hour" | b"hours" | b"h" => 3600,
        b"day" | b"days" | b"d" => 86_400,
        b"week" | b"weeks" | b"w" => 604_800,
        _ => return None,
    };
    number(count)?.checked_mul(unit)
}

/// What stands before AM or PM, in large or small letters, and whether it is PM.
fn half_of_day(value: &[u8]) -> Option<(&[u8], bool)> {
    let (clock_time, half) = value.split_at_checked(value.len().checked_sub(2)?)?;
    is_half_of_day(half).then(|| (clock_time.trim_ascii_end(), half.eq_ignore_ascii_case(b"pm")))
}

/// Whether a word says which half of the day a time is in.
pub(super) fn is_half_of_day(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"am") || word.eq_ignore_ascii_case(b"pm")
}

/// A time of day [s after midnight] of which AM or PM was said: 12:30 AM is 0:30, 13:00 PM is none. Source: parse_time.c, `_get_time`.
fn of_half(time: i64, is_afternoon: bool) -> Option<i64> {
    const NOON: i64 = 12 * 3600;
    let in_half = if time >= NOON { time - NOON } else { time };
    (time < NOON + 3600).then_some(if is_afternoon { in_half + NOON } else { in_half })
}

/// `16:00`, `16:00:30` [s after midnight].
fn time_of_day(value: &[u8]) -> Option<i64> {
    let mut parts =
        value.split(|&byte| byte == b':').map(|part| number(part).and_then(|part| i64::try_from(part).ok()));
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    let good =
        (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second) && parts.next().is_none();
    good.then_some(hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn begin_times_are_reckoned_from_the_submission() {
        let mut clock = Clock::new(jiff::tz::TimeZone::UTC);
        let submit = 1_704_067_680; // 2024-01-01T00:08:00
        let mut read = |text: &str| begin(text.as_bytes(), submit, &mut clock).map(|time| time - submit);
        assert_eq!(read("now"), Some(0));
        assert_eq!(read("now+600"), Some(600));
        assert_eq!(read("now+2hours"), Some(7200));
        assert_eq!(read("16:00"), Some(15 * 3600 + 52 * 60));
        assert_eq!(read("00:07"), Some(86_340));
        assert_eq!(read("tomorrow"), Some(86_400 - 480));
        assert_eq!(read("2024-01-01T00:10"), Some(120));
        assert_eq!(read("2024-01-02"), Some(86_400 - 480));
        for (text, hour) in [("4:30 PM", 16), ("4:30pm", 16), ("04:30:00 am", 4), ("12:30PM", 12), ("12:30 AM", 0)] {
            assert_eq!(read(text), Some(hour * 3600 + 22 * 60), "{text}");
        }
        for text in ["13:30 PM", "4 PM", "PM", "next blue moon"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read("now+99999999999999999999"), None);
    }
}
