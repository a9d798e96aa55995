"""How high does retrieval rank what answers cite?

    NUGGETSTREAM_DATA=... python -m benchmarks.retrieval_quality [--model NAME] [--index pgvector]

The 1,300 passages of CrowdRAG-25 are the corpus, and the topics of its battles the queries. A passage is
relevant for a topic if any answer to it cites it. Prints the mean reciprocal rank of the first relevant
passage among the first five, for words, vectors and both fused, with 95 % intervals from resampling topics.
"""

import argparse
import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.offline_agreement import load
from benchmarks.retrieval_child import opened
from nuggetstream.statistics.fusion import reciprocal_rank_fusion
from services.indexer.loading import local_model
from services.retriever.pgvector import PgVectorIndex
from services.store.content.chunks import Chunks, StoredChunk

DEPTH, POOL, RESAMPLES = 5, 200, 10_000


def topics_of(folder: Path) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Query and relevant passages of each topic."""
    queries, relevant = dict[str, str](), dict[str, set[str]]()
    for battle in load(folder / "battles.jsonl.gz"):
        queries[battle["topic"]] = battle["query"]
        cited = {key for side in ("a", "b") for key in battle[side]["citations"]}
        relevant.setdefault(battle["topic"], set()).update(cited)
    return queries, relevant


def reciprocal_rank(ranking: Sequence[str], relevant: set[str]) -> float:
    """1 / rank of the first relevant passage; 0 where none is among the first five."""
    return next((1 / rank for rank, key in enumerate(ranking[:DEPTH], start=1) if key in relevant), 0.0)


async def ranks_of(kind: str, folder: Path, model: str) -> dict[str, list[float]]:
    """The reciprocal rank of each topic, by ranking."""
    queries, relevant = topics_of(folder)
    passages = {row["docid"]: row["text"] for row in load(folder / "documents.jsonl.gz")}
    embedder = local_model(model)
    chunks = [StoredChunk(key, key, 0, text) for key, text in passages.items()]
    vectors = await embedder.embed([chunk.text for chunk in chunks])
    ranks: dict[str, list[float]] = {"words": [], "vectors": [], "hybrid": []}
    async with opened(kind) as parts:
        index = parts.index
        await Chunks(parts.database).add(chunks)
        await index.add(chunks, vectors)
        if isinstance(index, PgVectorIndex):
            await index.settled()
        for topic, vector in zip(queries, await embedder.embed(list(queries.values())), strict=True):
            words, nearest = await index.matching(queries[topic], POOL), await index.nearest(vector, POOL)
            fused = [key for key, _ in reciprocal_rank_fusion([words, nearest])]
            for name, ranking in (("words", words), ("vectors", nearest), ("hybrid", fused)):
                ranks[name].append(reciprocal_rank(ranking, relevant[topic]))
    print(f"{len(queries)} topics, {len(passages):,} passages, {model}, {kind}\n")
    return ranks


async def measure(kind: str, folder: Path, model: str) -> None:
    """Print one line per ranking."""
    ranks = await ranks_of(kind, folder, model)
    print("| | MRR@5 | 95 % |\n|---|---|---|")
    chance = np.random.default_rng(1)
    for name, values in ranks.items():
        means = chance.choice(np.asarray(values), (RESAMPLES, len(values))).mean(axis=1)
        low, high = np.percentile(means, [2.5, 97.5])
        print(f"| {name} | {np.mean(values):.3f} | {low:.3f} to {high:.3f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="MRR@5 on CrowdRAG-25 of words, vectors and both.")
    parser.add_argument("--model", default="all-MiniLM-L6-v2-int8")
    parser.add_argument("--index", choices=("memory", "pgvector"), default="memory")
    options = parser.parse_args()
    kind = "pgvector exact" if options.index == "pgvector" else "memory"
    asyncio.run(measure(kind, Path(os.environ["NUGGETSTREAM_DATA"]) / "crowdrag25", options.model))
