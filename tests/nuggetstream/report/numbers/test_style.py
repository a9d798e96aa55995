"""People's ratings at equal style, worked out by hand."""

from math import log
from typing import Any

import pytest

from nuggetstream.report.numbers.style import compute_style
from tests.evaluated import answer, battle, round_robin, votes

ELO = 400 / log(10)  # points per logit


def styled() -> list[dict[str, Any]]:
    """x wins 15 of 20 where its answer is three times as long, 10 of 20 where that of y is."""
    long, short = votes(15, 20, "long"), votes(10, 20, "short")
    for row in long:
        row |= {"a": answer("aaa", "x"), "b": answer("b", "y")}
    for row in short:
        row |= {"a": answer("a", "x"), "b": answer("bbb", "y")}
    return long + short


def test_two_groups_of_votes_give_strength_and_coefficient_by_hand(read: Any) -> None:
    (found,) = compute_style(read(*styled()))
    length = found.effects[0].coefficient
    # logit 15/20 = log 3 = gap + β and logit 10/20 = 0 = gap - β, where β is per standard deviation.
    assert length is not None
    assert (length.feature, length.value) == ("length", pytest.approx(log(3) / 2))
    assert length.deviation == pytest.approx(0.5)
    x, y = found.systems
    assert x.controlled.rating - y.controlled.rating == pytest.approx(ELO * log(3) / 2)
    assert x.plain.rating - y.plain.rating == pytest.approx(ELO * log(25 / 15))
    assert x.controlled.low < x.controlled.rating < x.controlled.high
    assert (found.votes, found.queries, found.received) == (40, 40, 40)
    assert (found.parameters, found.missing) == (2, None)


def test_a_feature_that_hardly_ever_differs_is_not_held_equal(read: Any) -> None:
    rows = styled()
    rows[0] |= {"a": answer("**aaa**", "x")}
    (found,) = compute_style(read(*rows))
    effects = {each.feature: each for each in found.effects}
    assert (effects["bold"].differs, effects["bold"].coefficient) == (1, None)
    assert effects["length"].coefficient is not None
    assert found.missing is None


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([battle("1", "x", "x")], "no battle between two systems has a human vote"),
        ([battle("1", human=None)], "no battle between two systems has a human vote"),
        (votes(4, 4), "people's votes cannot rank any two systems yet"),
        (votes(3, 4, query="q"), "all votes are on one query"),
        (
            [row | {"a": answer("abc", "x"), "b": answer("cba", "y")} for row in votes(9, 12)],
            "no feature of style differs in at least 10 of the 12 votes",
        ),
        (votes(3, 4), "there are 4 votes, and it takes 10 whose answers differ in a feature of style"),
    ],
)
def test_why_style_cannot_be_held_equal_is_said(read: Any, rows: list[dict[str, Any]], reason: str) -> None:
    (found,) = compute_style(read(*rows))
    assert reason in (found.missing or "")
    assert (found.systems, found.effects) == ((), ())


def test_too_few_votes_for_the_numbers_to_be_found_give_none(read: Any) -> None:
    (found,) = compute_style(read(*round_robin()))
    assert found.missing == "12 votes cannot determine 3 numbers; that takes 15 votes"  # two gaps and length
    (found,) = compute_style(read(*round_robin(per_pair=5)))
    assert found.missing is None


def test_when_the_longer_answer_always_wins_there_is_no_coefficient(read: Any) -> None:
    rows = styled()
    for row in rows:
        row |= {"human_vote": "a" if row["id"].startswith("long") else "b"}
    (found,) = compute_style(read(*rows))
    assert "style predicts the votes perfectly" in (found.missing or "")
