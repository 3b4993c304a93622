#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};

use super::*;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn unpack(bytes: &[u8], limit: Option<u64>) -> Result<String, String> {
    let mut text = String::new();
    let mut reader = open(bytes, limit).map_err(|error| error.to_string())?;
    reader.read_to_string(&mut text).map(|_| text).map_err(|error| fault("t.gz", &error).to_string())
}

#[test]
fn plain_gzip_and_zstd_give_the_same_text() {
    let text = "a line\nanother\n".repeat(1000);
    assert_eq!(unpack(text.as_bytes(), None).unwrap(), text);
    assert_eq!(unpack(&gzip(text.as_bytes()), None).unwrap(), text);
    assert_eq!(unpack(&zstd::encode_all(text.as_bytes(), 1).unwrap(), None).unwrap(), text);
}

#[test]
fn other_packings_are_named_with_a_cure() {
    let said = |bytes: &[u8]| open(bytes, None).err().map(|error| fault("t", &error).to_string());
    for (start, packing) in
        [(&b"\xfd7zXZ\0"[..], "xz"), (b"BZh91AY", "bzip2"), (b"\x04\x22\x4d\x18d", "lz4"), (b"PK\x03\x04", "zip")]
    {
        let words = format!("t: error: the file is packed with {packing}; unpack it, or use gzip or zstd");
        assert_eq!(said(start), Some(words));
    }
    assert!(!is_packed(b"BZh|JobID") && is_packed(&gzip(b"x")) && is_packed(b"BZh9"));
}

#[test]
fn several_members_and_frames_are_read_on() {
    let two = [gzip(b"one\n"), gzip(b"two\n")].concat();
    assert_eq!(unpack(&two, None).unwrap(), "one\ntwo\n");
    let two = [zstd::encode_all(&b"one\n"[..], 1).unwrap(), zstd::encode_all(&b"two\n"[..], 1).unwrap()].concat();
    assert_eq!(unpack(&two, None).unwrap(), "one\ntwo\n");
}

#[test]
fn sources_shorter_than_a_magic_number_are_plain() {
    for text in ["", "a", "ab", "abc"] {
        assert_eq!(unpack(text.as_bytes(), None).unwrap(), text);
    }
}

#[test]
fn a_torn_stream_names_file_and_offset() {
    let text = (0..10_000).map(|number| format!("{number}\n")).collect::<String>();
    let whole = gzip(text.as_bytes());
    let torn = &whole[..whole.len() / 2];
    let message = unpack(torn, None).unwrap_err();
    assert!(message.starts_with(&format!("t.gz: error: the gzip stream is torn at byte {}", torn.len())), "{message}");
    let whole = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let message = unpack(&whole[..whole.len() / 2], None).unwrap_err();
    assert!(message.contains("zstd stream is torn at byte"), "{message}");
}

#[test]
fn output_beyond_the_cap_is_an_error() {
    let bomb = gzip(&vec![0; 1_000_000]);
    assert!(bomb.len() < 10_000);
    let message = unpack(&bomb, Some(1000)).unwrap_err();
    assert!(message.contains("more than 1000 bytes after unpacking"), "{message}");
    assert_eq!(unpack(b"12345", Some(5)).unwrap(), "12345");
}

#[test]
fn much_out_of_little_is_an_error_beyond_the_first_bytes() {
    let lines = |megabytes: usize| zstd::encode_all(&b"\n".repeat(megabytes << 20)[..], 1).unwrap();
    let read = |bytes: &[u8]| {
        let unpacked = open(bytes, None).and_then(|mut reader| io::copy(&mut reader, &mut io::sink()));
        unpacked.map_err(|error| fault("t.zst", &error).to_string())
    };
    assert_eq!(read(&lines(60)), Ok(60 << 20));
    let message = read(&lines(200)).unwrap_err();
    assert!(message.contains("zstd stream unpacks to more than 1000 times its size"), "{message}");
}
