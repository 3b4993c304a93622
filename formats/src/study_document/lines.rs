//! Where each value of a document stands, and which keys are given twice.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use saphyr_parser::{Event, Parser};

/// Lines by JSON pointer, and the pointers of repeated keys.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: BTreeMap<String, u64>,
    /// Pointer and line of every key that stood in its mapping already.
    pub(super) repeated: Vec<(String, u64)>,
}

enum Level {
    Sequence { pointer: String, next: usize },
    Mapping { pointer: String, key: Option<String> },
}

impl Lines {
    /// Reads positions from YAML or JSON; what cannot be parsed simply has no line. O(bytes).
    pub(super) fn of(text: &str) -> Self {
        let mut lines = Self::default();
        let mut stack: Vec<Level> = Vec::new();
        for event in Parser::new_from_str(text) {
            let Ok((event, span)) = event else { break };
            let line = span.start.line() as u64;
            match event {
                Event::Scalar(text, ..) => {
                    if let Some(Level::Mapping { pointer, key: key @ None }) = stack.last_mut() {
                        let child = format!("{pointer}/{}", escape(&text));
                        *key = Some(child.clone());
                        lines.place(child, line);
                    } else {
                        lines.child(&mut stack, line);
                    }
                }
                Event::Alias(_) => {
                    lines.child(&mut stack, line);
                }
                Event::SequenceStart(..) => {
                    let pointer = lines.child(&mut stack, line);
                    stack.push(Level::Sequence { pointer, next: 0 });
                }
                Event::MappingStart(..) => {
                    let pointer = lines.child(&mut stack, line);
                    stack.push(Level::Mapping { pointer, key: None });
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
        let mut place = pointer;
        loop {
            if let Some(line) = self.lines.get(place) {
                return Some(*line);
            }
            place = place.rsplit_once('/')?.0;
        }
    }

    fn place(&mut self, pointer: String, line: u64) {
        match self.lines.entry(pointer) {
            Entry::Occupied(entry) => self.repeated.push((entry.key().clone(), line)),
            Entry::Vacant(entry) => {
                entry.insert(line);
            }
        }
    }

    /// The pointer of the value that begins here. A value of a mapping keeps the line of its key.
    fn child(&mut self, stack: &mut [Level], line: u64) -> String {
        match stack.last_mut() {
            Some(Level::Sequence { pointer, next }) => {
                let child = format!("{pointer}/{next}");
                *next += 1;
                self.place(child.clone(), line);
                child
            }
            Some(Level::Mapping { key, .. }) => key.take().unwrap_or_default(),
            None => {
                self.lines.insert(String::new(), line);
                String::new()
            }
        }
    }
}

/// A key as a JSON pointer's segment (RFC 6901).
pub(super) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
