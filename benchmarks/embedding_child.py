"""One row of `benchmarks.embedding` by torch; arguments: HOW DTYPE THREADS FOLDER."""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from services.indexer.batching import BatchingEmbedder
from services.indexer.embedder import ON_PROCESSOR, PACKAGED, LocalEmbedder, by_length, model_folder
from services.runtime.embedding import Vectors, unit

_BATCH, _CALLERS, _REQUEST = 32, 8, 16
_BUSY_S = 0.004  # of work that an event loop does before it lets other tasks run


def loaded(dtype: str, threads: int) -> tuple[Any, float, float]:
    """The model, and the processor seconds of import and load."""
    began = time.process_time()
    import torch
    from sentence_transformers import SentenceTransformer

    imported = time.process_time()
    torch.set_num_threads(threads)
    model = SentenceTransformer(str(model_folder(PACKAGED)))
    model = model.to(getattr(torch, dtype))
    model.encode(["warm"] * 4, show_progress_bar=False)
    return model, imported - began, time.process_time() - imported


def in_order(model: Any, texts: Sequence[str]) -> Vectors:
    """The vectors by batches in order of arrival."""
    batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
    rows = [model.encode(list(batch), batch_size=_BATCH, show_progress_bar=False) for batch in batches]
    return unit(np.concatenate(rows).astype(np.float32))


def sorted_by_length(model: Any, texts: Sequence[str]) -> Vectors:
    """The vectors by sentence-transformers alone."""
    rows = model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)
    return unit(np.asarray(rows, dtype=np.float32))


async def by_callers(model: Any, texts: Sequence[str], *, busy: bool) -> Vectors:
    """The vectors by the indexer's batches, for callers that each ask for a few texts at a time."""
    embedder = BatchingEmbedder(LocalEmbedder(PACKAGED, load=lambda _, __: model))
    rows: dict[int, Any] = {}

    async def caller(first: int) -> None:
        for start in range(first * _REQUEST, len(texts), _CALLERS * _REQUEST):
            rows.update(enumerate(await embedder.embed(texts[start : start + _REQUEST]), start))

    async def work() -> None:
        while True:
            until = time.perf_counter() + _BUSY_S
            while time.perf_counter() < until:
                pass
            await asyncio.sleep(0)

    working = asyncio.create_task(work()) if busy else None
    await asyncio.gather(*(caller(number) for number in range(_CALLERS)))
    if working is not None:
        working.cancel()
    return np.stack([rows[index] for index in range(len(texts))])


def padding(model: Any, texts: Sequence[str], how: str) -> float:
    """Share of what is computed that is padding."""
    limit = int(model.max_seq_length)
    ids = model.tokenizer(list(texts), truncation=True, max_length=limit, verbose=False)["input_ids"]
    tokens = [len(text) for text in ids]
    order = range(len(texts)) if how == "arrival" else sorted(range(len(texts)), key=lambda i: -tokens[i])
    batches = [list(order[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
    if how in ("ours", "busy"):
        batches = by_length(tokens, *ON_PROCESSOR)
    computed = sum(max(tokens[i] for i in batch) * len(batch) for batch in batches)
    return 1 - sum(tokens) / computed


def main(how: str, dtype: str, threads: str, folder: str) -> None:
    """Measure, save the vectors, and print the numbers as JSON."""
    model, import_s, load_s = loaded(dtype, int(threads))
    texts: dict[str, list[str]] = json.loads((Path(folder) / "texts.json").read_text(encoding="utf-8"))
    ways: dict[str, Callable[[Sequence[str]], Vectors]] = {
        "arrival": lambda given: in_order(model, given),
        "length": lambda given: sorted_by_length(model, given),
        "ours": lambda given: asyncio.run(by_callers(model, given, busy=False)),
        "busy": lambda given: asyncio.run(by_callers(model, given, busy=True)),
    }
    result: dict[str, Any] = {"import_s": import_s, "load_s": load_s}
    rows = []
    for kind, given in texts.items():
        began, cpu = time.perf_counter(), time.process_time()
        rows.append(ways[how](given))
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        result[kind] = {"per_s": len(given) / seconds, "cpu_ms": 1000 * cpu / len(given)}
    np.save(Path(folder) / "rows.npy", np.concatenate(rows))
    result["padding"] = padding(model, texts["chunks"], how)
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
