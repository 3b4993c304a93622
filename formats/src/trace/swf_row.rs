//! A line of the Standard Workload Format, cut into what is read of it.

use super::job_id::number;

/// Fields that every line must have (the last two are sometimes left out with their separators).
pub(super) const FIELDS: usize = 18;
/// Numbers beyond this are no times or counts.
const LARGEST: f64 = 1e12;

/// What is read of a line.
pub(super) struct Row<'l> {
    pub(super) id: u64,
    /// Submit, wait and run time, allocated and requested processors, requested time and memory, status.
    pub(super) values: [f64; 8],
    pub(super) user: Name<'l>,
    pub(super) group: Name<'l>,
    pub(super) preceding: Name<'l>,
    /// Semicolons part the fields.
    pub(super) semicolons: bool,
}

/// A field that may be text.
#[derive(Clone, Copy)]
pub(super) enum Name<'l> {
    Number(i64),
    Text(&'l [u8]),
}

impl Row<'_> {
    /// The row of a line of [`FIELDS`] whole numbers between blanks, written without needless zeros, as most are; `None` for any other
    /// line, which may be right all the same.
    pub(super) fn of_numbers(line: &[u8]) -> Option<Self> {
        let mut values = [0i64; FIELDS];
        let mut rest = line;
        for value in &mut values {
            (*value, rest) = leading_number(rest)?;
        }
        let [
            id,
            submit,
            wait,
            run,
            allocated,
            _,
            _,
            requested,
            time,
            memory,
            status,
            user,
            group,
            _,
            _,
            _,
            preceding,
            _,
        ] = values;
        let id = u64::try_from(id).ok().filter(|_| rest.is_empty())?;
        let values = [submit, wait, run, allocated, requested, time, memory, status].map(|value| value as f64);
        Some(Self {
            id,
            values,
            user: Name::Number(user),
            group: Name::Number(group),
            preceding: Name::Number(preceding),
            semicolons: false,
        })
    }
}

/// A whole number of at most twelve digits, so that it is below [`LARGEST`], and what comes after it and the blanks behind it.
fn leading_number(text: &[u8]) -> Option<(i64, &[u8])> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let mut value = 0i64;
    let mut length = 0;
    while let Some(digit) = digits.get(length).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
        length += 1;
    }
    let is_padded = digits.first() == Some(&b'0') && (negative || length > 1);
    if !(1..=12).contains(&length) || is_padded {
        return None;
    }
    let rest = digits.get(length..)?;
    let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let rest = rest.get(blanks..).filter(|rest| blanks > 0 || rest.is_empty())?;
    Some((if negative { -value } else { value }, rest))
}

/// A job's number, also with an exponent (`1e+05`, which R writes for 100000).
pub(super) fn job_number(text: &[u8]) -> Option<u64> {
    number(text).or_else(|| real(text).filter(|value| *value >= 0.0 && value.fract() == 0.0).map(|value| value as u64))
}

/// A decimal number, perhaps negative, with a fraction or an exponent, of no absurd size.
pub(super) fn real(text: &[u8]) -> Option<f64> {
    if text == b"-1" {
        return Some(-1.0);
    }
    if let Some(number) = number(text) {
        return Some(number as f64).filter(|&value| value < LARGEST);
    }
    let plain = !text.is_empty()
        && text.len() <= 24
        && text.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'+' | b'e' | b'E'));
    let value: f64 = std::str::from_utf8(text).ok().filter(|_| plain)?.parse().ok()?;
    (value.abs() < LARGEST).then_some(value)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    fn field() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => (-2i64..100).prop_map(|number| number.to_string()),
            2 => any::<i64>().prop_map(|number| number.to_string()),
            1 => "[-+]?[0-9]{1,14}([.][0-9]{1,2})?(e[0-9])?",
        ]
    }

    proptest! {
        #[test]
        fn whole_numbers_are_what_their_fields_say(fields in prop::collection::vec(field(), FIELDS - 1..FIELDS + 2), blank in " {1,3}|\t") {
            let line = fields.join(&blank);
            let Some(row) = Row::of_numbers(line.as_bytes()) else { return Ok(()) };
            prop_assert_eq!(fields.len(), FIELDS);
            prop_assert_eq!(Some(row.id), job_number(fields[0].as_bytes()));
            for (value, index) in row.values.into_iter().zip([1, 2, 3, 4, 7, 8, 9, 10]) {
                prop_assert_eq!(Some(value), real(fields[index].as_bytes()));
            }
            for (name, index) in [(row.user, 11), (row.group, 12), (row.preceding, 16)] {
                prop_assert!(matches!(name, Name::Number(number) if number.to_string() == fields[index]));
            }
        }
    }

    #[test]
    fn only_lines_of_eighteen_plain_numbers_are_cut_at_once() {
        let line = "1 0 5 60 4 -1 -1 4 120 -1 1 3 -1 -1 1 -1 -1 -1";
        assert!(Row::of_numbers(line.as_bytes()).is_some());
        for other in ["", "-", "-1", "01", "+1", "1.0", "1e3", "-0", "x", "1000000000000"] {
            let line = line.replace("120", other);
            assert!(Row::of_numbers(line.as_bytes()).is_none() != (other == "-1"), "{line}");
        }
        assert!(Row::of_numbers(format!("{line} 7").as_bytes()).is_none());
        assert!(Row::of_numbers(format!("-{line}").as_bytes()).is_none());
    }
}
