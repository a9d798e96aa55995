"""Vectors stored in the database by the hash of their text, so that each text is embedded only once.

stored? ──> being embedded in this process? wait ──> claimed by another? wait ──> embed, store, release
"""

import asyncio
from collections.abc import Sequence

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import content_hash, derived_id
from services.indexer.cuts import Cuts
from services.indexer.gathering import Row
from services.runtime.claims import POLL_S, Claims, ClaimStore
from services.runtime.embedding import Embedder, Vectors, stacked
from services.runtime.errors import Outage
from services.runtime.shared_cache import Retention, SharedCache
from services.store.content.chunks import Chunks

_STORE_BATCH = 128  # vectors stored at once, so that an interrupted battle does not lose all of them
_WAIT_S = 60.0


class StoringEmbedder:
    """Embeds each text once, for all processes that share a database.

    Args:
        inner: The model.
        chunks: Table of vectors.
        claims: Claims on texts; None where no other process embeds.
        wait: Seconds to wait for the vectors that another process computes.
        cuts: Which texts the model read only in part.

    Attributes:
        model: Name of the model.
    """

    def __init__(
        self,
        inner: Embedder,
        chunks: Chunks,
        claims: ClaimStore | None = None,
        *,
        wait: float = _WAIT_S,
        cuts: Cuts | None = None,
    ) -> None:
        self._inner, self._chunks, self._wait = inner, chunks, wait
        self.model = inner.model
        self._claims = None if claims is None else Claims(claims)
        self._cuts = cuts or Cuts()
        # Only what is being computed is shared; what is stored is read.
        self._running: SharedCache[str, Row] = SharedCache(Retention(entries=0))

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions).

        Raises:
            Outage: Another process has claimed a text, and its vector is not stored yet.
            Exception: The error of the model or of the database.
        """
        keys = [content_hash(text) for text in texts]
        vectors = await self._chunks.get_vectors(self.model, list(set(keys)))
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}

        async def compute(missing: Sequence[str]) -> Sequence[Row]:
            rows = await self._computed({key: new[key] for key in missing})
            return [rows[key] for key in missing]

        if new:
            vectors |= dict(zip(new, await self._running.get_many(list(new), compute), strict=True))
        return stacked([vectors[key] for key in keys])

    async def _computed(self, new: dict[str, str]) -> dict[str, Row]:
        """The vectors of texts, by their hashes: computed here, or by the process that has claimed them."""
        if self._claims is None:
            return await self._embedded(new)
        vectors: dict[str, Row] = {}
        names = {key: derived_id("vector", self.model, key) for key in new}
        until = asyncio.get_running_loop().time() + self._wait
        while remaining := [key for key in new if key not in vectors]:
            async with self._claims.free([names[key] for key in remaining]) as ours:
                # Another process may have stored them between our look and our claim.
                vectors |= await self._chunks.get_vectors(self.model, remaining)
                claimed = [key for key in remaining if names[key] in ours and key not in vectors]
                vectors |= await self._embedded({key: new[key] for key in claimed})
            if len(vectors) < len(new):
                if asyncio.get_running_loop().time() >= until:
                    raise Outage(Reason.STORE_UNAVAILABLE, "another process is embedding the same texts")
                await asyncio.sleep(POLL_S)
        return vectors

    async def _embedded(self, new: dict[str, str]) -> dict[str, Row]:
        """The vectors of texts, which are stored as they come."""
        vectors: dict[str, Row] = {}
        for batch in _batches(list(new), _STORE_BATCH):
            rows = await self._inner.embed([new[key] for key in batch])
            computed = dict(zip(batch, rows, strict=True))
            shares = {key: share for key in batch if (share := self._cuts.of(key)) is not None}
            await self._chunks.add_vectors(self.model, computed, shares)
            vectors |= computed
        return vectors


def _batches(keys: Sequence[str], size: int) -> list[Sequence[str]]:
    return [keys[start : start + size] for start in range(0, len(keys), size)]
