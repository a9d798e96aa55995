"""Rules for what a cluster does with the manifests: apply them again, place pods, scale, connect."""

from collections.abc import Iterator, Sequence
from typing import Any

from k8s.checks.render import Manifest, name_of, pod_template

_NODE = "kubernetes.io/hostname"
_ZONE = "topology.kubernetes.io/zone"
# The parts of an object that the API server does not let `kubectl apply` change.
_FIXED: dict[str, tuple[str, ...]] = {
    "Job": ("template", "selector", "completions"),
    "StatefulSet": ("serviceName", "selector", "podManagementPolicy", "volumeClaimTemplates"),
    "Deployment": ("selector",),
    "Service": ("clusterIP",),
}
_POOL = "NUGGETSTREAM_DATABASE_CONNECTIONS"
_POSTGRESQL = 100 - 3  # its default max_connections, less the connections reserved for superusers


def rejected_changes(before: Sequence[Manifest], after: Sequence[Manifest]) -> Iterator[str]:
    """The objects that `kubectl apply` cannot change from one state to the other.

    Args:
        before: The objects that were applied first; Jobs among them have finished.
        after: The objects that are applied next.
    """
    applied = {name_of(manifest): manifest for manifest in before}
    for manifest in after:
        old = applied.get(name_of(manifest))
        for field in _FIXED.get(manifest["kind"], ()) if old is not None else ():
            if old is not None and old["spec"].get(field) != manifest["spec"].get(field):
                yield f"{name_of(manifest)}: spec.{field} cannot be changed"


def placement_problems(manifests: Sequence[Manifest]) -> Iterator[str]:
    """Services whose pods may share one node or zone, and brokers of a cluster that may share a node."""
    for manifest in manifests:
        template = pod_template(manifest)
        if template is None:
            continue
        labels, pod = template["metadata"]["labels"], template["spec"]
        if manifest["kind"] == "Deployment":
            for key in (_ZONE, _NODE):
                if not any(_spreads(rule, key, labels) for rule in pod.get("topologySpreadConstraints", [])):
                    yield f"{name_of(manifest)}: its pods do not spread over {key}"
        if manifest["kind"] == "StatefulSet" and manifest["spec"]["replicas"] > 1:
            required = (
                pod.get("affinity", {})
                .get("podAntiAffinity", {})
                .get("requiredDuringSchedulingIgnoredDuringExecution", [])
            )
            if not any(term["topologyKey"] == _NODE for term in required):
                yield f"{name_of(manifest)}: its members may share a node"


def _spreads(rule: dict[str, Any], key: str, labels: dict[str, str]) -> bool:
    """Whether a constraint spreads the pods of one workload: by its name, and not with those of others."""
    by_name = "app.kubernetes.io/name"
    selected = rule.get("labelSelector", {}).get("matchLabels", {})
    own = selected.get(by_name) == labels.get(by_name) or by_name in rule.get("matchLabelKeys", [])
    return (
        rule["topologyKey"] == key
        and own
        and all(labels.get(name) == text for name, text in selected.items())
    )


def scaling_problems(manifests: Sequence[Manifest]) -> Iterator[str]:
    """Triggers whose broker KEDA cannot find, because it resolves names in a namespace of its own."""
    services = {
        (m["metadata"]["name"], port["port"])
        for m in manifests
        if m["kind"] == "Service"
        for port in m["spec"]["ports"]
    }
    broker = any(m["kind"] == "StatefulSet" and m["metadata"]["name"] == "nats" for m in manifests)
    for manifest in manifests:
        if manifest["kind"] != "ScaledObject":
            continue
        namespace = manifest["metadata"].get("namespace", "default")
        for trigger in manifest["spec"]["triggers"]:
            if trigger["type"] != "nats-jetstream":
                continue
            endpoint = trigger["metadata"].get("natsServerMonitoringEndpoint", "")
            host, _, port = endpoint.partition(":")
            name, _, rest = host.partition(".")
            if rest not in (f"{namespace}.svc", f"{namespace}.svc.cluster.local"):
                yield f"{name_of(manifest)}: {endpoint!r} is not the full name of a Service in {namespace}"
            elif broker and (name, int(port or 0)) not in services:
                yield f"{name_of(manifest)}: there is no Service {name} with port {port}"


def connection_problems(manifests: Sequence[Manifest]) -> Iterator[str]:
    """Too many connections for PostgreSQL's default limit while all services are replaced at once."""
    minimum = {
        m["spec"]["scaleTargetRef"]["name"]: m["spec"]["minReplicaCount"]
        for m in manifests
        if m["kind"] == "ScaledObject"
    }
    pods = sum(
        minimum.get(m["metadata"]["name"], m["spec"].get("replicas", 1))
        + m["spec"]["strategy"]["rollingUpdate"]["maxSurge"]
        for m in manifests
        if m["kind"] == "Deployment"
    )
    sizes = [
        int(m["data"][_POOL]) for m in manifests if m["kind"] == "ConfigMap" and _POOL in m.get("data", {})
    ]
    if not sizes:
        yield f"no ConfigMap sets {_POOL}"
    for size in sizes:
        if pods * size > _POSTGRESQL:
            yield f"{pods} pods with {size} connections each exceed PostgreSQL's {_POSTGRESQL}"
