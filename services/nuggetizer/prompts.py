"""The prompts of the nuggetizer and the checks of their replies, in our own words for the papers' tasks."""

from collections.abc import Sequence

from nuggetstream.text.sentences import sentences
from services.runtime.llm.blocks import Block
from services.runtime.llm.lines import Lines
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import EXAMPLE, ImportanceReply, NuggetsReply, WindowReply, every_id_once

VERSION = "nuggetizer-6"
LONGEST = 300  # characters of a nugget; a server that enforces the schema ends a longer one there
_TOKENS_PER_NUGGET = 60

SYSTEM = (
    "You compile answer keys. An answer key lists the nuggets of a question: short, atomic, "
    "self-contained statements of fact that somebody who asked would want to find in an answer."
)

_NUGGETS = (
    "Write the answer key of the query from the documents (two answers, and excerpts of web pages).\n"
    "- At most {limit} nuggets, the most useful first; fewer when the documents hold fewer.\n"
    "- One fact each, 4 to 20 words, in the language of the query, understandable on its own.\n"
    "- Only facts that the documents state and that help to answer the query; say each fact once.\n"
    "- A nugget is vital when a good answer must contain it, okay when it is merely good to have."
)

_WINDOW = (
    "Below are a query, some documents, and the answer key so far (nuggets, most useful first; there may "
    "be none yet). Rewrite the key in the light of these documents: add facts that are missing, merge "
    "duplicates, improve the wording, put the most useful first.\n"
    "- At most {limit} nuggets in all; when there are more, leave out the least useful.\n"
    "- One fact each, 4 to 20 words, in the language of the query, understandable on its own.\n"
    "- Keep earlier nuggets unless they are duplicates or do not help to answer the query.\n"
    "Reply with the whole new list, in its order."
)

_ADDED = (
    "Below are a query, its answer key (nuggets), and answers of systems that were not read when the key was "
    "written. List the nuggets that these answers add to the key.\n"
    "- At most {limit}, the most useful first; none when the key lacks nothing that is as useful as its "
    "nuggets.\n"
    "- One fact each, 4 to 20 words, in the language of the query, understandable on its own.\n"
    "- Only facts that the answers state, that help to answer the query, and that no nugget states.\n"
    "- A nugget is vital when a good answer must contain it, okay when it is merely good to have.\n"
    "- Name the IDs of all answers that state it."
)

_IMPORTANCE = (
    "Label every nugget of this answer key: vital when a good answer to the query must contain it, okay "
    "when it is merely good to have. Give exactly one label for each nugget ID."
)


def all_at_once(query: str, documents: Sequence[Block], limit: int) -> Prompt[NuggetsReply]:
    """Asks for nuggets, their importance and their sources in one reply (live profile)."""
    return Prompt(
        task="nuggets",
        version=VERSION,
        system=SYSTEM,
        instructions=_NUGGETS,
        blocks=(Block("query", "q", query), *documents),
        reply=NuggetsReply,
        max_tokens=200 + limit * _TOKENS_PER_NUGGET,
        parameters=(("limit", limit),),
        check=_facts,
        lines=_nuggets_of(documents, 1, limit),
        spare=_spare(documents),
    )


def one_window(
    query: str, documents: Sequence[Block], so_far: Sequence[str], limit: int
) -> Prompt[WindowReply]:
    """Asks for the list rewritten after one more window of documents (paper profile)."""
    nuggets = tuple(Block("nugget", f"n{i}", text) for i, text in enumerate(so_far, start=1))

    def check(reply: WindowReply) -> None:
        reply.texts(so_far)

    return Prompt(
        task="nuggets_window",
        version=VERSION,
        system=SYSTEM,
        instructions=_WINDOW,
        blocks=(Block("query", "q", query), *documents, *nuggets),
        reply=WindowReply,
        max_tokens=200 + limit * _TOKENS_PER_NUGGET,
        parameters=(("limit", limit),),
        check=check,
    )


def additions(
    query: str, nuggets: Sequence[str], answers: Sequence[Block], limit: int
) -> Prompt[NuggetsReply]:
    """Asks for the nuggets that further answers add to a list (nugget bank)."""
    listed = tuple(Block("nugget", f"n{i}", text) for i, text in enumerate(nuggets, start=1))
    return Prompt(
        task="nuggets_added",
        version=VERSION,
        system=SYSTEM,
        instructions=_ADDED,
        blocks=(Block("query", "q", query), *listed, *answers),
        reply=NuggetsReply,
        max_tokens=200 + limit * _TOKENS_PER_NUGGET,
        parameters=(("limit", limit),),
        check=_facts,
        lines=_nuggets_of(answers, 0, limit),
    )


def importance(query: str, nuggets: Sequence[Block]) -> Prompt[ImportanceReply]:
    """Asks for the importance of one window of nuggets (paper profile)."""
    ids = [nugget.id for nugget in nuggets]

    def check(reply: ImportanceReply) -> None:
        every_id_once((label.id for label in reply.labels), ids)

    return Prompt(
        task="importance",
        version=VERSION,
        system=SYSTEM,
        instructions=_IMPORTANCE,
        blocks=(Block("query", "q", query), *nuggets),
        reply=ImportanceReply,
        max_tokens=200 + len(ids) * 30,
        check=check,
        lines=Lines.labelled(ids, "[vo]"),
    )


def _spare(documents: Sequence[Block]) -> tuple[str, ...]:
    """The passages that may be left out; nuggets need one document that states them."""
    passages = tuple(document.id for document in documents if document.kind == "chunk")
    return passages if len(passages) < len(documents) else passages[1:]


def _nuggets_of(documents: Sequence[Block], least: int, most: int) -> Lines:
    """The form of nuggets that some documents state."""
    form = f"[vo]( {{cited}}){{1,20}}: {{character}}{{1,{LONGEST}}}"
    return Lines.listed(form, least, most, [document.id for document in documents])


def _facts(reply: NuggetsReply) -> None:
    if empty := sum(not nugget.text.strip() for nugget in reply.nuggets):
        raise ValueError(f"{empty} nuggets have no text")
    if reply.nuggets and all(is_example(nugget.text) for nugget in reply.nuggets):
        raise ValueError("every nugget is the example of the form; write facts that the documents state")
    if reply.nuggets and not any(complete(nugget.text) for nugget in reply.nuggets):
        raise ValueError(f"every nugget is cut off after {LONGEST} characters; write short facts")


def complete(text: str) -> str:
    """A nugget without the sentence that the longest length of a nugget ended; "" where no other is left.

    >>> complete("Tides rise. They " + "x" * (LONGEST - 17))
    'Tides rise.'
    """
    is_cut = len(text) == LONGEST and sentences(f"{text} x")[-1] != "x"
    return " ".join(sentences(text)[:-1]) if is_cut else text


def is_example(text: str) -> bool:
    """Whether a nugget is the example of the form, which small models copy."""
    return text.strip().casefold().rstrip(".") == EXAMPLE.casefold().rstrip(".")
