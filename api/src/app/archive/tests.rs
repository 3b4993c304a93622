#![allow(clippy::unwrap_used)]

use super::*;

fn tar_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in entries {
        let mut header = tar::Header::new_gnu();
        // Written by hand: the library refuses the names that an attacker would choose.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

fn names(files: &FileSet) -> Vec<&str> {
    files.names().collect()
}

#[test]
fn the_folder_around_all_files_is_left_out() {
    let files = unpack(&tar_of(&[("./site/slurm.conf", b"a"), ("site/gres.conf", b"b")]), 1 << 20).unwrap();
    assert_eq!(names(&files), ["gres.conf", "slurm.conf"]);
}

#[test]
fn only_folders_around_all_files_are_left_out() {
    for (given, left) in [
        (["a/b/c.conf", "a/b/d/e.conf"], ["c.conf", "d/e.conf"]),
        (["a/bc/x", "a/bd/x"], ["bc/x", "bd/x"]),
        (["\u{e4}/x", "\u{e5}/x"], ["\u{e4}/x", "\u{e5}/x"]),
        (["a/x", "x"], ["a/x", "x"]),
        (["/etc/slurm/a", "/etc/slurm/b"], ["/etc/slurm/a", "/etc/slurm/b"]),
    ] {
        assert_eq!(names(&unpack(&tar_of(&given.map(|name| (name, &b"#"[..]))), 1 << 20).unwrap()), left);
    }
}

#[test]
fn a_name_of_very_many_folders_is_refused_and_shown_in_short() {
    let name = "a/".repeat(200_000) + "slurm.conf";
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(1);
    builder.append_data(&mut header, &name, &b"#"[..]).unwrap();
    let error = unpack(&builder.into_inner().unwrap(), 1 << 20).unwrap_err();
    assert_eq!(error.code(), Code::InvalidConfig);
    assert!(error.diagnostics()[0].message.contains("more than 4095 bytes"), "{error:?}");
    assert!(error.diagnostics()[0].file.len() <= 200);
    // The most that is let through.
    let name = "a/".repeat(2042) + "slurm.conf";
    let mut files = FileSet::default();
    files.insert(name, &b"#"[..]);
    assert_eq!(names(&without_common_folder(files)), ["slurm.conf"]);
}

#[test]
fn a_zstd_archive_is_read_as_it_is() {
    let packed = zstd::encode_all(tar_of(&[("slurm.conf", b"a")]).as_slice(), 3).unwrap();
    assert_eq!(names(&unpack(&packed, 1 << 20).unwrap()), ["slurm.conf"]);
}

#[test]
fn names_that_leave_the_folder_are_refused_all_at_once() {
    let error = unpack(&tar_of(&[("../etc/passwd", b"a"), ("a/../../b", b"b")]), 1 << 20).unwrap_err();
    assert_eq!(error.code(), Code::InvalidConfig);
    assert_eq!(error.diagnostics().len(), 2);
}

#[test]
fn a_bomb_is_stopped_at_the_limit() {
    let packed = zstd::encode_all(tar_of(&[("slurm.conf", &vec![b'#'; 4 << 20])]).as_slice(), 3).unwrap();
    assert!(packed.len() < 10_000);
    assert_eq!(unpack(&packed, 1 << 20).unwrap_err().code(), Code::PayloadTooLarge);
}

#[test]
fn what_is_no_tar_is_refused() {
    assert_eq!(unpack(&[7; 2000], 1 << 20).unwrap_err().code(), Code::InvalidConfig);
}
