"""Votes as a file holds them, and the boards made of them, small enough to count by hand."""

from nuggetstream.domain.battle import Vote
from nuggetstream.files.votes import CastVote, VoteSource
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.votes import Votes
from nuggetstream.ratings.model import Ratings, rate
from nuggetstream.ratings.options import Options
from nuggetstream.ratings.study.casting import cast, systems_of
from nuggetstream.ratings.study.sources import Weighed


def vote(a: str, b: str, outcome: Vote | float, count: int = 1, **more: object) -> CastVote:
    return CastVote("votes.csv:2", a, b, outcome, count=count, **more)  # type: ignore[arg-type]


def source(*votes: CastVote, name: str = "votes", weight: float = 1.0) -> Weighed:
    return Weighed(VoteSource(name, f"{name}.csv", votes, len(votes), 0), weight)


def board(*sources: Weighed, **options: object) -> Ratings:
    """The board of some sources, with ranks however few the votes are."""
    return ranked(cast(sources, systems_of(sources)), **options)


def ranked(votes: Tally | Votes, **options: object) -> Ratings:
    """The board of some votes, with ranks however few they are."""
    return rate(votes, Options(**{"provisional_below": 0, **options}))  # type: ignore[arg-type]


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
