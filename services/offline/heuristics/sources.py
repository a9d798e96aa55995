"""Which chunks state a fact, although no sentence of theirs competed with it for the list?

Only the most topical sentences of the evidence compete. A fact that was written in an answer is therefore
compared with the sentence of the evidence that has most of its terms, in the same way as with an answer.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nuggetstream.text.comparison import contradicts
from services.offline.heuristics.facts import Document, Fact
from services.offline.heuristics.support import (
    FULL,
    FULL_TERMS,
    MEANING,
    exclude_other_names,
    named_terms,
)
from services.offline.heuristics.text import sentences
from services.offline.heuristics.vectors import Embed, dense_vectors, rarity


def with_chunks(
    query: str, facts: Sequence[Fact], documents: Sequence[Document], embed: Embed | None
) -> list[Fact]:
    """The facts, those of answers with a chunk that states them, too.

    Args:
        query: The user's question; its terms count less.
        facts: The facts.
        documents: Answers and chunks of evidence.
        embed: Sentence embeddings, or None to compare by shared terms only.
    """
    chunks = {document.id: document.text for document in documents if document.kind == "chunk"}
    written = [fact.text for fact in facts if chunks.keys().isdisjoint(fact.sources)]
    chunk_of = dict(zip(written, _stating(query, written, list(chunks.items()), embed), strict=True))
    return [
        replace(fact, sources=tuple(sorted({*fact.sources, chunk})))
        if (chunk := chunk_of.get(fact.text)) is not None
        else fact
        for fact in facts
    ]


def _stating(
    query: str, facts: Sequence[str], chunks: Sequence[tuple[str, str]], embed: Embed | None
) -> list[str | None]:
    """For each fact the chunk whose sentence states it; None where none does."""
    stated = list(dict.fromkeys((text, name) for name, whole in chunks for text in sentences(whole)))
    if not stated or not facts:
        return [None] * len(facts)
    texts = [text for text, _ in stated]
    named = named_terms(facts, texts, rarity([*facts, query]))
    exclude_other_names(named, facts, texts, FULL_TERMS)
    best = [int(index) for index in named.argmax(axis=1)]
    close, least = named[np.arange(len(facts)), best], FULL_TERMS
    if embed is not None:
        meant = dense_vectors([*facts, *(texts[index] for index in best)], embed)
        meaning = (meant[: len(facts)] * meant[len(facts) :]).sum(axis=1)
        close, least = MEANING * meaning + (1 - MEANING) * close, FULL
    return [
        stated[index][1] if value >= least and not contradicts(fact, texts[index]) else None
        for fact, index, value in zip(facts, best, close, strict=True)
    ]
