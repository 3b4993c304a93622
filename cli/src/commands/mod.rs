//! One command per file: its arguments as a struct, its work as `execute`.

pub(crate) mod check;
pub(crate) mod run;
pub(crate) mod simulate;
