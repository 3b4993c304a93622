//! Limits that keep a job waiting without blocking others: of partitions, associations and QOS.

mod account;
mod check;
mod licenses;
mod partition;
pub(crate) mod usage;
