"""The handler of one evaluator, and its stage.

    BattleRetrieved or BattleAssigned  ->  [grader]  ->  BattleGraded

It keeps no state. A battle that the evaluator's selection leaves out is acked without a call; one in which
there is nothing to grade has no grades, which is not a failure. A failure is the evaluator's alone: the
battle is scored without it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from nuggetstream.domain.event import BattleAssigned, BattleGraded, BattleRetrieved, Event
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.grade import Grading
from nuggetstream.domain.identity import derived_id
from services.judge.graders.evaluator import Evaluator, Material
from services.judge.selection import Selection
from services.runtime.errors import BudgetExceeded
from services.runtime.llm.model import ChatModel
from services.runtime.llm.prompt import Prompt, R
from services.runtime.stage import Stage
from services.store.blobs import Blobs
from services.wire.graders import durable_of
from services.wire.stages import event_stage
from services.wire.topology import grader_consumer

_ALL_BATTLES = Selection()
Readable = BattleRetrieved | BattleAssigned


async def _within_budget() -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Grader:
    """Lets one evaluator grade battles.

    Attributes:
        model: Chat model used for every call.
        evaluator: The evaluator.
        selection: The battles that it grades.
        passages: Maximum number of chunks that it sees.
        exhausted: Returns what the evaluator's budget has been used up by; None while there is some left.
    """

    model: ChatModel
    evaluator: Evaluator
    selection: Selection = _ALL_BATTLES
    passages: int = 10
    exhausted: Callable[[], Awaitable[str | None]] = _within_budget

    async def __call__(self, event: Readable) -> list[Event]:
        """Grade one battle."""
        battle, name = event.battle, self.evaluator.name
        if not self.selection.includes(battle):
            return []
        asking = _Asking(self, battle.id)
        grades = await self.evaluator.grade(asking.ask, self._material(event))
        model = asking.model or self.model.name
        version = "+".join(asking.versions) or "none"
        grading = Grading(name, model, version, self.evaluator.criteria, tuple(grades))
        key = derived_id(event.key, StageName.GRADER, name, self.passages, self.model.name, version)
        return [BattleGraded(key, battle.id, battle.arena, grading)]

    def _material(self, event: Readable) -> Material:
        if isinstance(event, BattleRetrieved):
            return Material(
                battle=event.battle,
                evidence=event.evidence[: self.passages],
                retrieved=event.evidence,
                pages=event.pages,
            )
        labels = event.assignment_set.assignments
        return Material(battle=event.battle, nuggets=event.nugget_list.nuggets, labels=labels)


@dataclass(slots=True)
class _Asking:
    """The calls for one battle: the model that answered, and the versions of the prompts."""

    grader: Grader
    battle_id: str
    model: str | None = None
    versions: list[str] = field(default_factory=list)

    async def ask(self, prompt: Prompt[R]) -> R:
        """The reply to a prompt."""
        if (over := await self.grader.exhausted()) is not None:
            raise BudgetExceeded(f"the evaluator {self.grader.evaluator.name} has used {over} today")
        stage = durable_of(self.grader.evaluator.name)
        reply = await self.grader.model.ask(prompt, stage=stage, battle_id=self.battle_id)
        self.model = reply.model
        if reply.prompt_version not in self.versions:
            self.versions.append(reply.prompt_version)
        return reply.value


def build(
    grader: Grader, blobs: Blobs, *, concurrency: int = 8, deadline: float = 180.0
) -> Stage[Readable, Event]:
    """The stage of one evaluator.

    Args:
        grader: The handler.
        blobs: Where large bodies are stored.
        concurrency: Number of battles graded at once.
        deadline: Seconds that one attempt may take.
    """
    return event_stage(
        StageName.GRADER,
        grader,
        blobs,
        concurrency=concurrency,
        deadline=deadline,
        consumer=grader_consumer(grader.evaluator.name, grader.evaluator.reads),
        evaluator=grader.evaluator.name,
    )
