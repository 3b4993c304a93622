#![no_main]
#![allow(dead_code)]

#[path = "../../formats/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::events(bytes));
