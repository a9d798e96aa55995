"""What kustomize makes of the overlays and of every combination of components."""

import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

K8S = Path(__file__).parents[1]
OVERLAYS = sorted(path.parent for path in (K8S / "overlays").glob("*/kustomization.yaml"))
COMPONENTS = sorted(path.parent for path in (K8S / "components").glob("*/kustomization.yaml"))

Manifest = dict[str, Any]


class KubectlMissing(RuntimeError):
    """There is no kubectl on PATH, so nothing can be rendered."""


class Unrenderable(RuntimeError):
    """Kustomize refuses a folder; the message is its own."""


def render(folder: Path) -> list[Manifest]:
    """Every object of a kustomization, in its order.

    Raises:
        KubectlMissing, Unrenderable: see there.
    """
    return [found for found in yaml.safe_load_all(render_text(folder)) if found]


def render_text(folder: Path) -> str:
    """What `kubectl kustomize` prints for a folder."""
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
    """Every choice of components, from none to all."""
    for size in range(len(COMPONENTS) + 1):
        yield from itertools.combinations(COMPONENTS, size)


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
    """The pod of something that makes pods, else None."""
    if manifest["kind"] in ("Deployment", "StatefulSet", "Job"):
        template: Manifest = manifest["spec"]["template"]
        return template
    return None
