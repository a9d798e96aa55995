"""The documents as built-in agents search them: passages, which are found by words and by vectors."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nuggetstream.domain.identity import content_hash, derived_id
from nuggetstream.text.languages import detected_language
from services.cli.tournament.plan import Search
from services.indexer.chunking import cut
from services.retriever.corpus import hybrid
from services.retriever.index import Query
from services.retriever.memory import MemoryIndex
from services.retriever.port import VectorIndex
from services.runtime.embedding import Embedder
from services.store.content.chunks import Origin, StoredChunk

_BATCH = 1000  # passages that are added to the index at once
RANKED = 20  # passages that a search returns, of which an agent reads the first


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a document.

    Attributes:
        document: Id of the document.
        name: The same id, with the number of the passage where the document has several.
        text: Its sentences.
    """

    document: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents that can be searched.

    Attributes:
        passages: All passages by their names.
        index: Finds them.
        embedder: Embedding model; None where the documents are found by words alone.
        key: Identifies the passages and their vectors.
    """

    passages: Mapping[str, Passage]
    index: VectorIndex
    embedder: Embedder | None
    key: str

    @classmethod
    async def of(
        cls, texts: Mapping[str, str], size: int, overlap: int, embedder: Embedder | None
    ) -> "Collection":
        """Cut documents and index them.

        Args:
            texts: Text of each document by its id.
            size: Sentences per passage.
            overlap: Sentences that a passage shares with the one before.
            embedder: As above; it stores the vectors.

        Raises:
            Unavailable: The embedding model or the database does not answer.
        """
        chunks = await asyncio.to_thread(_chunks, texts, size, overlap)
        index = MemoryIndex()
        for start in range(0, len(chunks), _BATCH):
            batch = chunks[start : start + _BATCH]
            vectors = None if embedder is None else await embedder.embed([chunk.text for _, chunk in batch])
            await index.add([chunk for _, chunk in batch], vectors)
        hashes = {name: content_hash(text) for name, text in texts.items()}
        return cls(
            passages={chunk.id: Passage(name, chunk.id, chunk.text) for name, chunk in chunks},
            index=index,
            embedder=embedder,
            key=derived_id("collection", hashes, size, overlap, None if embedder is None else embedder.model),
        )

    async def search(self, queries: Sequence[str], by: Search, limit: int) -> list[Passage]:
        """The best passages for queries, best first: the rankings of all queries, fused by reciprocal rank.

        Raises:
            ValueError: Vectors are asked for, and there is no embedding model.
            Unavailable: The embedding model does not answer.
        """
        asked = [Query(text, None) for text in queries]
        if by != "words":
            if self.embedder is None:
                raise ValueError("a search by vectors needs an embedding model")
            rows = await self.embedder.embed(queries)
            asked = [Query(text, row) for text, row in zip(queries, rows, strict=True)]
        ranked = await hybrid(self.index, asked, limit, words=by != "vectors")
        return [self.passages[name] for name, _ in ranked]


def _chunks(texts: Mapping[str, str], size: int, overlap: int) -> list[tuple[str, StoredChunk]]:
    """The chunks of all documents, each with the id of its document and named after it."""
    chunks = []
    for name, text in texts.items():
        detected = detected_language(text)
        origin = Origin(language=None if detected is None else detected.tag)
        own = cut(content_hash(text), text, origin, size, overlap)
        numbers = [""] if len(own) == 1 else [f"#{number}" for number in range(1, len(own) + 1)]
        chunks += [
            (name, replace(chunk, id=f"{name}{number}")) for chunk, number in zip(own, numbers, strict=True)
        ]
    return chunks
