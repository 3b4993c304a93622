//! The queue's and the worker's promises. `messages` knows no task; `working` runs studies with a shell script as child process,
//! so that faults can be made to order; `faults` takes servers away meanwhile; `child` runs the real tasks;
//! `engines` has workers of two versions; `compact_traces` what they start from.

mod child;
mod compact_traces;
mod engines;
mod faults;
mod messages;
mod rig;
mod working;
