"""The handler of one evaluator, and its stage.

    BattleRetrieved or BattleAssigned  ->  [grader]  ->  BattleGraded

It keeps no state. A battle that the evaluator's selection leaves out is acked without a call; one in which
there is nothing to grade has no grades, which is not a failure. A failure is the evaluator's alone: the
battle is scored without it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.event import (
    BattleAssigned,
    BattleGraded,
    BattleRetrieved,
    Event,
    has_other_list,
    list_version_of,
)
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.grade import Grading
from nuggetstream.domain.identity import derived_id
from nuggetstream.text.languages import DetectedLanguage
from services.judge.graders.bank import QuestionsReply
from services.judge.graders.evaluator import Evaluator, Material
from services.judge.question_banks import QuestionBanks
from services.judge.selection import Selection
from services.runtime.errors import BudgetExceeded
from services.runtime.llm.assignment import PAPER_VERSION
from services.runtime.llm.conversation import in_context
from services.runtime.llm.decisions.reply import DecisionReply
from services.runtime.llm.model import ChatModel, DecisionModel, Reply
from services.runtime.llm.numbering import numbered
from services.runtime.llm.prompt import Prompt, R
from services.runtime.stage import Stage
from services.store.blobs import Blobs
from services.wire.graders import durable_of
from services.wire.stages import event_stage
from services.wire.topology import grader_consumer

_ALL_BATTLES = Selection()
_UNSHARED = QuestionBanks()
Readable = BattleRetrieved | BattleAssigned


TextsOf = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]


async def _within_budget() -> str | None:
    return None


async def _no_texts(chunk_ids: Sequence[str]) -> Mapping[str, str]:  # noqa: ARG001 - as `TextsOf`
    return {}


@dataclass(frozen=True, slots=True)
class Grader:
    """Lets one evaluator grade battles.

    Attributes:
        model: Chat model.
        evaluator: The evaluator.
        selection: The battles that it grades.
        passages: Maximum number of chunks that it sees.
        exhausted: Returns what the evaluator's budget has been used up by; None while there is some left.
        decisions: Model that is asked where a grade is a choice; None asks the chat model.
        texts_of: Returns the texts of chunks by id.
        banks: The questions that battles with the same query share.
    """

    model: ChatModel
    evaluator: Evaluator
    selection: Selection = _ALL_BATTLES
    passages: int = 10
    exhausted: Callable[[], Awaitable[str | None]] = _within_budget
    decisions: DecisionModel | None = None
    texts_of: TextsOf = _no_texts
    banks: QuestionBanks = _UNSHARED

    async def __call__(self, event: Readable) -> list[Event]:
        """Grade one battle."""
        if has_other_list(event):  # grades rest on the list that scores rest on
            return []
        battle, name = event.battle, self.evaluator.name
        detected = await self.selection.detected(battle, needed=self.evaluator.reads_language)
        language = battle.language if detected is None else detected.tag
        if not self.selection.includes(battle, language):
            return []
        asking = _Asking(self, battle)
        material = replace(await self._material(event, detected), options=self.selection)
        if self.evaluator.bank is not None and (asked := self.evaluator.bank(material)) is not None:
            made = await self.banks.of(battle, asked, self.model.name, asking.bank)
            material = replace(material, bank=made)
        grades = await self.evaluator.grade(asking, material)
        version = "+".join(asking.versions) or "none"
        grading = Grading(
            evaluator=name,
            model=asking.model or self.model.name,
            prompt_version=version,
            criteria=self.evaluator.criteria,
            grades=tuple(grades),
            bank=material.bank,
            list_version=list_version_of(event),
        )
        deciding = [] if self.decisions is None else [self.decisions.name]
        key = derived_id(
            event.key, StageName.GRADER, name, self.passages, self.model.name, version, *deciding
        )
        if (bank := material.bank) is not None:
            key = derived_id(key, bank.query_id, bank.version, self.selection.asked)
        return [BattleGraded(key, battle.id, battle.arena, grading)]

    async def _material(self, event: Readable, detected: DetectedLanguage | None) -> Material:
        if isinstance(event, BattleRetrieved):
            return Material(
                battle=event.battle,
                evidence=event.evidence[: self.passages],
                retrieved=event.evidence,
                pages=event.pages,
                detected=detected,
            )
        nuggets, passages = event.nugget_list.nuggets, dict[str, str]()
        if self.evaluator.reads_passages:
            read = {origin.document for nugget in nuggets for origin in nugget.provenance}
            chunks = sorted(document for document in read if not document.startswith("answer:"))
            passages |= await self.texts_of(chunks)
        labels = event.assignment_set
        return Material(
            battle=event.battle,
            nuggets=nuggets,
            labels=labels.assignments,
            passages=passages,
            detected=detected,
            contradictions=PAPER_VERSION not in labels.prompt_version.split(", "),
        )


@dataclass(slots=True)
class _Asking:
    """The calls for one battle: the model that answered first, and the versions of the prompts."""

    grader: Grader
    battle: Battle
    model: str | None = None
    versions: list[str] = field(default_factory=list)

    async def __call__(self, prompt: Prompt[R]) -> R:
        """The reply of the chat model to a prompt."""
        return self._noted(await self._asked(prompt))

    async def bank(self, prompt: Prompt[QuestionsReply]) -> Reply[QuestionsReply]:
        """The questions about a query; the bank that they become names model and version."""
        return await self._asked(prompt)

    async def decide(self, prompt: Prompt[DecisionReply]) -> DecisionReply | None:
        """The answers of the model for decisions; None where there is no such model."""
        if self.grader.decisions is None:
            return None
        await self._check_budget()
        model, shown = self.grader.decisions, self._in_context(prompt)
        return self._noted(await model.ask(shown, stage=self._stage, battle_id=self.battle.id))

    def _in_context(self, prompt: Prompt[R]) -> Prompt[R]:
        """The prompt with earlier turns; an answer is known by its text, unless both have the same one."""
        a, b = self.battle.a.text, self.battle.b.text
        sides = {} if a == b else {a: Side.A, numbered(a): Side.A, b: Side.B, numbered(b): Side.B}
        answers = [block for block in prompt.blocks if block.kind == "answer"]
        writers = {block.id: sides[block.text] for block in answers if block.text in sides}
        return in_context(prompt, self.battle.context, writers)

    async def _asked(self, prompt: Prompt[R]) -> Reply[R]:
        await self._check_budget()
        model, shown = self.grader.model, self._in_context(prompt)
        return await model.ask(shown, stage=self._stage, battle_id=self.battle.id)

    @property
    def _stage(self) -> str:
        return durable_of(self.grader.evaluator.name)

    async def _check_budget(self) -> None:
        if (over := await self.grader.exhausted()) is not None:
            raise BudgetExceeded(f"the evaluator {self.grader.evaluator.name} has used {over} today")

    def _noted(self, reply: Reply[R]) -> R:
        self.model = self.model or reply.model
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
