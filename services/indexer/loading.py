"""Loads an embedding model: the packaged one by ONNX Runtime, and any other one by sentence-transformers."""

import os
from functools import partial
from pathlib import Path

from services.indexer.embedder import LocalEmbedder
from services.indexer.encoder import Encoder
from services.indexer.onnx_encoder import load_onnx
from services.indexer.torch_encoder import installed, load_torch
from services.runtime.embedding import NotInstalled
from services.runtime.packaged_model import PACKAGED_MODEL, PACKAGED_TOKENS, packaged_files


def processors(limit: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Number of processors that this process may use.

    Args:
        limit: File with the processor time of a container: microseconds, or "max", in so many microseconds.
    """
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    count = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    quota, period = limit.read_text().split() if limit.is_file() else ("max", "")
    return count if quota == "max" else max(1, min(count, int(quota) // int(period)))


def local_model(model: str, threads: int | None = None) -> LocalEmbedder:
    """A model in this process, to be loaded at first use; see `load`."""
    return LocalEmbedder(model, partial(load, model, threads))


def load(model: str, threads: int | None = None) -> Encoder:
    """Load a model.

    Args:
        model: Name or folder of the model.
        threads: Threads that compute; by default one per processor that this process may use.

    Raises:
        NotInstalled: What computes it is not installed.
        OSError: There is no such model, or it cannot be downloaded.
    """
    runtime_of(model)
    threads = threads or processors()
    files = packaged_files() if model == PACKAGED_MODEL else None
    return load_torch(model, threads) if files is None else load_onnx(*files, PACKAGED_TOKENS, threads)


def runtime_of(model: str) -> str:
    """The name of the library that computes a model.

    Raises:
        NotInstalled: It is not installed.
    """
    if model == PACKAGED_MODEL:
        if packaged_files() is None:
            raise NotInstalled(
                f"the embedding model {model} is not installed: `pip install 'nuggetstream[light]'` "
                "brings it; NUGGETSTREAM_EMBEDDING_MODEL=none ranks by BM25 alone"
            )
        return "ONNX Runtime"
    if not installed():
        raise NotInstalled(
            f"the embedding model {model} needs sentence-transformers: `make setup TORCH=1` or `pip install "
            f"'nuggetstream[dense]'` brings it; the packaged model is {PACKAGED_MODEL}, and "
            "NUGGETSTREAM_EMBEDDING_MODEL=none ranks by BM25 alone"
        )
    return "sentence-transformers"
