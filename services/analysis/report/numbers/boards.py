"""Leaderboards of the three lenses, and how far their orders agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import kendalltau, spearmanr

from services.analysis.report.rows import Results
from services.analysis.summary import Evaluated
from services.core.battle import Vote
from services.core.leaderboard import Board, leaderboard
from services.core.tally import Tally

LENSES = ("human", "nugget", "judge")
ENOUGH = 3  # systems; the order of two can only agree or not
_SEED = 20250504  # that of the live boards, so that the same battles give the same intervals


@dataclass(frozen=True, slots=True)
class LensBoard:
    """One lens of one arena: battles with an outcome, of those accepted. Self-battles have none."""

    lens: str
    board: Board
    scored: int
    received: int


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
    arenas: dict[str, list[Evaluated]] = {}
    for row, battle in zip(results.rows, results.battles, strict=True):
        arenas.setdefault(row.arena, []).append(battle)
    return tuple(_arena(name, battles) for name, battles in arenas.items())


def _arena(name: str, battles: Sequence[Evaluated]) -> ArenaBoards:
    boards = tuple(_board(lens, battles) for lens in LENSES)
    orders = tuple(_order(first, second) for first, second in combinations(boards, 2))
    return ArenaBoards(name, boards, orders)


def _board(lens: str, battles: Sequence[Evaluated]) -> LensBoard:
    outcomes: list[tuple[str, str, Vote, float]] = [
        (battle.system_a, battle.system_b, vote, 1.0)
        for battle in battles
        if battle.system_a != battle.system_b and (vote := outcome(battle, lens)) is not None
    ]
    board = leaderboard(Tally.count(outcomes), np.random.default_rng(_SEED))
    return LensBoard(lens, board, len(outcomes), len(battles))


def outcome(battle: Evaluated, lens: str) -> Vote | None:
    """What one lens says about a battle."""
    said: Mapping[str, Vote | None] = {
        "human": battle.human,
        "nugget": battle.nugget,
        "judge": battle.judge,
    }
    return said[lens]


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
    if len(set(x)) == 1 or len(set(y)) == 1:
        reason = "one of the lenses rates all systems alike: there is no order to compare"
        return OrderAgreement(first.lens, second.lens, len(shared), None, None, reason)
    tau, rho = float(kendalltau(x, y).statistic), float(spearmanr(x, y).statistic)
    return OrderAgreement(first.lens, second.lens, len(shared), tau, rho, None)
