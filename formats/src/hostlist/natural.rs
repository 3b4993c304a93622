//! Node order: names compared with their numbers as numbers.

use std::cmp::Ordering;
use std::iter::Peekable;
use std::str::Bytes;

/// Compares names as slurmctld orders nodes: runs of digits by value, everything else by byte; a run that begins with a
/// zero is compared digit by digit, as a fraction would be. Equal only for equal texts. O(length).
pub fn natural_cmp(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.bytes().peekable(), b.bytes().peekable());
    loop {
        match (left.peek().copied(), right.peek().copied()) {
            (None, None) => return a.cmp(b),
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let order = if x == b'0' || y == b'0' {
                    fraction(&mut left, &mut right)
                } else {
                    number(&mut left, &mut right)
                };
                if order != Ordering::Equal {
                    return order;
                }
            }
            (Some(x), Some(y)) if x != y => return x.cmp(&y),
            _ => {
                left.next();
                right.next();
            }
        }
    }
}

/// Whole numbers: the longer run is the greater, equal runs differ at the first digit that differs.
fn number(left: &mut Peekable<Bytes>, right: &mut Peekable<Bytes>) -> Ordering {
    let mut first_difference = Ordering::Equal;
    loop {
        match (left.next_if(u8::is_ascii_digit), right.next_if(u8::is_ascii_digit)) {
            (None, None) => return first_difference,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(x), Some(y)) => first_difference = first_difference.then(x.cmp(&y)),
        }
    }
}

/// Digits compared from the left; the shorter run is the lesser.
fn fraction(left: &mut Peekable<Bytes>, right: &mut Peekable<Bytes>) -> Ordering {
    loop {
        match (left.next_if(u8::is_ascii_digit), right.next_if(u8::is_ascii_digit)) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(x), Some(y)) if x != y => return x.cmp(&y),
            _ => {}
        }
    }
}
