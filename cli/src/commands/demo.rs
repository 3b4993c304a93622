//! `foresite demo`: a first look. The service on embedded defaults, the bundled example studied through its own HTTP API.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;
use foresite_api::app::audit::COMMAND_LINE;
use foresite_api::app::tokens::{self, NewToken};
use foresite_api::config::{Config, StorageConfig};
use foresite_api::startup::{self, Running, Storage};
use foresite_formats::comparison::Comparison;
use foresite_formats::file_set::FileSet;
use foresite_formats::study_document;
use foresite_store::ids::TenantId;
use foresite_store::state::Role;
use secrecy::{ExposeSecret, SecretString};

use crate::client::{Client, ClientError};
use crate::exit::Exit;
use crate::patience::Patience;
use crate::remote_study::{self, TraceBytes};
use crate::service;

/// The example: ten nodes, 250 jobs, recorded from real Slurm.
const STUDY: &[u8] = include_bytes!("../../../examples/micro/study.yaml");
const TRACE: &[u8] = include_bytes!("../../../examples/micro/sacct.txt");
const FILES: [(&str, &[u8]); 3] = [
    ("slurm.conf", include_bytes!("../../../examples/micro/slurm.conf")),
    ("gres.conf", include_bytes!("../../../examples/micro/gres.conf")),
    ("sacctmgr.cfg", include_bytes!("../../../examples/micro/sacctmgr.cfg")),
];

/// A first look: starts the service, studies the bundled example through its own HTTP API, prints the comparison, and keeps
/// serving. Nothing is left behind unless --data-dir is given.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// End after the comparison.
    #[arg(long)]
    once: bool,
    /// Keep database and files in this folder.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print the comparison as JSON, and nothing else on standard output.
    #[arg(long)]
    json: bool,
}

impl Demo {
    /// Shows the demo.
    pub(crate) fn execute(self) -> anyhow::Result<Exit> {
        let _logging = service::log("warn")?;
        // Removed when this function returns.
        let temporary = tempfile::tempdir().context("cannot make a temporary folder")?;
        let folder = self.data_dir.clone().unwrap_or_else(|| temporary.path().to_owned());
        service::runtime()?.block_on(async {
            let config = settings(&folder)?;
            let token = token(&config).await?;
            let mut running = startup::serve(&config, None).await?;
            let shown = tokio::select! {
                shown = self.show(&running, &token) => shown,
                stop = service::asked_to_stop() => stop.and_then(|()| Err(anyhow!("stopped before the comparison was there"))),
            };
            let exit = match shown {
                Ok(()) if !self.once => keep_serving(&mut running).await,
                other => other.map(|()| Exit::Done),
            };
            running.stop().await;
            exit
        })
    }

    async fn show(&self, running: &Running, token: &SecretString) -> anyhow::Result<()> {
        let server = format!("http://{}", running.http);
        eprintln!("service up at {server} (REST and pages), http://{} (gRPC)", running.grpc);
        let client = Client::new(&server, token.clone(), Patience(Duration::from_secs(30)))?;
        let (document, found) = study_document::read("study.yaml", STUDY);
        let document = document.with_context(|| format!("the bundled study is wrong: {found:?}"))?;
        let mut files = FileSet::default();
        FILES.iter().for_each(|(name, bytes)| files.insert(*name, *bytes));
        let study = remote_study::submit(&client, "example", &document, &files, TraceBytes::Memory(TRACE)).await;
        let study = study.map_err(explained)?;
        eprintln!("example uploaded, study {} submitted", study.id);
        let ended = remote_study::wait(&client, &study).await?;
        if ended.state != "succeeded" {
            return Err(anyhow!("the study has {}: {}", ended.state, ended.error.unwrap_or_default()));
        }
        let json = client.comparison(&study.id).await?;
        if self.json {
            print!("{}", String::from_utf8_lossy(&json));
        } else {
            let comparison: Comparison = serde_json::from_slice(&json).context("the comparison cannot be read")?;
            print!("{}", comparison.to_terminal());
            println!();
            println!("page   {}", client.url(&format!("/studies/{}", study.id)));
            println!("token  {}", token.expose_secret());
        }
        Ok(())
    }
}

/// Every fault that the service listed.
fn explained(error: ClientError) -> anyhow::Error {
    let faults: Vec<String> = error.diagnostics().iter().map(ToString::to_string).collect();
    if faults.is_empty() { error.into() } else { anyhow!(faults.join("\n")) }
}

async fn keep_serving(running: &mut Running) -> anyhow::Result<Exit> {
    eprintln!("sign in with the token; ctrl-c ends the demo");
    tokio::select! {
        stop = service::asked_to_stop() => stop.map(|()| Exit::Done),
        part = running.ended() => Err(anyhow!("{part} ended by itself")),
    }
}

/// The embedded defaults in `folder`, whatever the environment says; the usual ports where they are free.
fn settings(folder: &Path) -> anyhow::Result<Config> {
    let mut config = Config::read(&|_| None, std::iter::empty())?;
    config.storage = StorageConfig::embedded(folder);
    for address in [&mut config.listen.http, &mut config.listen.grpc, &mut config.listen.metrics] {
        if TcpListener::bind(*address).is_err() {
            *address = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
        }
    }
    Ok(config)
}

async fn token(config: &Config) -> anyhow::Result<SecretString> {
    let store = Storage::open(config).await?.store;
    let new = NewToken { name: "demo".to_owned(), role: Role::Admin, scopes: Vec::new(), expires_at: None };
    let (_, secret) = tokens::issue(&store, &TenantId::default(), COMMAND_LINE, new).await?;
    Ok(secret)
}
