//! Promises kept against real servers: one test program, a module per part.

// Tests say what they expect, and fail loudly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod fixtures;
mod foresite;
mod receiver;

mod api;
mod chaos;
mod end_to_end;
mod operation;
mod queue;
mod store;
