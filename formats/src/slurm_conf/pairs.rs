//! `Key=Value` pairs of a logical line.

/// One pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// The key as written.
    pub(super) key: String,
    /// The value without its quotes.
    pub(super) value: String,
    /// Where in the line the key begins.
    pub(super) offset: usize,
}

/// What stands where a pair should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stray {
    /// Text that is no pair.
    Text(String, usize),
    /// A key without a value.
    NoValue(String, usize),
    /// `key+=value` and its like.
    Operator(String, usize),
}

/// All pairs of a line and everything that is none. Blanks around `=` are allowed, values may be quoted. O(length).
pub(super) fn pairs(text: &str) -> (Vec<Pair>, Vec<Stray>) {
    let (mut pairs, mut strays) = (Vec::new(), Vec::new());
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let begin = at + (rest.len() - rest.trim_start().len());
        let rest = rest.trim_start();
        if rest.is_empty() {
            return (pairs, strays);
        }
        let key_len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
        let (key, tail) = rest.split_at(key_len);
        let tail_trimmed = tail.trim_start();
        let operator = tail_trimmed.starts_with(['+', '-', '*', '/']) && tail_trimmed.get(1..2) == Some("=");
        let after_operator = if operator { tail_trimmed.get(1..).unwrap_or_default() } else { tail_trimmed };
        let Some(value_part) = after_operator.strip_prefix('=').filter(|_| !key.is_empty()) else {
            let word: String = rest.chars().take_while(|c| !c.is_whitespace()).collect();
            at = begin + word.len();
            strays.push(Stray::Text(word, begin));
            continue;
        };
        let value_part = value_part.trim_start();
        let (value, used) = value_of(value_part);
        at = text.len() - value_part.len() + used;
        if used == 0 {
            strays.push(Stray::NoValue(key.to_owned(), begin));
        } else if operator {
            strays.push(Stray::Operator(key.to_owned(), begin));
        } else {
            pairs.push(Pair { key: key.to_owned(), value: value.to_owned(), offset: begin });
        }
    }
}

/// The value at the start of `text` and how many bytes it takes, quotes included.
fn value_of(text: &str) -> (&str, usize) {
    if let Some(inner) = text.strip_prefix('"')
        && let Some(close) = inner.find('"')
        && inner.get(close + 1..).is_none_or(|after| after.is_empty() || after.starts_with(char::is_whitespace))
    {
        return (inner.get(..close).unwrap_or_default(), close + 2);
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (text.get(..end).unwrap_or_default(), end)
}
