//! Names close to one that is unknown, for messages.

/// How many names are looked at.
const MAX_CANDIDATES: usize = 20_000;

/// At most three of `known`, nearest first, whose edit distance from `name` (letter case ignored) is small.
/// O(known × length²).
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name = shortened(name);
    let allowed = (name.chars().count() / 3).clamp(1, 4);
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .take(MAX_CANDIDATES)
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= allowed + 8)
        .map(|candidate| (distance(&name, &shortened(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    near.sort();
    near.dedup();
    near.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// `did you mean 'a' or 'b'?`, or `otherwise` where nothing is near.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    let near = nearest(name, known);
    if near.is_empty() {
        return otherwise.to_owned();
    }
    let quoted: Vec<String> = near.iter().map(|candidate| format!("'{candidate}'")).collect();
    format!("did you mean {}?", quoted.join(" or "))
}

/// Long names are compared by their beginning, so that a hostile one costs little.
fn shortened(name: &str) -> String {
    name.chars().take(64).flat_map(char::to_lowercase).collect()
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, x) in a.chars().enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let next = (diagonal + usize::from(x != *y)).min(left + 1).min(*cell + 1);
            diagonal = *cell;
            left = next;
            *cell = next;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transposition_and_a_lost_letter_are_near() {
        let known = ["max_rpc_cnt", "bf_max_job_user", "bf_max_job_part", "defer"];
        assert_eq!(nearest("max_prc_cnt", known), ["max_rpc_cnt"]);
        assert_eq!(nearest("bf_max_jobs_user", known), ["bf_max_job_user"]);
        assert!(nearest("colour", known).is_empty());
        assert_eq!(did_you_mean("Defr", known, ""), "did you mean 'defer'?");
    }
}
