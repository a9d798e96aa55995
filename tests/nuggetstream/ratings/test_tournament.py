"""Tournaments of the votes of files."""

from collections.abc import Sequence
from typing import Any

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.files.votes import CastVote
from nuggetstream.ratings.fitting.elo import Arithmetic
from nuggetstream.ratings.study.casting import poll, systems_of
from nuggetstream.ratings.study.tournament import Tournament, play
from nuggetstream.ratings.ties import TiePolicy
from tests.voted import source, vote


def played(
    *votes: CastVote,
    arithmetic: Arithmetic = Arithmetic.FLOAT,
    rounds: int = 5,
    policy: TiePolicy = TiePolicy.HALF,
) -> Tournament:
    sources = (source(*votes),)
    return play(poll(sources, systems_of(sources, ["new"])), policy, arithmetic, rounds=rounds, k=32, seed=1)


def test_one_game_moves_half_of_k_and_who_did_not_play_has_no_rating() -> None:
    found = played(vote("x", "y", Vote.A))
    assert [(p.system, p.rating, p.games) for p in found.players] == [
        ("x", 1016.0, 1),
        ("y", 984.0, 1),
        ("new", None, 0),
    ]


def test_a_single_tournament_does_not_tell_the_luck_of_the_order() -> None:
    votes = [vote("x", "y", Vote.A, 3), vote("x", "y", Vote.B, 2)]
    assert {p.deviation for p in played(*votes, rounds=1).players if p.games} == {None}
    assert all((p.deviation or 0) > 0 for p in played(*votes, rounds=50).players if p.games)


def test_ragelo_keeps_whole_numbers_and_the_sum_sinks() -> None:
    votes = [vote("x", "y", Vote.A, 9), vote("x", "y", Vote.B, 4)]
    floats, whole = (played(*votes, arithmetic=each) for each in (Arithmetic.FLOAT, Arithmetic.RAGELO))
    assert sum(p.rating or 0 for p in floats.players) == pytest.approx(2000)
    ratings = [p.rating for p in whole.players if p.rating is not None]
    assert all(rating % 1 == 0 for rating in ratings)
    assert sum(ratings) < 2000


@pytest.mark.parametrize(
    ("votes", "more", "why"),
    [
        ([vote("x", "y", Vote.A, weight=0.5), vote("x", "y", Vote.B)], {}, "different weight"),
        ([vote("x", "y", Vote.TIE)], {"policy": TiePolicy.DROP}, "no game to play"),
        ([vote("x", "y", Vote.A, 1000)], {"rounds": 10**6}, "too many to hold; --rounds 268435 would fit"),
    ],
)
def test_games_that_cannot_be_played_say_why(
    votes: Sequence[CastVote], more: dict[str, Any], why: str
) -> None:
    found = played(*votes, **more)
    assert found.players == ()
    assert why in str(found.missing)
