//! Results as files.

use std::fs;
use std::path::Path;

use anyhow::Context;
use foresite_formats::comparison::{Comparison, figure};

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
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
