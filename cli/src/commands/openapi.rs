//! `foresite openapi`: the REST contract.

use clap::Args;

use crate::exit::Exit;

/// Print the OpenAPI 3.1 document.
#[derive(Debug, Args)]
pub(crate) struct Openapi {}

impl Openapi {
    /// Prints it.
    pub(crate) fn execute(self) -> anyhow::Result<Exit> {
        print!("{}", foresite_api::openapi::json());
        Ok(Exit::Done)
    }
}
