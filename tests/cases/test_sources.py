"""Every public function reads a source of the kinds that it names, and refuses others by their type."""

import inspect
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import nuggetstream as ns
from nuggetstream.domain.inputs import Kind, NotAccepted

# A thing of each kind, with the name by which a refusal calls it.
THINGS: dict[str, tuple[Kind, str, Callable[[], Any]]] = {
    "path": (Kind.PATH, "the str 'nothing.csv'", lambda: "nothing.csv"),
    "Path": (Kind.PATH, "a PosixPath", lambda: Path("nothing.csv")),
    "pandas frame": (Kind.FRAME, "a pandas DataFrame", lambda: pd.DataFrame({"left": ["x"], "right": ["y"]})),
    "polars frame": (Kind.FRAME, "a polars DataFrame", lambda: pl.DataFrame({"left": ["x"], "right": ["y"]})),
    "lazy frame": (Kind.LAZY, "a polars LazyFrame", lambda: pl.LazyFrame({"left": ["x"]})),
    "pandas column": (Kind.SERIES, "a pandas Series", lambda: pd.Series(["x", "y"])),
    "polars column": (Kind.SERIES, "a polars Series", lambda: pl.Series(["x", "y"])),
    "array": (Kind.ARRAY, "a numpy ndarray", lambda: np.array(["x", "y"])),
    "dictionary": (Kind.MAPPING, "a dict", lambda: {"q": "x"}),
    "list": (Kind.SEQUENCE, "a list", lambda: ["x", "y"]),
    "tuple": (Kind.SEQUENCE, "a tuple", lambda: ("x", "y")),
    "set": (Kind.SET, "a set", lambda: {"x"}),
    "generator": (Kind.ITERATOR, "a generator", lambda: (word for word in "xy")),
    "bytes": (Kind.BYTES, "a bytes", lambda: b"x,y"),
    "open file": (Kind.FILE, "a StringIO (an open file)", lambda: io.StringIO("x,y")),
    "number": (Kind.OTHER, "an int", lambda: 7),
    "nothing": (Kind.OTHER, "None", lambda: None),
}
ROWS = {Kind.PATH, Kind.FRAME, Kind.SEQUENCE, Kind.ITERATOR}
VALUES = {Kind.SERIES, Kind.ARRAY, Kind.SEQUENCE, Kind.ITERATOR}
PATH = {Kind.PATH}
QRELS = ROWS | {Kind.MAPPING}
RUNS = {Kind.PATH, Kind.FRAME, Kind.SEQUENCE, Kind.MAPPING}
LABELS, SCORES, GRADES = {"q": {"d": 1}}, {"x": 1.0, "y": 2.0}, [("q", "d", "why", 5)]
VOTES, ASPECTS = [("x", "y", "a")], [{"answer_id": "1"}]
RESULTS = "nothing.jsonl"
# Function and argument -> kinds that it reads, and a call with the thing in place.
SWEPT: dict[tuple[str, str], tuple[set[Kind], Callable[[Any], Any]]] = {
    ("agreement", "first"): (VALUES | {Kind.MAPPING}, lambda thing: ns.agreement(thing, thing)),
    ("agreement", "second"): (VALUES | {Kind.MAPPING}, lambda thing: ns.agreement(["x", "y"], thing)),
    ("benjamini_hochberg", "tests"): (VALUES | {Kind.MAPPING}, ns.benjamini_hochberg),
    ("compare", "first"): (PATH, lambda thing: ns.compare(thing, RESULTS)),
    ("compare", "second"): (PATH, lambda thing: ns.compare(RESULTS, thing)),
    ("compare_evaluators", "files"): (PATH, ns.compare_evaluators),
    ("crowd_agreement", "labels"): (ROWS, ns.crowd_agreement),
    ("crowd_arms", "arms"): ({Kind.MAPPING}, ns.crowd_arms),
    ("crowd_arms", "gold"): (ROWS, lambda thing: ns.crowd_arms({"x": VOTES}, gold=thing)),
    ("crowd_compare", "grades"): (ROWS, lambda thing: ns.crowd_compare(thing, by="kind")),
    ("crowd_compare", "items"): (ROWS, lambda thing: ns.crowd_compare([{"item": 1}], by="k", items=thing)),
    ("crowd_grades", "labels"): (ROWS, ns.crowd_grades),
    ("explain", "results"): (PATH, lambda thing: ns.explain(thing, "b1")),
    ("export_results", "results"): (
        PATH,
        lambda thing: ns.export_results(thing, "nowhere/votes.csv", "votes"),
    ),
    ("krippendorff", "ratings"): ({Kind.SEQUENCE, Kind.ARRAY, Kind.FRAME}, ns.krippendorff),
    ("krippendorff_interval", "ratings"): (
        {Kind.SEQUENCE, Kind.ARRAY, Kind.FRAME},
        ns.krippendorff_interval,
    ),
    ("paired", "first"): (VALUES | {Kind.MAPPING}, lambda thing: ns.paired(thing, thing)),
    ("paired", "second"): (VALUES | {Kind.MAPPING}, lambda thing: ns.paired([1, 2], thing)),
    ("rate", "votes"): (ROWS | {Kind.MAPPING}, ns.rate),
    ("rate", "human"): (
        ROWS,
        lambda thing: ns.rate([{"id": 1, "a": "x", "b": "y", "winner": "a"}], human=thing),
    ),
    ("rate_over_time", "votes"): (ROWS, ns.rate_over_time),
    ("read_battles", "path"): (PATH, lambda thing: list(ns.read_battles(thing))),
    ("read_battles", "documents"): (PATH, lambda thing: ns.read_battles(RESULTS, documents=thing)),
    ("read_votes", "votes"): (ROWS, ns.read_votes),
    ("read_votes", "where"): ({Kind.MAPPING}, lambda thing: ns.read_votes(VOTES, where=thing)),
    ("rubric_agree", "graded"): (ROWS, ns.rubric_agree),
    ("rubric_agree", "labels"): (QRELS, lambda thing: ns.rubric_agree(GRADES, thing)),
    ("rubric_aspects", "judge"): (ROWS, lambda thing: ns.rubric_aspects(thing, ASPECTS)),
    ("rubric_aspects", "people"): (ROWS, lambda thing: ns.rubric_aspects(ASPECTS, thing)),
    ("rubric_change", "before"): (ROWS, lambda thing: ns.rubric_change(thing, GRADES)),
    ("rubric_change", "after"): (ROWS, lambda thing: ns.rubric_change(GRADES, thing)),
    ("rubric_correlate", "leaderboard"): (
        ROWS | {Kind.MAPPING, Kind.SERIES},
        lambda thing: ns.rubric_correlate(thing, SCORES),
    ),
    ("rubric_correlate", "official"): (
        ROWS | {Kind.MAPPING, Kind.SERIES},
        lambda thing: ns.rubric_correlate(SCORES, thing),
    ),
    ("rubric_cover", "graded"): (ROWS, ns.rubric_cover),
    ("rubric_cover", "runs"): (RUNS, lambda thing: ns.rubric_cover(GRADES, runs=thing)),
    ("rubric_edit", "bank"): (PATH, lambda thing: ns.rubric_edit(thing, [{}], by="ada", reason="none")),
    ("rubric_edit", "operations"): (
        {Kind.SEQUENCE, Kind.ITERATOR},
        lambda thing: ns.rubric_edit(RESULTS, thing, by="ada", reason="none"),
    ),
    ("rubric_measure", "qrels"): (QRELS, lambda thing: ns.rubric_measure(thing, {"x": {"q": ["d"]}})),
    ("rubric_measure", "runs"): (RUNS, lambda thing: ns.rubric_measure(LABELS, thing)),
    ("rubric_qrels", "graded"): (ROWS, ns.rubric_qrels),
    ("rubric_verify", "graded"): (ROWS, ns.rubric_verify),
    ("rubric_verify", "labels"): (QRELS, lambda thing: ns.rubric_verify(GRADES, thing)),
    ("rubric_verify", "bank"): (PATH, lambda thing: ns.rubric_verify(GRADES, bank=thing)),
    ("score", "nuggets"): ({Kind.SEQUENCE, Kind.ITERATOR}, lambda thing: ns.score(thing, {"x": ["support"]})),
    ("score", "labels"): ({Kind.MAPPING}, lambda thing: ns.score([("Tides.", "vital")], thing)),
    ("study_texts", "texts"): (ROWS | VALUES, ns.study_texts),
    ("write_report", "results"): (PATH, lambda thing: ns.write_report(thing, "nowhere")),
    ("write_report", "out"): (PATH, lambda thing: ns.write_report(RESULTS, thing)),
}
OPTIONAL = {
    ("crowd_arms", "gold"),
    ("crowd_compare", "items"),
    ("rate", "human"),
    ("read_battles", "documents"),
    ("read_votes", "where"),
    ("rubric_agree", "labels"),
    ("rubric_cover", "runs"),
    ("rubric_verify", "bank"),
    ("rubric_verify", "labels"),
}
CLIENTS = {"AsyncClient", "Client"}


def test_every_public_function_is_swept() -> None:
    functions = {name for name in ns.__all__ if inspect.isfunction(getattr(ns, name))}
    assert functions == {function for function, _ in SWEPT}
    assert set(ns.__all__) - functions == CLIENTS


@pytest.mark.parametrize("kind", THINGS)
@pytest.mark.parametrize(("function", "argument"), SWEPT, ids=lambda part: part)
def test_a_source_that_is_not_read_is_refused_by_its_type(
    function: str, argument: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    accepted, call = SWEPT[function, argument]
    kind_of_thing, name, make = THINGS[kind]
    if kind_of_thing in accepted or (kind == "nothing" and (function, argument) in OPTIONAL):
        try:
            call(make())
        except (ValueError, OSError, TypeError, ArithmeticError) as error:  # what it holds is another matter
            assert f"is {name};" not in str(error).replace("rows, row 0", "")  # noqa: PT017
        return
    with pytest.raises(NotAccepted) as refused:
        call(make())
    assert f"is {name}" in str(refused.value)
    assert "; expected " in str(refused.value)
    assert argument in str(refused.value) or argument == "files"
    assert not list(tmp_path.iterdir())


def test_two_paths_have_no_agreement() -> None:
    with pytest.raises(NotAccepted, match=r"first: is the str 'a\.csv'; expected one label per item"):
        ns.agreement("a.csv", "b.csv")


def test_two_dictionaries_of_labels_are_matched_by_item() -> None:
    found = ns.agreement({"q1": "a", "q2": "b", "q3": "a"}, {"q2": "b", "q1": "a"})
    assert (found.pairs, found.observed, found.only_first) == (2, 1.0, ("q3",))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: ns.rate({"model_a": ["x"], "model_b": ["y"], "winner": ["a"]}),
            "a dict with the columns of votes",
        ),
        (
            lambda: ns.rate({"model_a": "x", "model_b": "y", "winner": "a"}),
            "a dict with the columns of votes",
        ),
        (lambda: ns.crowd_agreement({"item": ["t"], "worker": ["a"], "label": [1]}), "labels: is a dict"),
        (lambda: ns.krippendorff([1, 2, 3]), "table of raters and items"),
        (lambda: ns.agreement([["x"]], [["x"]]), "first: holds a list"),
        (lambda: ns.rubric_measure({"q": {"d": 1}}, {"q": {"d": 1.0}}), r"runs\['q'\]\['d'\]: is a float"),
        (lambda: ns.study_texts([7]), "text 1 is an int"),
        (lambda: ns.crowd_agreement(VOTES, order="abc"), "order: is the str 'abc'"),
    ],
)
def test_what_looks_like_a_source_and_is_none_is_named(call: Callable[[], Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        call()


def test_one_name_is_a_name_and_not_its_letters() -> None:
    assert ns.rate(VOTES, systems="dune")["dune"].unrankable is not None
    with pytest.raises(ValueError, match="system 'y' is unknown; known: x"):
        ns.read_votes(VOTES, systems="x")
    assert list(ns.rubric_measure(LABELS, {"x": {"q": ["d"]}}, measures="RR@10").measures) == ["RR@10"]
