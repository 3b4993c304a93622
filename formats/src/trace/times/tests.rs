#![allow(clippy::unwrap_used)]

use super::*;

fn at(zone: &str, text: &str) -> Option<Moment> {
    Clock::new(TimeZone::get(zone).unwrap()).parse(text.as_bytes())
}

#[test]
fn local_times_are_read_in_the_given_zone() {
    assert_eq!(at("UTC", "2024-01-01T00:08:00"), Some(Moment::At(1_704_067_680)));
    assert_eq!(at("Europe/Berlin", "2024-01-01T01:08:00"), Some(Moment::At(1_704_067_680)));
    assert_eq!(at("America/New_York", "2023-12-31 19:08:00"), Some(Moment::At(1_704_067_680)));
    assert_eq!(at("Europe/Berlin", "2024-07-01T02:00:00"), at("UTC", "2024-07-01T00:00:00"));
}

#[test]
fn a_written_offset_beats_the_zone() {
    assert_eq!(at("America/New_York", "2025-05-02T14:09:52+02:00"), at("UTC", "2025-05-02T12:09:52"));
    assert_eq!(at("America/New_York", "2025-05-02T12:09:52.25Z"), at("UTC", "2025-05-02T12:09:52"));
    assert_eq!(at("UTC", "1704067680"), Some(Moment::At(1_704_067_680)));
}

#[test]
fn days_with_a_change_of_clock_are_read_by_the_hour() {
    let mut clock = Clock::new(TimeZone::get("Europe/Berlin").unwrap());
    let mut read = |text: &str| clock.parse(text.as_bytes()).unwrap().known().unwrap();
    assert_eq!(read("2024-10-27T01:59:59"), 1_729_987_199);
    assert_eq!(read("2024-10-27T02:30:00"), 1_729_989_000);
    assert_eq!(read("2024-10-27T03:00:00"), 1_729_994_400);
    assert_eq!(clock.ambiguous, 1);
}

#[test]
fn unknown_times_are_no_faults_and_broken_ones_are() {
    for text in ["", "Unknown", "None"] {
        assert_eq!(at("UTC", text), Some(Moment::Unknown));
    }
    for text in ["2024-01-0", "2024-13-01T00:00:00", "2024-02-30T00:00:00", "2024-01-01T24:00:00", "yesterday"] {
        assert_eq!(at("UTC", text), None, "{text}");
    }
    assert_eq!(at("UTC", "2024-01-01T00:00:00|x"), None);
}

#[test]
fn numbers_too_large_for_seconds_are_no_times() {
    assert_eq!(at("UTC", "8589934592"), Some(Moment::At(1 << 33)));
    for text in ["1709287200000", "20240301100000", "20240301", "1709287200000000", "8589934593"] {
        assert_eq!(at("UTC", text), None, "{text}");
        assert!(too_large(text.as_bytes()).contains("milliseconds"));
    }
    assert_eq!(too_large(b"yesterday"), "");
}

#[test]
fn elapsed_times_have_many_shapes() {
    for (text, seconds) in [
        ("00:00:17", 17),
        ("10-13:27:06", 912_426),
        ("00:00.385", 0),
        ("03:00.532", 180),
        ("1566-14:49:13", 135_355_753),
        ("0 days 23:33:25", 84_805),
        ("3 days", 259_200),
        ("17", 17),
    ] {
        assert_eq!(elapsed(text.as_bytes()), Some(Some(seconds)), "{text}");
    }
    assert_eq!(elapsed(b"INVALID"), Some(None));
    assert_eq!(elapsed(b"1:2:3:4"), None);
    assert_eq!(elapsed(b"99999999999999999-00:00:00"), None);
}

#[test]
fn limits_are_whole_minutes_rounded_up() {
    use foresite_engine::job::TimeLimit::{Minutes, Unlimited};
    let option = |text: &str| limit_option(text.as_bytes()).unwrap().minutes();
    assert_eq!(option("90"), Some(Minutes(90)));
    assert_eq!(option("1:30"), Some(Minutes(2)));
    assert_eq!(option("0:11:00"), Some(Minutes(11)));
    assert_eq!(option("1-2"), Some(Minutes(26 * 60)));
    assert_eq!(option("1-2:30"), Some(Minutes(26 * 60 + 30)));
    assert_eq!(option("0:01:01"), Some(Minutes(2)));
    assert_eq!(option("UNLIMITED"), Some(Unlimited));
    assert_eq!(limit_option(b"1:2:3:4"), None);
    assert_eq!(limit_field(b"125-00:00:00").unwrap().minutes(), Some(Minutes(180_000)));
    assert_eq!(limit_field(b"3 days").unwrap().minutes(), Some(Minutes(4320)));
    assert_eq!(limit_raw(b"Partition_Limit").unwrap().minutes(), None);
    assert_eq!(limit_raw(b"4320").unwrap().minutes(), Some(Minutes(4320)));
}
