"""Vectors that a run leaves for the next one: the same, whatever became of the file."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from nuggetstream.domain.identity import content_hash
from services.indexer.embedder import LocalEmbedder
from services.indexer.encoder import ON_PROCESSOR, BatchSize, Encoder
from services.indexer.kept_vectors import KeptVectors
from services.runtime.embedding import Vectors
from tests.fakes import WordVectors


class CountingEncoder(WordVectors):
    """A model that reads eight words of a text, and remembers what it computed."""

    limit: int = 8
    largest: BatchSize = ON_PROCESSOR

    def count(self, texts: list[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def encode(self, texts: list[str]) -> Vectors:
        self.calls.append(list(texts))
        return super().encode(texts)


class Run:
    """One process: a model that is loaded when it is needed, and the file of vectors."""

    def __init__(self, file: Path, name: str = "words") -> None:
        self.encoder, self.loads = CountingEncoder(), list[str]()
        self.model = KeptVectors(LocalEmbedder(name, self._load), file)

    def _load(self) -> Encoder:
        self.loads.append("loaded")
        return self.encoder

    async def embed(self, *texts: str) -> Vectors:
        await self.model.ready()
        rows = await self.model.embed(texts)
        self.model.save()
        return rows

    @property
    def computed(self) -> list[str]:
        return [text for call in self.encoder.calls for text in call]


async def test_the_next_run_computes_only_what_is_new_and_loads_the_model_for_it(tmp_path: Path) -> None:
    file = tmp_path / "vectors.npz"
    first = Run(file)
    rows = await first.embed("tea", "coffee", "tea")
    assert np.array_equal(rows[0], rows[2])
    assert sorted(first.computed) == ["coffee", "tea"]
    same = Run(file)
    assert np.array_equal(await same.embed("tea", "coffee", "tea"), rows)
    assert (same.computed, same.loads) == ([], [])
    more = Run(file)
    assert np.array_equal((await more.embed("water", "coffee"))[1], rows[1])
    assert (more.computed, more.loads) == (["water"], ["loaded"])
    assert (await more.embed()).shape == (0, 0)


async def test_the_file_has_only_vectors_of_the_last_run(tmp_path: Path) -> None:
    file = tmp_path / "vectors.npz"
    await Run(file).embed("tea", "coffee")
    await Run(file).embed("coffee")
    with np.load(file) as kept:
        assert kept["texts"].tolist() == [content_hash("coffee")]
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


async def test_a_text_that_is_read_in_part_is_noted_by_each_run(tmp_path: Path) -> None:
    file, long = tmp_path / "vectors.npz", "tea " * 10
    for computed in (["tea", long], [long]):
        run = Run(file)
        await run.embed("tea", long)
        assert sorted(run.computed) == sorted(computed)
        assert run.model.cuts.of(content_hash(long)) == 8 / 10


def other_model(file: Path) -> None:
    with np.load(file) as kept:
        np.savez(file, **{**kept, "model": np.array("another")})


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-40])


def no_vectors(file: Path) -> None:
    file.write_bytes(b"")


def without_a_field(file: Path) -> None:
    with np.load(file) as kept:
        np.savez(file, model=kept["model"], texts=kept["texts"])


def of_objects(file: Path) -> None:
    with np.load(file) as kept:
        np.savez(file, **{**kept, "texts": kept["texts"].astype(object)})


@pytest.mark.parametrize("spoil", [other_model, cut_off, no_vectors, without_a_field, of_objects])
async def test_a_file_that_is_no_use_is_replaced(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    file = tmp_path / "vectors.npz"
    rows = await Run(file).embed("tea", "coffee")
    spoil(file)
    again = Run(file)
    assert np.array_equal(await again.embed("tea", "coffee"), rows)
    assert sorted(again.computed) == ["coffee", "tea"]
    last = Run(file)
    await last.embed("tea", "coffee")
    assert last.computed == []


async def test_a_disk_that_takes_nothing_costs_the_vectors_and_no_result(tmp_path: Path) -> None:
    run = Run(tmp_path / "missing" / "vectors.npz")
    with capture_logs() as logs:
        assert len(await run.embed("tea")) == 1
    assert [line["event"] for line in logs] == ["the vectors are not kept"]
