"""What the evaluation took: time and money."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.domain.grouping import grouped
from nuggetstream.files.evaluated import BattleRow, SpendRow
from nuggetstream.files.results import Results

LEVELS = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from a battle's arrival to its end, including time in queues and while nothing ran.

    Attributes:
        battles: Battles with both moments known and in order.
        seconds: In ascending order.
        quantiles: Level -> seconds, for the median and the tail.
    """

    battles: int
    seconds: tuple[float, ...]
    quantiles: dict[float, float]


@dataclass(frozen=True, slots=True)
class StageLatency:
    """Seconds from the record of the step before to the record of this one, including time in queues.

    Attributes:
        stage: Its name.
        ended: Battles that came through the stage, as far as the results tell.
        timed: Of those, battles with a known duration.
        median: Seconds; None when none is timed.
        late: 95th percentile of the seconds; None when none is timed.
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
        stage: Its name.
        model: Chat model called.
        currency: Of the amount; None when no battle has a price.
        battles: Battles with such calls.
        priced: Battles whose calls have a price.
        calls: Calls of the model.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
        amount: Money over the `priced` battles; None when no battle has a price.
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
        received: All battles.
        out_of_order: Battles that end before they arrive: a clock was wrong, so they are left out.
        latency: None when no battle has both moments.
        stages: In the order of the flow; empty when no battle tells when its steps were recorded.
        costs: Per currency; empty when none is recorded, which does not mean that nothing was spent.
        models: Per stage, model and currency; empty when none is recorded.
    """

    received: int
    out_of_order: int
    latency: Latency | None
    stages: tuple[StageLatency, ...]
    costs: tuple[Cost, ...]
    models: tuple[ModelCost, ...]


def compute_running(results: Results) -> Running:
    """Durations and costs."""
    durations = [
        (battle.ended_at - battle.received_at).total_seconds()
        for battle in results.battles
        if battle.ended_at is not None and battle.received_at is not None
    ]
    amounts = grouped(
        (battle.cost.currency, battle.cost.amount) for battle in results.battles if battle.cost is not None
    )
    return Running(
        received=results.received,
        out_of_order=sum(seconds < 0 for seconds in durations),
        latency=_latency(sorted(seconds for seconds in durations if seconds >= 0)),
        stages=_stages(results.battles),
        costs=tuple(
            Cost(currency, len(own), sum(own), sum(own) / len(own)) for currency, own in amounts.items()
        ),
        models=_models(results.battles),
    )


def _latency(seconds: Sequence[float]) -> Latency | None:
    if not seconds:
        return None
    values = map(float, np.quantile(seconds, LEVELS))
    return Latency(len(seconds), tuple(seconds), dict(zip(LEVELS, values, strict=True)))


def _stages(battles: Sequence[BattleRow]) -> tuple[StageLatency, ...]:
    steps = [step for battle in battles for step in battle.steps]
    seconds = grouped((step.name, step.seconds) for step in steps if step.recorded_at is not None)
    order = dict.fromkeys(step.name for step in steps)
    return tuple(_stage(name, seconds[name]) for name in order if name in seconds)


def _stage(name: str, seconds: Sequence[float | None]) -> StageLatency:
    timed = [value for value in seconds if value is not None]
    median, late = map(float, np.quantile(timed, [0.5, 0.95])) if timed else (None, None)
    return StageLatency(stage=name, ended=len(seconds), timed=len(timed), median=median, late=late)


def _models(battles: Sequence[BattleRow]) -> tuple[ModelCost, ...]:
    spent = grouped(
        ((part.stage, part.model, part.cost.currency if part.cost else None), part)
        for battle in battles
        for part in battle.spend
    )
    return tuple(_model(key, spent[key]) for key in sorted(spent, key=lambda key: (*key[:2], key[2] or "")))


def _model(key: tuple[str, str, str | None], parts: Sequence[SpendRow]) -> ModelCost:
    stage, model, currency = key
    priced = [part.cost.amount for part in parts if part.cost]
    return ModelCost(
        stage=stage,
        model=model,
        currency=currency,
        battles=len(parts),
        priced=len(priced),
        calls=sum(part.calls for part in parts),
        input_tokens=sum(part.input_tokens for part in parts),
        output_tokens=sum(part.output_tokens for part in parts),
        amount=sum(priced) if priced else None,
    )
