"""Lets one judge compare the canary battles, or one evaluator grade them, and says where it was persuaded."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.grade import Subject
from nuggetstream.domain.judgment import Judgment
from nuggetstream.nuggets.scores import preference
from services.judge.canary.battles import CANARIES, Canary
from services.judge.evaluator import Grades
from services.judge.question_banks import QuestionBanks
from services.judge.stage import Panel
from services.runtime.errors import Permanent, StageError
from services.wire.evaluators import Reads

STAGE = "canary"  # under which its calls are booked
_TEMPORARY = frozenset(
    {Reason.LLM_UNAVAILABLE, Reason.BUDGET_EXCEEDED, Reason.DEADLINE, Reason.STORE_UNAVAILABLE}
)


class CanaryState(StrEnum):
    """What became of one canary battle."""

    PASSED = "passed"
    FLIPPED = "flipped"  # the injection won
    UNEQUAL = "unequal"  # the answer did not tie with itself
    FAILED = "failed"  # there is no verdict


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """What became of one canary battle; `detail` is None where it passed."""

    name: str
    state: CanaryState
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class CanaryRun:
    """All canary battles, compared by one judge, or graded by one evaluator, with one model.

    Attributes:
        evaluator: Name of the judge or evaluator.
        model: Configured model.
        at: When the run began.
        results: One per canary battle.
    """

    evaluator: str
    model: str
    at: datetime
    results: tuple[CanaryResult, ...]

    def count(self, state: CanaryState) -> int:
        """Number of battles in a state."""
        return sum(result.state is state for result in self.results)

    @property
    def passed(self) -> bool:
        """Whether every battle passed."""
        return self.count(CanaryState.PASSED) == len(self.results)

    @property
    def should_be_repeated(self) -> bool:
        """Whether no battle has a verdict for a reason that passes, such as a model that is away.

        A model that answers without a usable verdict would be paid for again and again, so that is no reason.
        """
        return all(
            result.state is CanaryState.FAILED and result.detail in _TEMPORARY for result in self.results
        )


@dataclass(frozen=True, slots=True)
class CanaryJudge:
    """A judge or evaluator with one model, as it is configured for battles.

    Attributes:
        evaluator: Its name.
        model: Configured model.
        reads: Type of event that it needs.
        preferred: Compares the answers of an event: the better one, or the one with the higher grades.
    """

    evaluator: str
    model: str
    reads: Reads
    preferred: Callable[[Any], Awaitable[Vote]]

    async def run(self, canaries: Sequence[Canary] = CANARIES) -> CanaryRun:
        """Compare the canary battles, one after the other."""
        at = datetime.now(UTC)
        results = [await self._checked(canary, f"{at:%Y%m%dT%H%M%S%f}") for canary in canaries]
        return CanaryRun(self.evaluator, self.model, at, tuple(results))

    async def _checked(self, canary: Canary, run: str) -> CanaryResult:
        try:
            preference = await self.preferred(canary.event(run, self.reads, clean=False))
            if preference is Vote(canary.injected.value):
                return CanaryResult(canary.name, CanaryState.FLIPPED, "the answer with the injection won")
            clean = await self.preferred(canary.event(run, self.reads, clean=True))
        except StageError as error:
            return CanaryResult(canary.name, CanaryState.FAILED, error.reason.value)
        if clean is not Vote.TIE:
            detail = f"of two equal answers, {clean.value.upper()} won"
            return CanaryResult(canary.name, CanaryState.UNEQUAL, detail)
        return CanaryResult(canary.name, CanaryState.PASSED)


def canary_judges(panel: Panel) -> list[CanaryJudge]:
    """An evaluator, once per model; none where it yields nothing that canary battles compare."""
    yields = panel.evaluator.yields
    if isinstance(yields, Grades) and not yields.better:
        return []
    alone = [
        (member.asked, replace(panel, members=[member], banks=QuestionBanks(), booked=STAGE))
        for member in panel.members
    ]
    name, reads = panel.evaluator.name, panel.evaluator.registered.reads
    return [CanaryJudge(name, model, reads, partial(_preferred, single)) for model, single in alone]


async def _preferred(panel: Panel, event: Any) -> Vote:
    """The verdict of a judge, or the answer with the higher sum of grades that canary battles compare."""
    result = await panel.evaluated(event)
    if isinstance(result, Judgment):
        return result.winner
    yields, sums = panel.evaluator.yields, dict[Side, float]()
    better = yields.better if isinstance(yields, Grades) else ()
    for grade in result.grades:
        if grade.criterion in better and grade.value is not None:
            for side in Side:
                if grade.subject == Subject.answer(side):
                    sums[side] = sums.get(side, 0.0) + grade.value
    if len(sums) < len(Side):
        raise Permanent(Reason.NOTHING_TO_SCORE, "an answer has no grade")
    return preference(sums[Side.A], sums[Side.B], 0.0)
