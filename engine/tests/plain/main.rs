//! The plain algorithms from outside: golden schedules, promises, and agreement with a naive implementation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod build;
mod golden;
mod naive;
mod promises;
mod rules;
