"""How an embedding model is computed: the operator's settings first, then what is fastest on this machine."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from services.indexer.choosing import Machine, NoWay, Wanted, Way, fastest, ways
from services.indexer.encoder import ON_DEVICE, ON_PROCESSOR, BatchSize
from services.indexer.loading import measured_once
from services.runtime.embedding import Vectors

ONNX = Way("onnx", "cpu", "float32", ON_PROCESSOR)
TORCH = Way("torch", "cpu", "float32", ON_PROCESSOR)
BFLOAT16 = replace(TORCH, dtype="bfloat16")
CUDA = Way("torch", "cuda", "float16", ON_DEVICE)
EVERYTHING = Machine(onnx=True, torch=True, devices=["cuda"], bfloat16=True)


@pytest.mark.parametrize(
    ("machine", "wanted", "expected"),
    [
        (EVERYTHING, Wanted(), [CUDA, ONNX, BFLOAT16]),
        (Machine(onnx=True, torch=True), Wanted(), [ONNX]),
        (Machine(onnx=False, torch=True), Wanted(), [TORCH]),
        (Machine(onnx=False, torch=True, bfloat16=True), Wanted(), [TORCH, BFLOAT16]),
        (Machine(onnx=True, torch=False, devices=["cuda"], bfloat16=True), Wanted(), [ONNX]),
        (EVERYTHING, Wanted(runtime="onnx"), [ONNX]),
        (EVERYTHING, Wanted(runtime="torch", device="cpu"), [TORCH, BFLOAT16]),
        (EVERYTHING, Wanted(device="cpu"), [ONNX, BFLOAT16]),
        (EVERYTHING, Wanted(device="cpu", dtype="float32"), [ONNX]),
        (EVERYTHING, Wanted(device="cuda:1"), [replace(CUDA, device="cuda:1")]),
        (EVERYTHING, Wanted(device="cuda", dtype="bfloat16"), [replace(CUDA, dtype="bfloat16")]),
        (Machine(onnx=True, torch=True), Wanted(dtype="bfloat16"), [BFLOAT16]),
        (Machine(onnx=False, torch=False, numpy=True), Wanted(), [replace(ONNX, runtime="numpy")]),
    ],
)
def test_settings_and_machine_leave_these_ways(machine: Machine, wanted: Wanted, expected: list[Way]) -> None:
    assert ways(wanted, machine) == expected


@pytest.mark.parametrize(
    ("machine", "wanted", "message"),
    [
        (Machine(onnx=False, torch=False), Wanted(), "extra dense"),
        (Machine(onnx=False, torch=True), Wanted(runtime="onnx"), "NUGGETSTREAM_EMBEDDING_RUNTIME=onnx"),
        (Machine(onnx=False, torch=False, numpy=True), Wanted(runtime="torch"), "RUNTIME=torch"),
        (Machine(onnx=True, torch=False), Wanted(device="cuda"), "NUGGETSTREAM_EMBEDDING_DEVICE=cuda"),
        (EVERYTHING, Wanted("onnx", "cuda"), "RUNTIME=onnx, NUGGETSTREAM_EMBEDDING_DEVICE=cuda"),
    ],
)
def test_what_cannot_be_computed_says_which_setting(machine: Machine, wanted: Wanted, message: str) -> None:
    with pytest.raises(NoWay, match=message):
        ways(wanted, machine)


class Bench:
    """Models whose texts take a given time on a clock of their own."""

    def __init__(self, seconds: dict[tuple[str, str, int], float]) -> None:
        self.seconds, self.now, self.loads = seconds, 0.0, list[Way]()

    def clock(self) -> float:
        return self.now

    def load(self, way: Way) -> "TimedEncoder":
        self.loads.append(way)
        if (each := self.seconds.get((way.device, way.dtype, way.largest.tokens))) is None:
            raise RuntimeError(f"no {way}")
        return TimedEncoder(self, way, each)


class TimedEncoder:
    limit = None
    rows = np.ones((1, 2), np.float32)

    def __init__(self, bench: Bench, way: Way, each: float) -> None:
        self.bench, self.largest, self.each = bench, way.largest, each

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.bench.now += self.each * len(texts)
        return self.rows.repeat(len(texts), axis=0)


def test_the_fastest_way_is_taken_first() -> None:
    bench = Bench({("cpu", "float32", 1024): 0.02, ("cpu", "bfloat16", 1024): 0.01})
    rates = fastest([ONNX, BFLOAT16], bench.load, bench.clock)
    assert {way: round(rate) for way, rate in rates.items()} == {BFLOAT16: 100, ONNX: 50}
    assert next(iter(rates)) == BFLOAT16


def test_a_device_that_works_leaves_the_processor_out_and_one_that_fails_does_not() -> None:
    working = Bench({("cuda", "float16", 32_768): 0.001, ("cpu", "float32", 1024): 0.0001})
    assert list(fastest([CUDA, ONNX], working.load, working.clock)) == [CUDA]
    broken = Bench({("cpu", "float32", 1024): 0.01})
    assert list(fastest([CUDA, ONNX], broken.load, broken.clock)) == [ONNX]


def test_larger_batches_are_taken_only_where_they_are_faster() -> None:
    larger = BatchSize(1024, 131_072)
    for each, expected in ((0.0005, larger), (0.00099, ON_DEVICE)):
        bench = Bench({("cuda", "float16", 32_768): 0.001, ("cuda", "float16", 131_072): each})
        assert next(iter(fastest([CUDA], bench.load, bench.clock))).largest == expected


def test_measurements_end_with_the_time_that_they_have() -> None:
    bench = Bench({("cpu", "float32", 1024): 0.02, ("cpu", "bfloat16", 1024): 0.01})
    rates = fastest([TORCH, BFLOAT16], bench.load, bench.clock, limit=0.1)
    assert list(rates) == [TORCH]
    assert bench.loads == [TORCH]


def test_vectors_that_are_not_finite_are_no_way() -> None:
    bench = Bench({("cuda", "float16", 32_768): 0.001, ("cpu", "float32", 1024): 0.01})

    def load(way: Way) -> TimedEncoder:
        encoder = bench.load(way)
        if way.device == "cuda":
            encoder.rows = np.full((1, 2), np.nan, np.float32)
        return encoder

    assert list(fastest([CUDA, ONNX], load, bench.clock)) == [ONNX]


def test_where_no_way_works_the_reason_is_raised() -> None:
    with pytest.raises(RuntimeError, match="no torch on cuda"):
        fastest([CUDA], Bench({}).load, lambda: 0.0)


def test_a_machine_is_measured_once_per_model(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "embedding.json"
    seconds = {("cpu", "float32", 1024): 0.02, ("cpu", "bfloat16", 1024): 0.01}
    first, second, other = Bench(seconds), Bench(seconds), Bench(seconds)
    assert measured_once([TORCH, BFLOAT16], first.load, path, "a model", first.clock) == BFLOAT16
    assert measured_once([TORCH, BFLOAT16], second.load, path, "a model", second.clock) == BFLOAT16
    assert second.loads == [BFLOAT16]
    measured_once([TORCH, BFLOAT16], other.load, path, "another model", other.clock)
    assert len(json.loads(path.read_text())) == 2
    assert len(other.loads) > 1


@pytest.mark.parametrize("content", [None, "no JSON", "[]", '{"a model": {"runtime": "torch"}}'])
def test_what_was_remembered_and_does_not_work_is_measured_again(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "embedding.json"
    if content is None:  # a device that is gone
        gone = Bench({("cuda", "float16", 32_768): 0.01})
        assert measured_once([CUDA], gone.load, path, "a model", gone.clock) == CUDA
    else:
        path.write_text(content)
    bench = Bench({("cpu", "float32", 1024): 0.02})
    assert measured_once([CUDA, ONNX], bench.load, path, "a model", bench.clock) == ONNX


def test_where_nothing_can_be_written_the_choice_is_made_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    bench = Bench({("cpu", "float32", 1024): 0.02})
    path = tmp_path / "file" / "embedding.json"
    assert measured_once([ONNX], bench.load, path, "a model", bench.clock) == ONNX
