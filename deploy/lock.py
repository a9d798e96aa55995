"""Writes deploy/requirements/*.txt: every package of an image and of CI, with its version and hashes.

    python deploy/lock.py            after a change of constraints.txt or of the dependencies
    python deploy/lock.py checkov    only what checkov needs, after a change of its version here

checkov.txt is for checkov, whose dependencies clash with ours: pip chooses its versions.

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

from nuggetstream.domain.pipeline import MODEL_STAGES
from services.cli.wiring.registry import SERVICES

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "deploy" / "requirements"
BUILD = ("hatchling", "packaging", "pathspec", "pluggy", "tomlkit", "trove-classifiers")  # for our own wheel
LEFT_OUT = frozenset({"torch"})
# What images carry beside the extra of their service: embedding models, rendering, leaderboards as Parquet.
MORE_EXTRAS = {"indexer": ("embedding", "dense"), "scraper": ("rendering",), "gateway": ("frames",)}
CHECKOV = "checkov==3.3.30"
_ARM = ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_26_aarch64", "manylinux2014_aarch64")
_HEAD = "# Written by deploy/lock.py from constraints.txt: do not edit. For Python 3.11 on Linux.\n"


def pinned() -> dict[str, str]:
    """The versions of constraints.txt, by name."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("==") for line in lines if "==" in line and not line.startswith("#"))
    return {canonicalize_name(name): version.partition(";")[0].strip() for name, _, version in pairs}


def extras_of(service: str) -> list[str]:
    """The extras of a service's image: its own, where it has one, or those of a stage that asks a model."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    of_models = ("llm", "offline") if service in MODEL_STAGES else ()
    own = (service,) if service in project["optional-dependencies"] else of_models
    return [*own, "postgres", "tracing", *MORE_EXTRAS.get(service, ())]


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


def resolved(*requirements: str) -> dict[str, str]:
    """The versions that pip chooses for requirements and all they need, by name.

    Raises:
        CalledProcessError: pip failed; it printed why.
    """
    pip = (sys.executable, "-m", "pip", "--isolated", "install", "--quiet", "--dry-run", "--ignore-installed")
    done = subprocess.run(  # noqa: S603 - our own command
        (*pip, "--only-binary", ":all:", "--report", "-", *requirements),
        stdout=subprocess.PIPE, check=True, cwd=ROOT, text=True,
    )  # fmt: skip
    chosen = (item["metadata"] for item in json.loads(done.stdout)["install"])
    return {canonicalize_name(package["name"]): package["version"] for package in chosen}


def hashes(versions: Mapping[str, str], *options: str) -> dict[str, str]:
    """The SHA-256 of the wheel of each package, by name; of its source archive if it has no wheel anywhere.

    Raises:
        CalledProcessError: pip failed; it printed why.
    """
    wanted = sorted(f"{name}=={version}" for name, version in versions.items())
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


def text_of(versions: Mapping[str, str], machines: Iterable[Mapping[str, str]], head: str = _HEAD) -> str:
    """A requirements file with the hashes of all machines."""
    blocks = [head]
    for name in sorted(versions):
        digests = sorted({known[name] for known in machines if name in known})
        parts = (f"{name}=={versions[name]}", *(f"--hash=sha256:{digest}" for digest in digests))
        blocks.append(" \\\n    ".join(parts) + "\n")
    return "".join(blocks)


def on_both_machines(versions: Mapping[str, str]) -> list[dict[str, str]]:
    """The hashes for x86-64 and for ARM."""
    arm = [option for platform in _ARM for option in ("--platform", platform)]
    with tempfile.TemporaryDirectory() as folder:
        return [
            hashes(versions),
            hashes(versions, *arm, "--python-version", "3.11", "--target", folder),
        ]


def write_checkov() -> None:
    """Write checkov.txt."""
    versions = resolved(CHECKOV)
    head = _HEAD.replace("from constraints.txt", f"for {CHECKOV}")
    text = text_of(versions, on_both_machines(versions), head)
    (FOLDER / "checkov.txt").write_text(text, encoding="utf-8")
    print(f"checkov: {len(versions)} packages")


def main() -> None:
    """Write all files, or only that of checkov."""
    write_checkov()
    if sys.argv[1:] == ["checkov"]:
        return
    files = {service: needed(extras_of(service)) for service in SERVICES}
    files["build"] = set(BUILD)
    files["ci"] = set(pinned()) - LEFT_OUT
    versions = pinned()
    machines = on_both_machines({name: versions[name] for name in files["ci"]})
    FOLDER.mkdir(exist_ok=True)
    for name, packages in files.items():
        known = {package for package in packages if any(package in machine for machine in machines)}
        (FOLDER / f"{name}.txt").write_text(
            text_of({package: versions[package] for package in known}, machines), encoding="utf-8"
        )
        print(f"{name}: {len(known)} packages; without a wheel: {sorted(packages - known) or 'none'}")


if __name__ == "__main__":
    main()
