"""The explanation and the failures of a battle, prepared for its page.

    explanation lines, nuggets, failures  ->  lines with their quoted nugget apart; failures by cause

The lines of a `BattleView` are plain text. On the page the nugget that a line quotes is isolated, since it
may run from right to left in an English sentence, and the detail of a failure is shown once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.pipeline import Stage
from nuggetstream.views.battles import BattleView
from services.store.spend.costs import CostLine


@dataclass(frozen=True, slots=True)
class ExplanationLine:
    """A line of the explanation.

    Attributes:
        text: The line without the nugget that it quotes at its end.
        nugget: Text of that nugget; None where the line quotes none.
        is_failure: Whether the line ends with a failure, whose detail was left out.
    """

    text: str
    nugget: str | None = None
    is_failure: bool = False


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Stages that gave up for the same reason.

    Attributes:
        stages: In the order in which they failed.
        reason: Why they gave up.
        detail: The same for a person.
        attempts: How often each of them tried.
        calls: Number of their model calls.
    """

    stages: tuple[Stage, ...]
    reason: Reason
    detail: str
    attempts: int
    calls: int


def explanation_lines(view: BattleView) -> Iterator[ExplanationLine]:
    """The lines of a battle's explanation."""
    nuggets = {f"“{nugget.text}”": nugget.text for nugget in view.nuggets}
    details = {f": {failure.detail}" for failure in view.failures if failure.detail}
    for line in view.explanation:
        quote = next((quote for quote in nuggets if line.endswith(quote)), None)
        detail = next((detail for detail in details if line.endswith(detail)), None)
        if quote is not None:
            yield ExplanationLine(line.removesuffix(quote), nugget=nuggets[quote])
        elif detail is not None:
            yield ExplanationLine(line.removesuffix(detail) + ".", is_failure=True)
        else:
            yield ExplanationLine(line)


def failure_groups(view: BattleView, costs: Sequence[CostLine]) -> list[FailureGroup]:
    """The failures of a battle, those with the same cause together.

    Args:
        view: The battle.
        costs: What its model calls cost.
    """
    stages: dict[tuple[Reason, str, int], list[Stage]] = {}
    for failure in view.failures:
        stages.setdefault((failure.reason, failure.detail, failure.attempts), []).append(failure.stage)
    return [
        FailureGroup(tuple(together), *cause, sum(cost.calls for cost in costs if cost.stage in together))
        for cause, together in stages.items()
    ]
