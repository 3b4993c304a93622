//! One function per use case, called by both doors. Here, and only here, is decided.

pub mod archive;
pub mod audit;
pub mod configs;
pub mod health;
pub mod links;
pub mod quotas;
pub mod results;
pub mod sites;
pub mod studies;
pub mod tokens;
pub mod traces;
pub mod uploads;
pub mod watch;
pub mod webhooks;

mod reading;
mod study_inputs;

use crate::error::{ApiError, ApiResult};

/// Runs work that reads files or computes, off the threads that serve requests.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> ApiResult<T> + Send + 'static) -> ApiResult<T> {
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?
}
