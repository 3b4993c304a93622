//! The value of `--dependency`.

use foresite_engine::job::{Dependencies, DependencyKind};

use super::job_id::{number, number32};

/// Reads `afterok:1:2,afterany:3_4`, `after:59+5?afternotok:7`, `singleton`, `12`; `None` if a kind is not modelled.
pub(crate) fn dependencies(value: &[u8]) -> Option<Dependencies> {
    let any = value.contains(&b'?');
    let mut on = Vec::new();
    for item in value.split(|&byte| byte == b',' || byte == b'?') {
        one(item, &mut on)?;
    }
    Some(Dependencies { any, on })
}

fn one(item: &[u8], on: &mut Vec<(DependencyKind, u64)>) -> Option<()> {
    let mut parts = item.split(|&byte| byte == b':');
    let kind = parts.next()?;
    if kind == b"singleton" {
        on.push((DependencyKind::Singleton, 0));
        return Some(());
    }
    if kind.first()?.is_ascii_digit() {
        on.push((DependencyKind::AfterAny, base_id(kind)?.0));
        return Some(());
    }
    let before = on.len();
    for target in parts {
        let (id, minutes) = base_id(target)?;
        let kind = match kind {
            b"after" => DependencyKind::After(minutes),
            b"afterany" => DependencyKind::AfterAny,
            b"afterok" => DependencyKind::AfterOk,
            b"afternotok" => DependencyKind::AfterNotOk,
            b"aftercorr" => DependencyKind::AfterCorr,
            _ => return None,
        };
        on.push((kind, id));
    }
    (on.len() > before).then_some(())
}

/// The job's id, and the minutes after `+`. One task of an array is not known to the engine: then the recorded eligible time counts.
fn base_id(target: &[u8]) -> Option<(u64, u32)> {
    let (id, minutes) = match memchr::memchr(b'+', target) {
        Some(at) => (target.get(..at)?, number32(target.get(at + 1..)?)?),
        None => (target, 0),
    };
    let mut parts = id.split(|&byte| byte == b'_');
    let id = number(parts.next()?)?;
    matches!(parts.next(), None | Some(b"*")).then_some((id, minutes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lists_and_alternatives_are_read() {
        use DependencyKind::{After, AfterAny, AfterNotOk, AfterOk, Singleton};
        let read = |text: &str| dependencies(text.as_bytes()).map(|dependencies| (dependencies.any, dependencies.on));
        assert_eq!(read("afterok:1:2,afterany:3_*"), Some((false, vec![(AfterOk, 1), (AfterOk, 2), (AfterAny, 3)])));
        assert_eq!(read("after:59+5?afternotok:7"), Some((true, vec![(After(5), 59), (AfterNotOk, 7)])));
        assert_eq!(read("singleton"), Some((false, vec![(Singleton, 0)])));
        assert_eq!(read("12"), Some((false, vec![(AfterAny, 12)])));
        for text in ["expand:4", "afterok", "afterok:x", "", "afterok:1,,", "afterok:3_4"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
