"""Leaderboards of the three lenses, and how far their orders agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.ratings.estimate import estimate
from nuggetstream.ratings.intervals import differences, has_no_width
from nuggetstream.ratings.leaderboard import Board, leaderboard
from nuggetstream.ratings.tally import Tally, rankable
from nuggetstream.ratings.votes import Counted
from nuggetstream.report.lenses import LENSES, POLICY
from nuggetstream.statistics.ranks import kendall, spearman

ENOUGH = 3  # systems; the order of two can only agree or not
_SEED = 20250504  # that of the live boards, so that the same battles give the same intervals


@dataclass(frozen=True, slots=True)
class PairResult:
    """Two systems that met: what the first took from the second.

    Attributes:
        share: of the points, ties half, in [0, 1].
    """

    first: str
    second: str
    battles: int
    won: int
    lost: int
    tied: int
    share: float


@dataclass(frozen=True, slots=True)
class Gap:
    """A rated system and the next one below it.

    Attributes:
        points: difference of their ratings.
        low: lower end of its 95 % interval, from the same resamples as the ratings; None where every
            resample says the same, as of two systems that have only tied.
        high: upper end, None likewise.
        above: share of the resamples in which the upper one is above, None likewise.
        battles: of the one that has fewer. A handful of one-sided battles cannot be resampled into the
            other sign, so from few of them interval and share look surer than they are.
    """

    upper: str
    lower: str
    points: float
    low: float | None
    high: float | None
    above: float | None
    battles: int


@dataclass(frozen=True, slots=True)
class LensBoard:
    """One lens of one arena: battles with an outcome, of those accepted. Self-battles have none.

    Attributes:
        flat: all resamples agree to the last digit, as they do when everything is a tie. Then nothing
            is known about errors, and intervals and P(first) are None.
    """

    lens: Lens
    board: Board
    flat: bool
    scored: int
    received: int
    pairs: tuple[PairResult, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """How far two lenses order the same systems alike.

    Attributes:
        systems: rated by both.
        tau: Kendall's tau-b of the ratings, in [-1, 1]; None where it has no answer.
        rho: Spearman's rho, likewise.
        missing: why there is no answer; None where there is one.
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
    tally = Tally.count(outcomes)
    board = leaderboard(tally, np.random.default_rng(_SEED))
    flat = _flat(board)
    gaps = () if flat else _gaps(tally, board)
    return LensBoard(lens, board, flat, len(outcomes), len(battles), _pairs(tally), gaps)


def _flat(board: Board) -> bool:
    rated = [standing for standing in board.standings if standing.rating is not None]
    return bool(rated) and all(standing.low is None for standing in rated)


def _pairs(tally: Tally) -> tuple[PairResult, ...]:
    drawn = tally.drawn(POLICY)
    played, share = tally.wins + tally.wins.T + drawn, tally.win_matrix(POLICY)
    return tuple(
        PairResult(
            tally.systems[i],
            tally.systems[j],
            battles=int(played[i, j]),
            won=int(tally.wins[i, j]),
            lost=int(tally.wins[j, i]),
            tied=int(drawn[i, j]),
            share=float(share[i, j]),
        )
        for i, j in np.argwhere(np.triu(played, 1))
    )


def _gaps(tally: Tally, board: Board) -> tuple[Gap, ...]:
    """Neighbours of the standings; the seed is the board's, so these are its resamples."""
    group, _ = rankable(tally.points(POLICY))
    if not len(group):
        return ()
    rng = np.random.default_rng(_SEED)
    found = differences(estimate(Counted(tally), group, rng, resamples=board.resamples), board.level)
    place = {tally.systems[index]: at for at, index in enumerate(group)}
    battles = {standing.system: round(standing.battles) for standing in board.standings}
    rated = [standing.system for standing in board.standings if standing.rating is not None]
    gaps = []
    for upper, lower in pairwise(rated):
        at = place[upper], place[lower]
        points, low, high = (float(matrix[at]) for matrix in (found.gap, found.low, found.high))
        fewer = min(battles[upper], battles[lower])
        if has_no_width(low, high):
            gaps.append(Gap(upper, lower, points, None, None, None, fewer))
        else:
            gaps.append(Gap(upper, lower, points, low, high, float(found.above[at]), fewer))
    return tuple(gaps)


def _order(first: LensBoard, second: LensBoard) -> OrderAgreement:
    ratings = [
        {standing.system: standing.rating for standing in each.board.standings if standing.rating is not None}
        for each in (first, second)
    ]
    shared = sorted(ratings[0].keys() & ratings[1].keys())
    if len(shared) < ENOUGH:
        reason = f"{len(shared)} systems are rated by both; an order needs at least {ENOUGH}"
        return OrderAgreement(first.lens, second.lens, len(shared), None, None, reason)
    x, y = ([round(each[name], 6) for name in shared] for each in ratings)
    tau, rho = kendall(x, y), spearman(x, y)
    if tau is None or rho is None:
        reason = "one of the lenses rates all systems alike: there is no order to compare"
        return OrderAgreement(first.lens, second.lens, len(shared), None, None, reason)
    return OrderAgreement(first.lens, second.lens, len(shared), tau.coefficient, rho.coefficient, None)
