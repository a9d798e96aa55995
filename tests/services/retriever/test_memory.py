"""Changes of the index in memory whose callers are cancelled, removals of many chunks, and its bound."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs

from nuggetstream.domain.identity import content_hash
from services.retriever import memory
from services.retriever.memory import MemoryIndex
from services.store.content.chunks import StoredChunk
from tests.fakes import WordVectors

MODEL = WordVectors(dimensions=16)


def chunk(number: int) -> StoredChunk:
    text = f"Tea of the kind {number}."
    return StoredChunk(f"c{number}", content_hash(text), 0, text)


async def add(index: MemoryIndex, first: int, count: int) -> None:
    chunks = [chunk(number) for number in range(first, first + count)]
    await index.add(chunks, MODEL.encode([chunk.text for chunk in chunks]))


def assert_has_its_vector(index: MemoryIndex, number: int) -> None:
    assert index._rows.vectors is not None
    row = index._rows.vectors[index._row_by_id[f"c{number}"]]
    np.testing.assert_array_equal(row, MODEL.encode([chunk(number).text])[0])


class Held:
    """A method or function that does its work when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        work: Callable[..., Any] = getattr(owner, name)

        def held(*given: Any, **named: Any) -> Any:
            self.begun.set()
            assert self.go.wait(60)
            return work(*given, **named)

        monkeypatch.setattr(owner, name, held)

    async def cancel(self, call: Coroutine[Any, Any, object]) -> None:
        """Cancel a call in the middle of this work, and then let the work go on."""
        task = asyncio.create_task(call)
        assert await asyncio.to_thread(self.begun.wait, 60)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        self.go.set()


async def test_chunks_whose_addition_is_cancelled_do_not_mix_with_those_that_come_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = MemoryIndex()
    await Held(monkeypatch, memory, "terms").cancel(add(index, 0, 500))
    await add(index, 500, 1500)
    for number in (0, 7, 499, 500, 507, 1999):
        assert await index.matching(str(number), 5) == [f"c{number}"]
        assert_has_its_vector(index, number)
    assert await index.ids() == {f"c{number}" for number in range(2000)}


async def test_a_chunk_whose_removal_is_cancelled_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    index = MemoryIndex()
    await add(index, 0, 10)
    await Held(monkeypatch, memory._Rows, "remove").cancel(index.remove({"c7"}))
    await index.remove({"c8"})
    left = {f"c{number}" for number in range(10)} - {"c7", "c8"}
    assert await index.ids() == left
    assert set(await index.matching("tea", 20)) == left


async def test_vectors_of_another_size_change_nothing_and_the_right_ones_can_be_added() -> None:
    index = MemoryIndex()
    await add(index, 0, 3)
    with pytest.raises(ValueError, match="broadcast"):
        await index.add([chunk(3)], np.ones((1, 5), np.float32))
    await add(index, 3, 1)
    assert await index.matching("kind 3", 1) == ["c3"]
    assert (await index.nearest(MODEL.encode([chunk(3).text])[0], 1)) == ["c3"]


async def test_removed_vectors_are_overwritten_and_many_removed_rows_take_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "_FIRST_ROWS", 16)
    index = MemoryIndex()
    await add(index, 0, 200)
    await index.remove({"c7"})
    assert index._rows.vectors is not None
    assert not index._rows.vectors[7].any()
    assert index._rows.vectors[8].any()
    await index.remove({f"c{number}" for number in range(150)})
    assert index._rows.size == 50
    assert "149" not in index._rows.postings._by_term
    await add(index, 200, 50)
    left = {f"c{number}" for number in range(150, 250)}
    assert await index.ids() == left
    for number in (150, 199, 200, 249):
        assert await index.matching(str(number), 5) == [f"c{number}"]
        assert_has_its_vector(index, number)
    assert set(await index.nearest(MODEL.encode(["tea"])[0], 500)) == left


async def test_a_corpus_that_passes_the_bound_is_searched_and_the_log_says_once_what_to_do() -> None:
    index = MemoryIndex(max_chunks=20)
    with capture_logs() as logs:
        await add(index, 0, 20)
        assert logs == []
        await add(index, 20, 5)
        await add(index, 25, 5)
    [warning] = logs
    assert (warning["log_level"], warning["chunks"], warning["most"]) == ("warning", 25, 20)
    assert "NUGGETSTREAM_RETRIEVAL_INDEX=pgvector" in warning["remedy"]
    assert len(await index.matching("tea", 99)) == 30
