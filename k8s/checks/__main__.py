"""`python -m k8s.checks`: run all checks; exit 1 if one fails.

A check whose tool is not installed is skipped with a message. In CI (the variable CI is set) it fails.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from k8s.checks import chart, rules, schemas, tools
from k8s.checks.render import (
    COMPONENTS,
    OVERLAYS,
    KubectlMissing,
    Manifest,
    Unrenderable,
    combinations,
    render,
    render_text,
    render_with,
)


def main() -> int:
    """Run all checks and return the exit code."""
    failed = sum(
        [
            check("Dockerfile: hadolint", tools.hadolint),
            check(
                "Dockerfile: checkov", lambda: tools.checkov(tools.ROOT / "deploy/Dockerfile", "dockerfile")
            ),
            check("broker configurations", tools.brokers),
            check("Prometheus: configuration, alerts and their tests", tools.promtool),
            *(check_overlay(folder) for folder in OVERLAYS),
            check("components, alone and together", check_combinations),
            check("components: kinds of other projects", lambda: foreign(render_with(tuple(COMPONENTS)))),
            check("chart: the same objects by Helm", chart.problems),
        ]
    )
    return 1 if failed else 0


def check(title: str, find_problems: Callable[[], Sequence[str]]) -> int:
    """Run one check, print its result, and return the number of problems."""
    try:
        found = find_problems()
    except (tools.Missing, KubectlMissing) as reason:
        if not os.environ.get("CI"):
            print(f"skip  {title}: {reason}")
            return 0
        found = [f"{reason}; in CI nothing is skipped"]
    except Unrenderable as error:
        found = [str(error)]
    print(f"{'FAIL ' if found else 'ok   '} {title}")
    for problem in found:
        print(f"        {problem}")
    return len(found)


def check_overlay(folder: Path) -> int:
    """Run all checks of one overlay."""
    title = f"overlay {folder.name}"
    return sum(
        [
            check(f"{title}: schemas, rules", lambda: manifest_problems(render(folder))),
            check(f"{title}: kinds of other projects", lambda: foreign(render(folder))),
            check(f"{title}: checkov", lambda: checkov(folder)),
        ]
    )


def manifest_problems(manifests: Sequence[Manifest]) -> list[str]:
    """Problems by the schemas of Kubernetes and by our rules."""
    policies = any(manifest["kind"] == "NetworkPolicy" for manifest in manifests)
    return [*schemas.own_problems(manifests), *rules.problems(manifests, policies=policies)]


def foreign(manifests: Sequence[Manifest]) -> list[str]:
    """Problems by the schemas of KEDA, the Prometheus operator and the Gateway API."""
    if reason := schemas.why_not_foreign():
        raise tools.Missing(reason)
    return schemas.foreign_problems(manifests)


def checkov(folder: Path) -> list[str]:
    """Problems of an overlay by checkov."""
    with tempfile.TemporaryDirectory() as scratch:
        rendered = Path(scratch) / f"{folder.name}.yaml"
        rendered.write_text(render_text(folder), encoding="utf-8")
        return tools.checkov(rendered)


def check_combinations() -> list[str]:
    """Problems of the base with each component, with all, and with sets that show every two in each state."""
    tried = list(combinations())
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:  # kubectl is a process of its own
        rendered = list(pool.map(render_with, tried))
    return [
        f"{'+'.join(path.name for path in chosen) or 'base'}: {problem}"
        for chosen, manifests in zip(tried, rendered, strict=True)
        for problem in manifest_problems(manifests)
    ]


if __name__ == "__main__":
    sys.exit(main())
