"""The graph grows and postings are merged while chunks come and go, and callers are cancelled."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.domain.identity import content_hash
from services.retriever.memory import index as memory_index
from services.retriever.memory.index import MemoryIndex
from services.retriever.memory.postings import Postings
from services.retriever.memory.rows import VectorRows
from services.retriever.memory.snapshot import Snapshots
from services.store.chunks import StoredChunk
from tests.fakes import WordVectors

MODEL = WordVectors(dimensions=16)


def chunk(number: int) -> StoredChunk:
    text = f"Tea of the kind {number}."
    return StoredChunk(f"c{number}", content_hash(text), 0, text)


async def add(index: MemoryIndex, first: int, count: int) -> None:
    chunks = [chunk(number) for number in range(first, first + count)]
    await index.add(chunks, MODEL.encode([each.text for each in chunks]))


class Held:
    """A method or function that does its work when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> None:
        self.begun, self.go, self.calls = threading.Event(), threading.Event(), 0
        work: Callable[..., Any] = getattr(owner, name)

        def held(*given: Any, **named: Any) -> Any:
            self.calls += 1
            self.begun.set()
            assert self.go.wait(60)
            return work(*given, **named)

        monkeypatch.setattr(owner, name, held)

    async def until_begun(self) -> None:
        assert await asyncio.to_thread(self.begun.wait, 60)

    async def cancel(self, call: Coroutine[Any, Any, object]) -> None:
        """Cancel a call in the middle of this work, and then let the work go on."""
        task = asyncio.create_task(call)
        await self.until_begun()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        self.go.set()


def graph_rows(index: MemoryIndex) -> int:
    vectors = index._state.vectors
    return 0 if vectors is None else vectors.covered


async def test_what_comes_while_the_graph_grows_is_added_to_it_without_another_chunk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index, held = MemoryIndex(exact_chunks=0), Held(monkeypatch, VectorRows, "grown")
    await add(index, 0, 50)
    await held.until_begun()
    await add(index, 50, 150)
    held.go.set()
    await index.settled()
    assert graph_rows(index) == 200
    assert len(await index.nearest(MODEL.encode(["tea 7"])[0], 300)) == 200


async def test_a_chunk_that_is_removed_while_the_graph_grows_is_not_in_it_and_the_work_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index, held = MemoryIndex(exact_chunks=0), Held(monkeypatch, VectorRows, "grown")
    await add(index, 0, 100)
    await held.until_begun()
    await index.remove({"c7"})
    held.go.set()
    await index.settled()
    assert (graph_rows(index), held.calls) == (100, 1)
    vectors = index._state.vectors
    assert vectors is not None
    assert not vectors.all()[7].any()
    assert vectors.all()[8].any()
    nearest = await index.nearest(MODEL.encode([chunk(7).text])[0], 200)
    assert len(nearest) == 99
    assert "c7" not in nearest


async def test_removals_that_number_the_rows_again_make_the_graph_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index, held = MemoryIndex(exact_chunks=0), Held(monkeypatch, VectorRows, "grown")
    await add(index, 0, 100)
    await held.until_begun()
    await index.remove({f"c{number}" for number in range(80)})
    held.go.set()
    await index.settled()
    assert (graph_rows(index), held.calls) == (20, 2)
    assert set(await index.nearest(MODEL.encode(["tea"])[0], 200)) == {f"c{n}" for n in range(80, 100)}


async def test_postings_of_a_chunk_that_is_removed_while_they_are_merged_are_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("services.retriever.memory.postings._SEALED", 10)
    index, held = MemoryIndex(exact_chunks=10**6), Held(monkeypatch, Postings, "tidied")
    first = 0
    while not held.begun.is_set():
        await add(index, first, 11)
        first += 11
        await asyncio.sleep(0)
        assert first < 10_000
    await index.remove({"c7"})
    held.go.set()
    await index.settled()
    assert held.calls == 1
    assert not index._state.postings.untidy
    found = await index.matching("tea", 10_000)
    assert set(found) == {f"c{number}" for number in range(first)} - {"c7"}
    assert await index.matching("7", 5) == []
    assert await index.matching("8", 5) == ["c8"]


@pytest.mark.parametrize(("far", "beside_searches"), [(50, True), (20, False)])
async def test_a_processor_is_left_to_searches_unless_the_graph_lacks_much(
    monkeypatch: pytest.MonkeyPatch, far: int, beside_searches: bool
) -> None:
    asked, grown = [], VectorRows.grown

    def told(rows: VectorRows, *, beside_searches: bool) -> VectorRows:
        asked.append(beside_searches)
        return grown(rows, beside_searches=beside_searches)

    monkeypatch.setattr(VectorRows, "grown", told)
    monkeypatch.setattr(memory_index, "_FAR_BEHIND", far)
    index = MemoryIndex(exact_chunks=0)
    await add(index, 0, 30)
    await index.settled()
    assert (asked, graph_rows(index)) == ([beside_searches], 30)


async def test_chunks_whose_addition_is_cancelled_do_not_mix_with_those_that_come_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = MemoryIndex()
    await Held(monkeypatch, memory_index, "terms").cancel(add(index, 0, 500))
    await add(index, 500, 500)
    for number in (0, 7, 499, 500, 507, 999):
        assert await index.matching(str(number), 5) == [f"c{number}"]
        vector = MODEL.encode([chunk(number).text])[0]
        state = index._state
        assert state.vectors is not None
        assert (state.vectors.all()[state.keys.index(f"c{number}")] == vector).all()
    assert await index.ids() == {f"c{number}" for number in range(1000)}


async def test_a_chunk_whose_removal_is_cancelled_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    index = MemoryIndex()
    await add(index, 0, 10)
    await Held(monkeypatch, VectorRows, "erase").cancel(index.remove({"c7"}))
    await index.remove({"c8"})
    left = {f"c{number}" for number in range(10)} - {"c7", "c8"}
    assert await index.ids() == left
    assert set(await index.matching("tea", 20)) == left


async def test_a_removal_that_fails_can_be_repeated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    index = MemoryIndex(snapshots=Snapshots(tmp_path, None))
    await add(index, 0, 10)
    with monkeypatch.context() as broken:
        broken.setattr(Path, "unlink", _forbidden)
        with pytest.raises(PermissionError):
            await index.remove({"c7"})
    await index.remove({"c7"})
    assert "c7" not in await index.ids()
    assert await index.matching("7", 5) == []


def _forbidden(*_given: object, **_named: object) -> None:
    raise PermissionError("the folder is read-only")


async def test_a_snapshot_whose_reading_is_cancelled_is_read_the_next_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    saved = MemoryIndex(snapshots=Snapshots(tmp_path, None))
    await add(saved, 0, 10)
    await saved.save()
    index = MemoryIndex(snapshots=Snapshots(tmp_path, None))
    await Held(monkeypatch, Snapshots, "read").cancel(index.ids())
    assert await index.ids() == await saved.ids()
