"""Search in a corpus: indexes of ours beside plain faiss and lancedb, in one run and on the same vectors.

    python -m benchmarks.retrieval [--chunks 100000] [--without lancedb]

Vectors have 384 dimensions of which about 32 are used, as those of real texts do; words follow Zipf's law.
Every index runs in a process of its own, one after the other.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import cache_folder, environment

DIMENSIONS, LATENT, WORDS, QUERIES = 384, 32, 60_000, 200
LENGTH = 120  # words of a chunk
OURS = ("memory flat", "memory hnsw", "pgvector exact", "pgvector hnsw")
PEERS = {"faiss flat": (), "faiss hnsw": (), "lancedb": ("lancedb",)}
_CHILD, _PEER = "benchmarks.retrieval_child", Path(__file__).with_name("retrieval_peer.py")
_LIMIT = 3000.0  # seconds per index
_COLUMNS = {
    "add_s": "add s",
    "build_s": "build s",
    "load_s": "load s",
    "memory_mb": "memory MB",
    "vector_p50": "vector p50 ms",
    "vector_p99": "p99",
    "recall": "recall@50",
    "words_p50": "words p50 ms",
    "hybrid_p50": "hybrid p50 ms",
    "hybrid_p99": "p99 ",
}


def vectors(count: int, seed: int) -> np.ndarray:
    """Unit vectors around a plane of few dimensions."""
    plane = np.random.default_rng(1).standard_normal((LATENT, DIMENSIONS), dtype=np.float32)
    chance = np.random.default_rng(seed)
    rows = chance.standard_normal((count, LATENT), dtype=np.float32) @ plane
    rows += 0.5 * chance.standard_normal((count, DIMENSIONS), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def words(count: int, length: int, seed: int) -> np.ndarray:
    """Numbers of words; word n is about 1/n as frequent as the first."""
    chance = np.random.default_rng(seed)
    return np.exp(chance.random((count, length)) * np.log(WORDS)).astype(np.int32)


def write_data(folder: Path, count: int) -> None:
    """The vectors and words of chunks and queries, and the 50 nearest chunks of each query."""
    corpus, queries = vectors(count, 2), vectors(QUERIES, 3)
    np.save(folder / "vectors.npy", corpus)
    np.save(folder / "queries.npy", queries)
    np.save(folder / "words.npy", words(count, LENGTH, 4))
    np.save(folder / "query_words.npy", words(QUERIES, 8, 5))
    np.save(folder / "nearest.npy", np.argsort(-(queries @ corpus.T), axis=1)[:, :50])


def measured(name: str, folder: Path) -> dict[str, Any]:
    """The numbers of one index; "error" where there are none."""
    try:
        if name in PEERS:
            python = environment(name, PEERS[name], cache_folder("retrieval-peers"))
            command = [python, str(_PEER), name, str(folder)]
        else:
            command = [sys.executable, "-m", _CHILD, name, str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT, check=True)
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except subprocess.CalledProcessError as error:
        return {"error": (error.stderr or "").strip().splitlines()[-1:]}
    except (subprocess.SubprocessError, OSError) as error:
        return {"error": str(error)}
    return result


def main() -> None:
    """Print one line per index."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--without", action="append", default=[], help="an index to leave out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="retrieval-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        write_data(folder, options.chunks)
        print(f"{options.chunks:,} chunks of {DIMENSIONS} dimensions, {QUERIES} queries\n")
        print("| | " + " | ".join(_COLUMNS.values()) + " |\n|---" + "|---" * len(_COLUMNS) + "|")
        for index in (*OURS, *PEERS):
            if index in options.without:
                continue
            result = measured(index, folder)
            if "error" in result:
                print(f"| {index} | {result['error']} |", flush=True)
                continue
            cells = [f"{result[key]:.3g}" if key in result else "" for key in _COLUMNS]
            print(f"| {index} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
