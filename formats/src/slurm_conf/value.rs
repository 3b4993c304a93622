//! Values of slurm.conf and sacctmgr: times of every shape, memory with units, yes and no.

/// A duration or a limit that may be infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// `INFINITE`, `UNLIMITED` or -1.
    Unlimited,
    /// Seconds.
    Seconds(u64),
}

impl Span {
    /// Whole minutes, seconds rounded up as Slurm does; `None` is unlimited.
    pub(crate) fn minutes(self) -> Option<u32> {
        match self {
            Self::Unlimited => None,
            Self::Seconds(seconds) => Some(u32::try_from(seconds.div_ceil(60)).unwrap_or(u32::MAX)),
        }
    }

    /// Seconds, a year for unlimited and for anything longer than 136 years.
    pub(crate) fn seconds(self) -> u32 {
        match self {
            Self::Unlimited => 365 * 86_400,
            Self::Seconds(seconds) => u32::try_from(seconds).unwrap_or(u32::MAX),
        }
    }
}

/// Reads `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-`, `days-hours`, `days-hours:minutes`,
/// `days-hours:minutes:seconds`, `INFINITE`, `UNLIMITED` or `-1`. A part may exceed its usual range (`0:99`).
pub(crate) fn span(text: &str) -> Option<Span> {
    let text = text.trim();
    if is_unlimited(text) || text == "-1" {
        return Some(Span::Unlimited);
    }
    let part = |text: &str| -> Option<u64> {
        (!text.is_empty() && text.len() <= 10 && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse().ok())
            .flatten()
    };
    let (days, clock) = match text.split_once('-') {
        // Nothing need follow the hyphen (parse_time.c of 22.05.8, `_is_valid_timespec`).
        Some((days, "")) => (Some(part(days)?), "0"),
        Some((days, clock)) => (Some(part(days)?), clock),
        None => (None, text),
    };
    let parts: Vec<u64> = clock.split(':').map(part).collect::<Option<_>>()?;
    let seconds = match (days, parts.as_slice()) {
        (None, [minutes]) => minutes * 60,
        (None, [minutes, seconds]) => minutes * 60 + seconds,
        (None, [hours, minutes, seconds]) => hours * 3600 + minutes * 60 + seconds,
        (Some(days), [hours]) => days * 86_400 + hours * 3600,
        (Some(days), [hours, minutes]) => days * 86_400 + hours * 3600 + minutes * 60,
        (Some(days), [hours, minutes, seconds]) => days * 86_400 + hours * 3600 + minutes * 60 + seconds,
        _ => return None,
    };
    Some(Span::Seconds(seconds))
}

/// Seconds written as Slurm writes a time: `days-hours:minutes:seconds`.
pub(crate) fn span_text(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    format!("{days}-{:02}:{:02}:{:02}", rest / 3600, rest % 3600 / 60, rest % 60)
}

/// Whether the text is one of Slurm's words for no limit.
pub(crate) fn is_unlimited(text: &str) -> bool {
    ["INFINITE", "UNLIMITED"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Reads yes, true, up, 1 and no, false, down, 0.
pub(crate) fn yes_no(text: &str) -> Option<bool> {
    let is = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(["yes", "true", "up", "1"]) {
        Some(true)
    } else if is(["no", "false", "down", "0"]) {
        Some(false)
    } else {
        None
    }
}

/// Reads a whole number of slurm.conf: decimal, hexadecimal (`0x1f`) or octal (`037`), times 1024 with a `k` behind it, whatever its unit
/// is (parse_value.c of 22.05.8).
pub(crate) fn whole(text: &str) -> Option<i64> {
    let text = text.trim();
    let thousands = text.strip_suffix(['k', 'K']);
    let digits = thousands.unwrap_or(text);
    let (based, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (digits.get(2..)?, 16),
        [b'0', _, ..] => (digits.get(1..)?, 8),
        _ => (digits, 10),
    };
    let is_signed = radix != 10 && based.starts_with(['+', '-']);
    let number = if is_signed { None } else { i64::from_str_radix(based, radix).ok() };
    number?.checked_mul(if thousands.is_some() { 1024 } else { 1 })
}

/// The number that a text begins with, as C's `atoi` reads an option of `SchedulerParameters`: whatever follows is not looked at, and
/// without digits it is 0. `None` beyond 64 bits, and for the name of another option (`=bf_interval`).
pub(crate) fn leading(text: &str) -> Option<i64> {
    let text = text.trim();
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text.get(sign..)?.bytes().take_while(u8::is_ascii_digit).count();
    match digits {
        0 if text.starts_with('=') => None,
        0 => Some(0),
        _ => text.get(..sign + digits)?.parse().ok(),
    }
}

/// Reads a memory size of slurm.conf [MB]; a `k` makes it GB. Larger units, which slurmctld would refuse, mean what they say.
pub(crate) fn configured_megabytes(text: &str) -> Option<u64> {
    match whole(text) {
        Some(number) => u64::try_from(number).ok(),
        None => megabytes(text),
    }
}

/// Reads a memory size, fractions allowed, and gives megabytes, rounded down; without unit it is megabytes already.
pub(crate) fn megabytes(text: &str) -> Option<u64> {
    let bytes = scaled_by_unit(text, Some(1024.0 * 1024.0))?;
    Some((bytes / (1024.0 * 1024.0)) as u64)
}

/// Reads a count, fractions allowed, with an optional K, M, G, T, P suffix (powers of 1024), rounded down.
pub(crate) fn count(text: &str) -> Option<u64> {
    scaled_by_unit(text, None).map(|value| value as u64)
}

/// A number times its unit; `plain` is the unit of a bare number.
fn scaled_by_unit(text: &str, plain: Option<f64>) -> Option<f64> {
    let text = text.trim();
    let upper = text.to_ascii_uppercase();
    let body = upper.strip_suffix("IB").or_else(|| upper.strip_suffix('B')).unwrap_or(&upper);
    let (digits, factor) = match body.char_indices().next_back() {
        Some((at, unit)) if unit.is_ascii_alphabetic() => (body.get(..at)?, unit_factor(unit)?),
        _ => (body, plain.unwrap_or(1.0)),
    };
    let number: f64 = digits.parse().ok()?;
    (number.is_finite() && number >= 0.0 && number * factor < 1.0e19).then_some(number * factor)
}

/// 1024 to the power the letter stands for.
pub(crate) fn unit_factor(unit: char) -> Option<f64> {
    let power = "KMGTPE".chars().position(|letter| letter == unit.to_ascii_uppercase())?;
    Some(1024_f64.powi(power as i32 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_every_shape_are_read() {
        let seconds = |text: &str| match span(text) {
            Some(Span::Seconds(seconds)) => seconds as i64,
            Some(Span::Unlimited) => -1,
            None => -2,
        };
        for (text, expected) in [
            ("45", 2700),
            ("10080", 604_800),
            ("20:00", 1200),
            ("2:0:0", 7200),
            ("2-0", 172_800),
            ("30-00:00", 2_592_000),
            ("7-0:00:00", 604_800),
            ("7-0:00:99", 604_899),
            ("0-02:00:00", 7200),
            ("INFINITE", -1),
            ("unlimited", -1),
            ("-1", -1),
            ("", -2),
            ("1:2:3:4", -2),
            ("1-", 86_400),
            ("x", -2),
            ("99999999999999999999", -2),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
        assert_eq!(span_text(90_061), "1-01:01:01");
    }

    #[test]
    fn memory_is_read_with_its_unit() {
        for (text, expected) in [
            ("64000", Some(64_000)),
            ("100G", Some(102_400)),
            ("112.50T", Some(117_964_800)),
            ("512k", Some(0)),
            ("x", None),
            ("-1", None),
        ] {
            assert_eq!(megabytes(text), expected, "{text}");
        }
        assert_eq!(count("4G"), Some(4 << 30));
    }
}
