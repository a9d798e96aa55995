"""Leaderboards of the three lenses, and how far their orders agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.note import Note
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.ratings.comparison import Gap, Pairing
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.lens_agreement import order_agreement
from nuggetstream.ratings.model import Ratings, rate
from nuggetstream.ratings.notes import notes_of
from nuggetstream.ratings.options import Options
from nuggetstream.ratings.pairwise import gap_between, pairings
from nuggetstream.ratings.standing import BoardState, Standing
from nuggetstream.report.lenses import LENSES, POLICY


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A rated system and the next one below it.

    Attributes:
        gap: Difference of their ratings.
        battles: Battles of the one that has fewer; from few of them interval and probability are approximate.
    """

    gap: Gap
    battles: int


@dataclass(frozen=True, slots=True)
class LensBoard:
    """One lens of one arena.

    Attributes:
        lens: Whose preference the board is made of.
        options: How the ratings were made.
        state: What the votes allow the board to say.
        notes: What a reader must know before reading the numbers.
        standings: The ratings of the systems.
        scored: Battles between two systems with an outcome in this lens.
        received: Battles of the arena.
        pairs: Every two systems that met.
        neighbours: Systems next to each other; empty where every battle is a tie.
    """

    lens: Lens
    options: Options
    state: BoardState
    notes: tuple[Note, ...]
    standings: tuple[Standing, ...]
    scored: int
    received: int
    pairs: tuple[Pairing, ...]
    neighbours: tuple[Neighbours, ...]


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """How far two lenses agree on the order of the same systems.

    Attributes:
        first: One lens.
        second: The other.
        systems: Systems rated by both.
        tau: Kendall's tau-b of the ratings, in [-1, 1]; None where it does not exist.
        rho: Spearman's rho of the ratings, in [-1, 1]; None where it does not exist.
        missing: Why there is no coefficient; None where there is one.
    """

    first: Lens
    second: Lens
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


def compute_leaderboards(results: Results) -> tuple[ArenaBoards, ...]:
    """The boards of every arena, ties counted half."""
    return tuple(_arena(name, battles) for name, battles in results.by_arena().items())


def _arena(name: str, battles: Sequence[BattleRow]) -> ArenaBoards:
    ratings = {lens: _rated(lens, battles) for lens in LENSES}
    boards = tuple(_board(lens, ratings[lens], battles) for lens in LENSES)
    orders = tuple(_order(first, second, ratings) for first, second in combinations(LENSES, 2))
    return ArenaBoards(name, boards, orders)


def _rated(lens: Lens, battles: Sequence[BattleRow]) -> Ratings:
    outcomes: list[tuple[str, str, Vote, float]] = [
        (battle.a.system, battle.b.system, vote, 1.0)
        for battle in battles
        if battle.a.system != battle.b.system and (vote := battle.vote(lens)) is not None
    ]
    return rate(Tally.count(outcomes), Options(policy=POLICY))


def _board(lens: Lens, ratings: Ratings, battles: Sequence[BattleRow]) -> LensBoard:
    return LensBoard(
        lens=lens,
        options=ratings.options,
        state=ratings.state,
        notes=notes_of(ratings),
        standings=ratings.standings,
        scored=round(sum(standing.battles for standing in ratings.standings) / 2),
        received=len(battles),
        pairs=tuple(pair for pair in pairings(ratings) if pair.battles),
        neighbours=_neighbours(ratings),
    )


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


def _order(first: Lens, second: Lens, ratings: Mapping[Lens, Ratings]) -> OrderAgreement:
    order = order_agreement(ratings[first].strengths, ratings[second].strengths)
    return OrderAgreement(
        first=first,
        second=second,
        systems=order.systems,
        tau=order.tau_b,
        rho=order.rho,
        missing=order.missing,
    )
