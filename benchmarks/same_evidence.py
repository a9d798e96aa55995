"""Do the same battles have the same evidence, whichever index the retriever has?

    NUGGETSTREAM_DATA=... python -m benchmarks.same_evidence [--battles 791] [--model all-MiniLM-L6-v2-int8]

Stores the battles of CrowdRAG-25 with the passages that they cite in PostgreSQL, and searches each with an
exact index in memory and with pgvector and exact search: in the battle's pages and in those of each answer,
where the evidence has to be the same with all its scores, and in the whole corpus, where words are ranked by
estimated frequencies and vectors in half precision.
"""

import argparse
import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.offline_agreement import load
from benchmarks.retrieval_child import opened
from nuggetstream.domain.battle import Side
from nuggetstream.domain.identity import content_hash
from services.indexer.chunking import cut
from services.indexer.loading import local_model
from services.indexer.storing import StoringEmbedder
from services.retriever.memory import MemoryIndex
from services.retriever.port import VectorIndex
from services.retriever.search import Scope, Searcher
from services.runtime.embedding import Embedder
from services.store.content.chunks import Chunks, Origin, Sources, StoredSource
from services.store.database import Database

_OWN = (Scope.BATTLE, Scope.ANSWER_A, Scope.ANSWER_B)
_LIMIT = 50


@dataclass(slots=True)
class Comparison:
    """What two indexes found.

    Attributes:
        searches: Number of searches in pages of battles.
        differing: Those whose evidence differs, as battle and scope.
        pieces: Number of pieces of evidence that the searches found.
        shared: Of each search of the corpus, the share of the first index's evidence that the second has.
    """

    searches: int = 0
    differing: list[tuple[str, str]] = field(default_factory=list)
    pieces: int = 0
    shared: list[float] = field(default_factory=list)


def crowdrag(folder: Path, count: int) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The first battles, and the texts of the passages by id."""
    passages = {row["docid"]: row["text"] for row in load(folder / "documents.jsonl.gz")}
    return list(islice(load(folder / "battles.jsonl.gz"), count)), passages


async def store(
    database: Database, battles: Iterable[Mapping[str, Any]], passages: Mapping[str, str]
) -> None:
    """Store battles with their passages, as the indexer does."""
    chunks, sources = Chunks(database), Sources(database)
    for battle in battles:
        cited_by: dict[str, tuple[Side, ...]] = {}
        for side in Side:
            for key in battle[side]["citations"]:
                if key in passages:
                    cited_by[key] = (*cited_by.get(key, ()), side)
        hashes = {key: content_hash(passages[key]) for key in cited_by}
        new = [c for key in hashes for c in cut(hashes[key], passages[key], Origin("en"), 10, 2)]
        await chunks.add(new)
        rows = [StoredSource(key, None, hashes[key], None, sides) for key, sides in cited_by.items()]
        await sources.add(battle["battle_id"], rows)


async def compare(
    database: Database,
    embedder: Embedder,
    battles: Sequence[Mapping[str, Any]],
    indexes: tuple[VectorIndex, VectorIndex],
) -> Comparison:
    """Search each battle with both indexes."""
    storing = StoringEmbedder(embedder, Chunks(database))
    first, second = (Searcher.of(database, embedder, index, storing=storing) for index in indexes)
    result = Comparison()
    for battle in battles:
        name, query = battle["battle_id"], battle["query"]
        for scope in _OWN:
            found = await first.search(query, scope, name, _LIMIT)
            result.searches += 1
            result.pieces += len(found)
            if found != await second.search(query, scope, name, _LIMIT):
                result.differing.append((name, scope))
        one, other = [
            {hit.chunk_id for hit in await each.search(query, Scope.CORPUS, name, _LIMIT)}
            for each in (first, second)
        ]
        result.shared.append(len(one & other) / max(len(one), 1))
    return result


async def main(count: int, model: str) -> None:
    """Print what was compared and what differs."""
    battles, passages = crowdrag(Path(os.environ["NUGGETSTREAM_DATA"]) / "crowdrag25", count)
    async with opened("pgvector exact") as parts:
        await store(parts.database, battles, passages)
        indexes = (MemoryIndex(), parts.index)
        result = await compare(parts.database, local_model(model), battles, indexes)
    print(
        f"{len(battles)} battles, {model}: {len(result.differing)} of {result.searches:,} searches in their "
        f"own pages differ ({result.pieces:,} pieces of evidence); in the corpus, on average "
        f"{fmean(result.shared):.1%} of the {_LIMIT} best are the same"
    )
    for name, scope in result.differing[:10]:
        print(f"differs: {name}, {scope}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Evidence of memory and of pgvector, compared.")
    parser.add_argument("--battles", type=int, default=791)
    parser.add_argument("--model", default="all-MiniLM-L6-v2-int8")
    options = parser.parse_args()
    asyncio.run(main(options.battles, options.model))
