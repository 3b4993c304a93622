//! The value of `--begin` and `--deadline`.

use super::job_id::number;
use super::times::{Clock, Moment};

/// Reads `now+600`, `now+2hours`, `16:00`, `2024-01-20T12:34:00`, `2024-01-20`, `today`, `tomorrow`, `midnight`, `noon`, `teatime`
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
        assert_eq!(read("next blue moon"), None);
        assert_eq!(read("now+99999999999999999999"), None);
    }
}
