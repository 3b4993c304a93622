#!/usr/bin/env bash
# Lints and renders the chart under every file of helm/values, checks the manifests against Kubernetes' schemas and against the
# chart's own promises (tests/helm/check.py), and tries the alert rules (tests/helm/alerts.test.yaml). helm comes from the Go module
# proxy, the schemas from Python's index, promtool from Debian; what cannot be installed is skipped, loudly: with
# FORESITE_TESTS_STRICT=1 that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/skip.sh

HELM_VERSION=v3.19.0
tools="${CARGO_TARGET_DIR:-target}/test-tools"
mkdir -p "$tools"
tools=$(cd "$tools" && pwd)

helm="$tools/bin/helm"
[ -x "$helm" ] || helm=$(command -v helm || true)
if [ -z "$helm" ]; then
    command -v go >/dev/null || skip "neither helm nor go is installed"
    # About three minutes on two cores; once.
    GOBIN="$tools/bin" timeout 900 go install "helm.sh/helm/v3/cmd/helm@$HELM_VERSION" || skip "helm could not be built"
    helm="$tools/bin/helm"
fi

python="$tools/kubernetes/bin/python"
if ! "$python" -c 'import kubernetes_validate, promql_parser, yaml' 2>/dev/null; then
    python3 -m venv "$tools/kubernetes" || skip "no virtual environment can be made"
    timeout 300 "$python" -m pip install --quiet --disable-pip-version-check -r tests/helm/requirements.txt ||
        skip "kubernetes-validate could not be installed"
fi

rendered=$(mktemp -d)
trap 'rm -rf "$rendered"' EXIT
for values in helm/values/*.yaml; do
    "$helm" lint --quiet --strict helm/foresite -f "$values"
    "$helm" template release helm/foresite --namespace foresite --kube-version 1.31.0 -f "$values" >"$rendered/$(basename "$values")"
done

# What must be refused before anything reaches a cluster.
refused() {
    if "$helm" template release helm/foresite --kube-version 1.31.0 -f helm/values/minimal.yaml "$@" >/dev/null 2>&1; then
        echo "helm.sh: the chart accepts $*" >&2
        exit 1
    fi
}
refused --set database.existingSecret=
refused --set objects.existingClaim=too
refused --set auth.jwt.jwksUrl=https://sso.example.org/keys
refused --set worker.autoscaling.kind=keda
refused --set worker.autoscaling.minReplicas=0
refused --set worker.replica=3
refused --set-string settings.FORESITE_DATABASE_URL=postgres://in:the@clear/values

"$python" tests/helm/check.py "$rendered"/*.yaml

# The alerts, by Prometheus' own promtool (Debian's package, unpacked, not installed).
promtool=$(command -v promtool || echo "$tools/bin/promtool")
if [ ! -x "$promtool" ]; then
    (cd "$rendered" && apt-get download -qq prometheus && dpkg -x prometheus_*.deb . && mkdir -p "$tools/bin" &&
        cp usr/bin/promtool "$promtool") >/dev/null 2>&1 || skip "promtool could not be unpacked"
fi
cp helm/foresite/files/alerts.yaml tests/helm/alerts.test.yaml "$rendered"
"$promtool" check rules "$rendered/alerts.yaml"
"$promtool" test rules "$rendered/alerts.test.yaml"
