"""Votes from files, frames and rows: the same columns, the same votes, the same errors."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import nuggetstream as ns
from nuggetstream.domain.battle import Vote
from nuggetstream.files.opening import UnusableFile
from tests.evaluated import file_of, round_robin

ROWS: list[dict[str, Any]] = [
    {"model_a": "atlas", "model_b": "birch", "winner": "model_a", "weight": 2.0, "user": "u1"},
    {"model_a": "birch", "model_b": "atlas", "winner": "tie (bothbad)", "weight": 1.0, "user": None},
    {"model_a": "atlas", "model_b": "cobalt", "winner": None, "weight": 1.0, "user": "u2"},
    {"model_a": "cobalt", "model_b": "birch", "winner": "birch", "weight": 0.5, "user": "u1"},
]


class Arrow:
    """A frame of an unknown library, known by the Arrow protocol alone."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def sources(folder: Path) -> dict[str, Any]:
    frame = pl.DataFrame(ROWS)
    frame.write_csv(folder / "votes.csv")
    frame.write_parquet(folder / "votes.parquet")
    (folder / "votes.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return {
        "csv": folder / "votes.csv",
        "jsonl": str(folder / "votes.jsonl"),
        "parquet": folder / "votes.parquet",
        "polars": frame,
        "pandas": pd.DataFrame(ROWS),
        "arrow": Arrow(frame),
        "rows": ROWS,
        "generator": (row for row in ROWS),
    }


KINDS = ("csv", "jsonl", "parquet", "polars", "pandas", "arrow", "rows", "generator")


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_votes_come_out_of_every_kind_of_source(tmp_path: Path, kind: str) -> None:
    votes = ns.read_votes(sources(tmp_path)[kind], cluster="user")
    assert [(vote.system_a, vote.system_b, vote.outcome) for vote in votes.votes] == [
        ("atlas", "birch", Vote.A),
        ("birch", "atlas", Vote.BOTH_BAD),
        ("cobalt", "birch", Vote.B),
    ]
    assert [vote.weight for vote in votes.votes] == [2.0, 1.0, 0.5]
    assert [vote.cluster for vote in votes.votes] == ["u1", None, "u1"]
    assert (votes.rows, votes.without_vote) == (4, 1)


FRAMES = {"polars": pl.DataFrame, "pandas": pd.DataFrame}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"winner": "maybe"}, "DataFrame, row 3: winner: is 'maybe'; expected a, b, tie"),
        ({"model_b": "cobalt"}, "DataFrame, row 3: model_b: system 'cobalt' battles itself"),
        ({"model_a": None}, "DataFrame, row 3: model_a: is missing"),
        ({"weight": None}, "DataFrame, row 3: weight: is missing"),
        ({"weight": -1.0}, "DataFrame, row 3: weight: is '-1'; expected a number from 0"),
    ],
)
def test_what_is_wrong_in_a_frame_is_named_by_row_and_field(
    library: str, changed: dict[str, Any], problem: str
) -> None:
    frame = FRAMES[library]([*ROWS[:3], ROWS[3] | changed])
    with pytest.raises(UnusableFile) as error:
        ns.read_votes(frame)
    assert str(error.value).startswith(problem)


def test_what_is_wrong_in_a_file_is_named_by_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("a,b,winner\nx,y,a\nx,y,maybe\n", encoding="utf-8")
    with pytest.raises(UnusableFile, match=r"votes\.csv:3: winner: is 'maybe'"):
        ns.read_votes(path)


def test_columns_are_named_as_keyword_arguments() -> None:
    frame = pl.DataFrame(
        {"left one": ["x", "y"], "right one": ["y", "x"], "better": ["a", "b"], "lang": ["de", "en"]}
    )
    with pytest.raises(UnusableFile, match="or a= and b=; it has left one, right one, better, lang"):
        ns.read_votes(frame)
    with pytest.raises(UnusableFile, match="is no column, see winner="):
        ns.read_votes(frame, a="left one", b="right one")
    votes = ns.read_votes(
        frame, a="left one", b="right one", winner="better", where={"lang": "en"}, name="people"
    )
    assert [(vote.place, vote.outcome) for vote in votes.votes] == [("people, row 1", Vote.B)]
    with pytest.raises(UnusableFile, match="system 'x' is unknown; known: y, z"):
        ns.read_votes(frame, a="left one", b="right one", winner="better", systems=["y", "z"])


@pytest.mark.parametrize("nothing", [[], pl.DataFrame(), pl.DataFrame({"a": [], "b": [], "winner": []})])
def test_a_source_without_rows_says_so(nothing: Any) -> None:
    with pytest.raises(UnusableFile, match=r"holds no (row|vote)"):
        ns.read_votes(nothing)


def test_a_row_that_is_no_row_says_so() -> None:
    problem = r"rows, row 1: is the str 'xya'; expected a dictionary or \(system_a, system_b, winner"
    with pytest.raises(UnusableFile, match=problem):
        ns.read_votes([("x", "y", "a"), "xya"])  # type: ignore[list-item]


def test_votes_show_themselves() -> None:
    votes = ns.read_votes(ROWS)
    shown = str(votes)
    assert "3 votes in 4 rows of rows; 1 rows have no outcome." in shown
    frame = votes.to_frame()
    assert frame["outcome"].to_list() == ["a", "both_bad", "b"]
    assert frame["points_a"].to_list() == [1.0, 0.5, 0.0]
    assert frame["cluster"].null_count() == 3
    assert ns.read_votes(frame.rename({"outcome": "winner"})).votes[0].system_a == "atlas"


def test_a_lens_is_chosen_from_the_results_of_an_evaluation(tmp_path: Path) -> None:
    path = file_of(tmp_path, round_robin())
    assert ns.read_votes(path, lens="judge").name == "judge"
    assert ns.read_votes(path).name == "human"


def test_many_votes_are_printed_in_part_and_framed_whole() -> None:
    votes = ns.read_votes([("atlas", "birch", "a")] * 100)
    assert "70 more not shown; .to_frame() has all rows." in str(votes)
    assert votes.to_frame().height == 100
