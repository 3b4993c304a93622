//! What workers make of a trace's compact form.

use foresite_formats::trace::compact;
use foresite_jobs_queue::inputs::fetch_inputs;
use foresite_jobs_queue::plan_tasks;
use foresite_jobs_queue::task::TaskFolder;
use foresite_store::files::{StoredCompact, StoredFile};
use foresite_store::objects::{ObjectHash, Objects};
use foresite_store::studies::{CreateOutcome, NewStudy};

use super::rig::Rig;
use crate::fixtures::{local_objects, new_study};

/// A trace and its compact form, stored.
async fn stored(objects: &Objects) -> (Vec<StoredFile>, StoredCompact) {
    let text = objects.put(b"text".to_vec()).await.unwrap().hash;
    let form = objects.put(b"compact".to_vec()).await.unwrap().hash;
    let file = "sacct.txt".to_owned();
    let compact = StoredCompact { file: file.clone(), object: form, reader: compact::reader() };
    (vec![StoredFile { name: file, object: text, bytes: 4 }], compact)
}

/// Does a study of such a trace with a child that is a shell script.
async fn succeeds_with(script: &str, change: impl FnOnce(&mut StoredCompact)) {
    let rig = Rig::embedded().await;
    let (inputs, mut compact) = stored(&rig.objects).await;
    change(&mut compact);
    let _sweeper = rig.sweep();
    let _worker = rig.work(script);
    let new = NewStudy { inputs, compact_trace: Some(compact), ..new_study("compact") };
    let created = rig.store.create_study(&new, &plan_tasks(1, 2), None, 1_000).await.unwrap();
    let CreateOutcome::Created { study, .. } = created else { panic!("{created:?}") };
    rig.succeeds(&study.id, 1, 2).await;
    let ended = rig.store.study(&study.tenant, &study.id).await.unwrap().unwrap();
    assert_eq!(ended.compact_trace, None, "a study that has ended reads no trace");
}

const WANTS_FORM: &str =
    r#"case $order in *'"compact":0'*) [ "$(/bin/cat input-0)" = compact ] || exit 2; results ;; *) exit 2 ;; esac"#;
const WANTS_TEXT: &str =
    r#"case $order in *'"compact":0'*) exit 2 ;; *) [ "$(/bin/cat input-0)" = text ] || exit 2; results ;; esac"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_starts_from_the_compact_form() {
    succeeds_with(WANTS_FORM, |_| ()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_of_another_reader_is_left_aside() {
    succeeds_with(WANTS_TEXT, |compact| compact.reader = "0.0.1+1".to_owned()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_text_serves_where_the_form_is_refused() {
    succeeds_with(WANTS_TEXT, |_| ()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_text_serves_where_the_form_is_gone_or_damaged() {
    let folder = local_objects();
    let (inputs, mut compact) = stored(&folder.objects).await;
    let scratch = tempfile::tempdir().unwrap();
    let fetched = async |compact: &StoredCompact| {
        let task = TaskFolder(scratch.path());
        let number = fetch_inputs(&folder.objects, &inputs, Some(compact), task).await.unwrap();
        (number, std::fs::read_to_string(task.input(0)).unwrap())
    };
    assert_eq!(fetched(&compact).await, (Some(0), "compact".to_owned()));
    folder.damage(&compact.object);
    assert_eq!(fetched(&compact).await, (None, "text".to_owned()));
    compact.object = ObjectHash::of(b"gone");
    assert_eq!(fetched(&compact).await, (None, "text".to_owned()));
}
