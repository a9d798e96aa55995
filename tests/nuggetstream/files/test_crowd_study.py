"""The file of a study: what it may say, and what is wrong with it."""

from pathlib import Path

import pytest

from nuggetstream.files.crowd_study import CrowdStudySubmission, read_crowd_study
from nuggetstream.files.opening import UnusableFile

_GOLD = '\n[[gold]]\nbattle = "t"\nlabels = { quality_overall = "%s" }\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_name_is_enough(tmp_path: Path) -> None:
    study = read_crowd_study(written(tmp_path, 'name = "Tides"'))
    assert (study.pairs_per_worker, study.workers_per_pair, study.minutes) == (15, 5, 10)
    assert study.names[-1] == "quality_overall"
    assert study.allowed()["quality_overall"] == ("a", "b")  # people have to choose overall
    assert study.allowed()["coverage_deep"] == ("a", "n", "b")


def test_grades_decide_by_the_last_dimension() -> None:
    study = CrowdStudySubmission.model_validate(
        {"name": "x", "mode": "grade", "grades": 3, "dimensions": [{"name": "facts"}]}
    )
    assert study.allowed() == {"facts a": ("1", "2", "3"), "facts b": ("1", "2", "3")}
    assert [study.deciding({"facts a": a, "facts b": "2"}) for a in "123"] == ["b", "n", "a"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name = ", "Invalid value"),
        ('nam = "x"', "nam: Extra inputs are not permitted"),
        ('name = "x"' + _GOLD % "n", "battle 't': quality_overall cannot be 'n'"),
        ('name = "x"' + _GOLD % "a" + _GOLD % "b", "a battle occurs twice"),
        ('name = "x"\ndimensions = [{ name = "d" }, { name = "d" }]', "a name occurs twice"),
        ('name = "x"\nminutes = 0', "minutes: Input should be greater than or equal to 0.05"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UnusableFile, match=problem) as raised:
        read_crowd_study(written(tmp_path, text))
    assert "study.toml" in str(raised.value)
