"""Votes as a file holds them, and the boards made of them, small enough to count by hand."""

from nuggetstream.ratings.board import Method, Rated, rate

from nuggetstream.domain.battle import Vote
from nuggetstream.files.votes import CastVote, VoteSource
from nuggetstream.ratings.casting import cast, systems_of
from nuggetstream.ratings.sources import Weighed


def vote(a: str, b: str, outcome: Vote | float, count: int = 1, **more: object) -> CastVote:
    return CastVote("votes.csv:2", a, b, outcome, count=count, **more)  # type: ignore[arg-type]


def source(*votes: CastVote, name: str = "votes", weight: float = 1.0) -> Weighed:
    return Weighed(VoteSource(name, f"{name}.csv", votes, len(votes), 0), weight)


def board(*sources: Weighed, **method: object) -> Rated:
    return rate(cast(sources, systems_of(sources)), Method(**method))  # type: ignore[arg-type]


def three_systems() -> Weighed:
    return source(
        vote("x", "y", Vote.A, 6),
        vote("x", "y", Vote.B, 3),
        vote("y", "z", Vote.A, 5),
        vote("y", "z", Vote.B, 4),
        vote("z", "x", Vote.A, 2),
        vote("z", "x", Vote.TIE, 3),
        vote("z", "x", Vote.BOTH_BAD, 1),
    )
