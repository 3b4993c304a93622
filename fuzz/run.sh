#!/usr/bin/env bash
# Coverage-guided fuzzing on any compiler: builds the targets with LLVM's own instrumentation (what cargo-fuzz asks of nightly, without
# the address sanitizer: there is no unsafe code) and runs each of them. Usage: fuzz/run.sh [SECONDS a target, default 150] [TARGET]…
# What is found lies in target/fuzz/artifacts; the grown corpus in target/fuzz/corpus. Ends with 1 if anything was found.
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:-150}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cd fuzz_targets && ls | sed 's/\.rs$//')
folder="${CARGO_TARGET_DIR:-$PWD/../target}/fuzz"
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares" \
    cargo build --release --locked --target "$host" --target-dir "$folder"

status=0
for target in "${targets[@]}"; do
    mkdir -p "$folder/corpus/$target" "$folder/artifacts/$target"
    "$folder/$host/release/$target" -max_total_time="$seconds" -rss_limit_mb=3000 -timeout=20 -print_final_stats=1 \
        -artifact_prefix="$folder/artifacts/$target/" "$folder/corpus/$target" "corpus/$target" >"$folder/$target.log" 2>&1 || status=1
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$target.log")
    edges=$(grep -o 'cov: [0-9]*' "$folder/$target.log" | tail -n 1)
    memory=$(sed -n 's/^stat::peak_rss_mb: *//p' "$folder/$target.log")
    echo "| $target | $runs | ${edges#cov: } | $memory | $(ls "$folder/artifacts/$target" | wc -l) |"
done
exit "$status"
