#!/usr/bin/env bash
# The one test command: installs what the tests need where it is absent, lints, and runs every test against real servers
# that the tests start themselves on free ports in temporary folders.
set -euo pipefail
cd "$(dirname "$0")/.."

# Whatever the end, what was not looked at stands last (tests/skip.sh).
SKIPPED_LIST=$(mktemp)
export SKIPPED_LIST
finish() {
    status=$?
    if [ -s "$SKIPPED_LIST" ]; then
        echo "run.sh: these parts were skipped:" >&2
        cat "$SKIPPED_LIST" >&2
    else
        echo "run.sh: no part was skipped" >&2
    fi
    rm -f "$SKIPPED_LIST"
    exit "$status"
}
trap finish EXIT

# A build from nothing and the servers' data take 6 GB: what a full disk breaks says so seldom.
df -h . "${TMPDIR:-/tmp}"

bash tests/install-servers.sh

# The chart; what cannot be installed is skipped, loudly.
bash tests/helm.sh

cargo fmt --all --check
cargo clippy --workspace --all-targets --locked -- -D warnings
# The fuzzing targets have a lock file of their own.
cargo metadata --locked --format-version 1 --manifest-path fuzz/Cargo.toml > /dev/null
REQUIRE_PINS=1 cargo test --workspace --locked

# The CI examples: their files and their gate.
bash tests/ci-examples.sh "${CARGO_TARGET_DIR:-target}/debug/foresite"

# The service against its own OpenAPI document, briefly.
FORESITE_EXAMPLES=5 bash tests/schemathesis.sh "${CARGO_TARGET_DIR:-target}/debug/foresite"

# docs/OPERATIONS.md, followed literally: two workers, one killed, backup and restore, upgrade.
bash tests/drill.sh "${CARGO_TARGET_DIR:-target}/debug/foresite"
