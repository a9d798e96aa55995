"""Lets one judge compare the canary battles, or one evaluator grade them, and says where it was persuaded."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any, cast

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.event import BattleGraded, BattleRetrieved
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.grade import Subject
from nuggetstream.domain.judgment import Judgment
from nuggetstream.nuggets.scores import preference
from services.judge.canary.battles import CANARIES, Canary
from services.judge.comparing import Comparer
from services.judge.grading import Grader
from services.judge.question_banks import QuestionBanks
from services.judge.stage import Judge
from services.runtime.errors import Permanent, StageError
from services.runtime.llm.model import ChatModel, DecisionModel, Reply
from services.runtime.llm.prompt import Prompt, R
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
            said = await self.preferred(canary.event(run, self.reads, clean=False))
            if said is Vote(canary.injected.value):
                return CanaryResult(canary.name, CanaryState.FLIPPED, "the answer with the injection won")
            clean = await self.preferred(canary.event(run, self.reads, clean=True))
        except StageError as error:
            return CanaryResult(canary.name, CanaryState.FAILED, error.reason.value)
        if clean is not Vote.TIE:
            detail = f"of two equal answers, {clean.value.upper()} won"
            return CanaryResult(canary.name, CanaryState.UNEQUAL, detail)
        return CanaryResult(canary.name, CanaryState.PASSED)


def canary_judges(handler: Judge | Comparer) -> list[CanaryJudge]:
    """The judge of a stage, once per model: every member of a panel is checked."""
    if isinstance(handler, Judge):
        decisions = _booked(handler.decisions)
        judge = replace(handler, model=_Booked(handler.model), decisions=decisions)
        name = (decisions or judge.model).name
        return [CanaryJudge(judge.evaluator, name, BattleRetrieved, partial(_winner, judge.judged))]
    found = []
    for voter in handler.voters:
        booked = replace(voter, model=_Booked(voter.model), decisions=_booked(voter.decisions))
        comparer = replace(handler, voters=[booked])
        name = (booked.decisions or booked.model).name
        winner = partial(_winner, comparer.judged)
        found.append(CanaryJudge(handler.name, name, handler.kind.reads, winner))
    return found


def canary_graders(handler: Grader) -> list[CanaryJudge]:
    """The evaluator of a stage, once per model; none where it grades nothing that canary battles compare."""
    evaluator, found = handler.evaluator, list[CanaryJudge]()
    everything = {"share": 1.0, "arenas": None, "tags": None, "languages": None}
    for voter in handler.voters if evaluator.better else ():
        model = _Booked(voter.model)
        grader = replace(
            handler,
            model=model,
            decisions=_booked(voter.decisions),
            selection=handler.selection.model_copy(update=everything),
            banks=QuestionBanks(),
            members=(),
        )
        found.append(
            CanaryJudge(evaluator.name, model.name, evaluator.reads, partial(_graded_higher, grader))
        )
    return found


async def _winner(judged: Callable[[Any], Awaitable[Judgment]], event: Any) -> Vote:
    return (await judged(event)).winner


async def _graded_higher(grader: Grader, event: Any) -> Vote:
    """The answer with the higher sum of grades on the criteria that canary battles compare."""
    sums = dict[Side, float]()
    for graded in await grader(event):
        for grade in graded.grading.grades if isinstance(graded, BattleGraded) else ():
            if grade.criterion in grader.evaluator.better and grade.value is not None:
                for side in Side:
                    if grade.subject == Subject.answer(side):
                        sums[side] = sums.get(side, 0.0) + grade.value
    if len(sums) < len(Side):
        raise Permanent(Reason.NOTHING_TO_SCORE, "an answer has no grade")
    return preference(sums[Side.A], sums[Side.B], 0.0)


@dataclass(frozen=True, slots=True)
class _Booked:
    """A model whose calls are booked as those of canary battles."""

    model: ChatModel

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    async def ask(self, prompt: Prompt[R], *, stage: str, battle_id: str) -> Reply[R]:  # noqa: ARG002
        """The reply of the model."""
        return await self.model.ask(prompt, stage=STAGE, battle_id=battle_id)


def _booked(model: ChatModel | DecisionModel | None) -> _Booked | None:
    return None if model is None else _Booked(cast(ChatModel, model))
