//! Telling others: Standard Webhooks (<https://www.standardwebhooks.com>), signed, retried, and never into private networks.

mod address;
mod dispatcher;
mod signature;

pub use address::{Destination, NetworkRules, UrlFault};
pub use dispatcher::Dispatcher;
pub use signature::{generate_secret, sign};
