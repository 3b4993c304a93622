//! Where each value of a document stands, and which keys are given twice.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use saphyr_parser::{Event, Parser};

use super::faults::FAULTS_MAX;

/// Where values stand, and which keys are repeated. A tree, not a list of pointers, which would be quadratic in the text.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The values in the order of the text, the document first.
    places: Vec<Place>,
    /// The number of a value, by that of the value around it and its own segment of the pointer.
    numbers: BTreeMap<(usize, String), usize>,
    /// Pointer and line of the first [`FAULTS_MAX`] keys that stood in their mapping already.
    pub(super) repeated: Vec<(String, u64)>,
}

#[derive(Debug)]
struct Place {
    around: usize,
    segment: String,
    line: u64,
}

/// The document's own number.
const ROOT: usize = 0;

enum Level {
    Sequence { number: usize, next: usize },
    Mapping { number: usize, key: Option<usize> },
}

impl Lines {
    /// Reads positions from YAML or JSON; what cannot be parsed simply has no line. O(bytes log bytes).
    pub(super) fn of(text: &str) -> Self {
        let mut lines = Self::default();
        let mut stack: Vec<Level> = Vec::new();
        for event in Parser::new_from_str(text) {
            let Ok((event, span)) = event else { break };
            let line = span.start.line() as u64;
            match event {
                Event::Scalar(text, ..) => {
                    if let Some(Level::Mapping { number, key: key @ None }) = stack.last_mut() {
                        *key = Some(lines.place(*number, escape(&text), line));
                    } else {
                        lines.child(&mut stack, line);
                    }
                }
                Event::Alias(_) => {
                    lines.child(&mut stack, line);
                }
                Event::SequenceStart(..) => {
                    let number = lines.child(&mut stack, line);
                    stack.push(Level::Sequence { number, next: 0 });
                }
                Event::MappingStart(..) => {
                    let number = lines.child(&mut stack, line);
                    stack.push(Level::Mapping { number, key: None });
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    stack.pop();
                }
                _ => {}
            }
        }
        lines
    }

    /// The line of a pointer, or of the nearest value around it.
    pub(super) fn line(&self, pointer: &str) -> Option<u64> {
        let mut number = ROOT;
        for segment in pointer.split('/').skip(1) {
            let Some(within) = self.numbers.get(&(number, segment.to_owned())) else { break };
            number = *within;
        }
        self.places.get(number).map(|place| place.line)
    }

    fn place(&mut self, around: usize, segment: String, line: u64) -> usize {
        match self.numbers.entry((around, segment)) {
            Entry::Occupied(entry) => {
                let number = *entry.get();
                if self.repeated.len() < FAULTS_MAX {
                    self.repeated.push((self.pointer(number), line));
                }
                number
            }
            Entry::Vacant(entry) => {
                let number = self.places.len();
                self.places.push(Place { around, segment: entry.key().1.clone(), line });
                *entry.insert(number)
            }
        }
    }

    /// The number of the value that begins here. A value of a mapping keeps the line of its key.
    fn child(&mut self, stack: &mut [Level], line: u64) -> usize {
        match stack.last_mut() {
            Some(Level::Sequence { number, next }) => {
                *next += 1;
                self.place(*number, (*next - 1).to_string(), line)
            }
            Some(Level::Mapping { key, .. }) => key.take().unwrap_or(ROOT),
            None => {
                if self.places.is_empty() {
                    self.places.push(Place { around: ROOT, segment: String::new(), line });
                }
                ROOT
            }
        }
    }

    fn pointer(&self, mut number: usize) -> String {
        let mut segments = Vec::new();
        while let Some(place) = self.places.get(number).filter(|_| number != ROOT) {
            segments.push(place.segment.as_str());
            number = place.around;
        }
        segments.iter().rev().map(|segment| format!("/{segment}")).collect()
    }
}

/// A key as a JSON pointer's segment (RFC 6901).
pub(super) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
