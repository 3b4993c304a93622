#!/usr/bin/env bash
# Follows docs/OPERATIONS.md literally: runs its blocks marked `sh drill`, in order, in one shell, in a folder of its own and on free
# ports. Usage: tests/drill.sh [FORESITE], the program to drill (default: a release build). As root it goes on as `postgres`.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/skip.sh

for needed in python3 openssl curl redis-server redis-cli; do
    command -v "$needed" >/dev/null || skip "$needed is not installed"
done
program=${1:-}
if [ -z "$program" ]; then
    cargo build --release --locked --package foresite
    program=${CARGO_TARGET_DIR:-target}/release/foresite
fi
folder=$(mktemp -d)
mkdir "$folder/bin"
cp "$program" "$folder/bin/foresite"
cp -r examples "$folder/source-examples"

python3 - docs/OPERATIONS.md "$folder/steps.sh" <<'PYTHON'
import re, socket, sys

page = open(sys.argv[1], encoding="utf-8").read()
blocks = [(found.start(), found[1]) for found in re.finditer(r"^```sh drill\n(.*?)^```$", page, re.M | re.S)]
steps = []
for start, block in blocks:
    heading = re.findall(r"^### (.*)$", page[:start], re.M)[-1]
    steps.append(f"echo; echo '=== {heading}' >&3\n{block}")
text = "\n".join(steps)
ports = ["5433", "6380", "8080", "50051", "9090", "9091", "9092"]
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in ports]
free = dict(zip(ports, (str(one.getsockname()[1]) for one in sockets)))
text = text.replace("127.0.0.1:909$n", "127.0.0.1:$(eval echo \\$METRICS$n)")
text = re.sub(r"\b(" + "|".join(ports) + r")\b", lambda found: free[found[1]], text)
with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.write(f"METRICS1={free['9091']} METRICS2={free['9092']}\n{text}")
PYTHON

cat >"$folder/drill.sh" <<'DRILL'
# Whatever happens, nothing stays behind.
finish() {
    status=$?
    for name in api worker1 worker2 redis; do
        [ ! -f "$HOME/foresite/$name.pid" ] || kill -KILL "$(cat "$HOME/foresite/$name.pid")" 2>/dev/null || true
    done
    [ ! -f "$HOME/foresite/pg/postmaster.pid" ] || kill -QUIT "$(head -n 1 "$HOME/foresite/pg/postmaster.pid")" 2>/dev/null || true
    [ "$status" = 0 ] || tail -n 5 "$HOME"/foresite/*.log >&3 2>/dev/null || true
    exit "$status"
}
trap finish EXIT
set -euo pipefail
exec 3>&2
. "$HOME/steps.sh"
DRILL
mkdir "$folder/source"
mv "$folder/source-examples" "$folder/source/examples"

user=()
if [ "$(id -u)" = 0 ]; then
    chown -R postgres "$folder"
    user=(setpriv --reuid=postgres --regid=postgres --clear-groups)
fi
status=0
(cd "$folder" && "${user[@]}" env -i HOME="$folder" PATH="$folder/bin:/usr/local/bin:/usr/bin:/bin" LANG=C.UTF-8 \
    SOURCE="$folder/source" bash drill.sh) || status=$?
if [ "$status" = 0 ]; then
    rm -rf "$folder"
    echo "drill: every step of docs/OPERATIONS.md did what it says"
else
    echo "drill: FAILED with $status; see $folder" >&2
fi
exit "$status"
