"""Vectors: joined into batches, kept for ever, and an error that reaches everybody it concerns."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from prometheus_client import REGISTRY

from nuggetstream.domain.identity import content_hash
from services.indexer.batching import BatchingEmbedder
from services.indexer.choosing import Wanted
from services.indexer.cuts import Cuts
from services.indexer.embedder import LocalEmbedder, by_length
from services.indexer.encoder import ON_PROCESSOR, BatchSize, Encoder
from services.indexer.gathering import BatchLimits
from services.indexer.loading import local_model
from services.indexer.machine import machine_for
from services.indexer.numpy_encoder import MULTILINGUAL, has_multilingual
from services.indexer.onnx_encoder import is_readable
from services.indexer.packaged import PACKAGED
from services.indexer.storing import StoringEmbedder
from services.indexer.torch_encoder import installed
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


@pytest.mark.slow
@pytest.mark.skipif(not installed(), reason="sentence-transformers is not installed: no model to try")
async def test_the_packaged_model_puts_like_with_like() -> None:
    model = local_model(PACKAGED)
    rows = await model.embed(["A cat sits on the mat.", "A kitten rests on a rug.", "Shares fell on Monday."])
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2


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


@pytest.mark.skipif(not machine_for(PACKAGED).onnx, reason="the extra onnx is not installed: no model to try")
def test_onnx_runtime_puts_like_with_like_and_counts_tokens() -> None:
    model = local_model(PACKAGED, threads=1, wanted=Wanted(runtime="onnx"))
    rows = model.encode(
        ["A cat sits on the mat.", "A kitten rests on a rug.", "Shares fell on Monday.", *TEXTS]
    )
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2
    assert model.cuts.of(content_hash(TEXTS[-1])) == pytest.approx(256 / 402)
    beginning = model.encode(["word " * 254])
    assert rows[-1] @ beginning[0] == pytest.approx(1, abs=1e-5)


@pytest.mark.slow
@pytest.mark.skipif(
    not (machine_for(PACKAGED).onnx and machine_for(PACKAGED).torch), reason="one of the two is missing"
)
def test_onnx_runtime_and_torch_give_the_same_vectors() -> None:
    rows = [
        local_model(PACKAGED, threads=1, wanted=Wanted(runtime, "cpu", "float32")).encode(TEXTS)
        for runtime in ("onnx", "torch")
    ]
    assert rows[0] == pytest.approx(rows[1], abs=1e-5)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", {"model_type": "xlm-roberta", "hidden_act": "gelu"}),
        ("config.json", {"model_type": "bert", "hidden_act": "relu"}),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}),
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}]),
        ("model.safetensors", None),
    ],
)
def test_only_models_that_onnx_runtime_computes_alike_are_given_to_it(
    file: str, content: object, tmp_path: Path
) -> None:
    modules = [{"type": f"sentence_transformers.models.{name}"} for name in ("Transformer", "Pooling")]
    files = {"config.json": {"model_type": "bert", "hidden_act": "gelu"}, "modules.json": modules}
    files |= {"1_Pooling/config.json": {"pooling_mode_mean_tokens": True}}
    files |= {name: {} for name in ("sentence_bert_config.json", "tokenizer.json", "model.safetensors")}
    for name, value in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(value))
    assert is_readable(tmp_path)
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_text(json.dumps(content))
    assert not is_readable(tmp_path)


@pytest.mark.skipif(not has_multilingual(), reason="the extra multilingual is not installed: no model to try")
def test_the_multilingual_model_finds_passages_in_another_language() -> None:
    model = local_model(MULTILINGUAL, threads=1)
    passages = [
        "Stehen Sonne, Mond und Erde in einer Linie, ist der Tidenhub am größten.",
        "Ein Sauerteigansatz muss regelmäßig mit frischem Mehl gefüttert werden.",
        "En invierno la colonia de abejas vive de la miel almacenada.",
    ]
    questions = ["When are the tides strongest?", "怎样让酸面种保持活力？", "How do bees survive the winter?"]
    rows = model.encode([*passages, *questions, ""])
    assert np.isfinite(rows).all()
    assert (rows[3:6] @ rows[:3].T).argmax(axis=1).tolist() == [0, 1, 2]
