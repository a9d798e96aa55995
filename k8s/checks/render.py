"""Render the overlays, and the base with each combination of components, by kustomize."""

import functools
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

# The parser in C, where there is libyaml, takes a tenth of the time.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
K8S = Path(__file__).parents[1]
OVERLAYS = sorted(path.parent for path in (K8S / "overlays").glob("*/kustomization.yaml"))
COMPONENTS = sorted(path.parent for path in (K8S / "components").glob("*/kustomization.yaml"))
# Components that change another one, which stands before them.
NEEDED = {
    "database-outside": "network-policies",
    "nats-exporter": "nats-cluster",
    "nats-single": "nats-cluster",
    "nats-tls": "nats-cluster",
    "postgres-exporter": "postgres",
}

Manifest = dict[str, Any]


class KubectlMissing(RuntimeError):
    """Nothing can be rendered, because there is no kubectl on PATH."""


class Unrenderable(RuntimeError):
    """Kustomize rejects a folder; the message is its own."""


def render(folder: Path) -> list[Manifest]:
    """All objects of a kustomization, in order.

    Raises:
        KubectlMissing, Unrenderable: see there.
    """
    return [found for found in yaml.load_all(render_text(folder), Loader=_Loader) if found]


def render_text(folder: Path) -> str:
    """The output of `kubectl kustomize` for a folder."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        raise KubectlMissing("kubectl is not installed: manifests cannot be rendered")
    done = subprocess.run(  # noqa: S603 - our own folders
        [kubectl, "kustomize", str(folder)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Unrenderable(f"{folder}: {done.stderr.strip()}")
    return done.stdout


def combinations() -> Iterator[tuple[Path, ...]]:
    """No component, each one, every two together, and all: components disagree in pairs, if they do.

    Each stands with the component that it changes.
    """
    found: dict[tuple[Path, ...], None] = {}
    for size in (0, 1, 2, len(COMPONENTS)):
        for chosen in itertools.combinations(COMPONENTS, size):
            names = {path.name for path in chosen}
            names |= {NEEDED[name] for name in names & NEEDED.keys()}
            found[tuple(path for path in COMPONENTS if path.name in names)] = None
    yield from found


@functools.cache
def render_with(components: tuple[Path, ...]) -> list[Manifest]:
    """The base with these components.

    Raises:
        KubectlMissing, Unrenderable: see there.
    """
    with tempfile.TemporaryDirectory() as folder:
        kustomization = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": "nuggetstream",
            "resources": [os.path.relpath(K8S / "base", folder)],
            "components": [os.path.relpath(path, folder) for path in components],
        }
        (Path(folder) / "kustomization.yaml").write_text(yaml.safe_dump(kustomization), encoding="utf-8")
        return render(Path(folder))


def name_of(manifest: Manifest) -> str:
    """Kind and name, for messages."""
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def pod_template(manifest: Manifest) -> Manifest | None:
    """The pod template of a workload, else None."""
    if manifest["kind"] in ("Deployment", "StatefulSet", "Job"):
        template: Manifest = manifest["spec"]["template"]
        return template
    if manifest["kind"] == "CronJob":
        of_job: Manifest = manifest["spec"]["jobTemplate"]["spec"]["template"]
        return of_job
    return None
