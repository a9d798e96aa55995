"""Other searches for what a query asks, made by the chat model.

    a battle  ->  one call  ->  a few other queries, whose rankings are fused with that of its own

Source: Raudaschl 2023, RAG-Fusion; the prompt is our own.
"""

from dataclasses import dataclass

import structlog

from nuggetstream.domain.battle import Battle
from nuggetstream.domain.pipeline import Stage
from services.runtime import metrics
from services.runtime.errors import ModelOutage, Outage, StageError
from services.runtime.llm.blocks import Block
from services.runtime.llm.conversation import ModelInContext
from services.runtime.llm.model import ChatModel
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.query_replies import VariationsReply

log = structlog.get_logger(__name__)

VERSION = "retriever-1"
_TOKENS_PER_VARIATION = 60
_LONGEST = 300  # characters of a variation

_SYSTEM = (
    "You search collections of web pages for what people ask, and know how differently pages put things."
)

_INSTRUCTIONS = (
    "Write {limit} searches that find pages which the query itself may not find, though a good answer needs "
    "them.\n"
    "- Each looks for something else: the query in other words, a part of it, the technical term or the name "
    "of what it describes, or a question that has to be answered first.\n"
    "- 2 to 20 words each, in the language of the query, understandable on their own.\n"
    "- Fewer, or none, where the query leaves nothing else to look for.\n"
    "- Do not answer the query, and assume nothing that it does not say."
)


@dataclass(frozen=True, slots=True)
class QueryVariations:
    """Asks a model for variations of queries.

    Attributes:
        model: The model.
        count: Number of variations.
    """

    model: ChatModel
    count: int

    async def of(self, battle: Battle) -> tuple[str, ...]:
        """Variations of the query of a battle; none where the model gives none, for whatever reason.

        Raises:
            Outage: The database cannot be read or written.
        """
        try:
            varied = await self.asked(battle)
        except StageError as error:
            if isinstance(error, Outage) and not isinstance(error, ModelOutage):
                raise
            metrics.QUERY_VARIATIONS.labels("failed").inc()
            log.warning("the query alone is searched for", battle=battle.id, why=error.detail)
            return ()
        metrics.QUERY_VARIATIONS.labels("ok").inc()
        return varied

    async def asked(self, battle: Battle) -> tuple[str, ...]:
        """Variations of the query of a battle, as the model gives them.

        Raises:
            StageError: As for `ChatModel.ask`.
        """
        model = ModelInContext(self.model, battle.context, {})
        prompt = variations_prompt(battle.query, self.count)
        reply = await model.ask(prompt, stage=Stage.RETRIEVER, battle_id=battle.id)
        return tuple(_distinct(reply.value, battle.query)[: self.count])


def variations_prompt(query: str, limit: int) -> Prompt[VariationsReply]:
    """Asks for other searches for what a query asks."""
    return Prompt(
        task="query_variations",
        version=VERSION,
        system=_SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(Block("query", "q", query),),
        reply=VariationsReply,
        max_tokens=100 + limit * _TOKENS_PER_VARIATION,
        parameters=(("limit", limit),),
        check=_short,
    )


def _short(reply: VariationsReply) -> None:
    if longest := [text for text in reply.searches if len(text) > _LONGEST]:
        raise ValueError(f"{len(longest)} searches have more than {_LONGEST} characters")


def _distinct(reply: VariationsReply, query: str) -> list[str]:
    """The searches that differ from the query and from each other."""
    texts: dict[str, str] = {}
    for search in reply.searches:
        text = " ".join(search.split())
        texts.setdefault(text.casefold(), text)
    taken = {"", " ".join(query.split()).casefold()}
    return [text for key, text in texts.items() if key not in taken]
