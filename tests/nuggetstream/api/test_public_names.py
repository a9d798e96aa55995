"""`import nuggetstream` is light, and every public name is there for Python, for mypy and for a reader."""

import ast
import doctest
import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import nuggetstream as ns

SOURCE = Path(ns.__file__)


def python(code: str) -> str:
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return child.stdout


def loaded_by(code: str) -> set[str]:
    """Modules that some code imports, beyond those that Python starts with."""
    report = "print(json.dumps(list(set(sys.modules) - before)))"
    return set(json.loads(python(f"import sys, json\nbefore = set(sys.modules)\n{code}\n{report}")))


def test_importing_the_library_imports_nothing_but_its_first_file() -> None:
    modules = loaded_by("import nuggetstream")
    assert {name for name in modules if name.startswith("nuggetstream")} == {"nuggetstream"}
    foreign = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names - {"nuggetstream"}
    assert foreign == set()


@pytest.mark.slow
def test_reading_votes_imports_no_library_that_only_draws_trains_or_frames() -> None:
    code = "import nuggetstream\nnuggetstream.read_votes([('x', 'y', 'a')])"
    roots = {name.partition(".")[0] for name in loaded_by(code)}
    assert "numpy" in roots
    assert not roots & {"httpx2", "jinja2", "narwhals", "pandas", "plotly", "polars", "rich", "sklearn"}


@pytest.mark.slow
def test_rating_votes_does_not_import_the_tests_of_scipy_which_take_a_second() -> None:
    modules = loaded_by(
        "import nuggetstream\nnuggetstream.rate([('x', 'y', 'a'), ('x', 'y', 'b')], resamples=10)"
    )
    assert "scipy.special" in modules
    assert not modules & {"scipy.stats", "scipy.optimize"}


def imported_for_type_checkers() -> dict[str, str]:
    (block,) = [
        node for node in ast.parse(SOURCE.read_text(encoding="utf-8")).body if isinstance(node, ast.If)
    ]
    return {
        alias.asname or alias.name: node.module or ""
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_every_public_name_is_typed_documented_and_importable() -> None:
    assert ns.__all__ == sorted(ns.__all__)
    assert imported_for_type_checkers() == ns._MODULES
    assert set(ns.__all__) == set(ns._MODULES)
    rooms = {path.name for path in SOURCE.parent.iterdir() if path.is_dir()}
    assert not rooms & set(ns.__all__)  # importing a room would hide the name
    assert [name for name in dir(ns) if not name.startswith("__")] == ns.__all__
    for name in ns.__all__:
        assert getattr(ns, name).__doc__, name
    assert files("nuggetstream").joinpath("py.typed").is_file()


@pytest.mark.parametrize("name", [name for name in ns.__all__ if name[0].islower()])
def test_every_public_function_has_an_example_and_names_its_arguments(name: str) -> None:
    documentation = getattr(ns, name).__doc__
    assert doctest.DocTestParser().get_examples(documentation)
    for section in ("Args:", "Returns:", "Raises:"):
        assert section in documentation


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'nuggetstream' has no attribute 'rank'"):
        ns.rank  # noqa: B018


EXTRAS = "httpx2 ir_measures jinja2 krippendorff narwhals plotly polars pyphen rapidfuzz sacrebleu sklearn"


def without_extras(code: str) -> str:
    """What some code prints where nothing but the library's own dependencies is installed."""
    block = f"import sys\nsys.modules.update(dict.fromkeys({EXTRAS.split()!r}))\nimport nuggetstream as ns\n"
    return python(block + code)


@pytest.mark.slow
def test_ratings_scores_and_agreement_need_no_extra() -> None:
    printed = without_extras(
        "print(ns.rate([('x', 'y', 'a'), ('x', 'y', 'b')], resamples=10))\n"
        "print(ns.score([('fact', 'vital')], {'x': ['support']}))\n"
        "print(ns.agreement(['a', 'b'], ['a', 'a']))\n"
        "print(ns.paired([1, 2, 3], [0, 0, 0]))\n"
    )
    titles = ("Ratings", "Agreement", "Paired tests")
    assert [line for line in printed.splitlines() if line in titles] == list(titles)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "missing"),
    [
        ("ns.krippendorff([[1, 2], [1, 2]])", "krippendorff"),
        ("ns.crowd_agreement([('x', 'y', 1)])", "krippendorff"),
        ("ns.rubric_measure({'q': {'d': 1}}, {'x': {'q': ['d']}})", "ir_measures"),
    ],
)
def test_a_function_that_needs_the_extra_analysis_says_so(call: str, missing: str) -> None:
    told = without_extras(f"try:\n    {call}\nexcept ImportError as error:\n    print(error)")
    assert told.strip() == f"{missing} is not installed: pip install '.[analysis]' in a checkout"


@pytest.mark.slow
def test_a_figure_needs_the_extra_plots_and_a_table_in_a_notebook_does_not() -> None:
    told = without_extras(
        "result = ns.agreement(['a', 'b'], ['a', 'a'])\n"
        "print(result._repr_html_().count('<table>'), 'plotly' in result._repr_html_())\n"
        "try:\n    result.plot()\nexcept ImportError as error:\n    print(error)"
    )
    assert told.splitlines() == [
        "2 False",
        "plotly is not installed: pip install '.[plots]' in a checkout",
    ]


@pytest.mark.slow
def test_a_missing_package_is_named_with_the_extra_that_brings_it() -> None:
    told = python(
        "import sys\nsys.modules['httpx2'] = None\nimport nuggetstream\n"
        "try:\n    nuggetstream.Client\nexcept ImportError as error:\n    print(error)"
    )
    assert told.strip() == "httpx2 is not installed: pip install '.[client]' in a checkout"
    told = python(
        "import sys\nsys.modules['polars'] = None\nimport nuggetstream\n"
        "votes = nuggetstream.read_votes([('x', 'y', 'a')])\n"
        "try:\n    votes.to_frame()\nexcept ImportError as error:\n    print(error)"
    )
    assert told.strip() == "polars is not installed: pip install '.[frames]' in a checkout"
