"""Which pair the boards need most: by hand, by symmetry, and against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.planning import boundary, label_needs, strengths_with_prior

NAMES = ("v", "w", "x", "y", "z")


def tally(wins: dict[str, int]) -> Tally:
    """Labels by "xy" -> how often x was better than y."""
    table = np.zeros((len(NAMES), len(NAMES)))
    for pair, count in wins.items():
        table[NAMES.index(pair[0]), NAMES.index(pair[1])] = count
    return Tally(NAMES, table, np.zeros_like(table), np.zeros_like(table))


def every_pair() -> list[tuple[str, str]]:
    return [(a, b) for a in NAMES for b in NAMES if a < b]


CHAIN = {"vw": 30, "wv": 10, "wx": 20, "xw": 19, "xy": 30, "yx": 10, "yz": 30, "zy": 10}


def test_labels_are_needed_where_the_best_end() -> None:
    [first, *_] = label_needs(tally(CHAIN), every_pair(), top=2)
    assert (first.a, first.b) == ("w", "x")
    edge = boundary(tally(CHAIN), top=2)
    assert edge is not None
    assert {edge.last, edge.next} == {"w", "x"}
    assert edge.labels is not None
    assert edge.labels > 100


def test_what_everybody_knows_is_not_asked() -> None:
    needs = label_needs(tally({"vz": 500, "zv": 1, "vw": 5, "wv": 5}), [("v", "z"), ("v", "w")], top=1)
    assert [(need.a, need.b) for need in needs] == [("v", "w"), ("v", "z")]
    assert needs[0].worth > 100 * needs[1].worth


def test_before_the_first_label_all_pairs_that_cross_the_boundary_are_alike() -> None:
    needs = label_needs(tally({}), every_pair(), top=1)
    assert {need.a for need in needs[:4]} == {"v"}  # v leads by name alone
    assert len({round(need.worth, 9) for need in needs[:4]}) == 1
    assert all(need.worth > 0 for need in needs)


@given(wins=st.dictionaries(st.sampled_from([a + b for a, b in every_pair()]), st.integers(0, 30)))
def test_the_worth_is_what_one_label_takes_from_the_weighted_variances(wins: dict[str, int]) -> None:
    theta, covariance = strengths_with_prior(tally(wins))
    order = np.argsort(-theta, kind="stable")
    for need in label_needs(tally(wins), every_pair(), top=2)[:3]:
        i, j = NAMES.index(need.a), NAMES.index(need.b)
        x = np.eye(len(NAMES))[i] - np.eye(len(NAMES))[j]
        bend = expit(theta[i] - theta[j]) * expit(theta[j] - theta[i])
        after = covariance - bend * np.outer(covariance @ x, x @ covariance) / (1 + bend * x @ covariance @ x)
        worth = 0.0
        for m in order[:2]:
            for n in order[2:]:
                y = np.eye(len(NAMES))[m] - np.eye(len(NAMES))[n]
                before, gap = y @ covariance @ y, theta[m] - theta[n]
                worth += np.exp(-(gap**2) / (2 * before)) / before * (before - y @ after @ y)
        assert need.worth == pytest.approx(worth)


def test_a_system_that_never_lost_has_a_strength_and_an_unknown_one_the_most_uncertain() -> None:
    theta, covariance = strengths_with_prior(tally({"vw": 5}))
    assert np.isfinite(theta).all()
    assert theta[0] > theta[2] > theta[1]
    assert np.argmin(covariance.diagonal()) < 2


def test_pairs_that_are_none_are_rejected() -> None:
    for pair in (("v", "v"), ("v", "unknown")):
        with pytest.raises(ValueError, match="different systems"):
            label_needs(tally({}), [pair])
    with pytest.raises(ValueError, match="best 0"):
        label_needs(tally({}), [("v", "w")], top=0)
    assert label_needs(tally({}), []) == []


def test_a_single_system_has_no_boundary() -> None:
    none = np.zeros((1, 1))
    assert boundary(Tally(("v",), none, none, none)) is None
    edge = boundary(tally(CHAIN), top=9)  # more than there are: the best one
    assert edge is not None
    assert edge.last == "v"
