//! What the commands of the service share: settings, logging, the runtime, signals.

use std::io::IsTerminal;

use anyhow::Context;
use foresite_api::config::{Config, ConfigFaults};
use tokio::runtime::Runtime;
use tracing_subscriber::EnvFilter;

use crate::exit::Exit;

/// The settings of the environment; faulty ones are listed, all of them, and the command ends with [`Exit::Wrong`].
pub(crate) fn settings() -> Result<Config, Exit> {
    match Config::from_environment() {
        Ok(config) => {
            for name in &config.unknown {
                eprintln!("foresite: {name} is set, but no such setting is known");
            }
            Ok(config)
        }
        Err(ConfigFaults(faults)) => {
            for fault in &faults {
                eprintln!("{}: {}", fault.variable, fault.message);
            }
            let settings = if faults.len() == 1 { "setting is" } else { "settings are" };
            eprintln!("foresite: {} {settings} wrong", faults.len());
            Err(Exit::Wrong)
        }
    }
}

/// Logs to standard error: `FORESITE_LOG` filters (default `info`, or `default` where given), `FORESITE_LOG_FORMAT=json` writes
/// one JSON object a line.
pub(crate) fn log(default: &str) -> anyhow::Result<()> {
    let filter = std::env::var("FORESITE_LOG").unwrap_or_else(|_| default.to_owned());
    let filter = EnvFilter::try_new(&filter).with_context(|| format!("FORESITE_LOG: '{filter}' is no filter"))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let is_json = std::env::var("FORESITE_LOG_FORMAT").is_ok_and(|format| format == "json");
    let set =
        if is_json { builder.json().try_init() } else { builder.with_ansi(std::io::stderr().is_terminal()).try_init() };
    set.map_err(|error| anyhow::anyhow!("logging cannot be set up: {error}"))
}

/// The runtime of asynchronous commands.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")
}

/// Waits for ctrl-c or SIGTERM.
pub(crate) async fn asked_to_stop() -> anyhow::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
        tokio::select! {
            result = tokio::signal::ctrl_c() => result.context("cannot listen for ctrl-c"),
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await.context("cannot listen for ctrl-c")
}
