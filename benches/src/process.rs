//! What the process has used. Source: proc(5).

use std::fs;
use std::time::Instant;

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

/// Wall and CPU time since it was made. CPU time is the calling process's first thread's, which other processes do not lengthen;
/// where the system does not tell, it is the wall time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    begun: Instant,
    cpu: Option<u64>,
}

/// How long something took [s].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Took {
    /// On the clock.
    pub(crate) wall: f64,
    /// On the processor.
    pub(crate) cpu: f64,
}

impl Stopwatch {
    /// Begins now.
    pub(crate) fn start() -> Self {
        Self { begun: Instant::now(), cpu: cpu_nanoseconds() }
    }

    /// The time since.
    pub(crate) fn read(self) -> Took {
        let wall = self.begun.elapsed().as_secs_f64();
        let cpu = self.cpu.zip(cpu_nanoseconds()).map_or(wall, |(from, to)| to.saturating_sub(from) as f64 / 1e9);
        Took { wall, cpu }
    }
}

fn cpu_nanoseconds() -> Option<u64> {
    fs::read_to_string("/proc/self/schedstat").ok()?.split_ascii_whitespace().next()?.parse().ok()
}
