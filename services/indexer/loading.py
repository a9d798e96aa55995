"""Loads an embedding model for the fastest way to compute it, measured once per machine and model."""

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from services.indexer.choosing import Load, Wanted, Way, fastest, ways
from services.indexer.embedder import LocalEmbedder
from services.indexer.encoder import BatchSize, Encoder
from services.indexer.machine import fingerprint, machine_for
from services.indexer.numpy_encoder import load_multilingual
from services.indexer.onnx_encoder import load_onnx
from services.indexer.packaged import model_folder
from services.indexer.torch_encoder import TorchEncoder, load_model

log = structlog.get_logger(__name__)


def processors() -> int:
    """Number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def measurements() -> Path:
    """The file with the fastest ways that were measured on this machine."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "nuggetstream" / "embedding.json"


@dataclass(slots=True)
class Loader:
    """Loads a model one way or another; a model that is loaded another way is dropped first.

    Attributes:
        model: Name of the model.
        threads: Threads that compute.
    """

    model: str
    threads: int
    _loaded: tuple[str, str, str] | None = field(default=None, init=False)
    _held: Any = field(default=None, init=False)

    def __call__(self, way: Way) -> Encoder:
        """The model, to be computed that way.

        Raises:
            OSError: There is no such model, or it cannot be downloaded.
            Exception: This way does not work here.
        """
        kind = (way.runtime, way.device, way.dtype)
        if kind != self._loaded:
            self._loaded = self._held = None
            self._held = self._load(way)
            self._loaded = kind
        encoder: Encoder = self._held
        return TorchEncoder(encoder.model, way.largest) if isinstance(encoder, TorchEncoder) else encoder

    def _load(self, way: Way) -> Encoder:
        if way.runtime == "numpy":
            return load_multilingual(self.threads)
        if way.runtime == "onnx":
            return load_onnx(Path(model_folder(self.model)), self.threads)
        import torch

        model = load_model(self.model, self.threads)
        return TorchEncoder(model.to(device=way.device, dtype=getattr(torch, way.dtype)))


def local_model(model: str, threads: int | None = None, wanted: Wanted | None = None) -> LocalEmbedder:
    """A model in this process, to be loaded at first use; see `load_fastest`."""
    return LocalEmbedder(model, partial(load_fastest, model, threads, wanted))


def load_fastest(model: str, threads: int | None = None, wanted: Wanted | None = None) -> Encoder:
    """Load a model for the fastest way to compute it.

    Args:
        model: Name or folder of the model; the packaged one is taken from its package.
        threads: Threads that compute; by default one per processor that this process may use.
        wanted: What the operator has set.

    Raises:
        NoWay: Nothing that is installed can compute the model as the settings want it.
        OSError: There is no such model, or it cannot be downloaded.
    """
    wanted, threads = wanted or Wanted(), threads or processors()
    load, possible = Loader(model, threads), ways(wanted, machine_for(model))
    if len(possible) == 1:
        return load(possible[0])
    key = json.dumps([model, threads, asdict(wanted), fingerprint()])
    return load(measured_once(possible, load, measurements(), key))


def measured_once(
    possible: Sequence[Way], load: Load, path: Path, key: str, clock: Callable[[], float] = time.perf_counter
) -> Way:
    """The fastest way, as it was measured before, or else as it is measured now.

    Args:
        possible: The ways.
        load: Loads the model.
        path: File with earlier measurements; where it cannot be written, the next start measures again.
        key: What the measurement depends on.
        clock: Seconds, monotonic.

    Raises:
        Exception: The error of the last way, where none works.
    """
    if (way := _remembered(path, key)) is not None:
        with suppress(Exception):  # it no longer works, so it is measured again
            load(way)
            return way
    rates = fastest(possible, load, clock)
    best = next(iter(rates))
    tried = {str(way): round(rate, 1) for way, rate in rates.items()}
    log.info("measured the embedding model", fastest=str(best), texts_per_second=tried)
    _remember(path, key, best)
    return best


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _remembered(path: Path, key: str) -> Way | None:
    try:
        row = _read(path)[key]
        return Way(row["runtime"], row["device"], row["dtype"], BatchSize(**row["largest"]))
    except (KeyError, TypeError):
        return None


def _remember(path: Path, key: str, way: Way) -> None:
    """Write the way down; where nothing can be written, the next start measures again."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.{os.getpid()}")
        new.write_text(json.dumps(_read(path) | {key: asdict(way)}, indent=1), encoding="utf-8")
        new.replace(path)
