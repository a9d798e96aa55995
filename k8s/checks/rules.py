"""Our own rules: what every workload must have so that an operator need not look."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from k8s.checks.render import Manifest, name_of, pod_template

_PROBES = ("startupProbe", "livenessProbe", "readinessProbe")
_GOODBYE = 5  # seconds the process takes beyond its grace (services.cli.process)


def problems(manifests: Sequence[Manifest], *, policies: bool) -> list[str]:
    """What is missing or wrong.

    Args:
        manifests: everything that is applied together.
        policies: whether network policies are part of it, so that each Deployment must have one.
    """
    rules: list[Callable[[Manifest], Iterator[str]]] = [_hardened, _limited, _patient]
    found = [f"{name_of(m)}: {problem}" for m in manifests for rule in rules for problem in rule(m)]
    for manifest in manifests:
        if manifest["kind"] in ("Deployment", "StatefulSet"):
            found += [
                f"{name_of(manifest)}: {problem}" for problem in _running(manifest, manifests, policies)
            ]
    return [*found, *_dangling(manifests)]


def _hardened(manifest: Manifest) -> Iterator[str]:
    """Pod Security "restricted", and what it leaves open."""
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
    for container in pod["containers"]:
        own = container.get("securityContext", {})
        if own.get("allowPrivilegeEscalation") is not False or not own.get("readOnlyRootFilesystem"):
            yield "may gain privileges or write to its root"
        if own.get("capabilities", {}).get("drop") != ["ALL"]:
            yield "keeps capabilities"
        if ":" not in container["image"] or container["image"].endswith(":latest"):
            yield f"image {container['image']} names no version"


def _limited(manifest: Manifest) -> Iterator[str]:
    """Requests, and a bound on memory. CPU has none: throttling makes late what would be slow."""
    for container in _containers(manifest):
        resources = container.get("resources", {})
        if not {"cpu", "memory"} <= set(resources.get("requests", {})):
            yield "requests no cpu or memory"
        if "memory" not in resources.get("limits", {}):
            yield "has no memory limit"


def _patient(manifest: Manifest) -> Iterator[str]:
    """The pod is killed only after the process had its time, and that began after preStop."""
    for container in _containers(manifest):
        grace = next(
            (e["value"] for e in container.get("env", []) if e["name"] == "NUGGETSTREAM_GRACE"), None
        )
        if grace is None:
            continue
        before = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        within = manifest["spec"]["template"]["spec"].get("terminationGracePeriodSeconds", 30)
        if within < before + float(grace) + _GOODBYE:
            yield f"is killed after {within} s and takes {before} + {grace} + {_GOODBYE}"


def _running(manifest: Manifest, everything: Sequence[Manifest], policies: bool) -> Iterator[str]:
    """What only something that runs for good needs: probes, a disruption budget, a network policy."""
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
    """References to ConfigMaps and service accounts, and selectors of Services, that name nothing."""
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


def _references(manifest: Manifest) -> Iterator[tuple[str, str]]:
    template = pod_template(manifest)
    if template is None:
        return
    yield "ServiceAccount", template["spec"]["serviceAccountName"]
    for volume in template["spec"].get("volumes", []):
        if "configMap" in volume:
            yield "ConfigMap", volume["configMap"]["name"]
    for container in template["spec"]["containers"]:
        for source in container.get("envFrom", []):
            yield "ConfigMap", source["configMapRef"]["name"]


def _containers(manifest: Manifest) -> list[Manifest]:
    template = pod_template(manifest)
    return [] if template is None else list(template["spec"]["containers"])


def selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """Whether a label selector with equalities and sets takes a pod with these labels."""
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    return all(
        (labels.get(each["key"]) in each["values"]) == (each["operator"] == "In")
        for each in selector.get("matchExpressions", [])
    )
