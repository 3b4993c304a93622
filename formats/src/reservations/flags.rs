//! The flags of reservations: which decide, which only say how one was made, and which are left out. Source: scontrol(1).

use foresite_engine::calendar::ReservationFlags;

use super::Repeat;

/// What a flag does.
#[derive(Clone, Copy)]
pub(crate) enum FlagEffect {
    /// It decides.
    Sets(fn(&mut ReservationFlags)),
    /// It recurs.
    Repeats(Repeat),
    /// It changes nothing here.
    Silent,
    /// The reservation acts as if it were not set.
    LeftOut(&'static str),
    /// With it, the reservation as a whole is left out.
    LeavesOut(&'static str),
    /// The same, unless the reservation names licences.
    OfLicenses(&'static str),
}

const FLAGS: &[(&str, FlagEffect)] = &[
    ("MAINT", FlagEffect::Sets(|flags| flags.maint = true)),
    ("OVERLAP", FlagEffect::Sets(|flags| flags.overlap = true)),
    ("FLEX", FlagEffect::Sets(|flags| flags.flex = true)),
    ("MAGNETIC", FlagEffect::Sets(|flags| flags.magnetic = true)),
    ("ALL_NODES", FlagEffect::Sets(|flags| flags.all_nodes = true)),
    ("PART_NODES", FlagEffect::Sets(|flags| flags.part_nodes = true)),
    ("NO_HOLD_JOBS_AFTER_END", FlagEffect::Sets(|flags| flags.no_hold_jobs_after = true)),
    ("NO_HOLD_JOBS_AFTER", FlagEffect::Sets(|flags| flags.no_hold_jobs_after = true)),
    ("HOURLY", FlagEffect::Repeats(Repeat::Hourly)),
    ("DAILY", FlagEffect::Repeats(Repeat::Daily)),
    ("WEEKDAY", FlagEffect::Repeats(Repeat::Weekday)),
    ("WEEKEND", FlagEffect::Repeats(Repeat::Weekend)),
    ("WEEKLY", FlagEffect::Repeats(Repeat::Weekly)),
    // Running jobs go on wherever a reservation begins.
    ("IGNORE_JOBS", FlagEffect::Silent),
    ("IGNORE_RUNNING", FlagEffect::Silent),
    ("SPEC_NODES", FlagEffect::Silent),
    ("FIRST_CORES", FlagEffect::Silent),
    ("STATIC", FlagEffect::Silent),
    ("STATIC_ALLOC", FlagEffect::Silent),
    ("USER_DELETE", FlagEffect::Silent),
    ("SKIP", FlagEffect::LeftOut("no occurrence is skipped")),
    ("FORCE_START", FlagEffect::LeftOut("it begins at its start")),
    ("REPLACE", FlagEffect::LeftOut("nodes in use are not replaced by others")),
    // It goes with a number of nodes alone.
    ("REPLACE_DOWN", FlagEffect::Sets(|flags| flags.replaces_nodes = true)),
    ("PURGE_COMP", FlagEffect::LeftOut("it lasts until its end, also when idle")),
    ("TIME_FLOAT", FlagEffect::LeavesOut("a start that moves with time is not simulated")),
    ("ANY_NODES", FlagEffect::OfLicenses("it names no licence, and burst buffers are not simulated")),
    ("LICENSE_ONLY", FlagEffect::OfLicenses("it names no licence")),
];

/// What a flag does, by its name in any case; an argument (`PURGE_COMP=00:05:00`) is ignored.
pub(crate) fn flag(name: &str) -> Option<FlagEffect> {
    let name = name.split('=').next().unwrap_or_default();
    FLAGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, effect)| *effect)
}

/// All flags by name.
pub(crate) fn flag_names() -> impl Iterator<Item = &'static str> {
    FLAGS.iter().map(|(name, _)| *name)
}
