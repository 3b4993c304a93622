//! How much memory the process uses. Source: proc(5).

use std::fs;

/// Largest resident memory so far [bytes]; 0 where the system does not tell.
pub(crate) fn peak() -> u64 {
    status("VmHWM:")
}

/// Resident memory now [bytes]; 0 where the system does not tell.
pub(crate) fn now() -> u64 {
    status("VmRSS:")
}

fn status(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes: Option<u64> =
        status.lines().find_map(|line| line.strip_prefix(field)?.trim().strip_suffix("kB")?.trim().parse().ok());
    kilobytes.unwrap_or(0) * 1024
}
