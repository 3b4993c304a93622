//! `n[1-3]` to `n1`, `n2`, `n3`.

use thiserror::Error;

/// Why a hostlist cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostlistError {
    /// A bracket without its partner.
    #[error("'{0}' has an unbalanced bracket")]
    Unbalanced(String),
    /// Something in brackets that is no number and no range.
    #[error("'{0}' is neither a number nor a range of numbers")]
    BadRange(String),
    /// A range that runs downwards.
    #[error("the range '{0}' runs downwards")]
    Downwards(String),
    /// A name that is empty.
    #[error("'{0}' holds an empty name")]
    EmptyName(String),
    /// More names than the caller allows.
    #[error("'{list}' stands for more than {limit} names")]
    TooMany {
        /// The hostlist.
        list: String,
        /// The limit.
        limit: usize,
    },
    /// A name longer than 256 bytes.
    #[error("a name in the hostlist is longer than 256 bytes")]
    TooLong,
    /// Brackets within brackets within brackets.
    #[error("brackets are nested too deeply")]
    TooDeep,
}

/// All names a hostlist stands for, in the order written; duplicates stay.
/// Brackets may stand anywhere in a name, several times and within one another (`n[1-2]s[0-3]`, `r[1,2i[0-1]]`).
/// O(names); at most `limit` names are ever held.
///
/// # Errors
/// [`HostlistError`] names the part that cannot be read; too many names are refused before they are made.
pub fn expand(list: &str, limit: usize) -> Result<Vec<String>, HostlistError> {
    let mut names = Vec::new();
    for item in split_top_level(list)? {
        if item.is_empty() {
            continue;
        }
        expand_item(item, limit - names.len().min(limit), 0, &mut names).map_err(|error| match error {
            HostlistError::TooMany { .. } => HostlistError::TooMany { list: shortened(list), limit },
            other => other,
        })?;
    }
    Ok(names)
}

/// The items of a comma list, not splitting inside brackets.
///
/// # Errors
/// [`HostlistError::Unbalanced`].
pub fn split_top_level(list: &str) -> Result<Vec<&str>, HostlistError> {
    let unbalanced = || HostlistError::Unbalanced(shortened(list));
    let mut items = Vec::new();
    let (mut depth, mut start) = (0_u32, 0);
    for (at, character) in list.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1).ok_or_else(unbalanced)?,
            ',' if depth == 0 => {
                items.push(list.get(start..at).unwrap_or_default().trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if depth != 0 {
        return Err(unbalanced());
    }
    items.push(list.get(start..).unwrap_or_default().trim());
    Ok(items)
}

fn expand_item(item: &str, room: usize, depth: u32, names: &mut Vec<String>) -> Result<(), HostlistError> {
    if depth > 4 {
        return Err(HostlistError::TooDeep);
    }
    let mut partial = vec![String::new()];
    let mut rest = item;
    while let Some(open) = rest.find('[') {
        let (literal, tail) = rest.split_at(open);
        let close = matching_bracket(tail).ok_or_else(|| HostlistError::Unbalanced(shortened(item)))?;
        let inside = tail.get(1..close).unwrap_or_default();
        rest = tail.get(close + 1..).unwrap_or_default();
        let choices = choices(inside, room, depth)?;
        if partial.len().saturating_mul(choices.len()) > room {
            return Err(HostlistError::TooMany { list: String::new(), limit: room });
        }
        let mut next = Vec::with_capacity(partial.len() * choices.len());
        for prefix in &partial {
            for choice in &choices {
                let name = format!("{prefix}{literal}{choice}");
                if name.len() > 256 {
                    return Err(HostlistError::TooLong);
                }
                next.push(name);
            }
        }
        partial = next;
    }
    if partial.len() > room {
        return Err(HostlistError::TooMany { list: String::new(), limit: room });
    }
    for mut name in partial {
        name.push_str(rest);
        if name.is_empty() {
            return Err(HostlistError::EmptyName(shortened(item)));
        }
        if name.len() > 256 {
            return Err(HostlistError::TooLong);
        }
        names.push(name);
    }
    Ok(())
}

/// What one pair of brackets stands for.
fn choices(inside: &str, room: usize, depth: u32) -> Result<Vec<String>, HostlistError> {
    let mut choices = Vec::new();
    for part in split_top_level(inside)? {
        if part.contains('[') {
            expand_item(part, room - choices.len().min(room), depth + 1, &mut choices)?;
            continue;
        }
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let bad = || HostlistError::BadRange(shortened(part));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(low) || !is_number(high) {
            return Err(bad());
        }
        let (first, last): (u64, u64) = (low.parse().map_err(|_| bad())?, high.parse().map_err(|_| bad())?);
        if last < first {
            return Err(HostlistError::Downwards(shortened(part)));
        }
        if last - first >= (room - choices.len().min(room)) as u64 {
            return Err(HostlistError::TooMany { list: String::new(), limit: room });
        }
        // The lower bound's width is the width of all: n[08-10] is n08, n09, n10.
        choices.extend((first..=last).map(|number| format!("{number:0width$}", width = low.len())));
    }
    Ok(choices)
}

/// The position of the bracket that closes the one `text` begins with.
fn matching_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The first part of a text, for a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
