"""Search in a corpus: indexes of ours beside plain faiss and lancedb, in one run and on the same vectors.

    python -m benchmarks.retrieval [--chunks 100000] [--only memory] [--without lancedb]

Vectors have 384 dimensions of which about 32 are used, as those of real texts do; words follow Zipf's law.
Every index runs in a process of its own, one after the other.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from benchmarks.peers import cache_folder, environment

DIMENSIONS, LATENT, WORDS, QUERIES = 384, 32, 60_000, 200
LENGTH = 120  # words of a chunk
OURS = ("memory", "pgvector exact", "pgvector hnsw")
PEERS = {"faiss flat": ("faiss-cpu",), "faiss hnsw": ("faiss-cpu",), "lancedb": ("lancedb",)}
_CHILD, _PEER = "benchmarks.retrieval_child", Path(__file__).with_name("retrieval_peer.py")
_LEAST_LIMIT, _LIMIT_PER_CHUNK = 3000.0, 0.01  # seconds per index, unless --limit says otherwise
_STOPPING = 60.0  # seconds in which an index that took too long stops its database
_ROWS = 50_000  # rows that are generated, and compared with the queries, at once
_NEAREST = 50
_COLUMNS = {
    "add_s": "add s",
    "build_s": "build s",
    "memory_mb": "memory MB",
    "vector_p50": "vector p50 ms",
    "vector_p99": "p99",
    "recall": "recall@50",
    "words_p50": "words p50 ms",
    "hybrid_p50": "hybrid p50 ms",
    "hybrid_p99": "p99 ",
    "adding_p50": "while adding p50 ms",
    "adding_p99": "p99  ",
    "found_p50": "found after event p50 ms",
    "found_p99": "p99   ",
}


def vectors(count: int, seed: int) -> np.ndarray:
    """Unit vectors around a plane of few dimensions."""
    return np.concatenate(list(_vectors(count, seed)))


def _vectors(count: int, seed: int) -> Iterator[np.ndarray]:
    """The same in parts."""
    plane = np.random.default_rng(1).standard_normal((LATENT, DIMENSIONS), dtype=np.float32)
    chance = np.random.default_rng(seed)
    for start in range(0, count, _ROWS):
        size = min(_ROWS, count - start)
        rows = chance.standard_normal((size, LATENT), dtype=np.float32) @ plane
        rows += 0.5 * chance.standard_normal((size, DIMENSIONS), dtype=np.float32)
        yield rows / np.linalg.norm(rows, axis=1, keepdims=True)


def words(count: int, length: int, seed: int) -> np.ndarray:
    """Numbers of words; word n is about 1/n as frequent as the first."""
    return np.concatenate(list(_words(count, length, seed)))


def _words(count: int, length: int, seed: int) -> Iterator[np.ndarray]:
    """The same in parts."""
    chance = np.random.default_rng(seed)
    for start in range(0, count, _ROWS):
        size = min(_ROWS, count - start)
        yield np.exp(chance.random((size, length)) * np.log(WORDS)).astype(np.int32)


def write_data(folder: Path, count: int) -> None:
    """The vectors and words of chunks and queries, and the 50 nearest chunks of each query.

    A million chunks take 2 GB on disk; they are generated in parts, so that memory does not limit them.
    """
    queries = vectors(QUERIES, 3)
    np.save(folder / "queries.npy", queries)
    np.save(folder / "query_words.npy", words(QUERIES, 8, 5))
    nearest = np.zeros((QUERIES, 0), dtype=np.int64)
    scores = np.zeros((QUERIES, 0), dtype=np.float32)
    with (folder / "vectors.npy").open("wb") as file:
        _write_head(file, np.dtype(np.float32), (count, DIMENSIONS))
        for number, rows in enumerate(_vectors(count, 2)):
            file.write(rows.tobytes())
            places = np.broadcast_to(np.arange(len(rows)) + number * _ROWS, (QUERIES, len(rows)))
            scores = np.concatenate([scores, queries @ rows.T], axis=1)
            nearest = np.concatenate([nearest, places], axis=1)
            best = np.argsort(-scores, axis=1, kind="stable")[:, :_NEAREST]
            scores = np.take_along_axis(scores, best, axis=1)
            nearest = np.take_along_axis(nearest, best, axis=1)
    np.save(folder / "nearest.npy", nearest)
    with (folder / "words.npy").open("wb") as file:
        _write_head(file, np.dtype(np.int32), (count, LENGTH))
        for rows in _words(count, LENGTH, 4):
            file.write(rows.tobytes())


def _write_head(file: BinaryIO, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """What numpy writes before the values of an array."""
    head = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, head)


def measured(name: str, folder: Path, limit: float) -> dict[str, Any]:
    """The numbers of one index; "error" where there are none, for instance after `limit` seconds."""
    try:
        if name in PEERS:
            python = environment(name, PEERS[name], cache_folder("retrieval-peers"))
            command = [python, str(_PEER), name, str(folder)]
        else:
            command = [sys.executable, "-m", _CHILD, name, str(folder)]
        result: dict[str, Any] = json.loads(_output(command, limit).splitlines()[-1])
    except subprocess.CalledProcessError as error:
        return {"error": (error.stderr or "").strip().splitlines()[-1:]}
    except (subprocess.SubprocessError, OSError) as error:
        return {"error": str(error)}
    return result


def _output(command: Sequence[str], limit: float) -> str:
    """What a command prints. One that takes too long is told to stop, so that it stops its database."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            output, errors = child.communicate(timeout=limit)
        except BaseException:
            child.terminate()
            try:
                child.communicate(timeout=_STOPPING)
            finally:
                child.kill()
            raise
        if child.returncode:
            raise subprocess.CalledProcessError(child.returncode, command, output, errors)
    return output


def main() -> None:
    """Print one line per index."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunks", type=int, default=100_000)
    known = (*OURS, *PEERS)
    parser.add_argument("--only", action="append", choices=known, help="index to measure; by default all")
    parser.add_argument("--without", action="append", default=[], choices=known, help="index to leave out")
    parser.add_argument("--limit", type=float, help="seconds after which an index is left out")
    options = parser.parse_args()
    limit = options.limit or max(_LEAST_LIMIT, _LIMIT_PER_CHUNK * options.chunks)
    with tempfile.TemporaryDirectory(prefix="retrieval-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        write_data(folder, options.chunks)
        print(f"{options.chunks:,} chunks of {DIMENSIONS} dimensions, {QUERIES} queries\n", flush=True)
        print("| | " + " | ".join(_COLUMNS.values()) + " |\n|---" + "|---" * len(_COLUMNS) + "|", flush=True)
        for index in options.only or known:
            if index in options.without:
                continue
            result = measured(index, folder, limit)
            if "error" in result:
                print(f"| {index} | {result['error']} |", flush=True)
                continue
            cells = [f"{result[key]:.3g}" if key in result else "" for key in _COLUMNS]
            print(f"| {index} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
