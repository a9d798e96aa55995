"""Overlays as operators write them on top of `prod`, and the examples of the manual for operators."""

import re
import shutil
from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml

from k8s.checks.render import K8S, Manifest, render

ROOT = K8S.parent


def on_top(folder: Path, **kustomization: Any) -> list[Manifest]:
    """An operator's overlay on top of `prod`."""
    shutil.copytree(K8S, folder / "k8s", ignore=shutil.ignore_patterns("node_modules"))
    shutil.copytree(ROOT / "deploy", folder / "deploy")
    own = folder / "k8s/overlays/own"
    own.mkdir()
    head = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": ["../prod"],
    }
    (own / "kustomization.yaml").write_text(yaml.safe_dump(head | kustomization), encoding="utf-8")
    return render(own)


def documented(text: str) -> dict[str, Any]:
    """The example of the manual for operators that contains a text."""
    pages = [page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs/operations").glob("*.md"))]
    blocks = re.findall(r"```yaml\n(.*?)```", "\n".join(pages), re.DOTALL)
    (block,) = [block for block in blocks if text in block]
    example: dict[str, Any] = yaml.safe_load(dedent(block))
    return example
