//! Results as files.

use std::fs;
use std::path::Path;

use anyhow::Context;
use foresite_formats::comparison::{Comparison, figure};
use foresite_formats::schedule_file::{self, Schedule};

/// The comparison as JSON, CSV, Markdown, HTML, JUnit and SVG figures in the folder `out`.
pub(crate) fn comparison(out: &Path, comparison: &Comparison) -> anyhow::Result<()> {
    file(&out.join("comparison.csv"), comparison.to_csv())?;
    file(&out.join("comparison.md"), comparison.to_markdown())?;
    file(&out.join("report.html"), comparison.to_html())?;
    file(&out.join("junit.xml"), comparison.to_junit())?;
    for name in figure::names(comparison) {
        if let Some(svg) = figure::svg(comparison, &name) {
            file(&out.join("figures").join(format!("{name}.svg")), svg)?;
        }
    }
    // Last, so that who finds it finds the rest.
    file(&out.join("comparison.json"), comparison.to_json())
}

/// A file, with the folders it lies in.
pub(crate) fn file(path: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    make_folder_of(path)?;
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// A schedule as CSV, with the folders it lies in.
pub(crate) fn schedule(path: &Path, schedule: &Schedule) -> anyhow::Result<()> {
    make_folder_of(path)?;
    let written = fs::File::create(path).and_then(|mut file| schedule_file::write_to(schedule, &mut file));
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn make_folder_of(path: &Path) -> anyhow::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
}
