//! What a parameter's value may be.

use crate::slurm_conf::near::did_you_mean;
use crate::slurm_conf::value::{Span, configured_megabytes, is_unlimited, span, span_text, whole, yes_no};

/// The shape of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number in a range.
    Integer {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
    },
    /// The same inside an option list, where C's `atoi` reads it: decimal digits and nothing else.
    Option {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
    },
    /// A whole number from 0, or `UNLIMITED`.
    Count,
    /// The same, of 65,533 at the most.
    ShortCount,
    /// Slurm's time: minutes, or `[days-]hours:minutes:seconds` and its short forms, or `UNLIMITED`.
    Time,
    /// Memory in megabytes.
    Megabytes,
    /// An option that is there or not; `set` takes true and false.
    Flag,
    /// YES or NO.
    YesNo,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A comma list of these words.
    ListOf(&'static [&'static str]),
    /// `name=weight` pairs of trackable resources.
    TresWeights,
    /// Anything.
    Text,
}

impl Kind {
    /// A whole number from 0.
    pub(super) const NATURAL: Self = Self::Integer { min: 0, max: u32::MAX as i64 };

    /// Whether a value is allowed.
    ///
    /// # Errors
    /// A clause that says what it should be.
    pub fn check(&self, value: &str) -> Result<(), String> {
        let wrong = |expected: &str| Err(format!("'{}' is not {expected}", brief(value)));
        match *self {
            // The parser takes these words for the largest number there is (parse_value.c of 22.05.8).
            Self::Integer { .. } if is_unlimited(value) => Ok(()),
            Self::Integer { min, max } => match whole(value) {
                Some(number) if (min..=max).contains(&number) => Ok(()),
                Some(_) => Err(format!("{} is not between {min} and {max}", brief(value))),
                None => wrong(&format!("a whole number between {min} and {max}")),
            },
            Self::Option { min, max } => match value.parse::<i64>() {
                Ok(number) if (min..=max).contains(&number) => Ok(()),
                Ok(_) => Err(format!("{} is not between {min} and {max}", brief(value))),
                Err(_) => wrong(&format!("a whole number between {min} and {max}")),
            },
            Self::Count if is_unlimited(value) || whole(value).is_some_and(|number| u32::try_from(number).is_ok()) => {
                Ok(())
            }
            Self::Count => wrong("a whole number or UNLIMITED"),
            Self::ShortCount
                if is_unlimited(value) || whole(value).is_some_and(|number| (0..=65_533).contains(&number)) =>
            {
                Ok(())
            }
            Self::ShortCount => wrong("a whole number up to 65533 or UNLIMITED"),
            Self::Time if span(value).is_some() || value.eq_ignore_ascii_case("NONE") => Ok(()),
            Self::Time => wrong("a time (minutes, hours:minutes:seconds, days-hours:minutes:seconds or UNLIMITED)"),
            Self::Megabytes if is_unlimited(value) || configured_megabytes(value).is_some() => Ok(()),
            Self::Megabytes => wrong("a memory size in MB"),
            Self::Flag | Self::YesNo if yes_no(value).is_some() => Ok(()),
            Self::Flag => wrong("true or false"),
            Self::YesNo => wrong("YES or NO"),
            Self::OneOf(words) => check_word(value, words),
            Self::ListOf(words) => value
                .split(',')
                .filter(|word| !word.trim().is_empty())
                .try_for_each(|word| check_word(word.trim(), words)),
            Self::TresWeights => weights(value).map(|_| ()),
            Self::Text => Ok(()),
        }
    }

    /// Whether two values mean the same, however they are written.
    pub(crate) fn same(&self, one: &str, other: &str) -> bool {
        fn equal<T: PartialEq>(read: impl Fn(&str) -> Option<T>, one: &str, other: &str) -> bool {
            read(one).is_some_and(|value| read(other) == Some(value))
        }
        one.eq_ignore_ascii_case(other)
            || match self {
                Self::Integer { .. } | Self::Count | Self::ShortCount => equal(whole, one, other),
                Self::Option { .. } => equal(|text| text.parse::<i64>().ok(), one, other),
                Self::Time => equal(span, one, other),
                Self::Megabytes => equal(configured_megabytes, one, other),
                Self::Flag | Self::YesNo => equal(yes_no, one, other),
                _ => false,
            }
    }

    /// The value multiplied by `factor`, rounded to what the kind can hold.
    ///
    /// # Errors
    /// A clause: not a number, off, unlimited, or out of range afterwards.
    pub fn scaled(&self, value: &str, factor: f64) -> Result<String, String> {
        if !(factor.is_finite() && factor >= 0.0) {
            return Err(format!("the factor {factor} is not a number from 0"));
        }
        let unchanged =
            |reason: &str| Err(format!("its value {} {reason}, so that scaling changes nothing", brief(value)));
        let scaled = match *self {
            Self::Integer { .. } | Self::Count | Self::ShortCount | Self::Megabytes if is_unlimited(value) => {
                return unchanged("is unlimited");
            }
            // What is out of range is not in force.
            Self::Option { .. } => match value.parse::<i64>() {
                Ok(0) => return unchanged("is zero"),
                Ok(number) if number < 0 => return unchanged("means 'off'"),
                Ok(number) if self.check(value).is_ok() => format!("{}", (number as f64 * factor).round()),
                _ => return unchanged("is not one that slurmctld takes"),
            },
            Self::Integer { .. } | Self::Count | Self::ShortCount => match whole(value) {
                Some(0) => return unchanged("is zero"),
                Some(number) if number < 0 => return unchanged("means 'off'"),
                Some(number) => format!("{}", (number as f64 * factor).round()),
                None => return Err(format!("'{}' is not a number", brief(value))),
            },
            Self::Megabytes => match configured_megabytes(value) {
                Some(0) | None => return unchanged("is zero"),
                Some(size) => format!("{}", (size as f64 * factor).round()),
            },
            Self::Time => match span(value) {
                Some(Span::Unlimited) => return unchanged("is unlimited"),
                Some(Span::Seconds(0)) | None => return unchanged("is zero"),
                Some(Span::Seconds(seconds)) => span_text((seconds as f64 * factor).round() as u64),
            },
            Self::TresWeights => {
                let weights = weights(value)?;
                let scale = |(name, weight, unit): &(String, f64, String)| format!("{name}={}{unit}", weight * factor);
                weights.iter().map(scale).collect::<Vec<_>>().join(",")
            }
            _ => return Err("it is not a number".to_owned()),
        };
        self.check(&scaled)?;
        Ok(scaled)
    }
}

/// `name=weight[unit]` pairs of a list.
pub(crate) fn weights(value: &str) -> Result<Vec<(String, f64, String)>, String> {
    value.split(',').map(str::trim).filter(|item| !item.is_empty()).map(weight).collect()
}

fn weight(item: &str) -> Result<(String, f64, String), String> {
    let wrong = || format!("'{}' is not name=weight", brief(item));
    let (name, value) = item.rsplit_once('=').ok_or_else(wrong)?;
    let digits = value.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let unit = value.get(digits.len()..).unwrap_or_default();
    let number: f64 = digits.parse().map_err(|_| wrong())?;
    if name.is_empty()
        || !number.is_finite()
        || unit.len() > 1
        || !unit.chars().all(|letter| "KMGTPEkmgtpe".contains(letter))
    {
        return Err(wrong());
    }
    Ok((name.to_owned(), number, unit.to_owned()))
}

fn check_word(value: &str, words: &[&'static str]) -> Result<(), String> {
    // YES:4, FORCE:2 and IDLE+DRAIN-like suffixes are judged where they are read.
    let word = value.split(':').next().unwrap_or(value);
    if words.iter().any(|known| known.eq_ignore_ascii_case(word)) {
        return Ok(());
    }
    let known = format!("known are {}", words.join(", "));
    Err(format!("'{}' is unknown; {}", brief(value), did_you_mean(word, words.iter().copied(), &known)))
}

fn brief(value: &str) -> String {
    match value.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", value.get(..at).unwrap_or_default()),
        None => value.to_owned(),
    }
}
