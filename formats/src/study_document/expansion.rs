//! How much a YAML text stands for: aliases let a short one stand for more than any memory holds.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};

/// What aliases may add to any document [bytes and values].
const SLACK: usize = 64 << 10;

/// Reads a text without making anything of it.
///
/// # Errors
/// The text's own faults, and aliases that stand for much more than it has. O(bytes).
pub(super) fn check(text: &str) -> Result<(), serde_norway::Error> {
    // Without aliases it is less than twice the text: `{a,b}` has two values in two bytes, and an escape grows by half.
    let left = Cell::new(text.len().saturating_mul(2).saturating_add(SLACK));
    Count { left: &left }.deserialize(serde_norway::Deserializer::from_str(text))
}

/// Counts down with each value and each byte of a text, however often an alias repeats it.
#[derive(Clone, Copy)]
struct Count<'a> {
    left: &'a Cell<usize>,
}

impl Count<'_> {
    fn take<E: Error>(self, cost: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(cost);
        self.left.set(left.ok_or_else(|| E::custom("the aliases stand for too much; write out what they repeat"))?);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Count<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Count<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.take(1)
    }

    /// There is nothing at all.
    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.take(1)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.take(1)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.take(1)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.take(1)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.take(1)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.take(text.len().saturating_add(1))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        self.take(1)?;
        while values.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        self.take(1)?;
        while entries.next_entry_seed(self, self)?.is_some() {}
        Ok(())
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<(), A::Error> {
        let ((), value) = tagged.variant_seed(self)?;
        value.newtype_variant_seed(self)
    }
}
