//! Limits that keep a job waiting without blocking others: of partitions, associations and QOS.

mod account;
pub(crate) mod accrue;
mod check;
mod licenses;
mod minutes;
mod most_nodes;
pub(crate) mod partition;
mod preferred;
mod resources;
mod submission;
mod together;
pub(crate) mod usage;
