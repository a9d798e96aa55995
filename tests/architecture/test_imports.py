"""Every entry point starts with the packages of the installation that is meant for it.

The import graph is read, and nothing is started: what a module imports when it is imported must be in the
installation, by name or because a package in it requires it. Imports inside functions are left out, because
they depend on settings; `.ci/first_run` starts everything.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import grimp
import pytest
from packaging.utils import canonicalize_name

import nuggetstream
from deploy.lock import LEFT_OUT, needed
from nuggetstream.fidelity.collector import FAMILIES
from services.cli.main import COMMANDS
from services.cli.wiring.registry import SERVICES, wiring_of
from services.wire.evaluators import EVALUATORS

ROOT = Path(__file__).parents[2]
OWN = ("nuggetstream", "services", "arena")


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*OWN, include_external_packages=True, exclude_type_checking_imports=True)


@cache
def top_lines(module: str) -> frozenset[int]:
    """The lines of a module's imports that run when the module is imported."""
    base = ROOT.joinpath(*module.split("."))
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    if not path.exists():
        return frozenset()
    found: set[int] = set()
    waiting: list[ast.AST] = list(ast.parse(path.read_text(encoding="utf-8")).body)
    for node in waiting:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.add(node.lineno)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return frozenset(found)


@cache
def imported_by(module: str) -> frozenset[str]:
    """The modules that one imports when it is itself imported, and the package around it."""
    around = {module.rpartition(".")[0]} - {""}
    if module not in graph().modules or graph().is_module_squashed(module):
        return frozenset(around)
    found = graph().find_modules_directly_imported_by(module)
    return frozenset(around) | {
        each
        for each in found
        if any(
            place["line_number"] in top_lines(module)
            for place in graph().get_import_details(importer=module, imported=each)
        )
    }


def loaded(*modules: str) -> dict[str, str]:
    """Every module that is loaded with some modules, with the module that imports it first."""
    found = dict.fromkeys(modules, "")
    waiting = list(modules)
    for module in waiting:
        new = [each for each in sorted(imported_by(module)) if each not in found]
        found.update(dict.fromkeys(new, module))
        waiting += new
    return found


def installed(*extras: str) -> frozenset[str]:
    """The distributions of an installation with extras of pyproject.toml."""
    return frozenset(needed(extras))


def image(service: str) -> frozenset[str]:
    """The distributions of a service's image."""
    text = (ROOT / f"deploy/requirements/{service}.txt").read_text(encoding="utf-8")
    names = (canonicalize_name(name) for name in re.findall(r"^([\w.-]+)==", text, re.MULTILINE))
    return frozenset(names) | (LEFT_OUT if service == "indexer" else frozenset())


@cache
def distributions() -> Mapping[str, list[str]]:
    """The distributions that are installed here, by the packages that they bring."""
    return packages_distributions()


def missing(modules: Iterable[str], carried: frozenset[str]) -> list[str]:
    """The packages that modules import and an installation lacks, each with the module that imports it."""
    lacking = []
    for module, importer in loaded(*modules).items():
        top = module.partition(".")[0]
        owners = {canonicalize_name(name) for name in distributions().get(top, ())}
        if top not in OWN and owners and not owners & carried:
            lacking.append(f"{module}, imported by {importer}")
    return lacking


# What public functions need beside the package alone, by their modules.
EXTRAS = {
    "nuggetstream.api.agreeing": ("analysis",),
    "nuggetstream.api.crowd": ("analysis",),
    "nuggetstream.api.comparing": ("analysis",),
    "nuggetstream.api.reporting": ("analysis",),
    "nuggetstream.api.aspects": ("analysis",),
    "nuggetstream.api.rubric": ("analysis",),
    "nuggetstream.api.rubric_banks": ("analysis",),
    "nuggetstream.api.texts": ("analysis",),
    "nuggetstream.client": ("client",),
}
# What runs in every image, beside `serve`.
IN_IMAGES = ("migrate", "bootstrap", "health", "doctor")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_finds_its_packages(name: str) -> None:
    command = COMMANDS[name]
    assert missing(["services.cli.main", command.module], installed(*filter(None, [command.extra]))) == []


@pytest.mark.parametrize("service", SERVICES)
def test_an_image_has_the_packages_of_its_service(service: str) -> None:
    assert missing([COMMANDS["serve"].module, wiring_of(service)], image(service)) == []


def test_one_process_finds_the_packages_of_all_services() -> None:
    assert missing([wiring_of(service) for service in SERVICES], installed("light")) == []


def test_the_published_numbers_need_nothing_beyond_what_make_setup_installs() -> None:
    drawn = {"plotly", "polars", "narwhals"}  # figures and frames, which no number needs
    rooms = [
        name for family in FAMILIES for name in loaded(family.module) if name.startswith("nuggetstream.")
    ]
    packages = {
        each.partition(".")[0] for room in rooms for each in graph().find_modules_directly_imported_by(room)
    }
    owners = {name: set(map(canonicalize_name, distributions().get(name, ()))) for name in packages - drawn}
    assert "sklearn" in owners
    assert [name for name, own in owners.items() if own and not own & installed("light")] == []
    assert "scikit-learn" not in image("gateway")


@pytest.mark.parametrize("service", SERVICES)
def test_an_image_has_the_packages_of_its_other_commands(service: str) -> None:
    assert missing([COMMANDS[name].module for name in IN_IMAGES], image(service)) == []


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_imports_nothing_of_another_one(service: str) -> None:
    others = tuple(f"services.{name}" for name in SERVICES if name != service)
    modules = loaded(COMMANDS["serve"].module, wiring_of(service))
    assert [
        f"{module}, imported by {importer}"
        for module, importer in modules.items()
        if module.startswith(others)
    ] == []


@pytest.mark.parametrize(
    "name", ["calls", "failures", "nuggets", "delete", "retention", "audit", "webhooks", "study"]
)
def test_a_command_that_asks_a_gateway_loads_no_database(name: str) -> None:
    """They are typed one after the other, and a second of imports is felt each time."""
    modules = loaded(
        COMMANDS[name].module, "services.cli.commands.administrator", "services.cli.wiring.process"
    )
    assert not {"sqlalchemy", "alembic", "scipy"} & {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize("name", nuggetstream.__all__)
def test_a_public_function_finds_its_packages(name: str) -> None:
    module = nuggetstream._MODULES[name]
    assert missing(["nuggetstream", module], installed(*EXTRAS.get(module, ()))) == []


def test_imports_inside_functions_and_for_types_are_left_out() -> None:
    of_main = loaded("services.cli.main")
    assert "click" in of_main
    assert "services.cli.commands.start.demo" not in of_main
    assert "services.cli.wiring.parts" not in loaded("services.cli.wiring.registry")


def test_a_missing_package_is_found_with_the_module_that_imports_it() -> None:
    assert "openai, imported by services.runtime.llm.endpoint" in missing(
        ["services.runtime.llm.endpoint"], installed()
    )
    assert missing(["services.runtime.llm.endpoint"], installed("llm")) == []


def test_an_image_with_a_model_has_the_packages_of_all_prompts() -> None:
    """Where an operator overrides prompts, each of these services knows the names of all."""
    modules = [f"services.judge.{each.yields.value}.{name}" for name, each in EVALUATORS.items()]
    for service in ("retriever", "nuggetizer", "assigner", "judge"):
        assert missing(["services.judge.registry", *modules], image(service)) == [], service


def test_every_evaluator_is_known_to_all_services() -> None:
    """The folders of evaluators have no module with an evaluator that the table does not name."""
    folder = ROOT / "services" / "judge"
    modules = {
        (path.parent.name, path.stem)
        for path in folder.glob("*/*.py")
        if "EVALUATOR = Evaluator(" in path.read_text(encoding="utf-8")
    }
    assert modules == {(each.yields.value, name) for name, each in EVALUATORS.items()}
