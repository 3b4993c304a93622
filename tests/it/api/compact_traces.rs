//! A trace's text is read once; its compact form serves the studies after that, and nothing depends on its being there.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::foresite::{Place, offline_comparison, token};

/// Every file that begins so.
fn files(folder: &Path, begin: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, begin));
        } else if std::fs::read(&path).unwrap().starts_with(begin) {
            found.push(path);
        }
    }
    found
}

#[test]
fn studies_start_from_the_compact_form_and_the_text_serves_where_it_is_gone() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let mut document = service.example_study(&operator);
    let stored = || files(place.folder(), b"FORESITE TRACE\n");
    assert_eq!(stored().len(), 1, "the upload left one");
    // Where the text is needed nothing works now.
    let [text] = &*files(place.folder(), b"JobID|") else { panic!("more or less than one trace") };
    let aside = place.folder().join("aside");
    std::fs::rename(text, &aside).unwrap();
    let study = service.submit(&operator, &document);
    service.await_success(&operator, &study);
    assert_eq!(service.comparison(&operator, &study), offline_comparison());
    std::fs::rename(&aside, text).unwrap();

    for path in stored() {
        std::fs::remove_file(path).unwrap();
    }
    let again = service.submit(&operator, &document);
    service.await_success(&operator, &again);
    assert_eq!(service.comparison(&operator, &again), offline_comparison());
    assert_eq!(stored().len(), 1, "made anew");

    document["trace"]["window"] = json!(["2000-01-01", "2100-01-01"]);
    let window = service.submit(&operator, &document);
    service.await_success(&operator, &window);
    assert_eq!(stored().len(), 2, "a window is read as a window");
}
