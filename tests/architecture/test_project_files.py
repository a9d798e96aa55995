"""Files for contributors: each is valid, agrees with pyproject.toml, and names commands that exist."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import recipes

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
MAKE = re.compile(r"\bmake ([a-z][a-z-]+)")


def loaded(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def workflow_commands() -> Iterator[str]:
    """Every command of the workflow, once per target of its matrix."""
    for job in loaded(".github/workflows/check.yml")["jobs"].values():
        for step in job["steps"]:
            for target in job["strategy"]["matrix"]["target"]:
                if "run" in step:
                    yield step["run"].replace("${{ matrix.target }}", target)


def hooks() -> list[dict[str, Any]]:
    return [hook for source in loaded(".pre-commit-config.yaml")["repos"] for hook in source["hooks"]]


def shown_in(page: str) -> list[str]:
    """Commands in the code of a page: in blocks, and in backticks."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"```sh\n(.*?)```", text, re.DOTALL) + re.findall(r"`([^`\n]+)`", text)


def test_the_citation_names_the_version_and_licence_of_the_package() -> None:
    citation = loaded("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert citation["message"]
    assert citation["title"].lower() == PROJECT["name"]
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [a["name"] for a in PROJECT["authors"]]


def test_a_vulnerability_is_reported_in_private_and_no_address_is_invented() -> None:
    policy = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "private security advisory" in policy
    assert "@" not in policy
    assert {"## Supported versions", "## In scope", "## Out of scope"} <= set(policy.splitlines())


def test_every_hook_is_local_and_calls_make() -> None:
    assert [source["repo"] for source in loaded(".pre-commit-config.yaml")["repos"]] == ["local"]
    for hook in hooks():
        assert hook["language"] == "system", hook["id"]
        assert MAKE.fullmatch(hook["entry"]), hook["id"]


def test_pre_commit_accepts_the_hooks() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(ROOT / ".pre-commit-config.yaml")]
    subprocess.run(command, check=True, capture_output=True)


def test_the_workflow_checks_tests_and_builds_the_site() -> None:
    tools, *targets = dict.fromkeys(workflow_commands())
    assert tools.startswith(".ci/tools ")
    assert targets == ["make check", "make test-full", "make docs"]


def test_the_development_container_has_the_python_of_the_project() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert container["image"] == f"python:{oldest}"
    assert container["postCreateCommand"] == "make setup"
    image = loaded(".github/workflows/check.yml")["jobs"]["check"]["container"]
    assert image == f"python:{oldest}-bookworm"


@pytest.mark.parametrize(
    ("place", "commands"),
    [
        ("check.yml", list(workflow_commands())),
        (".pre-commit-config.yaml", [hook["entry"] for hook in hooks()]),
        (".devcontainer", [loaded(".devcontainer/devcontainer.json")["postCreateCommand"]]),
        (".ci/run", [(ROOT / ".ci/run").read_text(encoding="utf-8")]),
        *((page, shown_in(page)) for page in ("README.md", "CONTRIBUTING.md")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_target_that_is_named_exists(place: str, commands: list[str]) -> None:
    named = {target for command in commands for target in MAKE.findall(command)}
    assert named, place
    assert named <= TARGETS


@pytest.mark.parametrize("path", sorted(recipes.modules()))
def test_the_code_of_a_recipe_would_pass_the_checks_at_its_place(path: str) -> None:
    assert not (ROOT / path).exists(), "a recipe shows how to write a new module"
    for command in (["check"], ["format", "--diff"]):
        subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", path, "-"],
            input=recipes.modules()[path], text=True, cwd=ROOT, check=True, capture_output=True,
        )  # fmt: skip


def test_there_are_three_recipes() -> None:
    assert len(recipes.modules()) == 4
