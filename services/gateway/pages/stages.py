"""The stages of a battle as a small timeline: when each one worked, how long, and what its calls cost.

steps, costs  ->  a line per stage, in the order of the flow, and the totals
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from nuggetstream.domain.pipeline import PIPELINE, Stage
from nuggetstream.views.battles import BattleView
from nuggetstream.views.calls import CallView
from services.store.spend.costs import CostLine

NAMES = {stage.value: step.title for stage, step in PIPELINE.items()}
_DIGITS = 6  # of an amount, after the decimal point


@dataclass(frozen=True, slots=True)
class Paid:
    """What some model calls cost.

    Attributes:
        calls: Number of calls.
        tokens: Tokens of their prompts and replies.
        cost: Such as "0.0012 USD"; None where no price is known.
    """

    calls: int
    tokens: int
    cost: str | None


@dataclass(frozen=True, slots=True)
class StageLine:
    """One stage.

    Attributes:
        name: Name for people.
        seconds: How long it took, its time in the queue included; None where that is unknown.
        begin: Beginning as a percentage of the whole time; None like `seconds`.
        width: Duration as a percentage of the whole time; None like `seconds`.
        paid: What its calls cost; None without calls.
    """

    name: str
    seconds: float | None
    begin: float | None
    width: float | None
    paid: Paid | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The stages of a battle.

    Attributes:
        lines: The stages of the flow that have ended, then evaluators with calls.
        seconds: From the battle's arrival to the end of the last of these stages; None while none has ended.
        paid: What all calls cost; None without calls.
    """

    lines: tuple[StageLine, ...]
    seconds: float | None
    paid: Paid | None


def timeline_of(view: BattleView, costs: Sequence[CostLine]) -> Timeline:
    """The timeline of a battle.

    Args:
        view: The battle.
        costs: What its model calls cost.
    """
    ends = [step.recorded_at for step in view.steps if step.recorded_at is not None]
    whole = (max(ends) - view.received_at).total_seconds() if ends else 0.0
    lines = []
    for step in view.steps:
        begin = width = None
        if step.recorded_at is not None and step.seconds is not None and whole > 0:
            end = (step.recorded_at - view.received_at).total_seconds()
            begin = 100 * max(end - step.seconds, 0.0) / whole
            width = 100 * step.seconds / whole
        paid = paid_for(cost for cost in costs if cost.stage == step.name)
        if paid or step.seconds is not None:
            lines.append(StageLine(NAMES[step.name], step.seconds, begin, width, paid))
    for stage in sorted({cost.stage for cost in costs} - NAMES.keys()):
        paid = paid_for(cost for cost in costs if cost.stage == stage)
        lines.append(StageLine(stage.removeprefix(f"{Stage.GRADER.value}-"), None, None, None, paid))
    return Timeline(tuple(lines), whole if ends and whole >= 0 else None, paid_for(costs))


def waterfall_of(calls: Sequence[CallView]) -> list[tuple[float, float]]:
    """Beginning and duration of each call, as percentages of the time from the first to the last.

    Args:
        calls: The calls; a duration that is unknown counts as 0 s.
    """
    if not calls:
        return []
    first = min(call.at for call in calls)
    spans = [((call.at - first).total_seconds(), call.seconds or 0.0) for call in calls]
    whole = max(begin + seconds for begin, seconds in spans) or 1.0
    return [(100 * begin / whole, 100 * seconds / whole) for begin, seconds in spans]


def paid_for(costs: Iterable[CostLine]) -> Paid | None:
    """The total of some costs; None without calls."""
    lines = list(costs)
    if not lines:
        return None
    return Paid(
        calls=sum(line.calls for line in lines),
        tokens=sum(line.input_tokens + line.output_tokens for line in lines),
        cost=amounts(lines),
    )


def amounts(lines: Sequence[CostLine]) -> str | None:
    """The cost of calls per currency; "at least" where some calls have no price, None where none has one.

    >>> calls = {"stage": "judge", "model": "m", "calls": 2, "input_tokens": 9, "output_tokens": 1}
    >>> amounts([CostLine(**calls, amount=Decimal("0.00125"), currency="USD")])
    '0.00125 USD'
    >>> amounts([CostLine(**calls, amount=None, currency=None)]) is None
    True
    """
    sums: dict[str, Decimal] = {}
    for line in lines:
        if line.amount is not None and line.currency is not None:
            sums[line.currency] = sums.get(line.currency, Decimal(0)) + line.amount
    if not sums:
        return None
    text = " and ".join(f"{money(amount)} {currency}" for currency, amount in sorted(sums.items()))
    return f"at least {text}" if any(line.amount is None for line in lines) else text


def money(amount: Decimal) -> str:
    """An amount to a millionth, without zeros at its end beyond the hundredths.

    >>> money(Decimal("0.0012500")), money(Decimal("3")), money(Decimal("1234.5"))
    ('0.00125', '3.00', '1,234.50')
    """
    whole, _, decimals = f"{amount:,.{_DIGITS}f}".partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"
