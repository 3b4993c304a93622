//! Inputs near those of a corpus, the same for the same seed.

/// Words that parsers trip over.
const WORDS: [&str; 30] = [
    "0",
    "-1",
    "4294967296",
    "18446744073709551616",
    "99999999999999999999999",
    "1e308",
    "NaN",
    "INFINITE",
    "UNLIMITED",
    "(null)",
    "[0-999999999999]",
    "[",
    "]",
    "]]",
    "n[1-3,",
    "a[1-2][3-4][5-6]",
    "\0",
    "\u{fffd}",
    "|",
    "||",
    "=",
    ",",
    "\n",
    "\r\n",
    "\\\n",
    "#",
    "1-00:00:00",
    "2026-02-30T25:61:61",
    "Include slurm.conf\n",
    "DEFAULT",
];

/// An endless source of inputs.
pub(crate) struct Mutator<'a> {
    state: u64,
    corpus: &'a [Vec<u8>],
}

impl<'a> Mutator<'a> {
    pub(crate) fn new(seed: u64, corpus: &'a [Vec<u8>]) -> Self {
        Self { state: seed, corpus }
    }

    /// SplitMix64, below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }

    /// A file of the corpus with one to eight changes.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        let mut input = self.corpus[self.below(self.corpus.len())].clone();
        for _ in 0..=self.below(8) {
            self.change(&mut input);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let end = (at + 1 + self.below(40)).min(input.len());
        match self.below(8) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.below(256) as u8,
            2 => drop(input.drain(at..end)),
            3 => input.truncate(at),
            4 => {
                let copy = input[at..end].to_vec();
                let times = 1 + self.below(50);
                input.splice(at..at, copy.repeat(times));
            }
            5 => {
                let other = &self.corpus[self.below(self.corpus.len())];
                let from = self.below(other.len() + 1);
                let to = (from + self.below(200)).min(other.len());
                input.splice(at..end, other[from..to].iter().copied());
            }
            // A word in the place of a field: from one separator to the next.
            6 => {
                let is_separator = |byte: &u8| b"|,=:; \n".contains(byte);
                let from = input[..at].iter().rposition(is_separator).map_or(0, |before| before + 1);
                let to = input[at..].iter().position(is_separator).map_or(input.len(), |after| at + after);
                let word = WORDS[self.below(WORDS.len())];
                input.splice(from..to, word.bytes());
            }
            _ => {
                let word = WORDS[self.below(WORDS.len())];
                input.splice(at..at, word.bytes());
            }
        }
        input.truncate(1 << 16);
    }
}
