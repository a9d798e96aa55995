"""Replies to our tasks, computed by the heuristics, in the shape that the prompts ask for."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from nuggetstream.domain.conversation import searched
from services.offline.heuristics import (
    Document,
    Embed,
    Fact,
    FactLabel,
    Label,
    Verdict,
    assign,
    create_facts,
    judge,
    with_chunks,
)
from services.offline.heuristics.extract import extract
from services.offline.heuristics.facts import VITAL
from services.offline.heuristics.queries import answered_by, queries_about, variations_of
from services.offline.heuristics.text import verbatim
from services.runtime.llm.blocks import Block, parse
from services.runtime.llm.conversation import TURN, USER
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.numbering import Numbered
from services.runtime.llm.query_replies import AnsweredQueriesReply, QueriesReply, VariationsReply
from services.runtime.llm.replies import (
    AnswerReply,
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
_SUREST = 0.95  # probability that the most salient nugget is vital
_WITH_CONTRADICTIONS = "- c, contradiction: "  # in the instructions of a prompt that asks for this label
_LIMIT = re.compile(r"^limit: (\d+)$", re.MULTILINE)


class Unanswerable(Exception):
    """The prompt is not one of ours, or its material is missing."""


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """A parsed prompt.

    Attributes:
        blocks: The material.
        limit: Maximum number of nuggets that the prompt sets.
        embed: Sentence embeddings for the heuristics, or None.
        contradictions: Whether contradictions have a label of their own.
    """

    blocks: Sequence[Block]
    limit: int
    embed: Embed | None
    contradictions: bool = False

    @classmethod
    def read(cls, text: str, embed: Embed | None) -> "ParsedPrompt":
        """Parse the user message of a prompt. A limit counts only before the material, which is untrusted.

        Raises:
            Unanswerable: A block is not closed.
        """
        before = text.partition("<<<")[0]
        limit = _LIMIT.search(before)
        try:
            return cls(
                parse(text),
                int(limit[1]) if limit else _DEFAULT_LIMIT,
                embed,
                contradictions=_WITH_CONTRADICTIONS in before,
            )
        except ValueError as error:
            raise Unanswerable(str(error)) from error

    @property
    def query(self) -> str:
        """The question of the arena's user, after earlier ones, which say what it is about."""
        earlier = [block.text for block in self.of(TURN) if block.id.endswith(USER)]
        return searched(earlier, self.the("query").text)

    def of(self, kind: str) -> list[Block]:
        """All blocks of a kind."""
        return [block for block in self.blocks if block.kind == kind]

    def the(self, kind: str, name: str | None = None) -> Block:
        """The first block of a kind, with this id where one is given.

        Raises:
            Unanswerable: There is none.
        """
        for block in self.of(kind):
            if name is None or block.id == name:
                return block
        raise Unanswerable(f"the prompt has no block {kind} {name or ''}".strip())

    def documents(self) -> list[Document]:
        """The answers and chunks in the prompt."""
        answers = [Document(block.id, "answer", block.text) for block in self.of("answer")]
        return answers + [Document(block.id, "chunk", block.text) for block in self.of("chunk")]


Heuristic = Callable[[ParsedPrompt], BaseModel]
Further = Callable[[], Mapping[str, Heuristic]]
"""Heuristics of further tasks, by task; called when such a task comes, because it may import much."""


def answer(task: str, prompt: ParsedPrompt, more: Further | None = None) -> BaseModel:
    """The reply to a prompt of one of our tasks.

    Args:
        task: Name of the task.
        prompt: The prompt.
        more: Heuristics of further tasks.

    Raises:
        Unanswerable: The task is not one of ours, or its material is missing.
    """
    heuristics: Mapping[str, Heuristic] = _BY_TASK
    if task not in heuristics and more is not None:
        heuristics = {**_BY_TASK, **more()}
    if task not in heuristics:
        raise Unanswerable(f"the offline model answers {', '.join(heuristics)}, not {task!r}")
    return heuristics[task](prompt)


def _nuggets(prompt: ParsedPrompt) -> NuggetsReply:
    documents = prompt.documents()
    alone = all(document.kind == "answer" for document in documents)  # without sources, each has its say
    facts = create_facts(prompt.query, documents, limit=prompt.limit, embed=prompt.embed, short=alone)
    return _created(with_chunks(prompt.query, facts, documents, prompt.embed))


def _added(prompt: ParsedPrompt) -> NuggetsReply:
    """Of the most salient facts of the answers those that no nugget states."""
    facts = create_facts(prompt.query, prompt.documents(), limit=prompt.limit, embed=prompt.embed)
    key = "\n".join(block.text for block in prompt.of("nugget"))
    compared = assign(prompt.query, [fact.text for fact in facts], key, embed=prompt.embed)
    pairs = zip(facts, compared, strict=True)
    return _created([fact for fact, judged in pairs if judged.label is not Label.SUPPORT])


def _created(facts: Sequence[Fact]) -> NuggetsReply:
    return NuggetsReply(
        nuggets=[
            CreatedNugget(
                text=fact.text, importance="vital" if fact.vital else "okay", sources=list(fact.sources)
            )
            for fact in facts
        ]
    )


def _window(prompt: ParsedPrompt) -> WindowReply:
    """The list so far by its ids, followed by the new facts of this window."""
    listed = prompt.of("nugget")
    current = [block.text for block in listed]
    facts = create_facts(prompt.query, prompt.documents(), limit=prompt.limit, embed=prompt.embed)
    texts = [fact.text for fact in facts]
    judgments = assign(prompt.query, texts, "\n".join(current), embed=prompt.embed)
    new = [text for text, judged in zip(texts, judgments, strict=True) if judged.label is not Label.SUPPORT]
    new = new[: max(0, prompt.limit - len(current))]
    kept = [f"{listed[0].id}-{listed[-1].id}" if len(listed) > 1 else listed[0].id] if listed else []
    return WindowReply(nuggets=[*kept, *new])


def _importance(prompt: ParsedPrompt) -> ImportanceReply:
    """Nuggets are vital if they state one of the more salient facts of the list."""
    nuggets = prompt.of("nugget")
    vital = {source for fact in _salient(prompt, nuggets) if fact.vital for source in fact.sources}
    return ImportanceReply(
        labels=[
            NuggetImportance(id=block.id, importance="vital" if block.id in vital else "okay")
            for block in nuggets
        ]
    )


def _decided_importance(prompt: ParsedPrompt) -> DecisionReply:
    """The more salient the fact that a nugget states, the more probably it is vital."""
    nuggets = prompt.of("nugget")
    salient = _salient(prompt, nuggets)
    places = {source: index for index, fact in reversed(list(enumerate(salient))) for source in fact.sources}
    # The share of the list that is vital is as in `create_facts`, so there the probability reaches a half.
    slope = (_SUREST - 0.5) / VITAL
    shares = [
        _SUREST - slope * places[block.id] / len(salient) if block.id in places else 1 - _SUREST
        for block in nuggets
    ]
    pairs = zip(nuggets, shares, strict=True)
    return DecisionReply(answers=[decided(block.id, "vo", (share, 1 - share)) for block, share in pairs])


def _salient(prompt: ParsedPrompt, nuggets: Sequence[Block]) -> Sequence[Fact]:
    documents = [Document(block.id, "answer", block.text) for block in nuggets]
    return create_facts(prompt.query, documents, limit=len(nuggets), embed=prompt.embed)


def assignment_reply(prompt: ParsedPrompt, *, stricter: float = 0.0) -> AssignmentReply:
    """Labels of nuggets.

    Args:
        prompt: The prompt.
        stricter: Closeness that a label asks of a sentence beyond what it usually does.
    """
    nuggets = prompt.of("nugget")
    facts = [block.text for block in nuggets]
    answer = Numbered.read(prompt.the("answer").text)
    labels = assign(
        prompt.query,
        facts,
        answer.text,
        embed=prompt.embed,
        stricter=stricter,
        contradictions=prompt.contradictions,
    )
    return AssignmentReply(
        labels=[_support(block.id, label, answer) for block, label in zip(nuggets, labels, strict=True)]
    )


def _support(nugget: str, label: FactLabel, answer: Numbered) -> NuggetSupport:
    first, last = answer.numbers_of(verbatim(label.quote, answer.text)) or (None, None)
    return NuggetSupport(id=nugget, label=label.label.value, first=first, last=last)


def _judged(prompt: ParsedPrompt) -> Verdict:
    first, second = prompt.the("answer", "first").text, prompt.the("answer", "second").text
    evidence = [block.text for block in prompt.of("chunk")]
    return judge(prompt.query, first, second, evidence, embed=prompt.embed)


def verdict_reply(prompt: ParsedPrompt) -> VerdictReply:
    """The verdict about two answers, with the chunks of the prompt as evidence."""
    verdict = _judged(prompt)
    return VerdictReply(reasoning=verdict.reason, winner=WINNER[verdict.winner])


def verdict_decision(prompt: ParsedPrompt) -> DecisionReply:
    """The same verdict as a decision."""
    return DecisionReply(answers=[decided("better", "fst", _judged(prompt).probabilities)])


def _decided_labels(prompt: ParsedPrompt) -> DecisionReply:
    nuggets = prompt.of("nugget")
    answer = Numbered.read(prompt.the("answer").text)
    facts = [block.text for block in nuggets]
    labels = assign(prompt.query, facts, answer.text, embed=prompt.embed, contradictions=True)
    return DecisionReply(
        answers=[
            decided(block.id, "spnc", (*label.probabilities, label.contradiction))
            for block, label in zip(nuggets, labels, strict=True)
        ]
    )


def decided(name: str, letters: str, shares: Sequence[float]) -> Answer:
    """The answer to a question: the most probable of its letters, with the probabilities of all."""
    probabilities = dict(zip(letters, shares, strict=True))
    return Answer(name=name, letter=max(letters, key=lambda x: probabilities[x]), probabilities=probabilities)


WINNER: Mapping[str, Winner] = {"a": "first", "b": "second", "tie": "tie"}
_BY_TASK: Mapping[str, Heuristic] = {
    "nuggets": _nuggets,
    "nuggets_window": _window,
    "nuggets_added": _added,
    "importance": _importance,
    "importance_decision": _decided_importance,
    "assignment": assignment_reply,
    "verdict": verdict_reply,
    "assignment_decision": _decided_labels,
    "verdict_decision": verdict_decision,
    "query_variations": lambda p: VariationsReply(searches=variations_of(p.query, p.limit)),
    "answer": lambda p: AnswerReply(answer=extract(p.query, p.documents(), p.limit, p.embed)),
    "collection_queries": lambda p: QueriesReply(queries=queries_about(p.the("chunk").text, p.limit)),
    "queries_answered": lambda p: AnsweredQueriesReply(
        answered=answered_by(p.the("chunk").text, {block.id: block.text for block in p.of("query")})
    ),
}
