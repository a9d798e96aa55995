"""Resamples of counts: which can be ranked, cells that stay open, and chunks that do not show."""

import numpy as np
import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings import estimate as estimating
from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.estimate import estimate
from nuggetstream.ratings.intervals import Ratings, percentile_interval, ranks_by_overlap
from nuggetstream.ratings.leaderboard import leaderboard
from nuggetstream.ratings.pairs import Pairs, joined
from nuggetstream.ratings.tally import Tally, TiePolicy, Unrankable
from nuggetstream.ratings.votes import Counted, mixed

FOUR = Tally.count([("x", "y", Vote.A, 1), ("x", "y", Vote.B, 1), ("x", "y", Vote.TIE, 2)])


@pytest.mark.parametrize(
    ("policy", "unranked"),
    [
        (TiePolicy.HALF, 2 / 4**4),  # four wins, or four losses
        (TiePolicy.DAVIDSON, 2 * (3 / 4) ** 4 - (2 / 4) ** 4),  # no win or no loss, whatever is tied
        (TiePolicy.RAO_KUPPER, 2 * (3 / 4) ** 4 - (2 / 4) ** 4),
    ],
)
def test_a_tie_links_two_systems_unless_it_is_an_outcome_of_its_own(
    policy: TiePolicy, unranked: float
) -> None:
    rng, pair = np.random.default_rng(0), np.arange(2)
    found = estimate(Counted(FOUR), pair, rng, policy=policy, bootstrap=Bootstrap.MULTINOMIAL, resamples=1000)
    assert found.unranked / 1000 == pytest.approx(unranked, abs=0.05)
    assert len(found.draws) == 1000 - found.unranked


def test_a_battle_of_next_to_no_weight_keeps_its_cell_open_and_an_empty_cell_stays_empty() -> None:
    """Half of all Gamma draws of shape 0.001 are too small for a number and become zero."""
    wins = np.array([[0, 0.001, 5], [0.001, 0, 0], [2, 0, 0]])
    drawn = Bootstrap.BAYESIAN.draw(Pairs.of(wins, np.zeros((3, 3))), 200, np.random.default_rng(0))
    assert drawn.connected().all()
    assert not drawn.drawn.any()


def test_resamples_drawn_in_parts_are_as_many_as_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimating, "_CHUNK", 3 * 1 * 7)  # seven resamples of one pair at a time
    found = estimate(Counted(FOUR), np.arange(2), np.random.default_rng(0), resamples=20)
    assert (found.draws.shape, found.unranked) == ((20, 2), 0)
    assert len(np.unique(found.draws[:, 0])) == 20


def test_each_data_set_of_a_batch_is_linked_or_not_by_its_own_points() -> None:
    pairs = Pairs.of(np.array([[0, 1.0, 0], [0, 0, 1], [1, 0, 0]]), np.zeros((3, 3)))
    circle, drawn = pairs.cells, pairs.cells[[2, 2, 0]] + pairs.cells[[2, 2, 1]]
    one_way, broken = circle.copy(), drawn.copy()
    one_way[:, 1] = 1, 0, 0  # now nobody takes a point from the first
    broken[:, 0] = 0
    broken[:, 1] = 0
    batch = pairs.counted(np.stack([circle, one_way, drawn, broken, circle]))
    assert batch.connected().tolist() == [True, False, True, False, True]
    assert pairs.counted(np.stack([circle, circle])).connected().tolist() == [True, True]
    nobody = Pairs.of(np.zeros((2, 2)), np.zeros((2, 2)))
    assert nobody.counted(nobody.cells[None]).connected().tolist() == [False]


def test_joined_batches_stand_one_after_the_other() -> None:
    pairs = Pairs.of(np.array([[0, 2.0], [1, 0]]), np.zeros((2, 2)))
    parts = [pairs.counted(pairs.cells[None] * times) for times in (1, 2, 3)]
    assert joined(parts).cells[:, 0, 0].tolist() == [2, 4, 6]


def test_those_without_a_rating_stand_in_the_order_of_their_names_whatever_the_reason() -> None:
    tally = Tally.count([("x", "y", Vote.TIE, 2), ("z", "y", Vote.A, 1)])
    standings = leaderboard(tally, np.random.default_rng(0), policy=TiePolicy.DAVIDSON).standings
    undetermined = Unrankable.UNDETERMINED
    assert [(s.system, s.unrankable) for s in standings] == [
        ("x", undetermined),
        ("y", undetermined),
        ("z", Unrankable.UNDEFEATED),
    ]


def test_sources_need_a_weight_and_have_no_share_of_nothing() -> None:
    with pytest.raises(ValueError, match="no source"):
        mixed([])
    for weight in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="leave it out"):
            mixed([("people", FOUR, weight)])
    bad = Tally.count([("x", "y", Vote.BOTH_BAD, 3)])
    (share,) = mixed([("people", bad, 2.0)]).shares(TiePolicy.DROP_BOTH_BAD)
    assert (share.battles, share.share) == (0, 0)


@pytest.mark.parametrize("bootstrap", Bootstrap)
def test_every_cluster_weighs_one_on_average(bootstrap: Bootstrap) -> None:
    weights = bootstrap.weights(4, 5000, np.random.default_rng(0))
    assert weights.mean(axis=0) == pytest.approx(np.ones(4), abs=0.06)
    if bootstrap is Bootstrap.MULTINOMIAL:
        assert (weights.sum(axis=1) == 4).all()


def test_one_battle_drawn_again_is_itself() -> None:
    pairs = Pairs.of(np.array([[0, 1.0], [0, 0]]), np.zeros((2, 2)))
    drawn = Bootstrap.MULTINOMIAL.draw(pairs, 9, np.random.default_rng(0))
    assert drawn.cells[:, :, 0].tolist() == [[1, 0, 0]] * 9


def test_every_column_has_its_own_interval_also_where_some_resamples_are_missing() -> None:
    draws = np.arange(99.0)[:, None] + [0, 1000]
    low, high = percentile_interval(draws, 1, 0.9)  # the fifth from below and from above, of a hundred
    assert (low.tolist(), high.tolist()) == ([3, 1003], [95, 1095])


def test_a_board_is_read_by_rank_and_among_equals_by_rating() -> None:
    """A wide interval reaches up to the best, though its middle lies below one that does not."""
    ends = (np.array([1000.0, 990, 900, 700]), np.array([1020.0, 995, 1010, 800]))
    ranks = ranks_by_overlap(*ends)
    assert ranks.tolist() == [1, 2, 1, 4]
    ratings = Ratings(np.array([1010.0, 992, 955, 750]), *ends, ranks, np.zeros(4), 1000, 0.95)
    assert ratings.order.tolist() == [0, 2, 1, 3]
