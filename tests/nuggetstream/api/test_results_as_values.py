"""Results as pandas, numpy and Python use values: length, iteration, membership, frames, missing numbers."""

import math
import pickle
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import nuggetstream as ns
from nuggetstream.files.opening import MissingFile, UnusableFile
from nuggetstream.files.tables import Named, Table, Tabular, count, flag, interval, moment, number, text
from nuggetstream.ratings.standing import IntervalState

VOTES = [
    {"battle": f"{n}", "a": "xyz"[n % 3], "b": "xyz"[(n + 1) % 3], "winner": "ab"[(n // 3) % 2], "time": n}
    for n in range(1, 61)
]
GRADED = [("q1", "p1", "why", 5), ("q1", "p2", "when", 0), ("q2", "p3", "who", 4)]
RUNS = {"x": {"q1": ["p1", "p2"], "q2": ["p3"]}, "y": {"q1": ["p2", "p1"], "q2": ["p3"]}}
LABELS = [("tide", "ann", 2), ("tide", "ben", 2), ("reef", "ann", 0), ("reef", "ben", 0)]
FACTS = [("The Moon raises tides.", "vital"), ("The Sun adds to them.", "okay")]
SCORES = {"x": 3.0, "y": 1.0, "z": 2.0}
RATINGS = ns.rate(VOTES, resamples=20)

RESULTS: Mapping[str, Callable[[], Any]] = {
    "rate": lambda: RATINGS,
    "pairs_table": RATINGS.pairs_table,
    "advice": RATINGS.advice,
    "rate_over_time": lambda: ns.rate_over_time(VOTES, 2, resamples=20),
    "read_votes": lambda: ns.read_votes(VOTES),
    "score": lambda: ns.score(FACTS, {"x": ["support", "not_support"], "y": ["support", "support"]}),
    "agreement": lambda: ns.agreement(["a", "b", "tie"], ["a", "b", "b"]),
    "paired": lambda: ns.paired([1, 2, 3], [0, 0, 1]),
    "benjamini_hochberg": lambda: ns.benjamini_hochberg({"t": 0.01, "w": None}),
    "crowd_agreement": lambda: ns.crowd_agreement(LABELS, restarts=1),
    "crowd_grades": lambda: ns.crowd_grades([("x", "y", "a"), ("y", "z", "tie"), ("x", "z", "a")]),
    "crowd_arms": lambda: ns.crowd_arms({"people": LABELS, "judge": LABELS}),
    "rubric_cover": lambda: ns.rubric_cover(GRADED, runs=RUNS, k=1),
    "rubric_qrels": lambda: ns.rubric_qrels(GRADED),
    "rubric_verify": lambda: ns.rubric_verify(GRADED, {"q1": {"p1": 3, "p2": 0}}),
    "rubric_agree": lambda: ns.rubric_agree(GRADED, {"q1": {"p1": 3, "p2": 0}}),
    "rubric_measure": lambda: ns.rubric_measure({"q1": {"p1": 1, "p2": 0}}, RUNS),
    "rubric_correlate": lambda: ns.rubric_correlate(SCORES, SCORES),
    "rubric_change": lambda: ns.rubric_change(GRADED, GRADED, runs=RUNS, k=1),
    "study_texts": lambda: ns.study_texts(["Tides rise twice a day.", "The moon pulls the water."]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_a_length_is_gone_through_and_becomes_the_same_frame_of_both_libraries(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = RESULTS[name]()
    assert isinstance(result, Tabular)
    assert bool(result) is True
    assert len(list(result)) == len(result)
    frame, other = result.to_frame(), result.to_pandas()
    assert list(other.columns) == frame.columns
    rows = list(result.table())
    assert rows == frame.to_dicts()
    for column in frame.columns:
        missing = frame[column].is_null().to_list()
        assert other[column].isna().tolist() == missing
        if frame[column].dtype.is_numeric():
            assert other[column].dtype.kind in "if"
            assert np.array_equal(other[column].to_numpy(float), [math.nan if v is None else v for v in frame[column]], equal_nan=True)  # fmt: skip  # noqa: E501
        else:
            assert [cell for cell, gap in zip(other[column].tolist(), missing, strict=True) if not gap] == frame[column].drop_nulls().to_list()  # fmt: skip  # noqa: E501
    if isinstance(result, Named):
        assert list(result) == list(result.keys())
        assert all(key in result for key in result)
        assert "nobody" not in result
        assert [value is result[key] for key, value in result.items()] == [True] * len(result)
        assert len(list(result.values())) == len(result)
        with pytest.raises(KeyError, match="'nobody' is not there; there is"):
            result["nobody"]
    else:
        with pytest.raises(TypeError, match=r"'x' in .*: name a column, such as"):
            assert "x" in result


def test_every_function_that_returns_a_table_is_in_this_sweep() -> None:
    of_files = {"compare", "compare_evaluators", "explain", "export_results", "read_battles", "write_report"}
    no_table = {"AsyncClient", "Client", "krippendorff", "krippendorff_interval"}
    elsewhere = {"crowd_compare", "rubric_aspects", "rubric_edit"}
    assert set(ns.__all__) - of_files - no_table - elsewhere <= set(RESULTS)


def test_missing_cells_are_null_in_one_library_and_nan_in_the_other() -> None:
    columns = (
        text("name"),
        count("n"),
        number("x"),
        flag("is_so"),
        moment("at"),
        interval("low", "high", "i"),
    )
    table = Table(
        "T", columns, (("a", 1, 0.5, True, None, (None, 2.0)), (None, None, None, None, None, None))
    )
    frame = table.to_pandas()
    assert frame.dtypes.astype(str).to_dict() == {
        "name": "str", "n": "float64", "x": "float64", "is_so": "object", "at": "datetime64[us, UTC]",
        "low": "float64", "high": "float64",
    }  # fmt: skip
    assert np.isnan(frame[["n", "x", "low", "high"]].to_numpy()[1]).all()
    assert Table("T", columns[1:2], ((1,),)).to_pandas().dtypes.astype(str).to_dict() == {"n": "int64"}
    assert list(table)[1] == dict.fromkeys(table.names)


def test_all_boards_of_a_rating_with_people_are_printed() -> None:
    rated = ns.rate(VOTES, human=VOTES[:30], resamples=20)
    printed = str(rated)
    assert printed.startswith("Ratings by automatic votes alone\n")
    assert "Ratings by people and automatic votes" in printed
    assert rated._repr_html_().count("<table>") == 2
    assert str(RATINGS).startswith("Ratings\n")
    assert "automatic" not in str(RATINGS)


def test_an_interval_is_a_pair_of_bounds_and_its_state_says_what_they_are_worth() -> None:
    standing = RATINGS["x"]
    assert standing.interval == (standing.low, standing.high)
    assert standing.interval_state is IntervalState.BOUNDED
    pair = RATINGS.pairs[0]
    assert pair.interval == (pair.gap_low, pair.gap_high)
    unrated = ns.rate([("x", "y", "a")] * 20, resamples=20)["x"]
    assert (unrated.interval, unrated.interval_state) == (None, None)


P_VALUES = (0.01, 0.04, 0.03, None)


@pytest.mark.parametrize(
    "given",
    [
        list(P_VALUES), P_VALUES, iter(P_VALUES), np.array([0.01, 0.04, 0.03, np.nan]), pd.Series(P_VALUES),
        pl.Series(P_VALUES), dict(enumerate(P_VALUES)), pd.Series(P_VALUES, index=list("wxyz")),
    ],
    ids=["list", "tuple", "iterator", "array", "pandas", "polars", "dictionary", "named"],
)  # fmt: skip
def test_p_values_come_in_any_sequence_and_leave_as_an_array(given: Any) -> None:
    tests = ns.benjamini_hochberg(given)
    assert tests.pvals_corrected == pytest.approx([0.03, 0.04, 0.04, math.nan], nan_ok=True)
    first = "w" if "w" in tests else 0
    assert tests[first] == pytest.approx(0.03)


def test_tests_with_one_name_and_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="two of them have one name"):
        ns.benjamini_hochberg(pd.Series([0.1, 0.2], index=["t", "t"]))
    with pytest.raises(ValueError, match=r"tests, item 1: is '0.2'; expected a number"):
        ns.benjamini_hochberg([0.1, "0.2"])  # type: ignore[list-item]


SYSTEMS, VALUES = list("xyz"), [3.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "given",
    [
        pd.Series(VALUES, index=SYSTEMS),
        pd.DataFrame({"system": SYSTEMS, "score": VALUES}),
        pl.DataFrame({"model": SYSTEMS, "rating": VALUES}),
        list(zip(SYSTEMS, VALUES, strict=True)),
        [{"system": name, "score": value} for name, value in SCORES.items()],
    ],
    ids=["series", "pandas", "polars", "tuples", "dictionaries"],
)
def test_scorings_come_as_frames_and_rows(given: Any) -> None:
    assert ns.rubric_correlate(given, {"x": 9, "y": 8, "z": 7}).correlation.spearman == 0.5
    assert ns.rubric_correlate(SCORES, given).correlation.spearman == 1.0


@pytest.mark.parametrize("function", [ns.paired, ns.agreement])
def test_columns_whose_indexes_differ_are_not_paired_by_position(function: Callable[..., Any]) -> None:
    first, second = pd.Series([1, 2, 3], index=list("abc")), pd.Series([3, 2, 1], index=list("cba"))
    with pytest.raises(ValueError, match="their indexes differ"):
        function(first, second)
    assert len(function(first.to_dict(), second.to_dict())) == 1
    assert str(function(first.tolist(), second.tolist())) != str(function(first.to_dict(), second.to_dict()))


def test_an_alpha_that_does_not_exist_is_nan() -> None:
    assert math.isnan(ns.krippendorff([[1, 1], [1, 1]]))


SPELLINGS: Mapping[str, Callable[[str], Any]] = {
    "drop_both_bad": lambda word: ns.rate(VOTES, ties=word, resamples=20),
    "rao_kupper": lambda word: ns.rate(VOTES, ties=word, resamples=20),
    "bootstrap": lambda word: ns.rate(VOTES, intervals=word, resamples=20),
    "multinomial": lambda word: ns.rate(VOTES, intervals="bootstrap", bootstrap=word, resamples=20),
    "left_out": lambda word: ns.rubric_cover(GRADED, runs=RUNS, unanswerable=word),
    "count": lambda word: ns.rubric_qrels(GRADED, by=word, min_grade=3),
    "ordinal": lambda word: ns.krippendorff([[1, 2, 3], [1, 2, 2]], word),
    "nominal": lambda word: ns.crowd_agreement(LABELS, level=word, restarts=1),
    "month": lambda word: ns.rate_over_time([vote | {"time": "2026-01-02"} for vote in VOTES], word),
    "partial_support": lambda word: ns.score(FACTS[:1], {"x": [word]}),
    "vital": lambda word: ns.score([("The Moon.", word)], {"x": ["support"]}),
}


@pytest.mark.parametrize("word", SPELLINGS)
def test_words_are_taken_as_documents_and_commands_spell_them(word: str) -> None:
    usual = str(SPELLINGS[word](word))
    for spelt in (word.replace("_", "-"), word.replace("_", " "), word.upper(), f" {word.capitalize()} "):
        assert str(SPELLINGS[word](spelt)) == usual
    with pytest.raises(ValueError, match="expected one of"):
        SPELLINGS[word]("nothing-of-this")


def test_a_lens_that_does_not_exist_or_that_rows_do_not_have_is_refused(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("a,b,winner\nx,y,a\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lens: is 'jugde'; expected one of human, nugget, judge"):
        ns.read_votes(tmp_path / "votes.csv", lens="jugde")
    with pytest.raises(ValueError, match="lens: is for results of an evaluation"):
        ns.read_votes(VOTES, lens="judge")


READERS: Mapping[str, Callable[[str], Any]] = {
    "rate": ns.rate,
    "rate_over_time": ns.rate_over_time,
    "read_votes": ns.read_votes,
    "rate human": lambda path: ns.rate([{"battle": "1", "a": "x", "b": "y", "winner": "a"}], human=path),
    "read_battles": lambda path: list(ns.read_battles(path)),
    "explain": lambda path: ns.explain(path, "b1"),
    "export_results": lambda path: ns.export_results(path, "unwritten.csv", "votes"),
    "compare": lambda path: ns.compare(path, path),
    "compare_evaluators": ns.compare_evaluators,
    "write_report": lambda path: ns.write_report(path, "unwritten"),
    "rubric_cover": ns.rubric_cover,
    "rubric_qrels": ns.rubric_qrels,
    "rubric_verify": ns.rubric_verify,
    "rubric_verify bank": lambda path: ns.rubric_verify(GRADED, bank=path),
    "rubric_agree": ns.rubric_agree,
    "rubric_measure": lambda path: ns.rubric_measure(path, RUNS),
    "rubric_measure runs": lambda path: ns.rubric_measure({"q1": {"p1": 1}}, path),
    "rubric_correlate": lambda path: ns.rubric_correlate(path, SCORES),
    "rubric_change": lambda path: ns.rubric_change(path, path),
    "rubric_aspects": lambda path: ns.rubric_aspects(path, path),
    "crowd_agreement": ns.crowd_agreement,
    "crowd_grades": ns.crowd_grades,
    "crowd_compare": lambda path: ns.crowd_compare(path, by="kind"),
    "crowd_arms": lambda path: ns.crowd_arms({"people": path}),
    "crowd_arms gold": lambda path: ns.crowd_arms({"people": LABELS}, gold=path),
    "study_texts": ns.study_texts,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("ending", ["jsonl", "csv.gz", "parquet"])
def test_a_wrong_path_is_one_sentence_and_an_error_of_python(name: str, ending: str) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        READERS[name](f"nowhere.{ending}")
    error = caught.value
    assert isinstance(error, UnusableFile)
    assert isinstance(error, MissingFile)
    assert str(error) == f"nowhere.{ending}: No such file or directory"
    assert error.filename == f"nowhere.{ending}"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
