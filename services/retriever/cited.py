"""Chunks that an answer cites a passage of are evidence, wherever the ranking has them."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.evidence import Evidence
from nuggetstream.text.snippets import quoted
from services.retriever.search import Searcher, evidence_of, sides_by_page
from services.store.content.chunks import StoredChunk


async def with_cited(
    evidence: Sequence[Evidence], battle: Battle, searcher: Searcher, ids: Collection[str], limit: int
) -> list[Evidence]:
    """The evidence with a chunk for each cited passage that came with the battle and that its page has.

    What is missing comes last, in place of the chunks that rank lowest, of half of them at most.

    Args:
        evidence: The ranked chunks.
        battle: The battle.
        searcher: Reads the chunks of its pages.
        ids: Ids of the chunks to consider.
        limit: Maximum number of chunks.

    Raises:
        Unavailable: The database does not answer.
    """
    snippets = _snippets(battle)
    own = await searcher.sources.of_battle(battle.id) if any(snippets.values()) else []
    wanted = defaultdict[str, list[str]](list)
    for source in own:
        wanted[source.content_hash] += snippets.get(source.url, [])
    pages = [key for key, words in wanted.items() if words]
    if not pages:
        return list(evidence)
    chunks = [
        chunk for chunk in await searcher.vectors.chunks.of_pages(pages, battle.arena) if chunk.id in ids
    ]
    there = {item.chunk_id for item in evidence}
    missing = (await asyncio.to_thread(_missing, wanted, chunks, there))[: limit // 2]
    kept = list(evidence[: limit - len(missing)])
    score = kept[-1].score if kept else 0.0
    named, sides = {source.content_hash: source for source in reversed(own)}, sides_by_page(own)
    shares = await searcher.vectors.partly_read(missing)
    return kept + [evidence_of(chunk, score, named[chunk.content_hash], sides, shares) for chunk in missing]


def _snippets(battle: Battle) -> dict[str, list[str]]:
    """The cited passages by the URL of their page."""
    snippets = defaultdict[str, list[str]](list)
    for side in Side:
        for source in battle.answer(side).sources:
            snippets[source.url] += [
                passage.snippet for passage in source.cited if passage.snippet is not None
            ]
    return snippets


def _missing(
    wanted: Mapping[str, Sequence[str]], chunks: Sequence[StoredChunk], there: Collection[str]
) -> list[StoredChunk]:
    """The first chunk that has a snippet, for each snippet of which no chunk is there."""
    missing: dict[str, StoredChunk] = {}
    for page, snippets in wanted.items():
        own = [chunk for chunk in chunks if chunk.content_hash == page]
        those = {chunk.id: quoted(snippets, chunk.text) for chunk in own} if snippets else {}
        for snippet in dict.fromkeys(snippets):
            having = [chunk for chunk in own if snippet in those[chunk.id]]
            if having and not any(chunk.id in there or chunk.id in missing for chunk in having):
                missing[having[0].id] = having[0]
    return list(missing.values())
