"""What the evaluation took: time and money."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from services.analysis.report.rows import Results

LEVELS = (0.5, 0.9, 0.99)


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from a battle's arrival to its end, waiting in line included.

    Attributes:
        battles: with both moments known and in order.
        seconds: in ascending order.
        quantiles: level -> seconds, for median and tails.
    """

    battles: int
    seconds: tuple[float, ...]
    quantiles: dict[float, float]


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
        costs: per currency; empty when none is recorded, which is not "free".
    """

    received: int
    out_of_order: int
    latency: Latency | None
    costs: tuple[Cost, ...]


def compute(results: Results) -> Running:
    """Durations and costs."""
    durations = [
        (row.ended_at - row.received_at).total_seconds()
        for row in results.rows
        if row.ended_at is not None and row.received_at is not None
    ]
    amounts: defaultdict[str, list[float]] = defaultdict(list)
    for row in results.rows:
        if row.cost is not None:
            amounts[row.cost.currency].append(row.cost.amount)
    return Running(
        received=results.received,
        out_of_order=sum(seconds < 0 for seconds in durations),
        latency=_latency(sorted(seconds for seconds in durations if seconds >= 0)),
        costs=tuple(Cost(name, len(own), sum(own), sum(own) / len(own)) for name, own in amounts.items()),
    )


def _latency(seconds: list[float]) -> Latency | None:
    if not seconds:
        return None
    values = map(float, np.quantile(seconds, LEVELS))
    return Latency(len(seconds), tuple(seconds), dict(zip(LEVELS, values, strict=True)))
