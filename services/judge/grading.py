"""The handler of one evaluator, and its stage.

    BattleRetrieved or BattleAssigned  ->  [grader]  ->  BattleGraded

It keeps no state. A battle that the evaluator's selection leaves out is acked without a call; one in which
there is nothing to grade has no grades, which is not a failure. A failure is the evaluator's alone: the
battle is scored without it. Of a panel each member grades the same material, on the same questions.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.event import (
    BattleAssigned,
    BattleGraded,
    BattleRetrieved,
    Event,
    list_version_of,
)
from nuggetstream.domain.evidence import Page
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.grade import Grade, Grading, MemberGrades
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.question_bank import QuestionBank
from nuggetstream.text.languages import DetectedLanguage
from services.judge.grade_panel import aggregate_grades
from services.judge.graders.bank import BankPrompt, QuestionsReply
from services.judge.graders.evaluator import Evaluator, Material
from services.judge.panel import ABSTENTIONS, Voter, all_of, require_answers
from services.judge.question_banks import QuestionBanks
from services.judge.selection import GraderOptions
from services.runtime.errors import BudgetExceeded, StageError
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

_ALL_BATTLES = GraderOptions()
_UNSHARED = QuestionBanks()
Readable = BattleRetrieved | BattleAssigned


TextsOf = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]


StoredOf = Callable[[Sequence[Page]], Awaitable[Mapping[str, Sequence[str]]]]


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
        selection: The battles that it grades, and how the grades of a panel become one.
        passages: Maximum number of chunks that it sees.
        exhausted: Returns what the evaluator's budget has been used up by; None while there is some left.
        decisions: Model that is asked where a grade is a choice; None asks the chat model.
        texts_of: Returns the texts of chunks by id.
        stored_of: Returns the texts of all chunks of pages, by content hash; None where nothing is stored.
        banks: The questions that battles with the same query share.
        members: The members of a panel, which grade instead of the model; without any, it grades alone.
    """

    model: ChatModel
    evaluator: Evaluator
    selection: GraderOptions = _ALL_BATTLES
    passages: int = 10
    exhausted: Callable[[], Awaitable[str | None]] = _within_budget
    decisions: DecisionModel | None = None
    texts_of: TextsOf = _no_texts
    stored_of: StoredOf | None = None
    banks: QuestionBanks = _UNSHARED
    members: Sequence[Voter] = ()

    async def __call__(self, event: Readable) -> list[Event]:
        """Grade one battle."""
        battle, name = event.battle, self.evaluator.name
        detected = await self.selection.detected(battle, needed=self.evaluator.reads_language)
        language = battle.language if detected is None else detected.tag
        if not self.selection.includes(battle, language):
            return []
        askings = [_Asking(self, voter, battle) for voter in self.voters]
        material = replace(await self._material(event, detected), options=self.selection)
        if self.evaluator.bank is not None and (asked := self.evaluator.bank(material)) is not None:
            material = replace(material, bank=await self._bank(askings, battle, asked))
        given = await (self._of_panel if self.members else self._of_one)(askings, material)
        grading = Grading(
            evaluator=name,
            model=given.model,
            prompt_version=given.version,
            criteria=self.evaluator.criteria,
            grades=given.grades,
            bank=material.bank,
            list_version=list_version_of(event),
            members=given.members,
            aggregation=self.selection.aggregation if self.members else None,
        )
        key = derived_id(event.key, StageName.GRADER, name, self.passages, *self._models(given.version))
        if (bank := material.bank) is not None:
            key = derived_id(key, bank.query_id, bank.version, self.selection.asked)
        if self.members:
            key = derived_id(key, self.selection.aggregation, *(voter.name for voter in self.members))
        return [BattleGraded(key, battle.id, battle.arena, grading)]

    @property
    def voters(self) -> Sequence[Voter]:
        """The models that grade: the members of a panel, or the only one."""
        return self.members or [Voter("", self.model, self.decisions)]

    def _models(self, version: str) -> list[str]:
        """What a grading depends on beside its event: models that are asked, and the version of prompts."""
        voters = self.voters
        deciding = [voter.decisions.name for voter in voters if voter.decisions is not None]
        return [", ".join(voter.model.name for voter in voters), version, *deciding]

    async def _bank(self, askings: Sequence["_Asking"], battle: Battle, asked: BankPrompt) -> QuestionBank:
        """The questions that all members grade on: those of the first member that makes some."""
        *others, last = askings
        for asking in others:
            try:
                return await self.banks.of(battle, asked, asking.voter.model.name, asking.bank)
            except StageError as error:
                if error.reason not in ABSTENTIONS:
                    raise
        return await self.banks.of(battle, asked, last.voter.model.name, last.bank)

    async def _of_one(self, askings: Sequence["_Asking"], material: Material) -> "_Given":
        [asking] = askings
        grades = self._completed(await self.evaluator.grade(asking, material), material)
        return _Given(asking.answered, "+".join(asking.versions) or "none", grades)

    async def _of_panel(self, askings: Sequence["_Asking"], material: Material) -> "_Given":
        """The grades of every member, and those of the panel.

        Raises:
            Permanent: No more than half of the members answered.
        """
        said = await all_of(self._of_member(asking, material) for asking in askings)
        members = tuple(member for member, _ in said)
        require_answers([member.abstention for member in members])
        given = [grades for member, grades in said if member.abstention is None]
        pooled = aggregate_grades(given, len(members), self.selection.aggregation)
        versions = dict.fromkeys(version for asking in askings for version in asking.versions)
        model = ", ".join(voter.model.name for voter in self.members)
        return _Given(model, "+".join(versions) or "none", self._completed(pooled, material), members)

    async def _of_member(self, asking: "_Asking", material: Material) -> tuple[MemberGrades, Sequence[Grade]]:
        """What one member of the panel grades, and which of it the model gave."""
        name, asked = asking.voter.name, asking.voter.model.name
        try:
            given = await self.evaluator.grade(asking, material)
        except StageError as error:
            if error.reason not in ABSTENTIONS:
                raise
            return MemberGrades(name, asked, abstention=error.reason), ()
        return MemberGrades(name, asking.answered, self._completed(given, material)), given

    def _completed(self, given: Sequence[Grade], material: Material) -> tuple[Grade, ...]:
        """The grades with those that follow from them, which come first."""
        return (*self.evaluator.computed(material, given), *given)

    async def _material(self, event: Readable, detected: DetectedLanguage | None) -> Material:
        if isinstance(event, BattleRetrieved):
            stored_of = self.stored_of if self.evaluator.reads_stored(self.selection) else None
            return Material(
                battle=event.battle,
                evidence=event.evidence[: self.passages],
                retrieved=event.evidence,
                pages=event.pages,
                stored={} if stored_of is None else await stored_of(event.pages),
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


@dataclass(frozen=True, slots=True)
class _Given:
    """Grades, with the models and the versions of the prompts that gave them."""

    model: str
    version: str
    grades: tuple[Grade, ...]
    members: tuple[MemberGrades, ...] = ()


@dataclass(slots=True)
class _Asking:
    """The calls of one model for one battle: who answered first, and the versions of the prompts."""

    grader: Grader
    voter: Voter
    battle: Battle
    model: str | None = None
    versions: list[str] = field(default_factory=list)

    @property
    def answered(self) -> str:
        """The model that answered first; the one to ask where none was asked."""
        return self.model or self.voter.model.name

    async def __call__(self, prompt: Prompt[R]) -> R:
        """The reply of the chat model to a prompt."""
        return self._noted(await self._asked(prompt))

    async def bank(self, prompt: Prompt[QuestionsReply]) -> Reply[QuestionsReply]:
        """The questions about a query; the bank that they become names model and version."""
        return await self._asked(prompt)

    async def decide(self, prompt: Prompt[DecisionReply]) -> DecisionReply | None:
        """The answers of the model for decisions; None where there is no such model."""
        if (model := self.voter.decisions) is None:
            return None
        await self._check_budget()
        shown = self._in_context(prompt)
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
        model, shown = self.voter.model, self._in_context(prompt)
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
