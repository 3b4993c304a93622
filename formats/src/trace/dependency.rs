//! The value of `--dependency`.

use foresite_engine::job::{Dependencies, Dependency, DependencyKind};

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

fn one(item: &[u8], on: &mut Vec<Dependency>) -> Option<()> {
    let mut parts = item.split(|&byte| byte == b':');
    let kind = parts.next()?;
    if kind == b"singleton" {
        on.push(Dependency { kind: DependencyKind::Singleton, id: 0, task: None });
        return Some(());
    }
    if kind.first()?.is_ascii_digit() {
        let (id, task, _) = target(kind)?;
        on.push(Dependency { kind: DependencyKind::AfterAny, id, task });
        return Some(());
    }
    let before = on.len();
    for part in parts {
        let (id, task, minutes) = target(part)?;
        let kind = match kind {
            b"after" => DependencyKind::After(minutes),
            b"afterany" => DependencyKind::AfterAny,
            b"afterok" => DependencyKind::AfterOk,
            b"afternotok" => DependencyKind::AfterNotOk,
            b"aftercorr" => DependencyKind::AfterCorr,
            _ => return None,
        };
        on.push(Dependency { kind, id, task });
    }
    (on.len() > before).then_some(())
}

/// The job's id, the one task of the array, if it is meant alone, and the minutes after `+`.
fn target(target: &[u8]) -> Option<(u64, Option<u32>, u32)> {
    let (id, minutes) = match memchr::memchr(b'+', target) {
        Some(at) => (target.get(..at)?, number32(target.get(at + 1..)?)?),
        None => (target, 0),
    };
    let mut parts = id.split(|&byte| byte == b'_');
    let id = number(parts.next()?)?;
    let task = match parts.next() {
        None | Some(b"*") => None,
        Some(task) => Some(number32(task)?),
    };
    parts.next().is_none().then_some((id, task, minutes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lists_and_alternatives_are_read() {
        use DependencyKind::{After, AfterAny, AfterNotOk, AfterOk, Singleton};
        let plain = |on: Dependency| (on.kind, on.id, on.task);
        let read = |text: &str| {
            dependencies(text.as_bytes()).map(|found| (found.any, found.on.into_iter().map(plain).collect::<Vec<_>>()))
        };
        assert_eq!(
            read("afterok:1:2,afterany:3_*"),
            Some((false, vec![(AfterOk, 1, None), (AfterOk, 2, None), (AfterAny, 3, None)]))
        );
        assert_eq!(read("afterok:3_4:5_6"), Some((false, vec![(AfterOk, 3, Some(4)), (AfterOk, 5, Some(6))])));
        assert_eq!(read("after:59+5?afternotok:7"), Some((true, vec![(After(5), 59, None), (AfterNotOk, 7, None)])));
        assert_eq!(read("singleton"), Some((false, vec![(Singleton, 0, None)])));
        assert_eq!(read("12"), Some((false, vec![(AfterAny, 12, None)])));
        for text in ["expand:4", "afterok", "afterok:x", "", "afterok:1,,", "afterok:3_x", "afterok:3_4_5"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
