#!/usr/bin/env bash
# schemathesis (Python's index) against a real service: requests made from openapi/foresite.json, valid and broken ones; no answer may be a
# 5xx or differ from the document. Usage: tests/schemathesis.sh [FORESITE], the program (default: a development build).
# FORESITE_EXAMPLES is the number of requests per operation and phase (default 50), FORESITE_SEED the seed.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/skip.sh

tools=$(realpath -m "${CARGO_TARGET_DIR:-target}/test-tools")
schemathesis="$tools/schemathesis/bin/schemathesis"
if [ ! -x "$schemathesis" ]; then
    if ! { python3 -m venv "$tools/schemathesis" &&
        timeout 300 "$tools/schemathesis/bin/python" -m pip install --quiet --disable-pip-version-check schemathesis==4.32.5; }; then
        skip "schemathesis could not be installed"
    fi
fi
program=${1:-}
if [ -z "$program" ]; then
    cargo build --locked --package foresite
    program=${CARGO_TARGET_DIR:-target}/debug/foresite
fi
program=$(realpath "$program")

folder=$(mktemp -d)
cp tests/schemathesis_hooks.py "$folder/hooks.py"
finish() {
    [ -z "${service:-}" ] || kill -TERM "$service" 2>/dev/null || true
    wait || true
    rm -rf "$folder"
}
trap finish EXIT
export FORESITE_DATA_DIR="$folder/data" FORESITE_LOG=warn
# No limits but what a request sets itself.
export FORESITE_QUOTA_REQUESTS_PER_MINUTE=0 FORESITE_QUOTA_UPLOADS_PER_HOUR=0
export FORESITE_HTTP_LISTEN=127.0.0.1:0 FORESITE_GRPC_LISTEN=127.0.0.1:0 FORESITE_METRICS_LISTEN=127.0.0.1:0
token=$("$program" token create --role admin 2>/dev/null)
"$program" serve >"$folder/out" 2>"$folder/log" &
service=$!
until grep -q '^workers' "$folder/out"; do
    kill -0 "$service"
    sleep 0.1
done
url=$(awk '/^REST/ { print $NF }' "$folder/out")
# Something to find: a site with files, and a finished study.
"$program" submit examples/micro/study.yaml --server "$url" --token "$token" --wait >/dev/null 2>&1

status=0
(cd "$folder" && FORESITE_URL="$url" FORESITE_TOKEN="$token" SCHEMATHESIS_HOOKS=hooks PYTHONPATH="$folder" "$schemathesis" --config-file "$OLDPWD/tests/schemathesis.toml" run "$OLDPWD/openapi/foresite.json" --url "$url" \
    --header "Authorization: Bearer $token" --max-examples "${FORESITE_EXAMPLES:-50}" --seed "${FORESITE_SEED:-1}" \
    --continue-on-failure --no-color) || status=$?
kill -0 "$service" || { echo "schemathesis.sh: the service has died" >&2; status=1; }
if grep -i panicked "$folder/log"; then status=1; fi
exit "$status"
