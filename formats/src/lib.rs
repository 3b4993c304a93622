//! Bytes to engine values and back. Every reader returns a value and a list of diagnostics, collects all faults and guesses
//! nothing silently.

pub mod diagnostic;
pub mod fidelity;
pub mod file_set;
pub mod site;

pub mod events;
pub mod hostlist;
pub mod reservations;
pub mod sacctmgr;
pub mod slurm_conf;

pub mod compression;
pub mod controller_log;
pub mod pseudonymize;
pub mod sdiag;
pub mod trace;
pub mod usage;
pub mod utf16;

pub mod comparison;
pub mod schedule_file;
pub mod study;
pub mod study_document;
pub mod summary_file;
