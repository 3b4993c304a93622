//! `foresite quota`: what the service grants a tenant, set next to the database.

use anyhow::Context;
use clap::{Args, Subcommand};
use foresite_api::app::quotas::grant;
use foresite_api::config::Config;
use foresite_api::quotas::Quotas;
use foresite_api::rest::views::quota::LimitsView;
use foresite_api::startup::Storage;
use foresite_store::ids::TenantId;

use crate::exit::Exit;
use crate::service;

/// Show and set what the service grants a tenant; needs access to the database, no token.
#[derive(Debug, Args)]
pub(crate) struct Quota {
    #[command(subcommand)]
    verb: Verb,
    /// Whose limits.
    #[arg(long, global = true, default_value = "default")]
    tenant: String,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print the limits granted, as JSON.
    Show,
    /// Grant limits; those not named go back to the settings' defaults (FORESITE_QUOTA_*).
    Set {
        /// Requests per minute and replica.
        #[arg(long, value_name = "N")]
        requests_per_minute: Option<u32>,
        /// Uploads per hour and replica.
        #[arg(long, value_name = "N")]
        uploads_per_hour: Option<u32>,
        /// Bytes of configurations and traces.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
        stored_bytes: Option<i64>,
        /// Studies at work.
        #[arg(long, value_name = "N")]
        studies_active: Option<u32>,
        /// Jobs × scenarios × replications of a study.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
        jobs_per_study: Option<i64>,
    },
}

impl Quota {
    /// Does what the verb says.
    pub(crate) fn execute(self) -> anyhow::Result<Exit> {
        let config = match service::settings() {
            Ok(config) => config,
            Err(exit) => return Ok(exit),
        };
        let Some(tenant) = TenantId::parse(&self.tenant) else {
            eprintln!("foresite: '{}' is no tenant: 1 to 64 letters, digits, '.', '_', '-'", self.tenant);
            return Ok(Exit::Wrong);
        };
        service::runtime()?.block_on(self.run(&config, &tenant))
    }

    async fn run(self, config: &Config, tenant: &TenantId) -> anyhow::Result<Exit> {
        let store = Storage::open(config).await?.store;
        if let Verb::Set { requests_per_minute, uploads_per_hour, stored_bytes, studies_active, jobs_per_study } =
            self.verb
        {
            let limits = LimitsView {
                requests_per_minute: requests_per_minute.map(i64::from),
                uploads_per_hour: uploads_per_hour.map(i64::from),
                stored_bytes,
                studies_active: studies_active.map(i64::from),
                jobs_per_study,
            };
            grant(&store, tenant, &limits.into()).await?;
        }
        let granted = Quotas::new(store, config.quotas).granted(tenant).await?;
        let text = serde_json::to_string_pretty(&LimitsView::from(granted)).context("limits as JSON")?;
        println!("{text}");
        Ok(Exit::Done)
    }
}
