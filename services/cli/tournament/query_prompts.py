"""The prompts that make queries from documents: queries of a cut, and which of them it answers."""

from collections.abc import Mapping, Sequence

from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.query_replies import AnsweredQueriesReply, QueriesReply

VERSION = "queries-1"
_LONGEST = 300  # characters of a query

_SYSTEM = "You write what people ask whom a collection of documents should help."
_INSTRUCTIONS = (
    "Write queries that the chunk answers, as people would ask them who have not read it.\n"
    "- At most {limit} queries in the language of the chunk, different ones, the most useful first.\n"
    "- Each can be understood without the chunk, and never mentions it.\n"
    "- Each asks for something that the chunk states, not for what every document has."
)
_LIKE = "\n- The examples show how people ask here. Ask in their manner, and about the chunk alone."
_CHECK = (
    "Below are queries and a chunk. Name the IDs of those queries that can be understood by themselves and "
    "that the chunk answers."
)


def queries_prompt(text: str, examples: Sequence[str], limit: int) -> Prompt[QueriesReply]:
    """Asks for queries about a part of a document.

    Args:
        text: The part.
        examples: Queries that show how people ask; none leaves the manner open.
        limit: Largest number of queries.
    """
    shown = (Block("example", f"e{number}", example) for number, example in enumerate(examples, start=1))
    return Prompt(
        task="collection_queries",
        version=VERSION,
        system=_SYSTEM,
        instructions=_INSTRUCTIONS + (_LIKE if examples else ""),
        blocks=(*shown, Block("chunk", "c1", text)),
        reply=QueriesReply,
        max_tokens=100 + 60 * limit,
        parameters=(("limit", limit),),
        check=_usable,
    )


def answered_prompt(text: str, queries: Mapping[str, str]) -> Prompt[AnsweredQueriesReply]:
    """Asks which queries a part of a document answers; `queries` is by ID."""

    def check(reply: AnsweredQueriesReply) -> None:
        if unknown := set(reply.answered) - set(queries):
            raise ValueError(f"there is no query {min(unknown)!r}")

    return Prompt(
        task="queries_answered",
        version=VERSION,
        system=_SYSTEM,
        instructions=_CHECK,
        blocks=(
            *(Block("query", name, query) for name, query in queries.items()),
            Block("chunk", "c1", text),
        ),
        reply=AnsweredQueriesReply,
        max_tokens=100 + 10 * len(queries),
        check=check,
    )


def _usable(reply: QueriesReply) -> None:
    if longest := max((len(query) for query in reply.queries), default=0) > _LONGEST:
        raise ValueError(f"a query has {longest} characters; at most {_LONGEST} are accepted")
