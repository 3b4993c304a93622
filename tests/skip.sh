# Sourced by the scripts beside it. What cannot be done on this machine is skipped, loudly: `skip WHY` ends the script, with
# FORESITE_TESTS_STRICT=1 as a failure. run.sh lists at its end what was skipped; it names the file of the list in SKIPPED_LIST.
skip() {
    echo "$(basename "$0"): SKIPPED: $1" | tee -a "${SKIPPED_LIST:-/dev/null}" >&2
    [ "${FORESITE_TESTS_STRICT:-}" != 1 ] || exit 1
    exit 0
}
