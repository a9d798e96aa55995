"""The recipes of CONTRIBUTING for stages and fields, carried out on a copy of the tree.

Each is a patch of the hand-written files. The copy gets all of them, what is generated is written again, and
tests run that know nothing of the recipes, with one for each that does.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tree import ROOT, copy_tree

FOLDER = Path(__file__).parent / "recipes"
RECIPES = sorted(path.stem for path in FOLDER.glob("*.diff"))
NODE_MODULES = "k8s/checks/node_modules"
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the working tree."""
    copy_tree(tmp_path)
    # Packages of npm are installed, not listed; the tests of the manifests want them.
    if (installed := ROOT / NODE_MODULES).is_dir():
        (tmp_path / NODE_MODULES).symlink_to(installed)
    return tmp_path


def run(folder: Path, *command: str) -> None:
    """Run a command on the copy; what it prints is shown if it fails."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    path = os.pathsep.join([str(folder), str(folder / "proto/gen/python")])
    done = subprocess.run(
        command, cwd=folder, env=own | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def files_of(recipe: str) -> list[str]:
    """The hand-written files that a recipe touches."""
    patch = (FOLDER / f"{recipe}.diff").read_text(encoding="utf-8")
    return re.findall(r"^\+\+\+ b/(.+)$", patch, re.MULTILINE)


def carry_out(folder: Path, *recipes: str) -> None:
    """Apply the patches, and write again what is generated."""
    for recipe in recipes:
        run(folder, "git", "apply", str(FOLDER / f"{recipe}.diff"))
    run(folder, sys.executable, "proto/generate.py")
    run(folder, sys.executable, "deploy/generate.py")


def run_tests(folder: Path, *paths: str) -> None:
    run(folder, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths)


def check(folder: Path) -> None:
    """Lint and import rules."""
    run(
        folder,
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--no-cache",
        "nuggetstream",
        "services",
        "tests/services",
    )
    run(folder, sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()")


@pytest.mark.parametrize(("recipe", "most"), [("stage", 8), ("field", 12)])
def test_a_recipe_touches_few_files(recipe: str, most: int) -> None:
    assert 0 < len(files_of(recipe)) <= most


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_fits_the_tree(recipe: str) -> None:
    run(ROOT, "git", "apply", "--check", str(FOLDER / f"{recipe}.diff"))


@pytest.mark.full
def test_a_tree_with_a_new_stage_and_a_new_field_runs(copy: Path) -> None:
    carry_out(copy, *RECIPES)
    # What deploy/lock.py writes for a stage without an extra; it would ask the index of packages.
    shutil.copy2(copy / "deploy/requirements/rater.txt", copy / "deploy/requirements/summarizer.txt")
    check(copy)
    run_tests(
        copy,
        "tests/services/summarizer",
        "tests/services/wire",
        "tests/nuggetstream/domain/test_pipeline.py",
        "tests/nuggetstream/files/test_country.py",
        "tests/contract",
        "tests/architecture/test_imports.py",
        "tests/architecture/test_manifests.py",
        "tests/integration/gateway/battles/test_event_schema.py",
        "tests/e2e/recipes/check_stage.py",
        "tests/e2e/recipes/check_field.py",
    )


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_guide_names_the_files_of_a_recipe(recipe: str) -> None:
    section = next(part for part in GUIDE.split("\n### ") if f"tests/e2e/recipes/{recipe}.diff" in part)
    assert {name for name in files_of(recipe) if f"`{name}`" not in section} == set()
