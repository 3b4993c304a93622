//! TRES strings, memory amounts and GRES lists.

use foresite_engine::job::{GresScope, Memory};

use super::job_id::{number, number32};

/// A count of a generic resource, by its label (`gpu`, `gpu:a100`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GresCount<'a> {
    pub(crate) label: &'a [u8],
    pub(crate) count: u64,
}

/// What a TRES string names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TresCounts<'a> {
    pub(crate) cpus: Option<u32>,
    pub(crate) nodes: Option<u32>,
    /// Whole job [MB].
    pub(crate) memory_mb: Option<u64>,
    /// As it is written.
    pub(crate) memory: &'a [u8],
    /// Whether `billing` is named, as Slurm 17.11 and later do.
    pub(crate) billing: bool,
    /// Whole job; a total stands only for what no type accounts for.
    pub(crate) gres: Vec<GresCount<'a>>,
}

/// Reads `billing=48,cpu=48,mem=96000M,node=4,gres/gpu:a100=2`; `None` if it is no list of counts.
pub(crate) fn tres(text: &[u8]) -> Option<TresCounts<'_>> {
    let mut counts = TresCounts::default();
    for item in text.split(|&byte| byte == b',').filter(|item| !item.is_empty()) {
        let at = memchr::memchr(b'=', item)?;
        let (name, value) = (item.get(..at)?, item.get(at + 1..)?);
        match name {
            b"cpu" => counts.cpus = Some(count(value)?),
            b"node" => counts.nodes = Some(count(value)?),
            b"mem" => (counts.memory_mb, counts.memory) = (Some(recorded_megabytes(value)?), value),
            b"billing" => counts.billing = true,
            _ => {
                if let Some(label) = name.strip_prefix(b"gres/") {
                    counts.gres.push(GresCount { label, count: gres_count(value)? });
                }
            }
        }
    }
    counts.gres = without_repeated_totals(&counts.gres);
    Some(counts)
}

/// `gres/gpu=4,gres/gpu:a100=2` repeats the typed counts in the total: what remains of a total is kept untyped.
fn without_repeated_totals<'a>(gres: &[GresCount<'a>]) -> Vec<GresCount<'a>> {
    gres.iter()
        .map(|total| {
            let typed = |other: &&GresCount<'_>| {
                other.label.len() > total.label.len()
                    && other.label.starts_with(total.label)
                    && other.label.get(total.label.len()) == Some(&b':')
            };
            let sum = gres.iter().filter(typed).fold(0u64, |sum, other| sum.saturating_add(other.count));
            GresCount { label: total.label, count: total.count.saturating_sub(sum) }
        })
        .filter(|gres| gres.count > 0)
        .collect()
}

/// A count of GRES, which may stand for bytes, with an optional unit: `60g` and `60GiB` are 64424509440, `60GB` are 60000000000.
/// Source: slurm_protocol_defs.c of 22.05.8, `suffix_mult`.
pub(crate) fn gres_count(text: &[u8]) -> Option<u64> {
    let (number, unit) = text.split_at(text.iter().take_while(|byte| !byte.is_ascii_alphabetic()).count());
    let base: u64 = match unit.get(1..).unwrap_or_default().to_ascii_lowercase().as_slice() {
        b"" | b"ib" => 1024,
        b"b" => 1000,
        _ => return None,
    };
    let power = match unit.first().map(u8::to_ascii_lowercase) {
        None => 0,
        Some(letter) => u32::try_from(b"kmgtp".iter().position(|&known| known == letter)?).ok()? + 1,
    };
    scaled(number, base.pow(power))
}

/// A count with an optional unit (`2K` is 2048, `20480`, `4.00K`).
pub(crate) fn count(text: &[u8]) -> Option<u32> {
    number32(text).or_else(|| u32::try_from(scaled(text, 1)?).ok())
}

/// An amount of memory [MB]: `96000M`, `62.50G`, `2252800K`, `60T`; without unit it is MB.
pub(crate) fn megabytes(text: &[u8]) -> Option<u64> {
    match text.split_last()? {
        (b'K' | b'k', digits) => Some(scaled(digits, 1)?.div_ceil(1024)),
        (b'M' | b'm', digits) => scaled(digits, 1),
        (b'B' | b'b', digits) if !digits.is_empty() => megabytes(digits),
        (b'G' | b'g', digits) => scaled(digits, 1 << 10),
        (b'T' | b't', digits) => scaled(digits, 1 << 20),
        (b'P' | b'p', digits) => scaled(digits, 1 << 30),
        _ => scaled(text, 1),
    }
}

/// An amount of memory in a record [MB]: the least that is printed so.
fn recorded_megabytes(text: &[u8]) -> Option<u64> {
    least_of_rounded(text).or_else(|| megabytes(text))
}

/// The least amount [MB] that `sacct --units` prints so, rounded to two decimals: 256999M to 257008M are `250.98G`, and a node of 257000M has
/// no room for what 250.98 times 1024M are. `None` where nothing need be rounded: `62.50G` are 64000M. `250.00G` is rounded, since `250G` is
/// what is printed of a whole number. Source: slurm_protocol_api.c, `convert_num_unit2`.
pub(crate) fn least_of_rounded(text: &[u8]) -> Option<u64> {
    let [whole @ .., b'.', tens @ b'0'..=b'9', ones @ b'0'..=b'9', unit] = text else { return None };
    let factor: u64 = match unit {
        b'G' | b'g' => 1 << 10,
        b'T' | b't' => 1 << 20,
        b'P' | b'p' => 1 << 30,
        _ => return None,
    };
    let decimals = u64::from(tens - b'0') * 10 + u64::from(ones - b'0');
    let hundredths = number(whole)?.checked_mul(100)?.checked_add(decimals)?;
    let is_exact = decimals > 0 && (decimals * factor).is_multiple_of(100);
    if is_exact || hundredths == 0 {
        return None;
    }
    // Half a hundredth less.
    hundredths.checked_mul(2)?.checked_sub(1)?.checked_mul(factor).map(|sum| sum.div_ceil(200))
}

/// A decimal, perhaps with fraction and one of the suffixes K, M, G, times `factor`, rounded up.
fn scaled(text: &[u8], factor: u64) -> Option<u64> {
    let (text, factor) = match text.split_last()? {
        (b'K' | b'k', digits) => (digits, factor.checked_mul(1 << 10)?),
        (b'M', digits) => (digits, factor.checked_mul(1 << 20)?),
        (b'G', digits) => (digits, factor.checked_mul(1 << 30)?),
        _ => (text, factor),
    };
    let Some(at) = memchr::memchr(b'.', text) else { return number(text)?.checked_mul(factor) };
    let (whole, digits) = (number(text.get(..at)?)?, text.get(at + 1..)?);
    let digits = digits.get(..digits.len().min(6))?;
    let scale = 10u64.checked_pow(u32::try_from(digits.len()).ok()?)?;
    let fraction = if digits.is_empty() { 0 } else { number(digits)?.checked_mul(factor)?.div_ceil(scale) };
    whole.checked_mul(factor)?.checked_add(fraction)
}

/// What a ReqMem field says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordedMemory {
    /// `2000Mn`, `100Mc`: before Slurm 21.08 per node or per CPU.
    Each(Memory),
    /// Since 21.08: of the whole job [MB].
    Total(u64),
    /// Empty, `0`, `0n`, `?`: nothing is known.
    NotSaid,
}

/// Reads a ReqMem field; `None` if it is no amount.
pub(crate) fn recorded_memory(text: &[u8]) -> Option<RecordedMemory> {
    /// A per-CPU amount that some versions printed with the flag bit still set.
    const PER_CPU_FLAG: u64 = 1 << 31;
    if text.is_empty() || text.first() == Some(&b'?') {
        return Some(RecordedMemory::NotSaid);
    }
    let (per, amount) = match text.split_last()? {
        (b'n', amount) => (b'n', recorded_megabytes(amount)?),
        (b'c', amount) => (b'c', recorded_megabytes(amount)?),
        _ => (b' ', recorded_megabytes(text)?),
    };
    Some(match (per, amount) {
        (_, 0) => RecordedMemory::NotSaid,
        (b'n', flagged) if flagged >= PER_CPU_FLAG => RecordedMemory::Each(Memory::PerCpu(flagged - PER_CPU_FLAG)),
        (b'n', amount) => RecordedMemory::Each(Memory::PerNode(amount)),
        (b'c', amount) => RecordedMemory::Each(Memory::PerCpu(amount)),
        (_, amount) => RecordedMemory::Total(amount),
    })
}

/// Reads a GRES list as options and old columns write it: `gpu:2`, `gpu:a100:2`, `gpu`, `PER_NODE:gpu:8`, `gres:gpu:2`,
/// `gpu:P100:2(IDX:1,3)`, `gpu=2`. Calls `each` with the scope a prefix names. False if an item is not understood.
pub(crate) fn gres_list<'a>(text: &'a [u8], mut each: impl FnMut(Option<GresScope>, GresCount<'a>)) -> bool {
    let mut good = true;
    for item in split_outside_parentheses(text) {
        let item = item.iter().position(|&byte| byte == b'(').map_or(item, |at| item.get(..at).unwrap_or(item));
        if item.is_empty() || item == b"none" || item == b"(null)" || item == b"N/A" {
            continue;
        }
        let (scope, item) = strip_scope(item);
        let item = item.strip_prefix(b"gres:").or_else(|| item.strip_prefix(b"gres/")).unwrap_or(item);
        let split = item.iter().rposition(|&byte| byte == b':' || byte == b'=');
        let counted = split.and_then(|at| Some((item.get(..at)?, gres_count(item.get(at + 1..)?)?)));
        match counted {
            Some((_, 0)) => {}
            Some((label, count)) if !label.is_empty() => each(scope, GresCount { label, count }),
            Some(_) => good = false,
            // An amount beyond all counts, or in no unit.
            None if split.and_then(|at| item.get(at + 1)).is_some_and(u8::is_ascii_digit) => good = false,
            None if item.first().is_some_and(u8::is_ascii_alphabetic) => {
                each(scope, GresCount { label: item, count: 1 })
            }
            None => good = false,
        }
    }
    good
}

fn strip_scope(item: &[u8]) -> (Option<GresScope>, &[u8]) {
    for (prefix, scope) in [
        (&b"PER_NODE:"[..], GresScope::PerNode),
        (b"PER_JOB:", GresScope::PerJob),
        (b"PER_TASK:", GresScope::PerTask),
        (b"PER_SOCKET:", GresScope::PerSocket),
    ] {
        if let Some(rest) = item.strip_prefix(prefix) {
            return (Some(scope), rest);
        }
    }
    (None, item)
}

/// The items of a list whose commas inside parentheses do not count.
pub(crate) fn split_outside_parentheses(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut depth = 0i32;
    text.split(move |&byte| {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            _ => {}
        }
        byte == b',' && depth <= 0
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn totals_that_repeat_typed_counts_are_not_counted_twice() {
        let counts = tres(b"billing=9,cpu=64,gres/gpu=5,gres/gpu:a100=2,gres/gpu:v100=2,mem=62.50G,node=8").unwrap();
        assert_eq!((counts.cpus, counts.nodes, counts.memory_mb), (Some(64), Some(8), Some(64_000)));
        let gres: Vec<_> = counts.gres.iter().map(|gres| (gres.label, gres.count)).collect();
        assert_eq!(gres, [(&b"gpu"[..], 1), (b"gpu:a100", 2), (b"gpu:v100", 2)]);
        assert_eq!(tres(b"gres/tmpspace=64424509440").unwrap().gres[0].count, 60 << 30);
        assert_eq!(tres(b"mem=0").unwrap().memory_mb, Some(0));
        assert_eq!(tres(b"cpu=x"), None);
        assert_eq!(tres(b"what"), None);
    }

    #[test]
    fn memory_is_read_in_every_form() {
        use Memory::{PerCpu, PerNode};
        use RecordedMemory::{Each, NotSaid, Total};
        for (text, expected) in [
            ("2000Mn", Each(PerNode(2000))),
            ("100Mc", Each(PerCpu(100))),
            ("100Gc", Each(PerCpu(102_400))),
            ("62.50Gn", Each(PerNode(64_000))),
            ("2252800Kn", Each(PerNode(2200))),
            ("500M", Total(500)),
            ("60T", Total(62_914_560)),
            ("0n", NotSaid),
            ("", NotSaid),
            ("2147486648Mn", Each(PerCpu(3000))),
        ] {
            assert_eq!(recorded_memory(text.as_bytes()), Some(expected), "{text}");
        }
        assert_eq!(recorded_memory(b"lots"), None);
    }

    /// As `sacct --units` prints them; the least that is printed so.
    #[test]
    fn rounded_memory_is_the_least_that_is_printed_so() {
        let printed = |megabytes: u64, power: i32| format!("{:.2}", megabytes as f64 / 1024f64.powi(power));
        for (text, expected) in [
            ("250.98G", 256_999),
            ("250.00G", 255_995),
            ("0.10G", 98),
            ("0.01G", 6),
            ("1.46T", 1_525_679),
            ("0.99P", 1_057_635_697),
        ] {
            assert_eq!(least_of_rounded(text.as_bytes()), Some(expected), "{text}");
            let power = 1 + "GTP".find(&text[text.len() - 1..]).unwrap() as i32;
            let number = &text[..text.len() - 1];
            assert_eq!(printed(expected, power), number);
            assert_ne!(printed(expected - 1, power), number);
        }
        for exact in ["62.50G", "0.25G", "250G", "1.5G", "0.00G", "4000.50M", "1.75T", "x.11G", ".98G", "G", ""] {
            assert_eq!(least_of_rounded(exact.as_bytes()), None, "{exact}");
        }
        assert_eq!(tres(b"cpu=8,mem=250.98G").unwrap().memory_mb, Some(256_999));
        assert_eq!(recorded_memory(b"0.98Gc"), Some(RecordedMemory::Each(Memory::PerCpu(999))));
        assert_eq!(megabytes(b"250.98G"), Some(257_004), "what an option says is no record");
    }

    #[test]
    fn gres_lists_are_read_in_every_form() {
        let read = |text: &str| {
            let mut found = Vec::new();
            let good = gres_list(text.as_bytes(), |scope, gres| {
                found.push(format!(
                    "{}={}{}",
                    String::from_utf8_lossy(gres.label),
                    gres.count,
                    if scope.is_some() { "!" } else { "" }
                ));
            });
            (good, found.join(" "))
        };
        assert_eq!(read("gpu:2"), (true, "gpu=2".into()));
        assert_eq!(read("gpu:a100:2,fs"), (true, "gpu:a100=2 fs=1".into()));
        assert_eq!(read("PER_NODE:gpu:8"), (true, "gpu=8!".into()));
        assert_eq!(read("gpu:P100:2(IDX:1,3),hbm:0"), (true, "gpu:P100=2".into()));
        assert_eq!(read("bandwidth:4G,tmp:60gib,a:2kB"), (true, "bandwidth=4294967296 tmp=64424509440 a=2000".into()));
        assert_eq!(read("bandwidth:4X"), (false, String::new()));
        assert_eq!(read("gpu:0(IDX:N/A)"), (true, String::new()));
        assert!(!read(":2").0);
    }
}
