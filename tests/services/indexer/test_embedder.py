"""Vectors: joined into batches, kept for ever, and an error that reaches everybody it concerns."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from prometheus_client import REGISTRY

from services.indexer.batching import BatchingEmbedder
from services.indexer.embedder import PACKAGED, LocalEmbedder, installed
from services.indexer.gathering import BatchLimits
from services.indexer.storing import StoringEmbedder
from services.runtime.embedding import Vectors
from services.store.chunks import Chunks
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
        await asyncio.wait_for(BatchingEmbedder(model).embed(["tea", "coffee"]), 30)


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


class Encoder(WordVectors):
    """A model of sentence-transformers that reads eight words, a token each, and notes its batches."""

    max_seq_length = 8

    def __init__(self, device: str = "cpu") -> None:
        super().__init__()
        self.device = SimpleNamespace(type=device)
        self.batches: list[list[int]] = []

    def tokenizer(self, texts: list[str], **_: object) -> dict[str, list[list[int]]]:
        return {"input_ids": [[0] * len(text.split()) for text in texts]}

    def encode(self, texts: Sequence[str], **_: object) -> Vectors:
        self.batches.append([len(text.split()) for text in texts])
        return super().encode(texts)


async def test_the_texts_of_one_batch_have_like_lengths_and_long_ones_are_counted() -> None:
    encoder = Encoder()
    loads: list[tuple[str, int]] = []

    def load(name: str, threads: int) -> Encoder:
        loads.append((name, threads))
        return encoder

    model = LocalEmbedder("words", threads=3, load=load)
    await model.ready()
    await model.ready()
    cut = REGISTRY.get_sample_value("nuggetstream_embedding_cut_texts_total", {"model": "words"}) or 0.0
    texts = ["tea " * (1 + number % 10) for number in range(80)]
    rows = await model.embed(texts)
    assert np.allclose(rows, WordVectors().encode(texts), atol=1e-6)
    assert loads == [("words", 3)]
    assert [len(batch) for batch in encoder.batches] == [32, 32, 16]
    assert [(min(batch), max(batch)) for batch in encoder.batches] == [(7, 10), (3, 6), (1, 2)]
    now = REGISTRY.get_sample_value("nuggetstream_embedding_cut_texts_total", {"model": "words"})
    assert now == cut + 16  # those of nine and of ten words


async def test_a_device_gets_larger_batches_than_a_processor() -> None:
    sizes = {}
    for device in ("cpu", "cuda"):
        encoder = Encoder(device)
        encoder.max_seq_length = 256
        LocalEmbedder("words", load=lambda _, __, encoder=encoder: encoder).encode(["tea " * 200] * 64)
        sizes[device] = [len(batch) for batch in encoder.batches]
    assert sizes == {"cpu": [5] * 12 + [4], "cuda": [64]}


async def test_batches_are_joined_from_texts_of_like_length_of_all_callers(model: HeldModel) -> None:
    embedder = BatchingEmbedder(model, BatchLimits(2))
    callers = await waiting(model, embedder, "long " * 40, "tea", "long " * 41, "coffee")
    model.go.set()
    await asyncio.gather(*callers)
    assert model.calls == [["first"], ["long " * 40, "long " * 41], ["tea", "coffee"]]


@pytest.mark.slow
@pytest.mark.skipif(not installed(), reason="sentence-transformers is not installed: no model to try")
async def test_the_packaged_model_puts_like_with_like() -> None:
    model = LocalEmbedder(PACKAGED)
    rows = await model.embed(["A cat sits on the mat.", "A kitten rests on a rug.", "Shares fell on Monday."])
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2
