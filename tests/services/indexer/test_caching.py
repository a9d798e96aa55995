"""Vectors of recent texts: asked for once and kept. Sharing is tested with the shared cache."""

import asyncio
import weakref
from collections.abc import Sequence

import numpy as np
import pytest

from services.indexer.caching import CachingEmbedder
from services.runtime.embedding import Vectors
from tests.fakes import WordVectors


class HeldModel(WordVectors):
    """Computes when it is told to; may fail then, or lose a row."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.error: Exception | None = None
        self.rows_lost = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        await self.go.wait()
        if self.error is not None:
            raise self.error
        return self.encode(texts)[: len(texts) - self.rows_lost]


@pytest.fixture
def model() -> HeldModel:
    return HeldModel()


async def asked(embedder: CachingEmbedder, *texts: str) -> asyncio.Task[Vectors]:
    """A caller that waits for its texts."""
    task = asyncio.create_task(embedder.embed(texts))
    for _ in range(3):  # it has asked, and what it asked for has begun
        await asyncio.sleep(0)
    return task


async def test_a_text_under_way_is_waited_for_not_asked_for_again(model: HeldModel) -> None:
    embedder = CachingEmbedder(model)
    callers = [await asked(embedder, "tea", "water", "tea"), await asked(embedder, "coffee", "tea")]
    model.go.set()
    first, second = await asyncio.gather(*callers)
    assert model.calls == [["tea", "water"], ["coffee"]]
    assert np.array_equal(first, model.encode(["tea", "water", "tea"]))
    assert np.array_equal(second, model.encode(["coffee", "tea"]))
    assert np.array_equal(await embedder.embed(["coffee"]), model.encode(["coffee"]))
    assert len(model.calls) == 2


async def test_an_error_reaches_all_who_wait_and_is_not_remembered(model: HeldModel) -> None:
    embedder = CachingEmbedder(model)
    callers = [await asked(embedder, "tea"), await asked(embedder, "tea", "coffee")]
    model.error = RuntimeError("out of memory")
    model.go.set()
    said = await asyncio.gather(*callers, return_exceptions=True)
    assert [str(answer) for answer in said] == ["out of memory", "out of memory"]
    model.error = None
    assert np.array_equal(await embedder.embed(["tea"]), model.encode(["tea"]))


async def test_a_lost_row_is_an_error_and_nobody_waits_for_ever(model: HeldModel) -> None:
    model.rows_lost = 1
    model.go.set()
    with pytest.raises(ValueError, match="shorter"):
        await asyncio.wait_for(CachingEmbedder(model).embed(["tea", "coffee"]), 90)


async def test_a_row_that_is_remembered_keeps_no_other_row_in_memory() -> None:
    computed: list[weakref.ref[Vectors]] = []

    class Watched(WordVectors):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            rows = self.encode(texts)
            computed.append(weakref.ref(rows))
            return rows

    embedder = CachingEmbedder(Watched(), limit=1)
    await embedder.embed(["tea", "water"])
    await embedder.embed(["water"])
    await asyncio.sleep(0)  # the task that computed them is let go
    assert computed
    assert all(rows() is None for rows in computed)


async def test_more_texts_than_are_remembered_still_get_their_rows(model: HeldModel) -> None:
    model.go.set()
    texts = ["one", "two", "three", "one"]
    embedder = CachingEmbedder(model, limit=1)
    assert np.array_equal(await embedder.embed(texts), model.encode(texts))
    assert (await embedder.embed([])).shape == (0, 0)
    assert model.calls == [["one", "two", "three"]]
