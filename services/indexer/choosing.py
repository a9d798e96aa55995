"""Which runtime, device, number type and batch size computes an embedding model fastest on this machine.

    settings + machine ──> ways that are possible ──> one? take it ──> measured before? take that
                                                      └─> else time each for a moment, and take the fastest

A measurement takes seconds, so it is bounded, and made once per machine and model.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from services.indexer.encoder import ON_DEVICE, ON_PROCESSOR, BatchSize, Encoder

Runtime = Literal["onnx", "torch", "numpy"]
CPU = "cpu"
LIMIT_S = 10.0  # for all measurements of a start, loading excluded; the one in progress is finished
_EACH_S = 0.4
_WORTH = 1.05  # gain of a larger batch, below which it only takes memory
_LARGER = {True: BatchSize(128, 4096), False: BatchSize(1024, 131_072)}  # by whether it is a processor
# About 20 and 150 tokens, as a sentence and a chunk have.
_SENTENCE = "Spring tides occur when the Moon is full or new, and neap tides a week later."
_SAMPLE = (_SENTENCE, " ".join([_SENTENCE] * 8))


@dataclass(frozen=True, slots=True)
class Way:
    """One way to compute a model.

    Attributes:
        runtime: The library that computes.
        device: Name of the device, as torch has it.
        dtype: Type of the numbers, as torch has it.
        largest: The largest batch.
    """

    runtime: Runtime
    device: str
    dtype: str
    largest: BatchSize

    def __str__(self) -> str:
        batch = f"{self.largest.texts} texts or {self.largest.tokens} tokens at once"
        return f"{self.runtime} on {self.device} in {self.dtype}, {batch}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the operator has set; None where it is to be measured."""

    runtime: Runtime | None = None
    device: str | None = None
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """What a machine can do.

    Attributes:
        onnx: Whether ONNX Runtime is installed and can compute the model.
        torch: Whether sentence-transformers is installed.
        devices: Devices beside the processor.
        bfloat16: Whether the processor multiplies numbers of this type.
        numpy: Whether the model is in a package that computes it by numpy; then there is no other way.
    """

    onnx: bool
    torch: bool
    devices: Sequence[str] = ()
    bfloat16: bool = False
    numpy: bool = False


class NoWay(ValueError):
    """Nothing that is installed can compute the model as the settings want it."""


def ways(wanted: Wanted, machine: Machine) -> list[Way]:
    """The ways that are worth a measurement: devices, then those of the processor, the safest first.

    ONNX Runtime computes single precision on the processor, with the vectors of torch and faster. torch takes
    seconds to import, so it is tried only where it can be faster: on a device, in bfloat16, or alone.

    Raises:
        NoWay: There is none.
    """
    possible = [way for way in _possible(machine, wanted.device) if wanted.runtime in (None, way.runtime)]
    if wanted.device is not None:
        possible = [way for way in possible if way.device == wanted.device]
    if wanted.dtype is not None:
        typed = [way for way in possible if way.dtype == wanted.dtype]
        torch = {way.device: replace(way, dtype=wanted.dtype) for way in possible if way.runtime == "torch"}
        possible = typed or list(torch.values())
    if any(way.runtime == "onnx" for way in possible):
        possible = [way for way in possible if (way.runtime, way.dtype) != ("torch", "float32")]
    if not possible:
        raise NoWay(_explained(wanted, machine))
    return possible


def _possible(machine: Machine, device: str | None) -> list[Way]:
    """All ways of a machine, with a device that was not found but asked for."""
    if machine.numpy:
        return [Way("numpy", CPU, "float32", ON_PROCESSOR)]
    found = []
    if machine.torch:
        asked = [] if device in (None, CPU, *machine.devices) else [f"{device}"]
        found += [Way("torch", name, "float16", ON_DEVICE) for name in (*machine.devices, *asked)]
    if machine.onnx:
        found.append(Way("onnx", CPU, "float32", ON_PROCESSOR))
    if machine.torch:
        types = ["float32", "bfloat16"] if machine.bfloat16 else ["float32"]
        found += [Way("torch", CPU, dtype, ON_PROCESSOR) for dtype in types]
    return found


def _explained(wanted: Wanted, machine: Machine) -> str:
    if not (machine.onnx or machine.torch or machine.numpy):
        return (
            "what computes the embedding model is not installed: the extra dense for any model, onnx for "
            "BERT models with mean pooling, multilingual for the one in its package; "
            "NUGGETSTREAM_EMBEDDING_MODEL=none ranks by BM25 alone"
        )
    settings = {
        "NUGGETSTREAM_EMBEDDING_RUNTIME": wanted.runtime,
        "NUGGETSTREAM_EMBEDDING_DEVICE": wanted.device,
        "NUGGETSTREAM_EMBEDDING_DTYPE": wanted.dtype,
    }
    named = ", ".join(f"{name}={value}" for name, value in settings.items() if value is not None)
    return f"what is installed cannot compute the embedding model with {named}"


Load = Callable[[Way], Encoder]
"""Loads a model to be computed one way; an exception says that this way does not work here."""


def fastest(
    possible: Iterable[Way], load: Load, clock: Callable[[], float], limit: float = LIMIT_S
) -> dict[Way, float]:
    """Time each way for a moment, and larger batches for the fastest one.

    A way that fails is left out. The first that works is always timed, the others while there is time. The
    processor is not tried where a device works.

    Args:
        possible: The ways, at least one.
        load: Loads the model; only the last one that it returned is used.
        clock: Seconds, monotonic.
        limit: Seconds for all measurements.

    Returns:
        Texts per second of the ways that were tried, the one to take first.

    Raises:
        Exception: The error of the last way, where none works.
    """
    spent, rates, failed = 0.0, dict[Way, float](), None
    for way in possible:
        if rates and (spent >= limit or way.device == CPU != next(iter(rates)).device):
            continue
        try:
            encoder = load(way)
            began = clock()
            rates[way] = _rate(encoder, way.largest, clock)
            spent += clock() - began
        except Exception as error:  # no such device, too little memory, a type that it cannot multiply
            failed = error
    if not rates:
        raise failed or ValueError("there is no way to try")
    best = max(rates, key=lambda way: rates[way])
    larger = replace(best, largest=_LARGER[best.device == CPU])
    if best.runtime == "torch" and spent < limit:
        with suppress(Exception):  # too little memory
            rates[larger] = _rate(load(larger), larger.largest, clock)
        if rates.get(larger, 0.0) > _WORTH * rates[best]:
            best = larger
    return {best: rates[best]} | rates


def _rate(encoder: Encoder, largest: BatchSize, clock: Callable[[], float]) -> float:
    """Texts per second, after a first batch that is not counted.

    Raises:
        ArithmeticError: The vectors are not finite.
    """
    batches = list(_batches(encoder, largest))
    if not np.isfinite(encoder.encode(batches[-1])).all():
        raise ArithmeticError("a vector has values that are not finite")
    began, done = clock(), 0
    while True:
        for batch in batches:
            encoder.encode(batch)
            done += len(batch)
        if (elapsed := clock() - began) >= _EACH_S:
            return done / elapsed


def _batches(encoder: Encoder, largest: BatchSize) -> Iterable[Sequence[str]]:
    for text in _SAMPLE:
        tokens = max(1, encoder.count([text])[0])
        yield [text] * max(1, min(largest.texts, largest.tokens // tokens))
