//! What the commands of the service share: settings, logging, the runtime, signals.

use std::io::IsTerminal;

use anyhow::Context;
use foresite_api::config::{Config, ConfigFaults};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Runtime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

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

/// What logging leaves to be done at the end: spans that were not sent yet are sent when this is dropped.
pub(crate) struct Logging(Option<SdkTracerProvider>);

impl Drop for Logging {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.take().map(|provider| provider.shutdown()) {
            eprintln!("foresite: the last spans were not sent: {error}");
        }
    }
}

/// Logs to standard error: `FORESITE_LOG` filters (default `info`, or `default` where given), `FORESITE_LOG_FORMAT=json` writes
/// one JSON object a line. `FORESITE_OTLP_ENDPOINT` (`http://collector:4318`) sends spans there as well, by OTLP over HTTP. Call
/// it outside of the runtime.
pub(crate) fn log(default: &str) -> anyhow::Result<Logging> {
    let filter = std::env::var("FORESITE_LOG").unwrap_or_else(|_| default.to_owned());
    let filter = EnvFilter::try_new(with_less_noise(&filter))
        .with_context(|| format!("FORESITE_LOG: '{filter}' is no filter"))?;
    let is_json = std::env::var("FORESITE_LOG_FORMAT").is_ok_and(|format| format == "json");
    let plain = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = if is_json { plain.json().boxed() } else { plain.with_ansi(std::io::stderr().is_terminal()).boxed() };
    let provider = match std::env::var("FORESITE_OTLP_ENDPOINT") {
        Ok(endpoint) if !endpoint.trim().is_empty() => Some(tracer_provider(endpoint.trim())?),
        _ => None,
    };
    // Spans are wanted whatever is logged.
    let spans = provider.as_ref().map(|provider| {
        let wanted = EnvFilter::new("info,h2=off,hyper=off,reqwest=off,tonic=off");
        tracing_opentelemetry::layer().with_tracer(provider.tracer("foresite")).with_filter(wanted)
    });
    let registry = tracing_subscriber::registry().with(spans).with(lines.with_filter(filter));
    registry.try_init().map_err(|error| anyhow::anyhow!("logging cannot be set up: {error}"))?;
    Ok(Logging(provider))
}

/// actix-web calls it an error when a client sends something that is no HTTP; to us it is nothing, unless it is asked for by name.
fn with_less_noise(filter: &str) -> String {
    const SOURCE: &str = "actix_http";
    if filter.contains(SOURCE) { filter.to_owned() } else { format!("{filter},{SOURCE}=off") }
}

fn tracer_provider(endpoint: &str) -> anyhow::Result<SdkTracerProvider> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
        .build()
        .with_context(|| format!("FORESITE_OTLP_ENDPOINT: '{endpoint}' cannot be used"))?;
    let resource = Resource::builder().with_service_name("foresite").build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
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
