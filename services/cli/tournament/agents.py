"""The agents of a tournament: whatever answers a query.

query  ->  [agent]  ->  text, the passages behind it, and the ranking of documents
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from nuggetstream.domain.battle import Answer, Battle
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import derived_id
from services.cli.tournament.collection import RANKED, Collection
from services.cli.tournament.plan import Search
from services.cli.tournament.prompts import VERSION, answer_prompt
from services.retriever.variations import VERSION as VARIATIONS_VERSION
from services.retriever.variations import QueryVariations
from services.runtime.errors import Permanent
from services.runtime.llm.model import ChatModel, Reply
from services.runtime.llm.prompt import Prompt, R

STAGE = "agent"
"""The stage under which answers are booked."""
_NOBODY = Answer("", "")


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as one agent is asked it.

    Attributes:
        id: Id of the query.
        text: The query.
        booked: Id under which the model calls for it are booked.
    """

    id: str
    text: str
    booked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer.

    Attributes:
        text: Its text, with marks such as [2] for the second reference.
        references: Names of the passages or documents behind it.
        texts: Their texts by name, as far as they are known.
        ranking: Ids of documents, the best first; None where the agent tells none.
        model: The model that wrote it; None where that is unknown.
        tokens: Tokens of the calls for it, in and out, also where the replies were cached; None where that
            is unknown.
    """

    text: str
    references: tuple[str, ...] = ()
    texts: Mapping[str, str] | None = None
    ranking: tuple[str, ...] | None = None
    model: str | None = None
    tokens: tuple[int, int] | None = None


class Agent(Protocol):
    """Answers queries."""

    def key_of(self, query: str) -> str:
        """Identifies all that its answer to a query depends on, beside the text of the query.

        Args:
            query: Id of the query.
        """

    async def answer(self, asked: Asked) -> Answered:
        """Answer a query.

        Raises:
            StageError: There is no answer; says why.
        """


@dataclass(frozen=True, slots=True)
class SearchingAgent:
    """Searches documents and lets a model answer: `rag`, or `rag_fusion` with variations of the query.

    Attributes:
        collection: The documents.
        by: How they are searched.
        model: The model that answers.
        variations: Makes variations of the query; None to search for the query alone.
        passages: Number of passages that the model is shown.
        sentences: Longest answer.
        prompts: Identifies the operator's own prompts.

    Source: Raudaschl 2023, RAG-Fusion; Rackauckas, Câmara, Zavrel 2024, "Evaluating RAG-Fusion with RAGElo".
    """

    collection: Collection
    by: Search
    model: ChatModel
    variations: QueryVariations | None
    passages: int
    sentences: int
    prompts: str = ""

    def key_of(self, query: str) -> str:  # noqa: ARG002 - the same for all queries
        """What its answers depend on: documents, search, model and prompts."""
        varied = None if self.variations is None else (self.variations.count, VARIATIONS_VERSION)
        return derived_id(
            STAGE, self.collection.key, self.by, self.model.name, varied, self.passages, self.sentences,
            VERSION, self.prompts,
        )  # fmt: skip

    async def answer(self, asked: Asked) -> Answered:
        """Answer a query; see `Agent.answer`."""
        queries, model = [asked.text], _Counted(self.model)
        if self.variations is not None:
            queries += await replace(self.variations, model=model).asked(
                Battle(id=asked.booked, arena=STAGE, query=asked.text, a=_NOBODY, b=_NOBODY)
            )
        passages = await self.collection.search(queries, self.by, max(RANKED, self.passages))
        shown = passages[: self.passages]
        prompt = answer_prompt(asked.text, [passage.text for passage in shown], self.sentences)
        reply = await model.ask(prompt, stage=STAGE, battle_id=asked.booked)
        return Answered(
            text=reply.value.answer.strip(),
            references=tuple(passage.name for passage in shown),
            texts={passage.name: passage.text for passage in shown},
            ranking=tuple(dict.fromkeys(passage.document for passage in passages)),
            model=reply.model,
            tokens=(model.input_tokens, model.output_tokens),
        )


@dataclass(slots=True)
class _Counted:
    """The model, and the tokens of its replies."""

    model: ChatModel
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def name(self) -> str:
        return self.model.name

    async def ask(self, prompt: Prompt[R], *, stage: str, battle_id: str) -> Reply[R]:
        reply = await self.model.ask(prompt, stage=stage, battle_id=battle_id)
        self.input_tokens += reply.usage.input_tokens
        self.output_tokens += reply.usage.output_tokens
        return reply


@dataclass(frozen=True, slots=True)
class RecordedAgent:
    """Answers from a file.

    Attributes:
        answers: The answers by id of the query.
        problems: Why answers cannot be used, by id of the query.
    """

    answers: Mapping[str, Answered]
    problems: Mapping[str, str]

    def key_of(self, query: str) -> str:
        """The recorded answer."""
        recorded = self.answers.get(query)
        return derived_id(
            "recorded", None if recorded is None else [recorded.text, recorded.references, recorded.texts]
        )

    async def answer(self, asked: Asked) -> Answered:
        """The answer to a query; see `Agent.answer`."""
        if (problem := self.problems.get(asked.id)) is not None:
            raise Permanent(Reason.INVALID_INPUT, problem)
        if (recorded := self.answers.get(asked.id)) is None:
            raise Permanent(Reason.INVALID_INPUT, "the file does not answer it")
        return recorded
