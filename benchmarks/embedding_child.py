"""One row of `benchmarks.embedding`; arguments: HOW RUNTIME DTYPE THREADS FOLDER.

With "serve" as HOW it is the endpoint of a row with "remote", and prints its URL.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import openai

from services.indexer.batching import BatchingEmbedder
from services.indexer.calls import EmbeddingCalls
from services.indexer.choosing import Runtime, Way
from services.indexer.embedder import LocalEmbedder, by_length
from services.indexer.encoder import ON_PROCESSOR, Encoder
from services.indexer.endpoint import EmbeddingEndpoint
from services.indexer.loading import Loader
from services.indexer.packaged import PACKAGED
from services.indexer.remote import RemoteEmbedder
from services.indexer.torch_encoder import TorchEncoder
from services.offline.app import create_app
from services.offline.serve import running
from services.runtime.embedding import Embedder, Vectors, unit
from services.runtime.lifecycle import take_short_turns
from services.runtime.llm.accounting import Ledger
from services.runtime.llm.circuit import Circuit
from services.runtime.llm.exchange import Exchange, Names
from services.runtime.llm.limiter import AdaptiveLimit
from services.runtime.llm.retries import RetryPolicy

_BATCH, _CALLERS, _REQUEST = 32, 8, 16
_BUSY_S = 0.004  # of work that an event loop does before it lets other tasks run


def loaded(runtime: Runtime, dtype: str, threads: int) -> tuple[Encoder, float, float]:
    """The model, and the processor seconds of the imports and of the load."""
    began = time.process_time()
    if runtime == "torch":
        import sentence_transformers  # noqa: F401
        import torch  # noqa: F401
    else:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
        import tokenizers  # noqa: F401
    imported = time.process_time()
    encoder = Loader(PACKAGED, threads)(Way(runtime, "cpu", dtype, ON_PROCESSOR))
    encoder.encode(["warm"] * 4)
    return encoder, imported - began, time.process_time() - imported


def in_batches(encoder: Encoder, texts: Sequence[str], batches: Sequence[Sequence[int]]) -> Vectors:
    """The vectors by the model alone, in given batches."""
    rows = [encoder.encode([texts[i] for i in batch]) for batch in batches]
    order = np.argsort(np.concatenate([np.asarray(batch) for batch in batches]))
    return unit(np.concatenate(rows)[order])


def batches_of(encoder: Encoder, texts: Sequence[str], how: str) -> list[list[int]]:
    """The numbers of the texts of each batch."""
    tokens = [min(count, encoder.limit or count) for count in encoder.count(texts)]
    if how in ("ours", "busy", "remote"):
        return by_length(tokens, encoder.largest)
    order = list(range(len(texts)))
    if how == "length":
        order.sort(key=lambda i: -tokens[i])
    return [order[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]


def local(encoder: Encoder) -> BatchingEmbedder:
    """The indexer's embedder for a model in its process."""
    return BatchingEmbedder(LocalEmbedder(PACKAGED, lambda: encoder))


def alone(encoder: Encoder, texts: Sequence[str], how: str) -> Vectors:
    """The vectors without our batches: by sentence-transformers, which sorts by length, or ONNX Runtime."""
    if how == "length" and isinstance(encoder, TorchEncoder):
        rows = encoder.model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)
        return unit(np.asarray(rows, dtype=np.float32))
    return in_batches(encoder, texts, batches_of(encoder, texts, how))


async def by_callers(embedder: Embedder, texts: Sequence[str], *, busy: bool = False) -> Vectors:
    """The vectors by the indexer's batches, for callers that each ask for a few texts at a time."""
    rows: dict[int, Vectors] = {}

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


async def serve(encoder: Encoder) -> None:
    """Serve the model as an endpoint until the process is terminated."""
    model = LocalEmbedder(PACKAGED, lambda: encoder)
    async with running(create_app(lambda texts: model.encode(list(texts)))) as url:
        print(url, flush=True)
        await asyncio.Event().wait()


@asynccontextmanager
async def asked(url: str) -> AsyncIterator[RemoteEmbedder]:
    """The indexer's embedder for an endpoint."""
    client = openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0)
    names = Names("the embedding model", "NUGGETSTREAM_EMBEDDING_", "NUGGETSTREAM_EMBEDDING_URL")
    calls = EmbeddingCalls(
        endpoint=EmbeddingEndpoint(Exchange(client, 600.0, names), PACKAGED),
        circuit=Circuit(PACKAGED, 10, endpoint=url),
        ledger=Ledger(),
        limit=AdaptiveLimit(8),
        retries=RetryPolicy(attempts=5),
    )
    embedder = RemoteEmbedder(calls)
    try:
        await embedder.ready()
        yield embedder
    finally:
        await embedder.close()


async def by_endpoint(url: str, texts: Sequence[str]) -> Vectors:
    """The vectors by an endpoint, for callers that each ask for a few texts at a time."""
    async with asked(url) as embedder:
        return await by_callers(embedder, texts)


def padding(encoder: Encoder, texts: Sequence[str], how: str) -> float:
    """Share of what is computed that is padding."""
    tokens = [min(count, encoder.limit or count) for count in encoder.count(texts)]
    batches = batches_of(encoder, texts, how)
    computed = sum(max(tokens[i] for i in batch) * len(batch) for batch in batches)
    return 1 - sum(tokens) / computed


def main(how: str, runtime: Runtime, dtype: str, threads: str, folder: str) -> None:
    """Measure, save the vectors, and print the numbers as JSON."""
    take_short_turns()  # as services do
    encoder, import_s, load_s = loaded(runtime, dtype, int(threads))
    if how == "serve":
        asyncio.run(serve(encoder))
    if how == "remote":
        command = [sys.executable, "-m", __spec__.name, "serve", runtime, dtype, threads, folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            url = server.stdout.readline().strip() if server.stdout else ""
            try:
                measure(encoder, url, how, folder, {"import_s": import_s, "load_s": load_s})
            finally:
                server.terminate()
        return
    measure(encoder, "", how, folder, {"import_s": import_s, "load_s": load_s})


def measure(encoder: Encoder, url: str, how: str, folder: str, result: dict[str, object]) -> None:
    """Embed the texts, save the vectors, and print the numbers as JSON."""
    texts: dict[str, list[str]] = json.loads((Path(folder) / "texts.json").read_text(encoding="utf-8"))
    ways: dict[str, Callable[[Sequence[str]], Vectors]] = {
        "ours": lambda given: asyncio.run(by_callers(local(encoder), given)),
        "busy": lambda given: asyncio.run(by_callers(local(encoder), given, busy=True)),
        "remote": lambda given: asyncio.run(by_endpoint(url, given)),
    }
    compute = ways.get(how, lambda given: alone(encoder, given, how))
    rows = []
    for kind, given in texts.items():
        began, cpu = time.perf_counter(), time.process_time()
        rows.append(compute(given))
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        result[kind] = {"per_s": len(given) / seconds, "cpu_ms": 1000 * cpu / len(given)}
    np.save(Path(folder) / "rows.npy", np.concatenate(rows))
    result["padding"] = padding(encoder, texts["chunks"], how)
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])  # type: ignore[arg-type]
