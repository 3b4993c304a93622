//! Which values of a parameter have an effect that is not reproduced.

use super::Parameter;

/// Values that say "nothing of the kind" wherever they stand.
const NOTHING: [&str; 6] = ["", "none", "(null)", "no", "false", "off"];

impl Parameter {
    /// Whether a value of a parameter that is not modelled is as good as none: the default, or a word for nothing.
    pub(crate) fn is_void(&self, value: &str, default: &str) -> bool {
        self.kind.same(value, default)
            || value.ends_with("/none")
            || NOTHING.iter().any(|word| value.eq_ignore_ascii_case(word))
    }

    /// The words of a value that are not reproduced, each with what happens instead, in the table's order.
    pub(crate) fn left_out_words(&self, value: &str) -> Vec<(&'static str, &'static str)> {
        let words: Vec<&str> = value.split(',').map(str::trim).collect();
        let is_there = |name: &str| {
            words.iter().any(|word| word.split(':').next().is_some_and(|word| word.eq_ignore_ascii_case(name)))
        };
        self.words_left_out.iter().copied().filter(|(name, _)| is_there(name)).collect()
    }

    /// Why a change from one value to another would show nothing, or not the whole of it: the word and what happens
    /// instead. `None` where all of the change is reproduced.
    pub(crate) fn unseen_change(&self, from: &str, to: &str) -> Option<(&'static str, &'static str)> {
        let (before, after) = (self.left_out_words(from), self.left_out_words(to));
        let is_list = !matches!(self.kind, super::Kind::OneOf(_));
        if is_list {
            let only_after = after.iter().find(|word| !before.contains(word));
            return only_after.or_else(|| before.iter().find(|word| !after.contains(word))).copied();
        }
        // A word left out counts as the default: from there to the default is no step, to any other value it is one.
        let to_default = self.kind.same(to, self.default);
        after.first().or_else(|| before.first().filter(|_| to_default)).copied()
    }
}
