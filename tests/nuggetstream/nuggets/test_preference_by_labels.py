"""Probability of each preference from the probabilities of the labels, against counting every combination."""

from itertools import product

import pytest

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.nugget import (
    Assignment,
    Importance,
    Nugget,
    Support,
    SupportProbabilities,
)
from nuggetstream.nuggets.preference import preference_by_labels
from nuggetstream.nuggets.scores import CREDIT, Unscorable, preference

SHARES = (
    SupportProbabilities(0.7, 0.2, 0.1),
    SupportProbabilities(0.1, 0.3, 0.4, 0.2),
    SupportProbabilities(0.25, 0.5, 0.25),
    SupportProbabilities(0.0, 0.0, 1.0),
)
NUGGETS = [Nugget("1", "x", Importance.VITAL), Nugget("2", "y", Importance.OKAY)]


def labels(*shares: SupportProbabilities | None) -> list[Assignment]:
    places = product(("1", "2"), Side)
    return [
        Assignment(name, side, Support.SUPPORT, probabilities=told)
        for (name, side), told in zip(places, shares, strict=True)
    ]


@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.3])
def test_it_is_the_sum_over_all_combinations_of_labels(threshold: float) -> None:
    expected = dict.fromkeys(Vote, 0.0)
    for chosen in product(Support, repeat=4):
        chance, credit = 1.0, {Side.A: 0.0, Side.B: 0.0}
        for (_, side), told, support in zip(product("12", Side), SHARES, chosen, strict=True):
            chance *= getattr(told, support.value) or 0.0
            credit[side] += CREDIT[support]
        expected[preference(credit[Side.A] / 2, credit[Side.B] / 2, threshold)] += chance
    found = preference_by_labels(NUGGETS, labels(*SHARES), threshold)
    assert found is not None
    assert (found.a, found.tie, found.b) == pytest.approx(
        (expected[Vote.A], expected[Vote.TIE], expected[Vote.B])
    )
    assert found.a > found.b


def test_one_label_without_probabilities_leaves_the_preference_without_any() -> None:
    assert preference_by_labels(NUGGETS, labels(*SHARES[:3], None), 0.1) is None
    with pytest.raises(Unscorable, match="no nuggets"):
        preference_by_labels([], [], 0.1)
