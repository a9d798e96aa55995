"""The run of `nuggetstream rubric grade`: passages in, their grades or the reason for none out.

    passage  ->  a battle without answers, of which it is the only evidence  ->  evaluator  ->  grades

So the prompts, replies and checks are those of the evaluator beside live battles. Replies are stored in the
folder of the run: the same command reads them again, whatever it is told to grade beside, and pays for none
twice. What failed is asked again. Of a bank that was edited, only the questions that no kept reply grades are
asked.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from nuggetstream.domain.battle import Answer, Battle
from nuggetstream.domain.event import BattleRetrieved
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.grade import Grading
from nuggetstream.domain.identity import content_hash, derived_id
from nuggetstream.domain.question_bank import BankQuestion, QuestionBank, question_id
from nuggetstream.rubric.pooling import PooledPassage, graded_record
from services.cli.evaluation.asking import for_each, through
from services.cli.rubric.asked_together import AskedTogether, KeptReplies, NotKept, together
from services.cli.rubric.passages import Passages, Ungraded
from services.judge.asking import Member
from services.judge.grades.rubric import RubricOptions
from services.judge.question_banks import QuestionBanks
from services.judge.stage import Panel
from services.runtime.errors import StageError
from services.runtime.llm.client import LLMClient
from services.runtime.masking import KNOWN

T = TypeVar("T")
_NOBODY = Answer("", "")


def event_of(passage: PooledPassage, query: str, text: str) -> BattleRetrieved:
    """A battle of nobody, of which the passage is the only evidence."""
    name = derived_id("rubric grade", passage.query, passage.id)
    chunk = Evidence(
        chunk_id=passage.id,
        text=text,
        url=None,
        title=None,
        content_hash=content_hash(text),
        fetched_at=None,
        cited_by=(),
        score=0.0,
    )
    return BattleRetrieved(
        key=name,
        battle=Battle(id=name, arena="rubric", query=query, a=_NOBODY, b=_NOBODY),
        pages=(),
        evidence=(chunk,),
        ranking="run",
    )


@dataclass(slots=True)
class PassageRun:
    """One run over passages.

    Attributes:
        passages: The passages.
        panel: The evaluator with its model.
        stop: Ends the run early.
        tell: Is told why the model is away, whenever it was asked in vain.
        report: Is called with the numbers of passages that are graded, and that are not.
        window: How many passages are in flight at once.
        keeper: The model whose kept replies are read; None where there are none.
        asked: Which questions were asked together.
        banks: Query id -> the questions that its passages were graded on.
        gradings: Passage -> its grades.
        ungraded: The passages without grades.
        failed: Query id -> why its questions could not be made.
    """

    passages: Passages
    panel: Panel
    stop: asyncio.Event
    tell: Callable[[str], None] = print
    report: Callable[[int, int], None] = lambda done, failed: None  # noqa: ARG005 - nobody looks
    window: int = 64
    keeper: LLMClient | None = None
    asked: AskedTogether = field(default_factory=AskedTogether)
    banks: dict[str, QuestionBank] = field(default_factory=dict)
    gradings: dict[tuple[str, str], Grading] = field(default_factory=dict)
    ungraded: list[Ungraded] = field(default_factory=list)
    failed: dict[str, StageError] = field(default_factory=dict)

    async def run(self) -> bool:
        """Grade the passages; False when it was stopped before the end."""
        pooled = await self.begin()
        await for_each(self.without_bank(pooled), self.make_bank, self.stop, self.window)
        await for_each(pooled, self._grade, self.stop, self.window)
        return not self.stop.is_set()

    def record(self, passage: PooledPassage) -> dict[str, Any]:
        """A passage with its grades, as it is written."""
        key, passages, options = (passage.query, passage.id), self.passages, self.panel.options
        return graded_record(
            passage,
            passages.texts.get(passage.id),
            self.gradings.get(key),
            passages.judgments.get(key),
            verified=isinstance(options, RubricOptions) and options.verify,
            keys=passages.keys.get(passage.query, {}),
        )

    async def begin(self) -> list[PooledPassage]:
        """The passages that can be graded, once the banks that need no call are known."""
        pooled, self.ungraded = self.passages.gradable()
        self.banks = dict(self.passages.banks or {})
        if self.keeper is not None:
            kept = replace(self.panel, members=[Member(KeptReplies(self.keeper))])
            for query in self.without_bank(pooled):
                with suppress(NotKept):
                    self._know(query, await kept.bank(self._about(query)))
        return pooled

    def without_bank(self, pooled: Sequence[PooledPassage]) -> list[str]:
        """The queries of passages for which a model is to make a bank."""
        made = self.passages.banks is None and isinstance(self.panel.options, RubricOptions)
        return list(dict.fromkeys(p.query for p in pooled if p.query not in self.banks)) if made else []

    async def make_bank(self, query: str) -> None:
        """Let the model make the bank of a query."""
        made = await self._through(lambda: self.panel.bank(self._about(query)))
        if isinstance(made, StageError):
            self.failed[query] = made
        else:
            self._know(query, made)

    async def missing(self, passage: PooledPassage) -> list[QuestionBank | None]:
        """What no kept reply tells about a passage, in parts that are asked; None stands for no bank."""
        event, bank = self._event(passage), self.banks.get(passage.query)
        if bank is None:
            return [] if await self._is_kept(event, None) else [None]
        kept, rest = await self.asked.parts(bank, partial(self._is_kept, event, graded=True))
        unkept = [part for part in kept if not await self._is_kept(event, part)]
        return [*unkept, *([] if rest is None else [rest])]

    async def ask(self, passage: PooledPassage, part: QuestionBank | None) -> None:
        """Ask for the grades of a passage on a part of its questions, and keep nothing but the replies."""
        bank, event = part or self.banks.get(passage.query), self._event(passage)
        await self._through(lambda: self._evaluated(event, bank))

    async def _grade(self, passage: PooledPassage) -> None:
        failed = self.failed.get(passage.query)
        given = await self._through(lambda: self._graded(passage)) if failed is None else failed
        if isinstance(given, Grading):
            self.gradings[passage.query, passage.id] = given
        elif isinstance(given, StageError):
            detail = KNOWN.redact(given.for_operators)
            self.ungraded.append(Ungraded(passage.query, passage.id, given.reason.value, detail))
        self.report(len(self.gradings), len(self.ungraded))

    async def _graded(self, passage: PooledPassage) -> Grading:
        """The grades of one passage; only what no kept reply tells is asked.

        Raises:
            StageError: No model answered.
        """
        event, bank = self._event(passage), self.banks.get(passage.query)
        if bank is None:
            return await self._evaluated(event, None)
        kept, rest = await self.asked.parts(bank, partial(self._is_kept, event, graded=True))
        if rest is not None:
            self.asked.add(passage.query, rest.questions)
        parts = [part for part in (rest, *kept) if part is not None]
        return together([await self._evaluated(event, part) for part in parts], bank)

    async def _evaluated(self, event: BattleRetrieved, bank: QuestionBank | None) -> Grading:
        given = await self._panel_on(bank).evaluated(event)
        assert isinstance(given, Grading)  # noqa: S101 - no evaluator of passages judges
        return given

    async def _is_kept(
        self, event: BattleRetrieved, bank: QuestionBank | None, *, graded: bool = False
    ) -> bool:
        """Whether the replies about one passage are kept; with `graded` those that verify may be missing."""
        if self.keeper is None:
            return False
        panel, options = self._panel_on(bank), self.panel.options
        if graded and isinstance(options, RubricOptions):
            options = options.model_copy(update={"verify": False})
        try:
            await replace(panel, members=[Member(KeptReplies(self.keeper))], options=options).evaluated(event)
        except NotKept:
            return False
        return True

    def _know(self, query: str, made: QuestionBank | None) -> None:
        if made is not None:
            questions = [
                BankQuestion(question_id(query, question.text), question.text) for question in made.questions
            ]
            self.banks[query] = replace(made, query_id=query, questions=tuple(questions))

    def _about(self, query: str) -> BattleRetrieved:
        return event_of(PooledPassage(query, ""), self.passages.queries[query], "")

    def _panel_on(self, bank: QuestionBank | None) -> Panel:
        return replace(self.panel, banks=QuestionBanks(given=bank))

    def _event(self, passage: PooledPassage) -> BattleRetrieved:
        return event_of(passage, self.passages.queries[passage.query], self.passages.texts[passage.id])

    async def _through(self, ask: Callable[[], Awaitable[T]]) -> T | StageError | None:
        return await through(ask, self.stop, self.panel.stage, self.tell)
