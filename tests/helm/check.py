"""Checks rendered manifests: Kubernetes' schemas, shapes of custom resources, and what the chart promises. Prints every fault."""

import json
import re
import sys

import kubernetes_validate
import promql_parser
import yaml

VERSIONS = ("1.30", kubernetes_validate.latest_version())
# Custom resources have no schema in kubernetes-validate: the fields their definitions know and need, from their own references
# (keda.sh, prometheus-operator). (allowed, required) of `spec`.
CUSTOM = {
    "ScaledObject": (
        {"scaleTargetRef", "pollingInterval", "cooldownPeriod", "minReplicaCount", "maxReplicaCount", "triggers"},
        {"scaleTargetRef", "triggers"},
    ),
    "TriggerAuthentication": ({"secretTargetRef"}, {"secretTargetRef"}),
    "ServiceMonitor": ({"selector", "endpoints"}, {"selector", "endpoints"}),
    "PrometheusRule": ({"groups"}, {"groups"}),
}
faults = []


def fault(where, what):
    faults.append(f"{where}: {what}")


def name_of(manifest):
    return f"{manifest['kind']}/{manifest['metadata']['name']}"


def pod_of(manifest):
    return manifest["spec"]["template"] if manifest["kind"] in ("Deployment", "Job") else None


def check_schema(where, manifest):
    kind = manifest["kind"]
    if kind in CUSTOM:
        allowed, required = CUSTOM[kind]
        fields = set(manifest["spec"])
        if fields - allowed or required - fields:
            fault(where, f"unknown {fields - allowed}, missing {required - fields}")
        return
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(manifest, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            fault(where, f"{version}: {error}")


def check_pod(where, template):
    spec = template["spec"]
    security = spec["securityContext"]
    if not security.get("runAsNonRoot") or not security.get("runAsUser"):
        fault(where, "may run as root")
    if security.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        fault(where, "no seccomp profile")
    if spec.get("automountServiceAccountToken") is not False:
        fault(where, "gets a token of the cluster's")
    if spec.get("enableServiceLinks") is not False:
        fault(where, "gets variables of services, some called FORESITE_*")
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    for container in spec["containers"]:
        own = container["securityContext"]
        if not own["readOnlyRootFilesystem"] or own["allowPrivilegeEscalation"] or own["capabilities"]["drop"] != ["ALL"]:
            fault(where, "the container may do too much")
        if "memory" not in container["resources"].get("limits", {}):
            fault(where, "no memory limit")
        mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
        if "emptyDir" not in volumes.get(mounts.get("/tmp"), {}):
            fault(where, "/tmp cannot be written")
        if set(mounts.values()) != set(volumes):
            fault(where, "a volume is not mounted, or a mount has no volume")
        names = [variable["name"] for variable in container["env"]]
        if len(names) != len(set(names)):
            fault(where, "a variable is set twice")
        for variable in container["env"]:
            secret = re.search(r"(SECRET|TOKEN|DATABASE_URL|REDIS_URL)$", variable["name"])
            if secret and "secretKeyRef" not in variable.get("valueFrom", {}):
                fault(where, f"{variable['name']} is not from a Secret")
        ports = {port["name"] for port in container.get("ports", [])}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if probe in container and container[probe]["httpGet"]["port"] not in ports:
                fault(where, f"{probe} asks a port that the container has not")
        if container["args"] == ["serve"] and "readinessProbe" not in container:
            fault(where, "no readiness probe")


def selects(selector, labels):
    return all(labels.get(key) == value for key, value in selector.items())


def check_references(where, manifest, manifests):
    """Selectors find pods, ports and scale targets exist."""
    pods = [pod for pod in map(pod_of, manifests) if pod]
    kind, spec = manifest["kind"], manifest.get("spec", {})
    selector = {
        "Deployment": lambda: spec["selector"]["matchLabels"],
        "Service": lambda: spec["selector"],
        "PodDisruptionBudget": lambda: spec["selector"]["matchLabels"],
        "NetworkPolicy": lambda: spec["podSelector"]["matchLabels"],
    }.get(kind)
    if selector:
        found = [pod for pod in pods if selects(selector(), pod["metadata"]["labels"])]
        if len(found) != (2 if where.endswith("-metrics") else 1):
            fault(where, f"selects the pods of {len(found)} workloads")
        for pod in found if kind == "Service" else []:
            ports = {port["name"] for container in pod["spec"]["containers"] for port in container["ports"]}
            if missing := {port["targetPort"] for port in spec["ports"]} - ports:
                fault(where, f"no such port: {missing}")
    services = {name_of(other).split("/")[1]: other for other in manifests if other["kind"] == "Service"}
    if kind == "ServiceMonitor" and not any(
        selects(spec["selector"]["matchLabels"], service["metadata"]["labels"]) for service in services.values()
    ):
        fault(where, "monitors no Service")
    if kind == "Ingress":
        backend = spec["rules"][0]["http"]["paths"][0]["backend"]["service"]
        if backend["port"]["name"] not in {port["name"] for port in services[backend["name"]]["spec"]["ports"]}:
            fault(where, "leads to no port")
    if kind in ("ScaledObject", "HorizontalPodAutoscaler"):
        target = [other for other in manifests if name_of(other) == f"Deployment/{spec['scaleTargetRef']['name']}"]
        if not target or "replicas" in target[0]["spec"]:
            fault(where, "its target is absent, or has a fixed number of replicas, which each upgrade would restore")


def check_monitoring(where, manifest):
    if manifest["kind"] == "PrometheusRule":
        for rule in (rule for group in manifest["spec"]["groups"] for rule in group["rules"]):
            promql_parser.parse(rule["expr"])
            if not {"alert", "labels", "annotations"} <= set(rule):
                fault(where, f"a rule is not whole: {rule}")
    if manifest["kind"] == "ConfigMap":
        dashboard = json.loads(manifest["data"]["foresite.json"])
        ids = [panel["id"] for panel in dashboard["panels"]]
        if len(ids) != len(set(ids)):
            fault(where, "two panels share an id")
        for panel in dashboard["panels"]:
            for target in panel.get("targets", []):
                promql_parser.parse(target["expr"].replace("$job", "job"))


def main():
    count = 0
    for file in sys.argv[1:]:
        with open(file, encoding="utf-8") as text:
            manifests = [manifest for manifest in yaml.safe_load_all(text) if manifest]
        if len({name_of(manifest) for manifest in manifests}) != len(manifests):
            fault(file, "two manifests share a name")
        for manifest in manifests:
            where = f"{file.rsplit('/', 1)[-1]} {name_of(manifest)}"
            check_schema(where, manifest)
            if pod := pod_of(manifest):
                check_pod(where, pod)
            check_references(where, manifest, manifests)
            check_monitoring(where, manifest)
            count += 1
    print("\n".join(faults), file=sys.stderr)
    print(f"{count} manifests of {len(sys.argv) - 1} value files, {len(faults)} faults (Kubernetes {' and '.join(VERSIONS)})")
    sys.exit(bool(faults))


main()
