"""The five questions of our prompts, answered by the heuristics in the shape our prompts ask for."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from services.offline.heuristics import Document, Embed, Label, assign, create_facts, judge
from services.offline.heuristics.text import verbatim
from services.runtime.llm.blocks import Block, parse
from services.runtime.llm.replies import (
    AssignmentReply,
    CreatedNugget,
    ImportanceReply,
    NuggetImportance,
    NuggetsReply,
    NuggetSupport,
    VerdictReply,
    WindowReply,
    Winner,
)

_DEFAULT_LIMIT = 30
_LIMIT = re.compile(r"^limit: (\d+)$", re.MULTILINE)


class Unanswerable(Exception):
    """A question that is none of ours, or lacks its material."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt, read back: its material by kind, and the limit it set."""

    blocks: Sequence[Block]
    limit: int
    embed: Embed | None

    @classmethod
    def read(cls, text: str, embed: Embed | None) -> "Asked":
        """Reads the user's message. A limit counts only before the material, which may say anything.

        Raises:
            Unanswerable: when a block is not closed.
        """
        limit = _LIMIT.search(text.partition("<<<")[0])
        try:
            return cls(parse(text), int(limit[1]) if limit else _DEFAULT_LIMIT, embed)
        except ValueError as error:
            raise Unanswerable(str(error)) from error

    @property
    def query(self) -> str:
        """What the user of the arena asked."""
        return self.the("query").text

    def of(self, kind: str) -> list[Block]:
        """All blocks of a kind."""
        return [block for block in self.blocks if block.kind == kind]

    def the(self, kind: str, name: str | None = None) -> Block:
        """The block of a kind, and with this id where one is given.

        Raises:
            Unanswerable: when there is none.
        """
        for block in self.of(kind):
            if name is None or block.id == name:
                return block
        raise Unanswerable(f"the prompt has no block {kind} {name or ''}".strip())

    def documents(self) -> list[Document]:
        """Answers and chunks."""
        answers = [Document(block.id, "answer", block.text) for block in self.of("answer")]
        return answers + [Document(block.id, "chunk", block.text) for block in self.of("chunk")]


def answer(task: str, asked: Asked) -> BaseModel:
    """The reply to one of our questions.

    Raises:
        Unanswerable: when it is none of ours, or its material is missing.
    """
    heuristic = _BY_TASK.get(task)
    if heuristic is None:
        raise Unanswerable(f"the offline model answers {', '.join(_BY_TASK)}, not {task!r}")
    return heuristic(asked)


def _nuggets(asked: Asked) -> NuggetsReply:
    facts = create_facts(asked.query, asked.documents(), limit=asked.limit, embed=asked.embed)
    return NuggetsReply(
        nuggets=[
            CreatedNugget(
                text=fact.text, importance="vital" if fact.vital else "okay", sources=list(fact.sources)
            )
            for fact in facts
        ]
    )


def _window(asked: Asked) -> WindowReply:
    """The list so far, then what this window adds to it."""
    current = [block.text for block in asked.of("nugget")]
    found = create_facts(asked.query, asked.documents(), limit=asked.limit, embed=asked.embed)
    texts = [fact.text for fact in found]
    known = assign(asked.query, texts, "\n".join(current), embed=asked.embed)
    new = [text for text, judged in zip(texts, known, strict=True) if judged.label is not Label.SUPPORT]
    return WindowReply(nuggets=[*current, *new][: max(asked.limit, len(current))])


def _importance(asked: Asked) -> ImportanceReply:
    """Vital are those that say what the more salient half of the list says."""
    nuggets = asked.of("nugget")
    documents = [Document(block.id, "answer", block.text) for block in nuggets]
    facts = create_facts(asked.query, documents, limit=len(nuggets), embed=asked.embed)
    vital = {source for fact in facts if fact.vital for source in fact.sources}
    return ImportanceReply(
        labels=[
            NuggetImportance(id=block.id, importance="vital" if block.id in vital else "okay")
            for block in nuggets
        ]
    )


def _assignment(asked: Asked) -> AssignmentReply:
    nuggets = asked.of("nugget")
    facts = [block.text for block in nuggets]
    text = asked.the("answer").text
    judged = assign(asked.query, facts, text, embed=asked.embed)
    return AssignmentReply(
        labels=[
            NuggetSupport(id=block.id, label=one.label.value, quote=verbatim(one.quote, text))
            for block, one in zip(nuggets, judged, strict=True)
        ]
    )


def _verdict(asked: Asked) -> VerdictReply:
    first, second = asked.the("answer", "first").text, asked.the("answer", "second").text
    evidence = [block.text for block in asked.of("chunk")]
    found = judge(asked.query, first, second, evidence, embed=asked.embed)
    return VerdictReply(reasoning=found.reason, winner=_WINNER[found.winner])


_WINNER: Mapping[str, Winner] = {"a": "first", "b": "second", "tie": "tie"}
_BY_TASK: Mapping[str, Callable[[Asked], BaseModel]] = {
    "nuggets": _nuggets,
    "nuggets_window": _window,
    "importance": _importance,
    "assignment": _assignment,
    "verdict": _verdict,
}
