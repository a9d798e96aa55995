"""What the evaluation took: time and money."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.files.evaluated import BattleRow, SpendRow
from nuggetstream.files.results import Results

LEVELS = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from a battle's arrival to its end, waiting in line and the time of a stop included.

    Attributes:
        battles: with both moments known and in order.
        seconds: in ascending order.
        quantiles: level -> seconds, for median and tails.
    """

    battles: int
    seconds: tuple[float, ...]
    quantiles: dict[float, float]


@dataclass(frozen=True, slots=True)
class StageLatency:
    """Seconds from the step before to this one as recorded, waiting in line included.

    Attributes:
        ended: battles that came through the stage, as far as the results tell.
        timed: of those, with a known duration.
        median: seconds; None when none is timed.
        late: 95th percentile, likewise.
    """

    stage: str
    ended: int
    timed: int
    median: float | None
    late: float | None


@dataclass(frozen=True, slots=True)
class ModelCost:
    """What one stage spent on one model.

    Attributes:
        battles: with such calls.
        amount: money in one currency over `priced` battles; None when no battle has a price.
    """

    stage: str
    model: str
    currency: str | None
    battles: int
    priced: int
    calls: int
    input_tokens: int
    output_tokens: int
    amount: float | None


@dataclass(frozen=True, slots=True)
class Cost:
    """Money in one currency over the battles for which it was recorded."""

    currency: str
    battles: int
    total: float
    mean: float


@dataclass(frozen=True, slots=True)
class Running:
    """Time and money.

    Attributes:
        received: battles.
        out_of_order: battles that end before they arrive: a clock was wrong, so they are left out.
        latency: None when no battle has both moments.
        stages: in the order of the flow; empty when no battle tells when its steps were recorded.
        costs: per currency; empty when none is recorded, which is not "free".
        models: per stage, model and currency; empty likewise.
    """

    received: int
    out_of_order: int
    latency: Latency | None
    stages: tuple[StageLatency, ...]
    costs: tuple[Cost, ...]
    models: tuple[ModelCost, ...]


def compute(results: Results) -> Running:
    """Durations and costs."""
    durations = [
        (row.ended_at - row.received_at).total_seconds()
        for row in results.battles
        if row.ended_at is not None and row.received_at is not None
    ]
    amounts: defaultdict[str, list[float]] = defaultdict(list)
    for row in results.battles:
        if row.cost is not None:
            amounts[row.cost.currency].append(row.cost.amount)
    return Running(
        received=results.received,
        out_of_order=sum(seconds < 0 for seconds in durations),
        latency=_latency(sorted(seconds for seconds in durations if seconds >= 0)),
        stages=_stages(results.battles),
        costs=tuple(Cost(name, len(own), sum(own), sum(own) / len(own)) for name, own in amounts.items()),
        models=_models(results.battles),
    )


def _stages(rows: Sequence[BattleRow]) -> tuple[StageLatency, ...]:
    ended: dict[str, list[float | None]] = {}
    for step in (step for row in rows for step in row.steps):
        if step.recorded_at is not None:
            ended.setdefault(step.name, []).append(step.seconds)
    order = list(dict.fromkeys(step.name for row in rows for step in row.steps))
    return tuple(_stage(name, ended[name]) for name in order if name in ended)


def _stage(name: str, ended: Sequence[float | None]) -> StageLatency:
    known = [seconds for seconds in ended if seconds is not None]
    median, late = map(float, np.quantile(known, [0.5, 0.95])) if known else (None, None)
    return StageLatency(name, len(ended), len(known), median, late)


def _models(rows: Sequence[BattleRow]) -> tuple[ModelCost, ...]:
    spent: dict[tuple[str, str, str | None], list[SpendRow]] = {}
    for part in (part for row in rows for part in row.spend):
        currency = part.cost.currency if part.cost else None
        spent.setdefault((part.stage, part.model, currency), []).append(part)
    return tuple(_model(key, spent[key]) for key in sorted(spent, key=lambda key: (*key[:2], key[2] or "")))


def _model(key: tuple[str, str, str | None], parts: Sequence[SpendRow]) -> ModelCost:
    priced = [part.cost.amount for part in parts if part.cost]
    return ModelCost(
        *key,
        battles=len(parts),
        priced=len(priced),
        calls=sum(part.calls for part in parts),
        input_tokens=sum(part.input_tokens for part in parts),
        output_tokens=sum(part.output_tokens for part in parts),
        amount=sum(priced) if priced else None,
    )


def _latency(seconds: list[float]) -> Latency | None:
    if not seconds:
        return None
    values = map(float, np.quantile(seconds, LEVELS))
    return Latency(len(seconds), tuple(seconds), dict(zip(LEVELS, values, strict=True)))
