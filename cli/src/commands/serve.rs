//! `foresite serve`: REST, pages, gRPC, metrics.

use clap::Args;
use foresite_api::startup;

use crate::exit::Exit;
use crate::service;

/// Serve REST, web pages, gRPC and metrics; without FORESITE_REDIS_URL also run simulations.
#[derive(Debug, Args)]
#[command(after_help = "Settings (environment), each with its default:\n  \
    FORESITE_DATA_DIR ./.foresite            folder of the embedded defaults\n  \
    FORESITE_DATABASE_URL                    sqlite://PATH or postgres://…\n  \
    FORESITE_OBJECTS_URL                     file://PATH or s3://BUCKET/PREFIX\n  \
    FORESITE_REDIS_URL                       queue of the workers; unset, workers are embedded\n  \
    FORESITE_HTTP_LISTEN 127.0.0.1:8080, FORESITE_GRPC_LISTEN 127.0.0.1:50051, FORESITE_METRICS_LISTEN 127.0.0.1:9090\n  \
    FORESITE_JWT_ISSUER, _AUDIENCE, _JWKS_URL, _HS256_SECRET, _TENANT_CLAIM tenant, _ROLE_CLAIM role\n  \
    FORESITE_WORKER_TASKS one per core, FORESITE_TASK_MEMORY_BYTES, FORESITE_TASK_TIMEOUT_SECONDS, FORESITE_LEASE_SECONDS 30\n  \
    FORESITE_LOG info, FORESITE_LOG_FORMAT text|json")]
pub(crate) struct Serve {}

impl Serve {
    /// Serves until asked to stop.
    pub(crate) fn execute(self) -> anyhow::Result<Exit> {
        let config = match service::settings() {
            Ok(config) => config,
            Err(exit) => return Ok(exit),
        };
        let _logging = service::log("info")?;
        service::runtime()?.block_on(async {
            let mut running = startup::serve(&config, None).await?;
            println!("REST and pages  http://{}", running.http);
            println!("gRPC            http://{}", running.grpc);
            println!("metrics         http://{}/metrics", running.metrics);
            println!("workers         {}", if config.storage.redis_url.is_some() { "the pool's" } else { "embedded" });
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
