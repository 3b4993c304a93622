//! The two schedulers. Reading order: [`queue`] (who is considered, in what order), [`main_cycle`], [`timeline`]
//! (backfill's plan), [`backfill`]; [`builtin`] in its stead.

pub(crate) mod backfill;
mod blocks;
pub(crate) mod builtin;
pub(crate) mod main_cycle;
pub(crate) mod queue;
mod thresholds;
pub(crate) mod timeline;
mod turns;
pub(crate) mod walk;

#[cfg(test)]
mod tests;
