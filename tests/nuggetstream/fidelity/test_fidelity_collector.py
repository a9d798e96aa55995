"""The collector: whatever goes wrong with a family is a failed row, and its neighbours do not notice."""

import importlib
import textwrap
from pathlib import Path

import pytest

from nuggetstream.fidelity.collector import (
    FAMILIES,
    FamilyOfRows,
    collect,
    family_rows,
    in_order,
    missing_files,
)
from nuggetstream.fidelity.row import Basis, equal, near

SCORES = FamilyOfRows("nuggetstream.fidelity.scores", ("F23",), ())


def module(folder: Path, name: str, body: str, monkeypatch: pytest.MonkeyPatch) -> str:
    source = "from nuggetstream.fidelity.row import Basis, near\n" + textwrap.dedent(body)
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return name


def test_every_row_from_f1_to_f23_belongs_to_one_family() -> None:
    ids = sorted((id_ for family in FAMILIES for id_ in family.ids), key=in_order)
    assert len(ids) == len(set(ids))
    assert [id_ for id_ in ids if id_[-1].isdigit()] == [f"F{number}" for number in range(1, 24)]
    assert [id_ for id_ in ids if not id_[-1].isdigit()] == ["F5b", "F6b", "F7b", "F11b", "F18b", "F21b"]


def test_a_family_makes_the_rows_that_it_is_listed_with() -> None:
    for family in FAMILIES:
        assert tuple(importlib.import_module(family.module).ROWS) == family.ids


def test_a_number_without_an_answer_never_passes() -> None:
    assert not near("F1", "x", 1.0, None, basis=Basis.PRINTED, tolerance=5).passed
    assert not equal("F1", "x", 1, None, basis=Basis.PRINTED).passed
    assert near("F1", "x", 1.0, 1.004, basis=Basis.PRINTED, tolerance=0.005).passed
    assert not near("F1", "x", 1.0, 1.006, basis=Basis.PRINTED, tolerance=0.005).passed


def test_a_family_that_is_not_there_or_raises_is_failed_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = FamilyOfRows("nuggetstream.fidelity.no_such", ("F1", "F2"), ())
    assert [(row.id, row.passed) for row in family_rows(absent, tmp_path)] == [("F1", False), ("F2", False)]
    body = "def rows(data):\n    raise ZeroDivisionError('no votes')\nROWS = {'F4': rows}\n"
    raising = FamilyOfRows(module(tmp_path, "raising_family", body, monkeypatch), ("F4",), ())
    [row] = family_rows(raising, tmp_path)
    assert (row.passed, row.ours) == (False, "ZeroDivisionError: no votes")


def test_a_family_whose_package_is_not_installed_says_which_extra_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "def rows(data):\n    raise ModuleNotFoundError(name='sklearn.tree')\nROWS = {'F4': rows}\n"
    lacking = FamilyOfRows(module(tmp_path, "lacking_family", body, monkeypatch), ("F4",), ())
    [row] = family_rows(lacking, tmp_path)
    assert (row.passed, row.ours) == (
        False,
        "sklearn is not installed: pip install '.[trees]' in a checkout",
    )


def test_a_row_that_is_owed_or_nobody_asked_for_is_a_failed_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = """
        def rows(data):
            return [near(id, "x", 1, 1, basis=Basis.BY_HAND, tolerance=0) for id in ("F5", "F9")]
        ROWS = {"F5": rows}
    """
    family = FamilyOfRows(module(tmp_path, "forgetful_family", body, monkeypatch), ("F5", "F6"), ())
    failed = {row.id: row.ours for row in family_rows(family, tmp_path) if not row.passed}
    assert failed == {"F6": "not computed", "F9": "not a row of forgetful_family"}


def test_a_family_whose_process_dies_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "import os\ndef rows(data):\n    os._exit(9)\nROWS = {'F7': rows}\n"
    dying = FamilyOfRows(module(tmp_path, "dying_family", body, monkeypatch), ("F7",), ())
    finished = collect(tmp_path, [dying, SCORES])
    assert [row.id for row in finished.rows if not row.passed] == ["F7"]
    assert finished.rows[0].id == "F7"
    assert sum(row.id == "F23" for row in finished.rows) > 5


def test_a_missing_file_is_named_once(tmp_path: Path) -> None:
    families = [FamilyOfRows("x", (), ("a/b", "c")), FamilyOfRows("y", (), ("a/b",))]
    (tmp_path / "c").touch()
    assert missing_files(tmp_path, families) == ["a/b"]


def test_recorded_data_lack_nothing(recorded_data: Path) -> None:
    assert missing_files(recorded_data) == []
