"""Does Helm render from the chart what kustomize renders from the same components?"""

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from k8s.chart.__main__ import write
from k8s.chart.objects import Key, by_key
from k8s.chart.tree import switch
from k8s.checks.render import COMPONENTS, K8S, Manifest, combinations, name_of, render, render_with
from k8s.checks.tools import Missing, find

_CIDR = "192.0.2.10/32"
# The values under which the chart is the overlay `prod`.
_PROD = ("nats-cluster", "monitoring", "keda", "network-policies", "database-outside")
_TWICE = ("gateway", "indexer", "retriever", "rater")


def problems() -> list[str]:
    """Differences for each combination of components that the manifests are checked with, and for `prod`.

    Raises:
        Missing: There is no helm.
    """
    helm = find("helm", "package helm-binary, or helm 3")
    with tempfile.TemporaryDirectory() as folder:
        chart = Path(folder) / "chart"
        write(chart)
        lint = subprocess.run(  # noqa: S603 - our own chart
            [helm, "lint", "--strict", str(chart), "--set", f"databaseOutside.cidr={_CIDR}"],
            capture_output=True,
            text=True,
            check=False,
        )
        found = lint.stdout.splitlines() if lint.returncode else []
        for components in dict.fromkeys(map(_compatible, combinations())):
            names = [path.name for path in components]
            found += differences(
                "+".join(names) or "base", render_with(components), templates(helm, chart, names)
            )
        prod = templates(helm, chart, _PROD, services={name: {"replicas": 2} for name in _TWICE})
        return [*found, *differences("prod", render(K8S / "overlays/prod"), prod)]


def _compatible(components: tuple[Path, ...]) -> tuple[Path, ...]:
    """The components without `hpa` beside `keda`, which the chart refuses."""
    names = {path.name for path in components}
    return tuple(path for path in components if path.name != "hpa" or "keda" not in names)


def templates(helm: str, chart: Path, components: Sequence[str], **values: Any) -> list[Manifest]:
    """The objects that Helm renders.

    Raises:
        Missing: Helm cannot render the chart; the message is its own.
    """
    switches = {switch(path.name): path.name in components for path in COMPONENTS}
    own = {"components": switches, "databaseOutside": {"cidr": _CIDR}, **values}
    file = chart.with_suffix(".values.json")
    file.write_text(json.dumps(own), encoding="utf-8")
    done = subprocess.run(  # noqa: S603 - our own chart
        [helm, "template", "nuggetstream", str(chart), "--namespace", "nuggetstream", "--values", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Missing(f"helm cannot render {'+'.join(components)}: {done.stderr.strip()}")
    return [found for found in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader) if found]


def differences(title: str, kustomized: list[Manifest], helmed: list[Manifest]) -> Iterator[str]:
    """A line for each object that only one has, or that differs."""
    wanted, found = by_key(kustomized), by_key(helmed)
    for key in sorted(wanted.keys() | found.keys()):
        if key not in found or key not in wanted:
            yield f"{title}: only {'kustomize' if key in wanted else 'helm'} has {' '.join(key)}"
        elif (place := _difference(wanted[key], _unchecked(found, key))) is not None:
            yield f"{title}: {name_of(wanted[key])} differs at {place}"


def _unchecked(found: Mapping[Key, Manifest], key: Key) -> Manifest:
    """An object without the checksum of the settings, for which kustomize has names with hashes."""
    manifest = found[key]
    for spec in (manifest.get("spec", {}), manifest.get("spec", {}).get("jobTemplate", {}).get("spec", {})):
        metadata = spec.get("template", {}).get("metadata", {})
        if metadata.get("annotations", {}).pop("checksum/settings", None) and not metadata["annotations"]:
            del metadata["annotations"]
    return manifest


def _difference(wanted: Any, found: Any) -> str | None:
    """Where two trees differ first; the order of named items of a list does not matter."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in sorted(wanted.keys() | found.keys()):
            if (place := _difference(wanted.get(key), found.get(key))) is not None:
                return f"{key}.{place}"
        return None
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        order = [
            sorted(items, key=lambda item: json.dumps(item, sort_keys=True)) for items in (wanted, found)
        ]
        pairs = zip(*(order if wanted and isinstance(wanted[0], dict) else (wanted, found)), strict=True)
        places = (_difference(first, second) for first, second in pairs)
        return next((place for place in places if place is not None), None)
    return None if wanted == found else f" {wanted!r} {found!r}"[:300]
