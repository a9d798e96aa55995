"""Ratingss of any battles: names, order, sides and copies change only what they name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.ratings.fitting.votes import mixed
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.options import Bootstrap
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.drawn import (
    BATTLES,
    CIRCLE,
    Battle,
    ballots_of,
    few,
    mirrored,
    tally_of,
)
from tests.voted import ranked

MIRROR = str.maketrans("wxyz", "zyxw")  # renames and turns the alphabet round


def board_of(battles: list[Battle], policy: TiePolicy, resamples: int = 20) -> Ratings:
    return ranked(tally_of(battles), seed=0, policy=policy, resamples=resamples)


def rating_of(board: Ratings) -> dict[str, float | None]:
    return {standing.system: standing.rating for standing in board.standings}


@pytest.mark.parametrize("policy", TiePolicy)
@given(BATTLES)
@few
def test_renaming_systems_renames_their_ratings(policy: TiePolicy, battles: list[Battle]) -> None:
    renamed = [(a.translate(MIRROR), b.translate(MIRROR), vote) for a, b, vote in battles]
    ours, theirs = (rating_of(board_of(votes, policy)) for votes in (battles, renamed))
    assert theirs == pytest.approx({name.translate(MIRROR): value for name, value in ours.items()}, abs=1e-4)


@pytest.mark.parametrize("policy", TiePolicy)
@given(BATTLES, st.randoms())
@few
def test_neither_the_order_of_battles_nor_the_sides_they_are_shown_on_matter(
    policy: TiePolicy, battles: list[Battle], chance: object
) -> None:
    shuffled = chance.sample(battles, len(battles))
    boards = [board_of(votes, policy).standings for votes in (battles, shuffled, mirrored(battles))]
    assert boards[0] == boards[1] == boards[2]


@pytest.mark.parametrize("policy", TiePolicy)
@given(BATTLES)
@few
def test_a_battle_of_weight_two_is_two_battles(policy: TiePolicy, battles: list[Battle]) -> None:
    twice, weighted = tally_of(battles + battles), ballots_of(battles, weight=2.0).tally
    for other in (tally_of(battles, 2), weighted, mixed([("people", tally_of(battles), 2.0)]).tally):
        assert (other.points(policy) == twice.points(policy)).all()
    board = ranked(weighted, seed=0, policy=policy, resamples=20)
    assert rating_of(board) == pytest.approx(rating_of(board_of(battles, policy)), abs=1e-4)


@pytest.mark.parametrize("policy", TiePolicy)
@pytest.mark.parametrize("bootstrap", Bootstrap)
def test_the_same_seed_draws_the_same_board(policy: TiePolicy, bootstrap: Bootstrap) -> None:
    for votes in (tally_of(CIRCLE * 3), ballots_of(CIRCLE * 3), mixed([("one", tally_of(CIRCLE * 3), 0.5)])):
        first, again, other = (
            ranked(votes, seed=seed, policy=policy, bootstrap=bootstrap, resamples=60) for seed in (7, 7, 8)
        )
        assert first.standings == again.standings
        assert (
            first.standings != other.standings or first.unranked_resamples
        )  # all intervals may be without end


@given(BATTLES)
@few
def test_everything_on_a_board_is_within_its_range(battles: list[Battle]) -> None:
    standings = board_of(battles, TiePolicy.HALF, 60).standings
    assert sum(s.probability_first for s in standings) == pytest.approx(1)
    assert np.mean([s.rating for s in standings]) == pytest.approx(1000)
    for standing in standings:
        assert standing.low <= standing.rating <= standing.high
        assert 1 <= standing.rank <= 4
        assert standing.battles == standing.wins + standing.losses + standing.ties
    assert min(s.rank for s in standings) == 1
    assert [s.rating for s in standings] == sorted((s.rating for s in standings), reverse=True)
