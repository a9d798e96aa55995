"""The three scorers against each other: battle by battle, system by system, and in both orders."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.ratings.ballots import POINTS
from nuggetstream.report.lenses import LENSES
from nuggetstream.statistics.agreement import confusion_of, weighted_kappa
from nuggetstream.statistics.bland_altman import bland_altman
from nuggetstream.statistics.order_effects import (
    PositionPreference,
    order_effect,
    position_preference,
    swapped,
)

ENOUGH = 3  # systems; limits of agreement have no meaning for fewer
_ORDERS = {Side.A: "A shown first", Side.B: "B shown first"}


@dataclass(frozen=True, slots=True)
class Alike:
    """Two scorers battle by battle.

    Attributes:
        compared: battles on which both have said something.
        same: of those, the same, ties included.
        kappa: quadratic weights; None where it has no answer.
    """

    first: str
    second: str
    compared: int
    received: int
    same: int
    kappa: float | None


@dataclass(frozen=True, slots=True)
class SystemPoints:
    """One system: share of its points by either scorer, over the same battles, in [0, 1]."""

    system: str
    battles: int
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class Limits:
    """Bland-Altman for two scorers: shares of points, first minus second.

    Attributes:
        systems: with a battle on which both have said something.
        bias: mean difference; near zero by construction, as every point is somebody's.
        low: bias less 1.96 standard deviations; with `high` it holds about 95 % of systems.
        high: bias plus as much.
        low_interval: 95 % of the lower limit, by Student's t.
        high_interval: of the upper one.
        missing: why there are no limits; None where there are.
    """

    first: str
    second: str
    battles: int
    systems: tuple[SystemPoints, ...]
    bias: float | None
    low: float | None
    high: float | None
    low_interval: tuple[float, float] | None
    high_interval: tuple[float, float] | None
    missing: str | None


@dataclass(frozen=True, slots=True)
class JudgeOrder:
    """One judge, by which answer was shown first.

    Attributes:
        position: votes for the first and the second place.
        dimension: what people said, that kappa is with; None without a human preference.
        kappa: order -> weighted kappa with people; None where it has no answer.
        compared: order -> verdicts with a human preference.
        pooled: weighted kappa over the verdicts of all orders.
        delta: largest |pooled - order|; None as soon as one has no answer.
    """

    evaluator: str
    model: str
    position: PositionPreference
    dimension: str | None
    kappa: dict[str, float | None]
    compared: dict[str, int]
    pooled: float | None
    delta: float | None


@dataclass(frozen=True, slots=True)
class Scorers:
    """Everything about agreement between scorers."""

    received: int
    alike: tuple[Alike, ...]
    limits: tuple[Limits, ...]
    orders: tuple[JudgeOrder, ...]


def compute(results: Results) -> Scorers:
    """Kappa and limits of agreement for each two scorers, order effects for each judge."""
    pairs = list(combinations(LENSES, 2))
    return Scorers(
        received=results.received,
        alike=tuple(_alike(results, *pair) for pair in pairs),
        limits=tuple(_limits(results.battles, *pair) for pair in pairs),
        orders=_orders(results),
    )


def _both(battles: Sequence[BattleRow], first: Lens, second: Lens) -> list[tuple[BattleRow, Vote, Vote]]:
    said = ((each, each.vote(first), each.vote(second)) for each in battles)
    return [(each, x, y) for each, x, y in said if x is not None and y is not None]


def _alike(results: Results, first: Lens, second: Lens) -> Alike:
    both = _both(results.battles, first, second)
    matrix = confusion_of([x for _, x, _ in both], [y for _, _, y in both])
    kappa = weighted_kappa(matrix)
    return Alike(first, second, len(both), results.received, int(matrix.trace()), kappa)


def _limits(battles: Sequence[BattleRow], first: Lens, second: Lens) -> Limits:
    points: dict[str, list[tuple[float, float]]] = {}
    both = [each for each in _both(battles, first, second) if each[0].a.system != each[0].b.system]
    for battle, x, y in both:
        points.setdefault(battle.a.system, []).append((POINTS[x], POINTS[y]))
        points.setdefault(battle.b.system, []).append((1 - POINTS[x], 1 - POINTS[y]))
    systems = tuple(
        SystemPoints(name, len(own), *(sum(part) / len(own) for part in zip(*own, strict=True)))
        for name, own in sorted(points.items())
    )
    if len(systems) < ENOUGH:
        missing = f"{len(systems)} systems have battles that both scored; limits need at least {ENOUGH}"
        return Limits(first, second, len(both), systems, None, None, None, None, None, missing)
    found = bland_altman([each.first for each in systems], [each.second for each in systems])
    return Limits(
        first=first,
        second=second,
        battles=len(both),
        systems=systems,
        bias=found.bias,
        low=found.low,
        high=found.high,
        low_interval=found.low_interval,
        high_interval=found.high_interval,
        missing=None,
    )


_Spoken = tuple[Vote, Vote | None]  # the judge's verdict, and what people say


def _orders(results: Results) -> tuple[JudgeOrder, ...]:
    dimension = results.dimensions[0] if results.dimensions else None
    judges: dict[tuple[str, str], dict[Side, list[_Spoken]]] = {}
    for battle in results.battles:
        human = battle.preferences.get(dimension) if dimension else None
        for judgment in battle.judgments:
            own = judges.setdefault((judgment.evaluator, judgment.model), {Side.A: [], Side.B: []})
            for verdict in judgment.verdicts:
                own[verdict.first].append((verdict.winner, human))
    return tuple(_order(*judge, dimension, own) for judge, own in judges.items() if any(own.values()))


def _order(
    evaluator: str, model: str, dimension: str | None, spoken: dict[Side, list[_Spoken]]
) -> JudgeOrder:
    placed = [vote for vote, _ in spoken[Side.A]] + [swapped(vote) for vote, _ in spoken[Side.B]]
    groups = {
        name: [(vote, human) for vote, human in spoken[side] if human is not None]
        for side, name in _ORDERS.items()
    }
    effect = order_effect(groups, [each for own in groups.values() for each in own], _kappa)
    return JudgeOrder(
        evaluator=evaluator,
        model=model,
        position=position_preference(placed),
        dimension=dimension,
        kappa=dict(effect.groups),
        compared={name: len(own) for name, own in groups.items()},
        pooled=effect.pooled,
        delta=effect.delta,
    )


def _kappa(pairs: Sequence[tuple[Vote, Vote]]) -> float | None:
    return weighted_kappa(confusion_of([human for _, human in pairs], [vote for vote, _ in pairs]))
