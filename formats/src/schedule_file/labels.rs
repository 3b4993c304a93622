//! Names that many rows share, each kept once.

use std::collections::HashMap;

/// The place of a name in its [`Labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(pub u32);

/// Names in the order they first occurred.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    names: Vec<String>,
    places: HashMap<String, Label>,
}

impl Labels {
    /// The label of a name, new if need be. O(length).
    pub fn intern(&mut self, name: &str) -> Label {
        if let Some(label) = self.places.get(name) {
            return *label;
        }
        let label = Label(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), label);
        label
    }

    /// The name of a label; empty for a label of other names.
    pub fn name(&self, label: Label) -> &str {
        self.names.get(label.0 as usize).map_or("", String::as_str)
    }

    /// All names, in the order of their labels.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Equal if they give equal labels to equal names.
impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for Labels {}
