//! A study with its files, brought to a service: uploaded, submitted, waited for.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use foresite_api::rest::views::study::StudyView;
use foresite_formats::file_set::FileSet;
use foresite_formats::study_document::{SiteSource, StudyDocument, TraceSource};
use foresite_jobs_queue::understand::{ACCOUNTS, EVENTS, RESERVATIONS, SDIAG, SLURM_CONF, USAGE};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use reqwest::Body;

use crate::client::{Client, ClientError};

/// How often the service is asked how far it is.
const INTERVAL: Duration = Duration::from_millis(500);

/// Where a trace's bytes come from.
pub(crate) enum TraceBytes {
    /// A file, streamed.
    File(PathBuf),
    /// Memory.
    Memory(&'static [u8]),
}

/// Uploads what the document names and submits it with the ids in place of the names.
pub(crate) async fn submit(
    client: &Client,
    site_name: &str,
    document: &StudyDocument,
    files: &FileSet,
    trace: TraceBytes,
) -> Result<StudyView, ClientError> {
    let site = client.site(site_name).await?;
    let renamed = usual_names(&document.site, files);
    let config = client.config(&site.id, &under(&renamed, files)).await;
    let config = config.map_err(|error| in_own_words(error, &renamed))?;
    let file = document.trace.file.as_deref().unwrap_or_default();
    let name = file.rsplit('/').next().unwrap_or_default();
    let body = async || match &trace {
        TraceBytes::Memory(bytes) => Ok(Body::from(*bytes)),
        TraceBytes::File(path) => {
            let file = tokio::fs::File::open(path).await;
            Ok(Body::from(file.with_context(|| format!("cannot read {}", path.display()))?))
        }
    };
    let trace = client.trace(&site.id, name, document.trace.timezone.as_deref(), body).await;
    let own = (file.to_owned(), name.to_owned());
    let trace = trace.map_err(|error| in_own_words(error, std::slice::from_ref(&own)))?;
    let resolved = StudyDocument {
        site: SiteSource { site: Some(site.id), config: Some(config.id), ..SiteSource::default() },
        trace: TraceSource { file: None, trace: Some(trace.id), ..document.trace.clone() },
        ..document.clone()
    };
    let json = serde_json::to_string(&resolved).context("the document cannot be written as JSON")?;
    let study = client.study(&json).await;
    study.map_err(|error| in_own_words(in_own_words(error, &renamed), &[own]))
}

/// Each file's own name, and the one it has in a stored configuration.
type Names = [(String, String)];

/// A refusal that names the files as the user does.
fn in_own_words(error: ClientError, names: &Names) -> ClientError {
    let ClientError::Refused(mut problem) = error else { return error };
    for fault in &mut problem.errors {
        if let Some(file) = &mut fault.file
            && let Some((own, _)) = names.iter().find(|(_, usual)| usual == file)
        {
            file.clone_from(own);
        }
    }
    ClientError::Refused(problem)
}

/// The names files have in a stored configuration: each fact under its usual name, everything else relative to slurm.conf.
fn usual_names(site: &SiteSource, files: &FileSet) -> Vec<(String, String)> {
    let usual = [
        (&site.slurm_conf, SLURM_CONF),
        (&site.accounts, ACCOUNTS),
        (&site.reservations, RESERVATIONS),
        (&site.usage, USAGE),
        (&site.events, EVENTS),
        (&site.sdiag, SDIAG),
    ];
    let folder = site.slurm_conf.as_deref().and_then(|name| name.rsplit_once('/')).map_or("", |(folder, _)| folder);
    let mut renamed = Vec::new();
    for name in files.names() {
        let role = usual.iter().find(|(named, _)| named.as_deref() == Some(name));
        let beside =
            || name.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).filter(|_| !folder.is_empty());
        let new = role.map_or_else(|| beside().unwrap_or(name), |(_, usual)| usual);
        renamed.push((name.to_owned(), new.to_owned()));
    }
    renamed
}

fn under(names: &Names, files: &FileSet) -> FileSet {
    let mut renamed = FileSet::default();
    for (own, usual) in names {
        renamed.insert(usual.as_str(), files.get(own).unwrap_or_default());
    }
    renamed
}

/// Waits until a study has ended, with a bar on a terminal.
pub(crate) async fn wait(client: &Client, study: &StudyView) -> Result<StudyView, ClientError> {
    let target =
        if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let total = u64::try_from(study.progress.replications_total).unwrap_or_default();
    let bar = ProgressBar::with_draw_target(Some(total), target);
    let style = ProgressStyle::with_template("{bar:30} {msg}  {pos} of {len} replications");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    loop {
        let now = client.status(&study.id).await?;
        bar.set_message(match now.queue_position {
            Some(position) => format!("{}, {position} tasks before it", now.state),
            None => now.state.clone(),
        });
        bar.set_position(u64::try_from(now.progress.replications_done).unwrap_or_default());
        if matches!(now.state.as_str(), "succeeded" | "failed" | "cancelled") {
            bar.finish_and_clear();
            return Ok(now);
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_get_their_usual_names_and_the_rest_stays_beside_slurm_conf() {
        let site = SiteSource {
            slurm_conf: Some("site/base.conf".to_owned()),
            accounts: Some("dumps/today.cfg".to_owned()),
            ..SiteSource::default()
        };
        let mut files = FileSet::default();
        for name in ["site/base.conf", "site/gres.conf", "site/parts/big.conf", "dumps/today.cfg", "/etc/slurm/x.conf"]
        {
            files.insert(name, name.as_bytes());
        }
        let renamed = under(&usual_names(&site, &files), &files);
        let names: Vec<&str> = renamed.names().collect();
        assert_eq!(names, ["/etc/slurm/x.conf", "gres.conf", "parts/big.conf", "sacctmgr.cfg", "slurm.conf"]);
        assert_eq!(renamed.get("sacctmgr.cfg"), Some("dumps/today.cfg".as_bytes()));
    }
}
