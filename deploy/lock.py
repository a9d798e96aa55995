"""Writes deploy/requirements/*.txt: every package of an image and of CI, with its version and hashes.

    python deploy/lock.py            after a change of constraints.txt or of the dependencies

Versions are those of constraints.txt. Which packages a service needs is read from the packages that are
installed here, and their hashes come from pip, for Python 3.11 on Linux (x86-64 and ARM). It installs
nothing.
`pip install --require-hashes --no-deps` then accepts these files and no others.

torch is left out: its builds for CPUs and for CUDA have one version and come from different places.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from services.cli.registry import SERVICES

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "deploy" / "requirements"
BUILD = ("hatchling", "packaging", "pathspec", "pluggy", "tomlkit", "trove-classifiers")  # for our own wheel
LEFT_OUT = frozenset({"torch"})
_ARM = ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_26_aarch64", "manylinux2014_aarch64")
_HEAD = "# Written by deploy/lock.py from constraints.txt: do not edit. For Python 3.11 on Linux.\n"


def pinned() -> dict[str, str]:
    """The versions of constraints.txt, by name."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("==") for line in lines if "==" in line and not line.startswith("#"))
    return {canonicalize_name(name): version.partition(";")[0].strip() for name, _, version in pairs}


def needed(extras: Iterable[str]) -> set[str]:
    """Names of all packages that an installation with these extras needs, `LEFT_OUT` excepted."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional: Mapping[str, list[str]] = project["optional-dependencies"]
    waiting = [Requirement(text) for text in project["dependencies"]]
    waiting += [Requirement(text) for extra in extras for text in optional[extra]]
    found: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name == project["name"]:
            waiting += [Requirement(text) for extra in requirement.extras for text in optional[extra]]
            continue
        for extra in {"", *requirement.extras}:
            if (name, extra) not in found:
                found.add((name, extra))
                waiting += _requirements_of(name, extra)
    return {name for name, _ in found} - LEFT_OUT


def _requirements_of(name: str, extra: str) -> list[Requirement]:
    try:
        all_requirements = [Requirement(text) for text in requires(name) or []]
    except PackageNotFoundError:
        return []
    return [r for r in all_requirements if r.marker is None or r.marker.evaluate({"extra": extra})]


def hashes(names: Iterable[str], *options: str) -> dict[str, str]:
    """The SHA-256 of the wheel of each package, by name; of its source archive if it has no wheel anywhere.

    Raises:
        CalledProcessError: pip failed; it printed why.
    """
    versions = pinned()
    wanted = sorted(f"{name}=={versions[name]}" for name in names)
    pip = (sys.executable, "-m", "pip", "--isolated", "install", "--quiet", "--dry-run", "--ignore-installed")
    without: list[str] = []
    while True:
        done = subprocess.run(  # noqa: S603 - our own command
            (*pip, "--no-deps", "--only-binary", ":all:", "--report", "-", *options, *wanted),
            capture_output=True, check=False, cwd=ROOT, text=True,
        )  # fmt: skip
        missing = re.search(r"No matching distribution found for (\S+)", done.stderr)
        if missing is None or missing[1] not in wanted:
            break
        wanted.remove(missing[1])  # it has no wheel for this machine
        without.append(missing[1])
    if done.returncode:
        raise SystemExit(done.stderr)
    installed: list[dict[str, Any]] = json.loads(done.stdout)["install"]
    if without and not options:  # their source archives, for CI
        sources = subprocess.run(  # noqa: S603
            (*pip, "--no-deps", "--report", "-", *without),
            stdout=subprocess.PIPE,
            check=True,
            cwd=ROOT,
            text=True,
        )
        installed += json.loads(sources.stdout)["install"]
    return {
        canonicalize_name(item["metadata"]["name"]): item["download_info"]["archive_info"]["hashes"]["sha256"]
        for item in installed
    }


def text_of(names: Iterable[str], machines: Iterable[Mapping[str, str]]) -> str:
    """A requirements file with the hashes of all machines."""
    versions, blocks = pinned(), [_HEAD]
    for name in sorted(names):
        digests = sorted({known[name] for known in machines if name in known})
        parts = (f"{name}=={versions[name]}", *(f"--hash=sha256:{digest}" for digest in digests))
        blocks.append(" \\\n    ".join(parts) + "\n")
    return "".join(blocks)


def main() -> None:
    """Write all files."""
    files = {
        service: needed([service, "postgres", *(["dense"] if service == "indexer" else [])])
        for service in SERVICES
    }
    files["build"] = set(BUILD)
    files["ci"] = set(pinned()) - LEFT_OUT
    arm = [option for platform in _ARM for option in ("--platform", platform)]
    with tempfile.TemporaryDirectory() as folder:
        machines = [
            hashes(files["ci"]),
            hashes(files["ci"], *arm, "--python-version", "3.11", "--target", folder),
        ]
    FOLDER.mkdir(exist_ok=True)
    for name, packages in files.items():
        known = {package for package in packages if any(package in machine for machine in machines)}
        (FOLDER / f"{name}.txt").write_text(text_of(known, machines), encoding="utf-8")
        print(f"{name}: {len(known)} packages; without a wheel: {sorted(packages - known) or 'none'}")


if __name__ == "__main__":
    main()
