"""Leaderboards of the three lenses, and how far their orders agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.ratings.lens_agreement import order_agreement
from nuggetstream.ratings.model import Ratings, rate
from nuggetstream.ratings.options import Options
from nuggetstream.ratings.pairwise import Gap, gap_between
from nuggetstream.ratings.standing import BoardState
from nuggetstream.ratings.tally import Tally
from nuggetstream.report.lenses import LENSES, POLICY


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A rated system and the next one below it.

    Attributes:
        gap: Difference of their ratings.
        battles: Battles of the one that has fewer. A handful of one-sided battles cannot be resampled into
            the other sign, so from few of them interval and probability look more certain than they are.
    """

    gap: Gap
    battles: int


@dataclass(frozen=True, slots=True)
class LensBoard:
    """One lens of one arena.

    Attributes:
        lens: Whose preference the board is made of.
        ratings: The ratings, with ties counted half.
        scored: Battles between two systems with an outcome in this lens.
        received: Battles of the arena.
        neighbours: Systems next to each other; empty where every battle is a tie.
    """

    lens: Lens
    ratings: Ratings
    scored: int
    received: int
    neighbours: tuple[Neighbours, ...]


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """How far two lenses order the same systems alike.

    Attributes:
        systems: Systems rated by both.
        tau: Kendall's tau-b of the ratings, in [-1, 1]; None where it does not exist.
        rho: Spearman's rho of the ratings, in [-1, 1]; None where it does not exist.
        missing: Why there is no coefficient; None where there is one.
    """

    first: str
    second: str
    systems: int
    tau: float | None
    rho: float | None
    missing: str | None


@dataclass(frozen=True, slots=True)
class ArenaBoards:
    """The boards of one arena."""

    arena: str
    boards: tuple[LensBoard, ...]
    orders: tuple[OrderAgreement, ...]


def compute(results: Results) -> tuple[ArenaBoards, ...]:
    """The boards of every arena, ties counted half."""
    return tuple(_arena(name, battles) for name, battles in results.by_arena().items())


def _arena(name: str, battles: Sequence[BattleRow]) -> ArenaBoards:
    boards = tuple(_board(lens, battles) for lens in LENSES)
    orders = tuple(_order(first, second) for first, second in combinations(boards, 2))
    return ArenaBoards(name, boards, orders)


def _board(lens: Lens, battles: Sequence[BattleRow]) -> LensBoard:
    outcomes: list[tuple[str, str, Vote, float]] = [
        (battle.a.system, battle.b.system, vote, 1.0)
        for battle in battles
        if battle.a.system != battle.b.system and (vote := battle.vote(lens)) is not None
    ]
    ratings = rate(Tally.count(outcomes), Options(policy=POLICY))
    return LensBoard(lens, ratings, len(outcomes), len(battles), _neighbours(ratings))


def _neighbours(ratings: Ratings) -> tuple[Neighbours, ...]:
    if ratings.fit is None or ratings.state is BoardState.ALL_TIED:
        return ()
    rated = [standing for standing in ratings.standings if standing.rating is not None]
    neighbours = []
    for upper, lower in pairwise(rated):
        gap = gap_between(ratings.fit, upper.system, lower.system)
        if gap is not None:
            neighbours.append(Neighbours(gap, round(min(upper.battles, lower.battles))))
    return tuple(neighbours)


def _order(first: LensBoard, second: LensBoard) -> OrderAgreement:
    order = order_agreement(first.ratings.strengths, second.ratings.strengths)
    return OrderAgreement(first.lens, second.lens, order.systems, order.tau_b, order.rho, order.missing)
