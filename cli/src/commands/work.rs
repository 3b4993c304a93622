//! `foresite work`: a worker of the pool.

use clap::Args;
use foresite_api::startup;

use crate::exit::Exit;
use crate::service;

/// Run simulations as a worker of the pool; needs FORESITE_DATABASE_URL and FORESITE_REDIS_URL.
#[derive(Debug, Args)]
pub(crate) struct Work {}

impl Work {
    /// Works until asked to stop.
    pub(crate) fn execute(self) -> anyhow::Result<Exit> {
        let config = match service::settings() {
            Ok(config) => config,
            Err(exit) => return Ok(exit),
        };
        if config.storage.redis_url.is_none() {
            eprintln!("foresite: FORESITE_REDIS_URL is not set: without Redis `foresite serve` runs its own workers");
            return Ok(Exit::Wrong);
        }
        let _logging = service::log("info")?;
        service::runtime()?.block_on(async {
            let mut running = startup::work(&config, None).await?;
            println!("working on {} tasks at once; metrics http://{}/metrics", config.workers.tasks, running.metrics);
            let exit = tokio::select! {
                stop = service::asked_to_stop() => stop.map(|()| Exit::Done),
                part = running.ended() => Err(anyhow::anyhow!("{part} ended by itself")),
            };
            eprintln!("foresite: stopping; running simulations are handed back");
            running.stop().await;
            exit
        })
    }
}
