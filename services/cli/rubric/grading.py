"""The run of `nuggetstream rubric grade`: passages in, their grades or the reason for none out.

    passage  ->  a battle without answers, of which it is the only evidence  ->  evaluator  ->  grades

So the prompts, replies and checks are those of the evaluator beside live battles. Replies are stored in the
folder of the run: the same command reads them again, whatever it is told to grade beside, and pays for none
twice. What failed is asked again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from nuggetstream.domain.battle import Answer, Battle
from nuggetstream.domain.event import BattleRetrieved
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.grade import Grading
from nuggetstream.domain.identity import content_hash, derived_id
from nuggetstream.domain.question_bank import BankQuestion, QuestionBank, question_id
from nuggetstream.rubric.pooling import PooledPassage
from services.cli.asking import for_each, through
from services.cli.rubric.passages import Passages, Ungraded
from services.judge.question_banks import QuestionBanks
from services.judge.stage import Panel
from services.runtime.errors import StageError
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
    banks: dict[str, QuestionBank] = field(default_factory=dict)
    gradings: dict[tuple[str, str], Grading] = field(default_factory=dict)
    ungraded: list[Ungraded] = field(default_factory=list)
    failed: dict[str, StageError] = field(default_factory=dict)

    async def run(self) -> bool:
        """Grade the passages; False when it was stopped before the end."""
        pooled, self.ungraded = self.passages.gradable()
        self.banks = dict(self.passages.banks or {})
        if self.passages.banks is None:
            queries = dict.fromkeys(passage.query for passage in pooled)
            await for_each(queries, self._make_bank, self.stop, self.window)
        await for_each(pooled, self._grade, self.stop, self.window)
        return not self.stop.is_set()

    async def _make_bank(self, query: str) -> None:
        event = event_of(PooledPassage(query, ""), self.passages.queries[query], "")
        made = await self._through(lambda: self.panel.bank(event))
        if isinstance(made, StageError):
            self.failed[query] = made
        elif made is not None:
            questions = [BankQuestion(question_id(query, each.text), each.text) for each in made.questions]
            self.banks[query] = replace(made, query_id=query, questions=tuple(questions))

    async def _grade(self, passage: PooledPassage) -> None:
        event = event_of(passage, self.passages.queries[passage.query], self.passages.texts[passage.id])
        panel = replace(self.panel, banks=QuestionBanks(given=self.banks.get(passage.query)))
        failed = self.failed.get(passage.query)
        given = await self._through(lambda: panel.evaluated(event)) if failed is None else failed
        if isinstance(given, Grading):
            self.gradings[passage.query, passage.id] = given
        elif isinstance(given, StageError):
            detail = KNOWN.redact(given.for_operators)
            self.ungraded.append(Ungraded(passage.query, passage.id, given.reason.value, detail))
        self.report(len(self.gradings), len(self.ungraded))

    async def _through(self, ask: Callable[[], Awaitable[T]]) -> T | StageError | None:
        return await through(ask, self.stop, self.panel.stage, self.tell)
