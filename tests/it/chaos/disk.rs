//! A disk that is full: database, objects and temporary files of one service with embedded workers, all on it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use foresite_store::events::{EventKind, StudyEvent};
use foresite_store::ids::{StudyId, TenantId};
use foresite_store::{DatabaseUrl, Store};
use serde_json::{Value, json};

use super::Row;
use super::pool::{Dice, REPLICATIONS, Stored, judge_each, state};
use crate::foresite::{Place, Service, token};

/// A disk of its own, in a name space of its own: nobody else's is touched, and no privilege is needed.
const ON_A_SMALL_DISK: &str =
    "mount -t tmpfs -o size=32m tmpfs \"$0\" && mkdir \"$0/tmp\" && export TMPDIR=\"$0/tmp\" && exec \"$@\"";
/// Longer than the lease.
const FULL: Duration = Duration::from_secs(3);

/// The disk is filled while a study is at work, and emptied again. A study meets it once.
pub(crate) fn full(scale: usize) -> Row {
    let begin = Instant::now();
    let place = Place::embedded().with("FORESITE_LEASE_SECONDS", "2").with("FORESITE_LOG", "off");
    let room = place.folder().join("data");
    std::fs::create_dir(&room).unwrap();
    let service = Service::of(on_a_small_disk(&place, &room));
    let disk = Path::new("/proc")
        .join(service.process.child.id().to_string())
        .join("root")
        .join(room.strip_prefix("/").unwrap());
    let operator = token("t", "operator");
    let mut document = service.example_study(&operator);
    document["replications"] = json!(REPLICATIONS);
    let mut dice = Dice::new();
    let (mut studies, mut refused) = (Vec::new(), 0);
    for _ in 0..2 * scale {
        let study = service.submit(&operator, &document);
        dice.sleep(50, 1000);
        let ballast = fill(&disk);
        let since = Instant::now();
        while since.elapsed() < FULL {
            refused += usize::from(asks_for_patience(&service, &operator, &document));
            std::thread::sleep(Duration::from_millis(300));
        }
        std::fs::remove_file(ballast).unwrap();
        foresite_tests::servers::wait_until("the study has ended", Duration::from_secs(120), || {
            state(&service, &operator, &study).is_some_and(|state| !["queued", "running"].contains(&state.as_str()))
        });
        studies.push(study);
    }
    assert!(refused > 0, "the disk was never full");
    // SQLite would follow the link out of the name space: it gets a copy.
    for name in ["foresite.db-wal", "foresite.db"] {
        std::fs::copy(disk.join(name), place.folder().join(name)).unwrap();
    }
    let database = format!("sqlite://{}", place.folder().join("foresite.db").display());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let store = runtime.block_on(Store::connect(&DatabaseUrl::parse(&database).unwrap(), 1)).unwrap();
    let verdict = judge_each(&service, &operator, &studies, |study| {
        let (tenant, id) = (TenantId::parse("t").unwrap(), StudyId::parse(study).unwrap());
        runtime.block_on(async {
            let row = store.study(&tenant, &id).await.unwrap().unwrap();
            let events = store.study_events(&tenant, &id, 0, 1000).await.unwrap();
            let is_end = |event: &&StudyEvent| event.kind == EventKind::Progress || event.data.contains("succeeded");
            Stored {
                replications: store.study_replications(&id).await.unwrap().len(),
                counted: row.replications_done as usize,
                ends: events.iter().filter(is_end).count(),
            }
        })
    });
    Row::new("disk full", 2 * scale, &verdict, begin)
}

fn on_a_small_disk(place: &Place, room: &Path) -> Command {
    let inner = place.command(&["serve"]);
    let mut outer = Command::new("unshare");
    outer.args(["--map-root-user", "--mount", "sh", "-c", ON_A_SMALL_DISK]).arg(room);
    outer.arg(inner.get_program()).args(inner.get_args()).current_dir(place.folder());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

/// Writes until nothing fits any more.
fn fill(disk: &Path) -> PathBuf {
    let path = disk.join("ballast");
    let mut file = std::fs::File::create(&path).unwrap();
    for size in [1 << 20, 4096, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
    path
}

/// One upload while the disk is full: it is taken, if something made room, or put off; nothing else.
fn asks_for_patience(service: &Service, operator: &str, document: &Value) -> bool {
    let site = document["site"]["site"].as_str().unwrap();
    let trace = std::fs::read(crate::foresite::example("sacct.txt")).unwrap();
    let answer = service.trace(operator, site, [trace, b"\n".to_vec()].concat());
    let status = answer.status().as_u16();
    assert!([200, 201, 503].contains(&status), "{status}: {}", answer.text().unwrap());
    status == 503
}
