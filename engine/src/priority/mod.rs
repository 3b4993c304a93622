//! Job priorities: usage and its decay, fair-share factors, and the multifactor formula.

mod classic;
pub(crate) mod fair_share;
pub(crate) mod multifactor;
pub(crate) mod reset;
pub(crate) mod usage;

#[cfg(test)]
mod tests;
