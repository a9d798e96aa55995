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
    """No component, each one, all, and sets that show every two components in each state.

    Components disagree in pairs, if they do, so the sets are a covering array of strength 2: of every two
    components there is a set with both, one with each alone, and one with neither. A component that changes
    another one stands with it: one form of a set adds the other, one form leaves the component out.

    Source: Kleitman and Spencer, "Families of k-independent sets", Discrete Mathematics, 1973.
    """
    # Set 0 has all. Every second triple: the sets of what stands beside what it needs then differ enough.
    triples = list(itertools.combinations(range(1, 8), 3))[::2]
    sets_of = {path.name: {0, *triple} for path, triple in zip(COMPONENTS, triples, strict=False)}
    chosen = [set(), *({name} for name in sets_of)]
    chosen += [{name for name, sets in sets_of.items() if number in sets} for number in range(8)]
    added = [names | {NEEDED[name] for name in names & NEEDED.keys()} for names in chosen]
    left_out = [{name for name in names if NEEDED.get(name, name) in names} for names in chosen]
    yield from dict.fromkeys(
        tuple(path for path in COMPONENTS if path.name in names) for names in [*added, *left_out]
    )


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
