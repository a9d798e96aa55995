"""Counts of battles: what they refuse, who can be ranked, and who never met."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.tally import Tally, connectivity, rankable
from nuggetstream.ratings.standing import Unrankable
from nuggetstream.ratings.ties import TiePolicy

NAN, INF = float("nan"), float("inf")
NONE = np.zeros((0, 0))
MISSING = np.array([[0.0, NAN], [1.0, 0.0]])
ENDLESS = np.array([[0.0, INF], [INF, 0.0]])
NEGATIVE = np.array([[0.0, -1.0], [3.0, 0.0]])


def tally_of(*entries: tuple[str, str, Vote]) -> Tally:
    return Tally.count((a, b, winner, 1) for a, b, winner in entries)


def test_islands_are_not_compared() -> None:
    tally = tally_of(("x", "y", Vote.TIE), ("x", "y", Vote.TIE), ("p", "q", Vote.A), ("p", "q", Vote.B))
    ranked, reasons = rankable(tally.points(TiePolicy.HALF))
    assert [tally.systems[i] for i in ranked] == ["p", "q"]
    assert set(reasons.values()) == {Unrankable.DISCONNECTED}


def test_a_battle_against_oneself_is_refused() -> None:
    with pytest.raises(ValueError, match="'x' battles itself"):
        tally_of(("x", "x", Vote.A))


def test_a_count_that_is_not_a_number_is_refused() -> None:
    for count in (float("nan"), float("inf"), -1.0):
        with pytest.raises(ValueError, match=f"{count} battles between 'x' and 'y'"):
            Tally.count([("x", "y", Vote.A, count)])


@given(
    st.permutations([("x", "y", Vote.A), ("y", "z", Vote.B), ("z", "x", Vote.TIE), ("x", "z", Vote.BOTH_BAD)])
)
def test_the_order_of_battles_never_matters(entries: list[tuple[str, str, Vote]]) -> None:
    first, again = tally_of(*entries), tally_of(*sorted(entries))
    assert (first.points(TiePolicy.HALF) == again.points(TiePolicy.HALF)).all()


def test_win_shares_are_missing_where_nobody_met() -> None:
    shares = Tally.count([("x", "y", Vote.A, 3), ("x", "y", Vote.TIE, 1), ("z", "y", Vote.B, 2)]).win_matrix()
    assert shares[0, 1] == 0.875
    assert shares[1, 0] == 0.125
    assert np.isnan(shares[0, 2])
    assert np.isnan(shares[0, 0])


def test_islands_are_listed() -> None:
    report = connectivity(Tally.count([("a", "b", Vote.A, 1), ("c", "d", Vote.TIE, 1)]))
    assert report.groups == (("c", "d"), ("a",), ("b",))
    assert report.islands == (("a", "b"), ("c", "d"))
    assert connectivity(Tally.count([])).islands == ()


def test_who_can_be_ranked_is_not_guessed_from_missing_points() -> None:
    assert rankable(NONE)[0].tolist() == []
    assert rankable(np.zeros((1, 1)))[1] == {0: Unrankable.NO_BATTLES}
    assert connectivity(Tally.count([])).groups == ()
    for points in (MISSING, NEGATIVE, ENDLESS):
        with pytest.raises(ValueError, match="finite and not negative"):
            rankable(points)
    assert np.isnan(
        Tally(("w", "x"), np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((2, 2))).win_matrix()
    ).all()
