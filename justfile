# Recipes; `just` is optional, each line is an ordinary command.

# A pipe fails with any of its parts.
set shell := ["bash", "-euo", "pipefail", "-c"]

# The first look: service, example study and comparison, on embedded defaults.
demo:
    cargo run --release -- demo

# Everything CI runs: installs what tests need, lints, tests.
test:
    bash tests/run.sh

lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings

# One benchmark, such as `just bench rush exclusive` (docs/PERFORMANCE.md).
bench *arguments:
    cargo run --release -p foresite-bench -- {{arguments}}

# Writes the committed OpenAPI document anew.
openapi:
    cargo run -- openapi > openapi/foresite.json

# Lints, renders and validates the Helm chart.
helm:
    bash tests/helm.sh

# Ten thousand queued tasks, drained by two workers (docs/RELIABILITY.md).
drain:
    cargo build --release -p foresite
    python3 tests/measure/drain.py target/release/foresite

# Follows docs/OPERATIONS.md literally.
drill:
    bash tests/drill.sh

# The fault table for docs/RELIABILITY.md: each row `scale` times as large as in the tests. One row at a time.
chaos scale="10":
    @echo '| fault | disturbances | studies | lost | doubled | differing | seconds |'
    @echo '| --- | ---: | ---: | ---: | ---: | ---: | ---: |'
    @FORESITE_CHAOS={{scale}} cargo test -q -p foresite-tests --test it -- chaos:: --test-threads 1 --nocapture | grep '^|'
