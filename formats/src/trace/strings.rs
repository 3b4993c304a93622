//! Interned text: every name of a trace is stored once and compared by number.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::maps::Map;

/// A text of a [`Strings`] table. `Symbol(0)` is the empty text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Symbol(pub u32);

impl Symbol {
    /// The empty text.
    pub const EMPTY: Self = Self(0);

    /// Whether the text is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The position in the table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The texts of a trace, in the order of their first use.
#[derive(Clone, Debug)]
pub struct Strings {
    texts: Vec<Arc<str>>,
    index: Map<Arc<str>, Symbol>,
}

impl Default for Strings {
    fn default() -> Self {
        let empty: Arc<str> = Arc::from("");
        Self { texts: vec![Arc::clone(&empty)], index: Map::from_iter([(empty, Symbol::EMPTY)]) }
    }
}

impl Strings {
    /// The symbol of a text; bytes that are no UTF-8 are replaced. O(length); allocates only on first use.
    pub fn intern(&mut self, text: &[u8]) -> Symbol {
        if text.is_empty() {
            return Symbol::EMPTY;
        }
        let text = String::from_utf8_lossy(text);
        if let Some(&symbol) = self.index.get(&*text) {
            return symbol;
        }
        let symbol = Symbol(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let text: Arc<str> = Arc::from(&*text);
        self.texts.push(Arc::clone(&text));
        self.index.insert(text, symbol);
        symbol
    }

    /// The text of a symbol; empty for a symbol of another table.
    pub fn text(&self, symbol: Symbol) -> &str {
        self.texts.get(symbol.index()).map_or("", |text| text)
    }

    /// Every text, in the order of their symbols.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }

    /// How many texts there are, the empty one included.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Never true: the empty text is always there.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
