//! How much memory the process has used.

/// The process's largest resident memory [bytes]; 0 where the system does not tell. Source: proc(5), VmHWM.
pub(crate) fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse().ok());
    kilobytes.unwrap_or(0u64) * 1024
}
