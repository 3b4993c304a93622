//! Small values of the document that people write as text: durations, moments, settings, thresholds.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::slurm_conf::value;

/// A duration in whole seconds, written `90`, `60s`, `5m`, `12h`, `7d` or `2w`, or as Slurm writes one (`02:00:00`, `1-00:00:00`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub u64);

const UNITS: [(&str, u64); 5] = [("w", 604_800), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        // A bare number is seconds here and minutes in Slurm's words: those need two colons or a day.
        let is_clock = text.contains('-') || text.matches(':').count() == 2;
        if let Some(value::Span::Seconds(seconds)) = value::span(text).filter(|_| is_clock) {
            return Ok(Self(seconds));
        }
        let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let unit = text.get(digits.len()..).unwrap_or_default();
        let factor = if unit.is_empty() { Some(1) } else { UNITS.iter().find(|(name, _)| *name == unit).map(|u| u.1) };
        let number: Option<u64> = digits.trim().parse().ok();
        number
            .zip(factor)
            .and_then(|(number, factor)| number.checked_mul(factor))
            .filter(|seconds| *seconds <= i64::MAX as u64 / 4)
            .map(Self)
            .ok_or_else(|| {
                format!("`{text}` is not a duration; write a number and s, m, h, d or w, such as 7d, or 1-00:00:00")
            })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = UNITS.iter().find(|(_, factor)| self.0 != 0 && self.0.is_multiple_of(*factor)).unwrap_or(&("s", 1));
        write!(f, "{}{}", self.0 / unit.1, unit.0)
    }
}

/// A duration of which it is known whether it was written without a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// The duration.
    pub span: Span,
    /// It is a bare number: seconds, which who knows scontrol takes for minutes.
    pub is_bare: bool,
}

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_bare = text.trim().bytes().all(|letter| letter.is_ascii_digit());
        Ok(Self { span: text.parse()?, is_bare })
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.span.fmt(f)
    }
}

/// A moment: `2026-01-31`, `2026-01-31T12:00:00`, the same with an offset, or Unix seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Unix seconds.
    Unix(i64),
    /// A local date and time, in the trace's time zone.
    Civil(DateTime),
}

impl Moment {
    /// The moment in Unix seconds, local times read in `zone` (a time skipped or doubled by a clock change: the earlier reading
    /// rules of RFC 5545).
    pub fn unix_seconds(self, zone: &TimeZone) -> i64 {
        match self {
            Self::Unix(seconds) => seconds,
            Self::Civil(civil) => zone.to_ambiguous_timestamp(civil).compatible().map_or(i64::MAX, |at| at.as_second()),
        }
    }
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(seconds) = text.parse::<i64>() {
            return Ok(Self::Unix(seconds));
        }
        if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
            return Ok(Self::Unix(timestamp.as_second()));
        }
        if let Ok(civil) = text.parse::<DateTime>() {
            return Ok(Self::Civil(civil));
        }
        text.parse::<Date>()
            .map(|date| Self::Civil(date.at(0, 0, 0, 0)))
            .map_err(|_| format!("`{text}` is not a moment; write 2026-01-31, 2026-01-31T12:00:00 or Unix seconds"))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(seconds) => write!(f, "{seconds}"),
            Self::Civil(civil) => write!(f, "{civil}"),
        }
    }
}

/// The value of a parameter; numbers and booleans are taken as they would be written in slurm.conf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting(pub String);

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How far a metric may move: `5%` of the baseline, a duration, or a bare number in the metric's own unit (seconds, jobs).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// Per cent of the baseline's value.
    Percent(f64),
    /// Seconds.
    Seconds(f64),
    /// A bare number: seconds, or jobs.
    Number(f64),
}

impl Threshold {
    fn of(text: &str, span: Span) -> Self {
        let is_bare = text.bytes().all(|letter| letter.is_ascii_digit());
        if is_bare { Self::Number(span.0 as f64) } else { Self::Seconds(span.0 as f64) }
    }

    /// The allowed change for a baseline of `value`, in the metric's own unit.
    pub fn allowance(self, value: f64) -> f64 {
        match self {
            Self::Percent(percent) => value.abs() * percent / 100.0,
            Self::Seconds(number) | Self::Number(number) => number,
        }
    }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        match percent {
            Some(percent) if percent.is_finite() && percent >= 0.0 => Ok(Self::Percent(percent)),
            _ => text.parse::<Span>().map(|span| Self::of(text, span)).map_err(|_| {
                format!("`{text}` is not a threshold; write per cent such as 5%, a duration such as 60s, or a number of jobs")
            }),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percent(percent) => write!(f, "{percent}%"),
            Self::Seconds(seconds) => write!(f, "{}", Span(*seconds as u64)),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

struct Text<T>(std::marker::PhantomData<T>);

impl<T: FromStr<Err = String>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, number or boolean")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<T, E> {
        self.visit_str(if value { "true" } else { "false" })
    }
}

macro_rules! as_text {
    ($($name:ident),+) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Text(std::marker::PhantomData))
            }
        }
    )+};
}

as_text!(Span, Length, Moment, Setting, Threshold);
