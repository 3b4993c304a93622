//! From bytes to logical lines, as slurmctld reads them: comments cut first, then lines joined, then escapes removed.

/// A line of the file with its continuations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The text without comments, backslashes and line ends.
    pub(super) text: String,
    /// Where in `text` each physical line begins, and its 1-based number.
    pieces: Vec<(usize, u64)>,
    /// A comment that touches the value before it, if any: text and line.
    pub(super) glued_comment: Option<(String, u64)>,
}

impl Line {
    /// The physical line of a position in the text.
    pub(super) fn number_at(&self, offset: usize) -> u64 {
        self.pieces.iter().rev().find(|(start, _)| *start <= offset).map_or(1, |(_, number)| *number)
    }
}

/// All logical lines that hold anything. O(bytes).
pub(super) fn logical_lines(bytes: &[u8]) -> Vec<Line> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut lines = Vec::new();
    let mut current = Line { text: String::new(), pieces: Vec::new(), glued_comment: None };
    for (physical, number) in text.split('\n').zip(1_u64..) {
        let (content, comment) = split_comment(physical.trim_end_matches('\r'));
        current.pieces.push((current.text.len(), number));
        if let Some(comment) = comment
            && content.ends_with(|character: char| !character.is_whitespace() && character != '=')
            && comment.starts_with(|character: char| !character.is_whitespace() && character != '#')
        {
            current.glued_comment.get_or_insert((comment.to_owned(), number));
        }
        let (content, continues) = strip_continuation(content);
        push_unescaped(content, &mut current.text);
        if !continues {
            if !current.text.trim().is_empty() {
                lines.push(current);
            }
            current = Line { text: String::new(), pieces: Vec::new(), glued_comment: None };
        }
    }
    if !current.text.trim().is_empty() {
        lines.push(current);
    }
    lines
}

/// Cuts at the first `#` that no backslash escapes.
fn split_comment(line: &str) -> (&str, Option<&str>) {
    let mut escaped = false;
    for (at, character) in line.char_indices() {
        match character {
            '#' if !escaped => return (line.get(..at).unwrap_or(line), line.get(at + 1..)),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    (line, None)
}

/// An odd number of backslashes at the end, blanks after them allowed, joins the next line.
fn strip_continuation(line: &str) -> (&str, bool) {
    let trimmed = line.trim_end();
    let backslashes = trimmed.bytes().rev().take_while(|&byte| byte == b'\\').count();
    match trimmed.strip_suffix('\\') {
        Some(joined) if backslashes % 2 == 1 => (joined, true),
        _ => (line, false),
    }
}

fn push_unescaped(text: &str, out: &mut String) {
    let mut escaped = false;
    for character in text.chars() {
        if character == '\\' && !escaped {
            escaped = true;
            continue;
        }
        escaped = false;
        out.push(character);
    }
}
