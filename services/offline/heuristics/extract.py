"""An answer made of sentences of passages, with the numbers of the passages that state them."""

from collections.abc import Sequence

from services.offline.heuristics.facts import ENOUGH, Document, create_facts
from services.offline.heuristics.support import named_terms
from services.offline.heuristics.vectors import Embed, rarity

_NOTHING = "The passages do not answer this."


def extract(query: str, documents: Sequence[Document], limit: int, embed: Embed | None) -> str:
    """The salient sentences that have most of the query's terms, rare ones counting more.

    Args:
        query: The user's question.
        documents: The passages, with ids such as c1.
        limit: Maximum number of sentences.
        embed: Sentence embeddings, or None to compare by shared terms only.

    Returns:
        The sentences, each followed by a mark such as [1, 3]; where no passage states a fact, a
        sentence that says so.
    """
    facts = create_facts(query, documents, limit=ENOUGH, embed=embed)
    if not facts:
        return _NOTHING
    texts = [fact.text for fact in facts]
    near = named_terms([query], texts, rarity([*texts, query]))[0]
    best = sorted(range(len(facts)), key=lambda index: -near[index])[:limit]
    marks = (", ".join(source.removeprefix("c") for source in facts[index].sources) for index in best)
    return " ".join(f"{texts[index]} [{mark}]" for index, mark in zip(best, marks, strict=True))
