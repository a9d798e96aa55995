"""Every agent answers every query; each answer is written to the file of its agent as soon as it is there.

    answers/NAME.jsonl    {run_id, qid, query, answer_text, references, segments, ranking, key, ...}

These are RAGDoll's fields and some of ours, so `nuggetstream eval` and `import` read the folder, too.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from nuggetstream.domain.identity import derived_id
from nuggetstream.files.dataset import BadLine
from nuggetstream.files.formats.rows import Container, Row, rows_in
from nuggetstream.files.opening import UnusableFile
from services.cli.evaluation.asking import for_each, through
from services.cli.tournament.agents import STAGE, Agent, Answered, Asked
from services.runtime.errors import StageError
from services.runtime.masking import KNOWN

FOLDER = "answers"


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A query that an agent has not answered.

    Attributes:
        agent: Name of the agent.
        query: Id of the query.
        reason: Why, as one word of a small set.
        detail: Why, as a sentence for a person.
    """

    agent: str
    query: str
    reason: str
    detail: str


def answers_file(out: Path, agent: str) -> Path:
    """The file of the answers of an agent."""
    return out / FOLDER / f"{agent}.jsonl"


def stored_answers(out: Path, agent: str) -> Iterator[Row]:
    """The answers of an agent that are stored; a line that was cut off is none."""
    path = answers_file(out, agent)
    if path.exists() and path.stat().st_size:
        for row in rows_in(path, Container.JSONL):
            if not isinstance(row, BadLine) and isinstance(row.value, dict):
                yield row


@dataclass(slots=True)
class AnswerRun:
    """One run over the queries.

    Attributes:
        agents: The agents by name.
        queries: The queries by id.
        out: Folder of the tournament.
        stop: Ends the run early.
        tell: Is told why the model is away, whenever it was asked in vain.
        report: Is called with the numbers of answers that are stored, and of those that are missing.
        window: How many answers are in flight at once.
        unanswered: The answers that are missing.
    """

    agents: Mapping[str, Agent]
    queries: Mapping[str, str]
    out: Path
    stop: asyncio.Event
    tell: Callable[[str], None] = print
    report: Callable[[int, int], None] = lambda done, failed: None  # noqa: ARG005 - nobody looks
    window: int = 32
    unanswered: list[Unanswered] = field(default_factory=list)
    _done: int = 0
    _files: dict[str, IO[bytes]] = field(default_factory=dict)

    async def run(self) -> bool:
        """Get the answers that are not stored; False when it was stopped before the end.

        Raises:
            UnusableFile: The folder has answers of an agent that answers differently.
            OSError: An answer cannot be written, for instance because the disk is full. The reply that it
                was made of is cached.
        """
        with ExitStack() as opened:
            (self.out / FOLDER).mkdir(parents=True, exist_ok=True)
            stored = {name: self._kept(name) for name in self.agents}
            self._done = sum(map(len, stored.values()))
            for name in self.agents:
                file = answers_file(self.out, name).open("ab", buffering=0)
                self._files[name] = opened.enter_context(file)
            self.report(self._done, 0)
            missing = (
                (name, query) for query in self.queries for name in self.agents if query not in stored[name]
            )
            await for_each(missing, self._answer, self.stop, self.window)
        return not self.stop.is_set()

    def asked(self, agent: str, query: str) -> Asked:
        """A query as an agent is asked it."""
        text = self.queries[query]
        key = self.agents[agent].key_of(query)
        return Asked(query, text, derived_id("tournament answer", agent, key, query, text))

    async def _answer(self, item: tuple[str, str]) -> None:
        name, query = item
        agent, asked = self.agents[name], self.asked(name, query)
        answered = await through(lambda: agent.answer(asked), self.stop, STAGE, self.tell)
        if isinstance(answered, StageError):
            detail = KNOWN.redact(answered.for_operators)
            self.unanswered.append(Unanswered(name, query, answered.reason.value, detail))
        elif answered is not None:
            line = json.dumps(_row(name, asked, answered), ensure_ascii=False)
            self._files[name].write(line.encode("utf-8", "replace") + b"\n")
            self._done += 1
        self.report(self._done, len(self.unanswered))

    def _kept(self, name: str) -> set[str]:
        """The queries whose answers are stored; a line that was cut off is removed from the file."""
        path, kept = answers_file(self.out, name), set[str]()
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            for row in stored_answers(self.out, name):
                query = str(row.value.get("qid"))
                if query in self.queries:
                    if row.value.get("key") != self.asked(name, query).booked:
                        raise UnusableFile(
                            f"{path}:{row.line}: is an answer to another query of this id, or of an agent "
                            f"{name!r} with other documents, model or settings: choose another folder with "
                            "--out, or rename the agent"
                        )
                    kept.add(query)
                file.write((row.raw or b"").rstrip(b"\n") + b"\n")
        part.replace(path)
        return kept


def _row(agent: str, asked: Asked, answered: Answered) -> dict[str, Any]:
    tokens = answered.tokens or (None, None)
    return {
        "run_id": agent,
        "qid": asked.id,
        "query": asked.text,
        "answer_text": answered.text,
        "references": answered.references,
        "segments": answered.texts or {},
        "ranking": answered.ranking,
        "key": asked.booked,
        "model": answered.model,
        "input_tokens": tokens[0],
        "output_tokens": tokens[1],
    }
