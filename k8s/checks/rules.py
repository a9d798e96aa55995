"""Our own rules for all workloads."""

import posixpath
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from k8s.checks.cluster import connection_problems, placement_problems, scaling_problems
from k8s.checks.render import Manifest, name_of, pod_template

_PROBES = ("startupProbe", "livenessProbe", "readinessProbe")
_ADMIN_TOKEN = "NUGGETSTREAM_ADMIN_TOKEN"  # noqa: S105 - the name of a variable
_SECRETS = {
    _ADMIN_TOKEN,
    "NUGGETSTREAM_DATABASE_URL",
    "NUGGETSTREAM_EMBEDDING_API_KEY",
    "NUGGETSTREAM_LLM_API_KEY",
    "NUGGETSTREAM_NATS_PASSWORD",
    "NUGGETSTREAM_RERANK_API_KEY",
    "OPENAI_API_KEY",
}
_PRICES = "NUGGETSTREAM_LLM_PRICES"
_DRAIN = 5  # seconds that the process takes after its grace (services.cli.wiring.process)


def problems(manifests: Sequence[Manifest], *, policies: bool) -> list[str]:
    """The problems of some manifests.

    Args:
        manifests: everything that is applied together.
        policies: whether network policies are part of it, so that each Deployment must have one.
    """
    rules: list[Callable[[Manifest], Iterator[str]]] = [_hardened, _limited, _patient, _probed]
    found = [f"{name_of(m)}: {problem}" for m in manifests for rule in rules for problem in rule(m)]
    for manifest in manifests:
        if manifest["kind"] in ("Deployment", "StatefulSet"):
            found += [
                f"{name_of(manifest)}: {problem}" for problem in _running(manifest, manifests, policies)
            ]
    for rule_of_all in (
        _dangling,
        _unsecret,
        _priced,
        placement_problems,
        scaling_problems,
        connection_problems,
    ):
        found += rule_of_all(manifests)
    return found


def _hardened(manifest: Manifest) -> Iterator[str]:
    """Problems by Pod Security "restricted", and by further rules."""
    template = pod_template(manifest)
    if template is None:
        return
    pod, security = template["spec"], template["spec"].get("securityContext", {})
    if not security.get("runAsNonRoot") or not security.get("runAsUser"):
        yield "may run as root"
    if security.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        yield "has no seccomp profile"
    if pod.get("automountServiceAccountToken") is not False:
        yield "mounts a service account's token"
    if pod.get("serviceAccountName") in (None, "default"):
        yield "has no service account of its own"
    for container in [*pod.get("initContainers", []), *pod["containers"]]:
        own = container.get("securityContext", {})
        if own.get("allowPrivilegeEscalation") is not False or not own.get("readOnlyRootFilesystem"):
            yield "may gain privileges or write to its root"
        if own.get("capabilities", {}).get("drop") != ["ALL"]:
            yield "keeps capabilities"
        if ":" not in container["image"] or container["image"].endswith(":latest"):
            yield f"image {container['image']} names no version"


def _limited(manifest: Manifest) -> Iterator[str]:
    """Problems of requests and memory limits. CPU has no limit, because throttling would only delay."""
    for container in _all_containers(manifest):
        resources = container.get("resources", {})
        if missing := {"cpu", "memory", "ephemeral-storage"} - set(resources.get("requests", {})):
            yield f"requests no {', '.join(sorted(missing))}"
        if "memory" not in resources.get("limits", {}):
            yield "has no memory limit"


def _patient(manifest: Manifest) -> Iterator[str]:
    """Problems of the termination grace period: it must be longer than preStop and the process take."""
    for container in _containers(manifest):
        grace = next(
            (e["value"] for e in container.get("env", []) if e["name"] == "NUGGETSTREAM_GRACE"), None
        )
        if grace is None:
            continue
        before = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        within = manifest["spec"]["template"]["spec"].get("terminationGracePeriodSeconds", 30)
        if within < before + float(grace) + _DRAIN:
            yield f"is killed after {within} s but takes {before} + {grace} + {_DRAIN}"


def _probed(manifest: Manifest) -> Iterator[str]:
    """Probes that ask another gRPC port than the one that their container serves on."""
    for container in _containers(manifest):
        served = _option([*container.get("command", []), *container.get("args", [])], "--grpc-port")
        for name in _PROBES:
            command = container.get(name, {}).get("exec", {}).get("command", [])
            if "health" in command and (asked := _option(command, "--grpc-port")) != served:
                yield f"{name} asks the gRPC port {asked or 'by default'}; the container serves on {served}"


def _option(command: Sequence[str], name: str) -> str | None:
    """The value of an option in a command line; None where it has none."""
    return command[command.index(name) + 1] if name in command[:-1] else None


def _running(manifest: Manifest, everything: Sequence[Manifest], policies: bool) -> Iterator[str]:
    """Problems of long-running workloads: probes, disruption budget, network policy."""
    for container in _containers(manifest):
        for probe in _PROBES:
            if (
                len(
                    [
                        kind
                        for kind in ("grpc", "httpGet", "exec", "tcpSocket")
                        if kind in container.get(probe, {})
                    ]
                )
                != 1
            ):
                yield f"has no {probe}, or several in one"
    labels = manifest["spec"]["template"]["metadata"]["labels"]
    budgets = [m for m in everything if m["kind"] == "PodDisruptionBudget"]
    if sum(selects(budget["spec"]["selector"], labels) for budget in budgets) != 1:
        yield "has no disruption budget, or several"
    own = [m for m in everything if m["kind"] == "NetworkPolicy" and m["spec"]["podSelector"]]
    if policies and not any(selects(policy["spec"]["podSelector"], labels) for policy in own):
        yield "has no network policy of its own"


def _dangling(everything: Sequence[Manifest]) -> Iterator[str]:
    """References to missing ConfigMaps and service accounts, and Services that select no pod."""
    names = {(m["kind"], m["metadata"]["name"]) for m in everything}
    pods = [t["metadata"].get("labels", {}) for m in everything if (t := pod_template(m)) is not None]
    for manifest in everything:
        for kind, name in _references(manifest):
            if (kind, name) not in names:
                yield f"{name_of(manifest)}: there is no {kind} {name}"
        if manifest["kind"] == "Service" and not any(
            selects({"matchLabels": manifest["spec"]["selector"]}, labels) for labels in pods
        ):
            yield f"{name_of(manifest)}: selects no pods"


def _unsecret(everything: Sequence[Manifest]) -> Iterator[str]:
    """Secrets that are not read from a Secret, and a gateway without the token of administrators."""
    for manifest in everything:
        if manifest["kind"] == "ConfigMap":
            for name in _SECRETS & set(manifest.get("data", {})):
                yield f"{name_of(manifest)}: contains the secret {name}"
        for container in _all_containers(manifest):
            sources = {entry["name"]: entry.get("valueFrom", {}) for entry in container.get("env", [])}
            for name in sorted(_SECRETS & set(sources)):
                if "secretKeyRef" not in sources[name]:
                    yield f"{name_of(manifest)}: {name} is not read from a Secret"
            if container["image"].startswith("nuggetstream-gateway:") and _ADMIN_TOKEN not in sources:
                yield f"{name_of(manifest)}: reads no {_ADMIN_TOKEN}"


def _priced(everything: Sequence[Manifest]) -> Iterator[str]:
    """Containers that are told of a price file which is not mounted, so that they would not start."""
    files = {
        m["metadata"]["name"]: m["data"][_PRICES] for m in everything if _PRICES in (m.get("data") or {})
    }
    for manifest in everything:
        for container in _all_containers(manifest):
            sources = [source.get("configMapRef") for source in container.get("envFrom", [])]
            sources += [
                entry.get("valueFrom", {}).get("configMapKeyRef")
                for entry in container.get("env", [])
                if entry["name"] == _PRICES
            ]
            mounted = {mount["mountPath"] for mount in container.get("volumeMounts", [])}
            for file in {files[source["name"]] for source in sources if source and source["name"] in files}:
                if posixpath.dirname(file) not in mounted:
                    yield f"{name_of(manifest)}: the price file {file} is not mounted"


def _references(manifest: Manifest) -> Iterator[tuple[str, str]]:
    template = pod_template(manifest)
    if template is None:
        return
    yield "ServiceAccount", template["spec"]["serviceAccountName"]
    for volume in template["spec"].get("volumes", []):
        if "configMap" in volume:
            yield "ConfigMap", volume["configMap"]["name"]
    for container in _all_containers(manifest):
        for source in container.get("envFrom", []):
            if "configMapRef" in source:
                yield "ConfigMap", source["configMapRef"]["name"]


def _containers(manifest: Manifest) -> list[Manifest]:
    template = pod_template(manifest)
    return [] if template is None else list(template["spec"]["containers"])


def _all_containers(manifest: Manifest) -> list[Manifest]:
    template = pod_template(manifest)
    return [] if template is None else [*template["spec"].get("initContainers", []), *_containers(manifest)]


def selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """Whether a label selector matches a pod with these labels."""
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    return all(
        (labels.get(each["key"]) in each["values"]) == (each["operator"] == "In")
        for each in selector.get("matchExpressions", [])
    )
