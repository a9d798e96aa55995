"""Strict validation of manifests by published schemas."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from k8s.checks.render import Manifest, name_of

HERE = Path(__file__).parent
KUBERNETES = "1.31"  # the oldest supported version
FOREIGN = ("gateway.networking.k8s.io/v1", "keda.sh/v1alpha1", "monitoring.coreos.com/v1")


def own_problems(manifests: Sequence[Manifest]) -> list[str]:
    """Problems of Kubernetes' own kinds by its schemas."""
    own = [manifest for manifest in manifests if manifest["apiVersion"] not in FOREIGN]
    problems = [(name_of(manifest), _problem(json.dumps(manifest))) for manifest in own]
    return [f"{name}: {problem}" for name, problem in problems if problem]


@cache
def _problem(manifest: str) -> str:
    """What is wrong with one object as JSON, of which most stand in many combinations of components."""
    import kubernetes_validate

    try:
        kubernetes_validate.validate(json.loads(manifest), KUBERNETES, strict=True)
    except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
        return getattr(error, "message", None) or type(error).__name__
    return ""


def why_not_foreign() -> str:
    """Why kinds of other projects cannot be validated here; empty if they can."""
    if shutil.which("node") is None:
        return "node is not installed"
    if not (HERE / "node_modules" / "typescript").is_dir():
        return "run: npm ci --ignore-scripts --prefix k8s/checks"
    return ""


def foreign_problems(manifests: Sequence[Manifest]) -> list[str]:
    """Problems of the kinds of other projects by their published schemas and types."""
    objects = [manifest for manifest in manifests if manifest["apiVersion"] in FOREIGN]
    done = subprocess.run(  # noqa: S603 - our own script
        ["node", str(HERE / "kinds.mjs")],  # noqa: S607 - whichever node is installed
        input=json.dumps(objects), capture_output=True, text=True, check=False,
    )  # fmt: skip
    return [*done.stdout.splitlines(), *([done.stderr.strip()] if done.returncode else [])]
