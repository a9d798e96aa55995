"""The run of `nuggetstream rubric grade`: passages in, their grades or the reason for none out.

    passage  ->  a battle without answers, of which it is the only evidence  ->  evaluator  ->  grades

So the prompts, replies and checks are those of the evaluator beside live battles. Replies are stored in the
folder of the run: the same command reads them again, whatever it is told to grade beside, and pays for none
twice. What failed is asked again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from nuggetstream.domain.battle import Answer, Battle
from nuggetstream.domain.event import BattleRetrieved
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.grade import Grading
from nuggetstream.domain.identity import content_hash, derived_id
from nuggetstream.domain.question_bank import BankQuestion, QuestionBank, question_id
from nuggetstream.rubric.pooling import PooledPassage
from services.cli.rubric.passages import Passages, Ungraded
from services.judge.question_banks import QuestionBanks
from services.judge.stage import Panel
from services.runtime.errors import ModelOutage, StageError
from services.runtime.masking import KNOWN
from services.runtime.runner.outage import through_outages

T = TypeVar("T")
Item = TypeVar("Item")
_NOBODY = Answer("", "")


def event_of(passage: PooledPassage, query: str, text: str) -> BattleRetrieved:
    """A battle of nobody, of which the passage is the only evidence."""
    battle = Battle(derived_id("rubric grade", passage.query, passage.id), "rubric", query, _NOBODY, _NOBODY)
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
    return BattleRetrieved(battle.id, battle, (), (chunk,), "run")


@dataclass(slots=True)
class PassageRun:
    """One run over passages.

    Attributes:
        passages: The passages.
        panel: The evaluator with its model.
        stop: Ends the run early.
        tell: Is told what the model is waited for.
        report: Is called with the numbers of passages that are graded, and that are not.
        window: How many passages are in flight at once.
        grace: Seconds that they get after `stop`.
        banks: Query id -> the questions that its passages were graded on.
        gradings: Passage -> its grades.
        ungraded: The passages without grades.
    """

    passages: Passages
    panel: Panel
    stop: asyncio.Event
    tell: Callable[[str], None] = lambda _: None
    report: Callable[[int, int], None] = lambda done, failed: None  # noqa: ARG005 - nobody looks
    window: int = 64
    grace: float = 20.0
    banks: dict[str, QuestionBank] = field(default_factory=dict)
    gradings: dict[tuple[str, str], Grading] = field(default_factory=dict)
    ungraded: list[Ungraded] = field(default_factory=list)
    _failed: dict[str, StageError] = field(default_factory=dict)  # by query, whose questions are not made
    _told: set[str] = field(default_factory=set)

    async def run(self) -> bool:
        """Grade the passages; False when it was stopped before the end."""
        problems = {(p.query, p.id): self.passages.ungraded(p) for p in self.passages.pooled}
        self.ungraded = [problem for problem in problems.values() if problem is not None]
        pooled = [p for p in self.passages.pooled if problems[p.query, p.id] is None]
        self.banks = dict(self.passages.banks or {})
        if self.passages.banks is None:
            await self._each({passage.query for passage in pooled}, self._make_bank)
        await self._each(pooled, self._grade)
        return not self.stop.is_set()

    async def _make_bank(self, query: str) -> None:
        event = event_of(PooledPassage(query, ""), self.passages.queries[query], "")
        made = await self._through(lambda: self.panel.bank(event))
        if isinstance(made, StageError):
            self._failed[query] = made
        elif made is not None:
            questions = [BankQuestion(question_id(query, each.text), each.text) for each in made.questions]
            self.banks[query] = replace(made, query_id=query, questions=tuple(questions))

    async def _grade(self, passage: PooledPassage) -> None:
        event = event_of(passage, self.passages.queries[passage.query], self.passages.texts[passage.id])
        panel = replace(self.panel, banks=QuestionBanks(given=self.banks.get(passage.query)))
        given: object = self._failed.get(passage.query)
        if given is None:
            given = await self._through(lambda: panel.evaluated(event))
        if isinstance(given, Grading):
            self.gradings[passage.query, passage.id] = given
        elif isinstance(given, StageError):
            detail = KNOWN.redact(given.for_operators)
            self.ungraded.append(Ungraded(passage.query, passage.id, given.reason.value, detail))
        self.report(len(self.gradings), len(self.ungraded))

    async def _through(self, ask: Callable[[], Awaitable[T]]) -> T | StageError | None:
        """What the model gives, or why it gives nothing; None when the run was stopped meanwhile."""
        answers: list[T] = []

        async def attempt() -> None:
            try:
                answers.append(await ask())
            except ModelOutage as away:
                self._tell_once(f"waiting for the model: {KNOWN.redact(away.for_operators)}")
                raise

        try:
            await through_outages(attempt, float, self.stop, self.panel.stage)
        except StageError as error:
            return error
        return answers[0] if answers else None

    def _tell_once(self, what: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self.tell(what)

    async def _each(self, items: Iterable[Item], work: Callable[[Item], Awaitable[None]]) -> None:
        """Work on all items, a window of them at once; what is in flight after a stop gets the grace."""
        waiting = iter(items)

        async def worker() -> None:
            for item in waiting:
                if self.stop.is_set():
                    return
                await work(item)

        async with asyncio.TaskGroup() as group:
            workers = [group.create_task(worker()) for _ in range(self.window)]
            ending = group.create_task(self._cancel_after_stop(workers))
            await asyncio.wait(workers)
            ending.cancel()

    async def _cancel_after_stop(self, workers: Sequence["asyncio.Task[None]"]) -> None:
        await self.stop.wait()
        await asyncio.sleep(self.grace)
        for worker in workers:
            worker.cancel()
