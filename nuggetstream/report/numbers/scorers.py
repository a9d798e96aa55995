"""The three scorers against each other: battle by battle, system by system, and in both orders."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.grouping import grouped
from nuggetstream.domain.lens import Lens
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.report.lenses import LENSES
from nuggetstream.statistics.agreement import confusion_of, weighted_kappa
from nuggetstream.statistics.bland_altman import bland_altman
from nuggetstream.statistics.order_effects import (
    PositionPreference,
    order_effect,
    position_preference,
)

ENOUGH = 3  # systems; limits of agreement have no meaning for fewer
_ORDERS = {Side.A: "A shown first", Side.B: "B shown first"}


@dataclass(frozen=True, slots=True)
class Alike:
    """Two scorers battle by battle.

    Attributes:
        first: The first lens.
        second: The second lens.
        compared: Battles for which both have a preference.
        received: All battles.
        same: Compared battles with the same preference, ties included.
        kappa: Quadratic weights; None where it is undefined.
    """

    first: Lens
    second: Lens
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
        first: The first lens.
        second: The second lens.
        battles: Battles for which both have a preference.
        systems: Systems with such a battle.
        bias: Mean difference; near zero by construction, as one system's point is another's loss.
        low: Bias less 1.96 standard deviations; between `low` and `high` lie about 95% of systems.
        high: Bias plus 1.96 standard deviations.
        low_interval: 95% interval of the lower limit, by Student's t.
        high_interval: 95% interval of the upper limit.
        missing: Why there are no limits; None where there are.
    """

    first: Lens
    second: Lens
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
        evaluator: Name of the judge.
        model: Its model.
        position: Votes for the first and the second answer shown.
        dimension: Human dimension that kappa is with; None without a human preference.
        kappa: Order -> weighted kappa with people; None where it is undefined.
        compared: Order -> verdicts with a human preference.
        pooled: Weighted kappa over the verdicts of all orders.
        delta: Largest |pooled - order|; None as soon as one of them is undefined.
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


def compute_scorers(results: Results) -> Scorers:
    """Kappa and limits of agreement for each pair of scorers, order effects for each judge."""
    pairs = list(combinations(LENSES, 2))
    return Scorers(
        received=results.received,
        alike=tuple(_alike(results, *pair) for pair in pairs),
        limits=tuple(_limits(results.battles, *pair) for pair in pairs),
        orders=_orders(results),
    )


def _voted_by_both(
    battles: Sequence[BattleRow], first: Lens, second: Lens
) -> list[tuple[BattleRow, Vote, Vote]]:
    votes = ((battle, battle.vote(first), battle.vote(second)) for battle in battles)
    return [(battle, x, y) for battle, x, y in votes if x is not None and y is not None]


def _alike(results: Results, first: Lens, second: Lens) -> Alike:
    voted = _voted_by_both(results.battles, first, second)
    matrix = confusion_of([x for _, x, _ in voted], [y for _, _, y in voted])
    return Alike(
        first=first,
        second=second,
        compared=len(voted),
        received=results.received,
        same=int(matrix.trace()),
        kappa=weighted_kappa(matrix),
    )


def _limits(battles: Sequence[BattleRow], first: Lens, second: Lens) -> Limits:
    between_systems = [battle for battle in battles if battle.a.system != battle.b.system]
    voted = _voted_by_both(between_systems, first, second)
    points = grouped(
        (system, taken)
        for battle, x, y in voted
        for system, taken in (
            (battle.a.system, (x.points, y.points)),
            (battle.b.system, (1 - x.points, 1 - y.points)),
        )
    )
    systems = tuple(
        SystemPoints(name, len(own), *(sum(part) / len(own) for part in zip(*own, strict=True)))
        for name, own in sorted(points.items())
    )
    enough = len(systems) >= ENOUGH
    agreement = bland_altman([s.first for s in systems], [s.second for s in systems]) if enough else None
    return Limits(
        first=first,
        second=second,
        battles=len(voted),
        systems=systems,
        bias=agreement.bias if agreement else None,
        low=agreement.low if agreement else None,
        high=agreement.high if agreement else None,
        low_interval=agreement.low_interval if agreement else None,
        high_interval=agreement.high_interval if agreement else None,
        missing=None if agreement else _too_few(len(systems)),
    )


def _too_few(systems: int) -> str:
    have = "1 system has" if systems == 1 else f"{systems} systems have"
    return f"{have} battles that both scored; limits of agreement need at least {ENOUGH}"


_Judged = tuple[Vote, Vote | None]  # the judge's verdict, and what people say


def _orders(results: Results) -> tuple[JudgeOrder, ...]:
    dimension = results.dimensions[0] if results.dimensions else None
    judges = grouped(
        (
            (judgment.evaluator, judgment.model),
            (verdict.first, (verdict.winner, battle.preferences.get(dimension or ""))),
        )
        for battle in results.battles
        for judgment in battle.judgments
        for verdict in judgment.verdicts
    )
    by_order = {side: list[_Judged]() for side in Side}
    return tuple(_order(*judge, dimension, by_order | grouped(own)) for judge, own in judges.items())


def _order(
    evaluator: str, model: str, dimension: str | None, by_order: dict[Side, list[_Judged]]
) -> JudgeOrder:
    as_shown = [vote for vote, _ in by_order[Side.A]] + [vote.swapped for vote, _ in by_order[Side.B]]
    groups = {
        name: [(vote, human) for vote, human in by_order[side] if human is not None]
        for side, name in _ORDERS.items()
    }
    effect = order_effect(groups, [pair for group in groups.values() for pair in group], _kappa)
    return JudgeOrder(
        evaluator=evaluator,
        model=model,
        position=position_preference(as_shown),
        dimension=dimension,
        kappa=dict(effect.groups),
        compared={name: len(group) for name, group in groups.items()},
        pooled=effect.pooled,
        delta=effect.delta,
    )


def _kappa(pairs: Sequence[tuple[Vote, Vote]]) -> float | None:
    return weighted_kappa(confusion_of([human for _, human in pairs], [vote for vote, _ in pairs]))
