#!/usr/bin/env bash
# Checks examples/ci: against the schemas of GitHub and GitLab, which check-jsonschema (Python's index) brings along, and that its gate ends
# as examples/ci/README.md says. `ci-examples.sh PROGRAM`.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/skip.sh

program="${1:-${CARGO_TARGET_DIR:-target}/debug/foresite}"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
# EXIT_CODE NAME SED_EXPRESSION: the example's study, changed, must end so.
gate() {
    sed -e "s#\.\./micro#$PWD/examples/micro#g" -e "$3" examples/ci/study.yaml > "$out/$2.yaml"
    local code=0
    "$program" run "$out/$2.yaml" --gate --out "$out/$2" > "$out/$2.log" 2>&1 || code=$?
    [ "$code" = "$1" ] || {
        cat "$out/$2.log" >&2
        echo "ci-examples.sh: $2 ended with $code, not $1" >&2
        exit 1
    }
}
gate 0 held ""
gate 99 breached "s/max_increase: 25%, ignore_below: 10m/max_increase: 0%/; s/SchedulerParameters.bf_interval: 45/SchedulerParameters.bf_max_job_user: 1/"
gate 2 unknown_metric "s/wait_seconds.mean/wait_seconds.meen/"
gate 2 empty_group "s/by: account, /by: account, key: nobody, /"
for name in held breached; do
    [ -s "$out/$name/comparison.md" ] && [ -s "$out/$name/junit.xml" ]
done
grep -q "<failure" "$out/breached/junit.xml"

tools="${CARGO_TARGET_DIR:-target}/test-tools"
checker="$tools/check-jsonschema/bin/check-jsonschema"
if [ ! -x "$checker" ]; then
    if ! { python3 -m venv "$tools/check-jsonschema" &&
        timeout 300 "$tools/check-jsonschema/bin/python" -m pip install --quiet --disable-pip-version-check check-jsonschema==0.39.0; }; then
        skip "check-jsonschema could not be installed"
    fi
fi
"$checker" --builtin-schema vendor.github-workflows examples/ci/github.yml
"$checker" --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci examples/ci/gitlab.yml
