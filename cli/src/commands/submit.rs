//! `foresite submit`: a study on a service.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use foresite_api::rest::views::study::StudyView;
use foresite_formats::comparison::Comparison;
use foresite_formats::diagnostic::any_error;
use foresite_formats::study_document::{self, StudyDocument, TraceSource};
use secrecy::SecretString;

use crate::client::{Client, ClientError};
use crate::exit::Exit;
use crate::patience::Patience;
use crate::remote_study::{self, TraceBytes};
use crate::{diagnostics, files, service, written};

/// Run a study on a service: uploads the files it names, submits it, and with --wait prints the comparison.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    foresite submit study.yaml --server http://127.0.0.1:8080          prints the study's address\n  \
    foresite submit study.yaml --server URL --wait                     … and the comparison when it is there\n  \
    foresite submit study.yaml --server URL --gate --json              for CI: exit code 99 if a gate is breached")]
pub(crate) struct Submit {
    /// The study document (YAML or JSON); file names in it are relative to its folder.
    study: PathBuf,
    /// The service.
    #[arg(long, value_name = "URL", env = "FORESITE_SERVER")]
    server: String,
    /// A token of it; better given as FORESITE_TOKEN, which no process list shows.
    #[arg(long, env = "FORESITE_TOKEN", hide_env_values = true)]
    token: String,
    /// The site at the service; made if there is none of that name.
    #[arg(long, default_value = "default")]
    site: String,
    /// Wait for the comparison and print it.
    #[arg(long)]
    wait: bool,
    /// Wait, and exit with 99 if a gate is breached.
    #[arg(long)]
    gate: bool,
    /// Wait, and write comparison.{json,csv,md}, report.html, junit.xml and figures to this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How long to go on when the service cannot be reached, or answers 429 or 5xx.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    retry_for: u64,
    /// Print JSON: the comparison, or without waiting the study.
    #[arg(long)]
    json: bool,
}

impl Submit {
    /// Submits.
    pub(crate) fn execute(self) -> anyhow::Result<Exit> {
        let name = files::name_of(&self.study);
        let bytes = match fs::read(&self.study) {
            Ok(bytes) => bytes,
            Err(error) => return Ok(diagnostics::refuse(&[files::unreadable(&name, &error)], self.json)),
        };
        let (document, mut found) = study_document::read(&name, &bytes);
        let Some(document) = document else { return Ok(diagnostics::refuse(&found, self.json)) };
        service::runtime()?.block_on(async {
            let patience = Patience(Duration::from_secs(self.retry_for));
            let client = Client::new(&self.server, SecretString::from(self.token.as_str()), patience)?;
            let sent = if document.site.site.is_some() {
                let json = serde_json::to_string(&document).context("the document cannot be written as JSON")?;
                client.study(&json).await
            } else {
                // The trace is streamed, not held in memory.
                let folder = files::folder_of(&self.study);
                let without_trace = StudyDocument { trace: TraceSource::default(), ..document.clone() };
                let (file_set, unreadable) = files::of_document(&without_trace, &folder);
                found.extend(unreadable);
                if any_error(&found) {
                    return Ok(diagnostics::refuse(&found, self.json));
                }
                let trace = TraceBytes::File(folder.join(document.trace.file.as_deref().unwrap_or_default()));
                remote_study::submit(&client, &self.site, &document, &file_set, trace).await
            };
            match sent {
                Ok(study) => self.follow(&client, study).await,
                Err(error) => self.refused(error, &name, &bytes),
            }
        })
    }

    async fn follow(&self, client: &Client, study: StudyView) -> anyhow::Result<Exit> {
        eprintln!("study {}: {}", study.id, client.url(&format!("/studies/{}", study.id)));
        if !(self.wait || self.gate || self.out.is_some()) {
            if self.json {
                println!("{}", serde_json::to_string_pretty(&study)?);
            }
            return Ok(Exit::Done);
        }
        let ended = remote_study::wait(client, &study).await?;
        if ended.state != "succeeded" {
            let reason = ended.error.map(|error| format!(": {error}")).unwrap_or_default();
            anyhow::bail!("the study has {}{reason}", ended.state);
        }
        let json = client.comparison(&study.id).await?;
        let comparison: Comparison =
            serde_json::from_slice(&json).context("the comparison is not what this version expects")?;
        if let Some(out) = &self.out {
            written::comparison(out, &comparison)?;
        }
        if self.json {
            print!("{}", String::from_utf8_lossy(&json));
        } else {
            print!("{}", comparison.to_terminal());
        }
        Ok(if self.gate && comparison.is_breached() { Exit::Breached } else { Exit::Done })
    }

    /// Faults as `foresite run` lists them. The service calls the document `study`, and saw it as one line of JSON.
    fn refused(&self, error: ClientError, name: &str, bytes: &[u8]) -> anyhow::Result<Exit> {
        let mut found = error.diagnostics();
        if found.is_empty() {
            return match error {
                ClientError::Refused(problem) => {
                    eprintln!("foresite: {}: {}", problem.title, problem.detail);
                    Ok(Exit::Wrong)
                }
                ClientError::Other(error) => Err(error),
            };
        }
        study_document::locate(&mut found, name, bytes);
        Ok(diagnostics::refuse(&found, self.json))
    }
}
