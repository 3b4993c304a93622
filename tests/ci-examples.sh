#!/usr/bin/env bash
# Checks examples/ci against the schemas of GitHub and GitLab, which check-jsonschema (Python's index) brings along.
set -euo pipefail
cd "$(dirname "$0")/.."

tools="${CARGO_TARGET_DIR:-target}/test-tools"
checker="$tools/check-jsonschema/bin/check-jsonschema"
if [ ! -x "$checker" ]; then
    if ! { python3 -m venv "$tools/check-jsonschema" &&
        timeout 300 "$tools/check-jsonschema/bin/python" -m pip install --quiet --disable-pip-version-check check-jsonschema==0.39.0; }; then
        echo "ci-examples.sh: SKIPPED: check-jsonschema could not be installed" >&2
        [ "${FORESITE_TESTS_STRICT:-}" != 1 ]
        exit
    fi
fi
"$checker" --builtin-schema vendor.github-workflows examples/ci/github.yml
"$checker" --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci examples/ci/gitlab.yml
