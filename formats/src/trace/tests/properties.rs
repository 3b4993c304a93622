//! Nothing that is fed to the readers makes them panic, and what they accept can be lowered.

use proptest::prelude::*;

use super::compact_form::assert_kept;
use super::*;

/// Reads, and lowers what was accepted onto a small cluster.
fn swallow(bytes: &[u8]) {
    let (trace, diagnostics) =
        Trace::read("t", bytes, &TraceOptions { time_zone: None, max_bytes: Some(1 << 20), opens: None });
    assert_eq!(trace.is_none(), any_error(&diagnostics));
    if let Some(trace) = trace
        && let Ok(mut site) = swf_site(&trace, Some(4), Some(8))
    {
        assert_kept(&trace, &diagnostics, &TraceOptions::default());
        let (workload, _) = lower(&trace, &mut site);
        if let Some(workload) = workload {
            assert_eq!(workload.trace_order.len(), trace.jobs.len());
            assert!(workload.jobs.is_sorted_by_key(|job| (job.submit, job.name)));
        }
    }
}

fn valid() -> impl Strategy<Value = String> {
    let xdmod = "2|2|hpc|compute|normal|staff|g|1|u|1|2024-01-01T00:08:00|2024-01-01T00:08:00|2024-01-01T00:09:00|2024-01-01T00:12:01|\
                 00:03:01|0:0|COMPLETED|1|1|1|500M|billing=1|billing=1|00:05:00|cpn02|a";
    let line = "sbatch -N1-2 -n4 -c 2 --mem=3G -C a&b --gres=gpu:2 -d afterok:1 -b now+5 -a 1-3%2 -w n[1-3] --exclusive -B 1:2:3 x.sh";
    prop::sample::select(vec![
        with(&[]),
        with(&[("SubmitLine", line), ("Partition", ""), ("JobID", "7_[1-3,5-9:2%4]")]),
        with(&[("Partition", ""), ("Constraints", "[a|b]*2&(c|d)"), ("Eligible", "2024-10-27T02:30:00")]),
        xdmod.to_owned(),
        "v=1,JobID=2,Submit=2024-01-01T01:08:00+01:00,State=COMPLETED,ElapsedRaw=181,\"ReqTRES=cpu=1,node=1\""
            .to_owned(),
        "; MaxProcs: 8\n1 10 5 100 8 -1 -1 8 3600 2048 1 3 4 -1 1 -1 -1 -1\n".to_owned(),
        "1001;0;-1;15;12;-1;-1;-1;420;-1;-1;user5;account2;-1;normal;normal;afterok:1;-1;".to_owned(),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        swallow(&bytes);
    }

    #[test]
    fn arbitrary_rows_under_a_header_never_panic(rows in prop::collection::vec("[0-9|_a-z:T+\\-\\[\\]%,.=GM \"]{0,120}", 0..6)) {
        swallow(format!("{HEADER}\n{}", rows.join("\n")).as_bytes());
    }

    #[test]
    fn mutated_lines_never_panic(
        text in valid(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4u8, any::<u8>()), 1..8),
    ) {
        let mut bytes = text.into_bytes();
        for (index, kind, byte) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = index.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => {
                    bytes.remove(at);
                }
                _ => bytes.truncate(at),
            }
        }
        swallow(&bytes);
    }

    #[test]
    fn absurd_numbers_in_any_field_never_panic(
        column in 0..26usize,
        value in prop::sample::select(vec![
            "18446744073709551615", "4294967295", "-1", "99999999999-00:00:00", "9999-12-31T23:59:59", "0001-01-01T00:00:00", "1e300",
            "1_[0-4294967295]", "cpu=4294967295,mem=17179869184P,node=4294967295", "99999999999P", "sbatch -N4294967295 -n 4294967295 -c 4294967295",
            "sbatch --ntasks-per-node=4294967295 -N 4294967295 --begin=now+9223372036854775807", "999999999999",
        ]),
    ) {
        let names: Vec<&str> = HEADER.split('|').collect();
        swallow(with(&[(names[column], value), ("Partition", "")]).as_bytes());
    }
}
