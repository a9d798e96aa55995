"""Scores and agreement from what a notebook has: lists, dictionaries, columns of frames."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import nuggetstream as ns
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.nugget import Importance, Nugget, Support
from nuggetstream.nuggets.scores import Unscorable
from nuggetstream.rubric.label_agreement import NothingLabelledTwice, UnknownLabel
from nuggetstream.statistics.agreement import KappaWeights, weighted_kappa

FACTS = [("Two bulges of water rise.", "vital"), ("The Sun adds to the tides.", "okay")]
BOTH = {"atlas": ["support", "partial_support"], "birch": ["support", "not_support"]}


def test_the_six_scores_are_those_of_the_papers() -> None:
    scores = ns.score(FACTS, BOTH)  # one vital nugget supported, one okay nugget partially
    atlas = scores["atlas"]
    assert (atlas.strict_vital, atlas.strict_all, atlas.vital, atlas.all_score) == (1.0, 0.5, 1.0, 0.75)
    assert atlas.weighted == pytest.approx(1.25 / 1.5)
    assert atlas.strict_weighted == pytest.approx(1 / 1.5)
    assert scores.margin == 0.25
    assert scores.preference is Vote.A
    assert ns.score(FACTS, BOTH, threshold=0.25).preference is Vote.TIE


@pytest.mark.parametrize(
    "facts",
    [
        FACTS,
        [{"text": text, "importance": importance} for text, importance in FACTS],
        [Nugget(f"{index}", text, Importance(word)) for index, (text, word) in enumerate(FACTS)],
    ],
)
@pytest.mark.parametrize(
    "labels",
    [
        ["support", "partial_support"],
        ("Support", "partial support"),
        [Support.SUPPORT, Support.PARTIAL_SUPPORT],
        {FACTS[1][0]: "partial-support", FACTS[0][0]: "support"},
    ],
)
def test_facts_and_labels_may_be_written_in_several_ways(facts: Any, labels: Any) -> None:
    assert ns.score(facts, {"atlas": labels})["atlas"].all_score == 0.75
    assert ns.score(iter(facts), {"atlas": labels})["atlas"].all_score == 0.75


def test_a_missing_label_is_not_a_zero() -> None:
    for labels in (["support", None], {FACTS[0][0]: "support"}):
        with pytest.raises(
            Unscorable, match=r"answer 'x': 1 of 2 nuggets have no label, such as 'The Sun adds"
        ):
            ns.score(FACTS, {"x": labels})
    with pytest.raises(Unscorable, match="no nuggets"):
        ns.score([], {"x": []})
    with pytest.raises(Unscorable, match="no answers"):
        ns.score(FACTS, {})


def test_without_a_vital_nugget_the_vital_scores_are_missing() -> None:
    scores = ns.score(FACTS[1:], {"x": ["support"]})
    assert scores["x"].vital is None
    assert scores.preference is None
    assert scores.to_frame()["strict_vital"].to_list() == [None]
    assert str(scores).splitlines()[-1].split() == ["x", "1.00", "1.00", "—", "—", "1.00", "1.00"]


@pytest.mark.parametrize(
    ("facts", "labels", "problem"),
    [
        (
            [("f", "crucial")],
            {"x": ["support"]},
            "nugget 0: importance: is 'crucial'; expected",
        ),
        (["f"], {"x": ["support"]}, r"nugget 0: is 'f'; expected \(text, importance\)"),
        (FACTS, {"x": ["support"]}, "answer 'x': 1 labels for 2 nuggets"),
        (
            FACTS,
            {"x": ["support", "yes"]},
            "answer 'x': 'The Sun adds to the tides.': is 'yes'",
        ),
        (FACTS, {"x": {"Other": "support"}}, "answer 'x': 'Other' is no nugget"),
    ],
)
def test_what_is_no_fact_and_no_label_is_named(facts: Any, labels: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ns.score(facts, labels)


def test_scores_show_themselves_with_the_preference() -> None:
    scores = ns.score(FACTS, BOTH)
    assert "more than the tie threshold of 0.07: atlas is preferred." in str(scores)
    assert "birch is preferred" in str(ns.score(FACTS, {"atlas": BOTH["birch"], "birch": BOTH["atlas"]}))
    assert "at most the tie threshold of 0.50: a tie." in str(ns.score(FACTS, BOTH, threshold=0.5))
    assert scores.to_frame()["answer"].to_list() == ["atlas", "birch"]
    assert r"\toprule" in scores.to_latex()


HUMAN = ["a", "b", "tie", "a", "both_bad", "b", None, "a"]
JUDGE = ["model_a", "b", "b", "tie", "tie", "a", "a", float("nan")]


@pytest.mark.parametrize("wrap", [list, tuple, pl.Series, lambda values: pd.Series(values, dtype=object)])
def test_outcomes_are_compared_as_a_tie_and_b(wrap: Any) -> None:
    judge = [None if isinstance(label, float) else label for label in JUDGE]
    result = ns.agreement(wrap(HUMAN), wrap(judge))
    assert result.labels == ("a", "tie", "b")
    assert result.counts == ((1, 1, 0), (0, 1, 1), (1, 0, 1))
    assert (result.pairs, len(result.only_first), len(result.only_second)) == (6, 1, 1)
    assert result.observed == 0.5
    counts = np.array(result.counts, dtype=float)
    assert result.unweighted == weighted_kappa(counts, KappaWeights.NONE)
    assert result.linear == weighted_kappa(counts, KappaWeights.LINEAR)
    assert result.quadratic == weighted_kappa(counts, KappaWeights.QUADRATIC)


def test_missing_labels_are_left_out_and_counted() -> None:
    assert ns.agreement(HUMAN, JUDGE).pairs == 6  # with NaN for a missing label
    assert ns.agreement(pd.Series(["a", pd.NA, "b"]), ["a", "a", "b"]).pairs == 2
    assert "1 item with a label only in the second, left out" in str(
        ns.agreement(["a", None, "b"], list("aab"))
    )


def test_numbers_are_ordered_and_other_labels_are_not() -> None:
    numbers = ns.agreement([1, 2, 10, 2], [1, 10, 10, 2.0])
    assert numbers.labels == ("1", "2", "10")
    assert numbers.quadratic is not None
    words = ns.agreement(["red", "green", "red"], ["red", "red", "red"])
    assert words.labels == ("green", "red")
    assert words.unweighted is not None
    assert (words.linear, words.quadratic) == (None, None)
    ordered = ns.agreement(["low", "high"], ["low", "mid"], order=["low", "mid", "high"])
    assert ordered.counts == ((1, 0, 0), (0, 0, 0), (0, 1, 0))
    assert ordered.linear is not None


def test_grades_in_letters_are_no_verdicts() -> None:
    assert ns.agreement(["A", "C", "B"], ["A", "C", "C"]).labels == ("A", "B", "C")


def test_what_has_no_answer_is_none() -> None:
    result = ns.agreement(["a", "a"], ["a", "a"])
    assert result.unweighted is None
    assert "—" in str(result)


def test_numbers_of_a_column_with_a_gap_are_in_the_order_that_is_named() -> None:
    gap, whole = pd.Series([0, 2, None, 1]), pd.Series([0, 2, 1, 2])
    for order in ([0, 1, 2], ["0", "1", "2"], [0.0, 1.0, 2.0]):
        result = ns.agreement(gap, whole, order=order)
        assert (result.labels, result.pairs, len(result.only_second)) == (("0", "1", "2"), 3, 1)
    assert ns.agreement(["1.0", "good"], ["1", "good"]).observed == 1.0


def test_sources_that_cannot_be_compared_say_why() -> None:
    with pytest.raises(ValueError, match="the first source has 1 labels and the second 2"):
        ns.agreement(["a"], ["a", "b"])
    with pytest.raises(NothingLabelledTwice, match="1 label and 1 label, no item in both"):
        ns.agreement([None, "a"], ["b", None])
    with pytest.raises(UnknownLabel, match="'huge' is not one of the labels named: low, high"):
        ns.agreement(["low", "huge"], ["low", "high"], order=["low", "high"])


def test_agreement_shows_its_counts() -> None:
    result = ns.agreement(HUMAN[:6], JUDGE[:6])
    assert "kappa, quadratic" in str(result)
    assert "First annotator by row, second by column" in str(result)
    assert result._repr_html_().count("<table>") == 2
    assert result.counts_table().to_frame()["second_tie"].to_list() == [1, 1, 0]


@pytest.mark.parametrize("wrap", [list, np.array, pl.DataFrame, pd.DataFrame])
def test_alpha_of_several_raters(wrap: Any) -> None:
    ratings = [[1, 2, 3, 3, 2, 1], [1, 2, 3, 3, 2, 2]]
    given = wrap(ratings) if wrap is not pl.DataFrame else pl.DataFrame(ratings, orient="row")
    assert ns.krippendorff(given, "interval") == ns.krippendorff(ratings, "interval")
    assert ns.krippendorff(given, "interval") == pytest.approx(1 - 22 / 166)  # by hand


def test_an_order_of_texts_is_asked_for() -> None:
    with pytest.raises(ValueError, match="the order of texts is not known"):
        ns.krippendorff([["low", "high"], ["low", "mid"]])
    assert ns.krippendorff([["low", "high"], ["low", "mid"]], domain=["low", "mid", "high"]) is not None
