"""Embedding of sentences and chunks by the packaged model: back-ends, batches, threads and start, in one run.

    python -m benchmarks.embedding [--sentences 600] [--chunks 120] [--without onnx]

The texts are our documentation, in a random order. Every row is a process of its own, one after the other.
"raw" calls the model alone, with all texts at once, sorted by length. Wall time
needs a machine that does nothing else; processor time bears more.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from services.indexer.chunking import cut, sentences
from services.store.chunks import Origin

ROOT = Path(__file__).parents[1]
GOAL = 0.9  # of the throughput of the model alone
_LIMIT = 1800.0  # seconds per row


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table.

    Attributes:
        name: What is measured.
        how: "arrival" for batches of 32 in order, "length" for the model alone, "ours" for the indexer's
            batches with eight callers, "busy" for those beside an event loop that has work of its own,
            "remote" for eight callers of an endpoint in another process on this machine.
        runtime: "torch" or "onnx".
        dtype: Type of the weights.
        threads: Number of threads; 0 for one per processor.
        wait: How threads of torch wait: "ACTIVE" spins.
    """

    name: str
    how: str
    runtime: str = "torch"
    dtype: str = "float32"
    threads: int = 0
    wait: str = "PASSIVE"


ROWS = (
    Row("torch, raw", "length"),
    Row("torch, batches in order of arrival", "arrival"),
    Row("torch, one thread", "length", threads=1),
    Row("torch, threads that spin", "length", wait="ACTIVE"),
    Row("torch, ours, eight callers", "ours"),
    Row("torch, ours, busy event loop", "busy"),
    Row("torch, ours, busy event loop, threads that spin", "busy", wait="ACTIVE"),
    Row("torch, raw, bfloat16", "length", dtype="bfloat16"),
    Row("ONNX Runtime, raw", "length", runtime="onnx"),
    Row("ONNX Runtime, ours, eight callers", "ours", runtime="onnx"),
    Row("ONNX Runtime, ours, busy event loop", "busy", runtime="onnx"),
    Row("ONNX Runtime, endpoint, eight callers", "remote", runtime="onnx"),
)


def texts(count_sentences: int, count_chunks: int) -> dict[str, list[str]]:
    """Sentences and chunks of our documentation, in a random order that is always the same."""
    pages = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))]
    found = {
        "sentences": [sentence.text for page in pages for sentence in sentences(page, "en")],
        "chunks": [chunk.text for page in pages for chunk in cut("page", page, Origin("en"), 10, 2)],
    }
    counts = {"sentences": count_sentences, "chunks": count_chunks}
    chance = random.Random(0)
    return {name: chance.sample(sorted(set(all_texts)), counts[name]) for name, all_texts in found.items()}


def measured(row: Row, folder: Path) -> dict[str, Any]:
    """The numbers of one row; "error" where there are none."""
    variables = {**os.environ, "OMP_WAIT_POLICY": row.wait, "TOKENIZERS_PARALLELISM": "false"}
    variables.pop("OMP_NUM_THREADS", None)
    threads = row.threads or len(os.sched_getaffinity(0))
    module = [sys.executable, "-m", "benchmarks.embedding_child"]
    try:
        done = subprocess.run(
            [*module, row.how, row.runtime, row.dtype, str(threads), str(folder)],
            capture_output=True, text=True, timeout=_LIMIT, check=True, env=variables,
        )  # fmt: skip
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except subprocess.CalledProcessError as error:
        return {"error": (error.stderr or "").strip().splitlines()[-1:]}
    except (subprocess.SubprocessError, OSError) as error:
        return {"error": str(error)}
    return result


def cells(result: dict[str, Any], first: dict[str, Any], folder: Path) -> list[str]:
    """What the table says about one row: throughputs, their ratio to the first row, and its vectors."""
    shown = []
    for kind in ("sentences", "chunks"):
        own, reference = result[kind], first[kind]
        shown += [f"{own['per_s']:.1f}", f"{own['per_s'] / reference['per_s']:.2f}", f"{own['cpu_ms']:.1f}"]
    reference_rows = np.load(folder / "reference.npy")
    cosines = (np.load(folder / "rows.npy") * reference_rows).sum(axis=1)
    padding = result.get("padding")
    shown.append("" if padding is None else f"{padding:.0%}")
    return [*shown, f"{1 - cosines.min():.4f}", f"{result['import_s']:.1f}", f"{result['load_s']:.1f}"]


def main() -> None:
    """Print one line per row, and whether our batches reach the goal."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sentences", type=int, default=600)
    parser.add_argument("--chunks", type=int, default=120)
    parser.add_argument("--without", action="append", default=[], help="a runtime or a type to leave out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="embedding-") as name:
        folder = Path(name)
        given = texts(options.sentences, options.chunks)
        (folder / "texts.json").write_text(json.dumps(given), encoding="utf-8")
        print(
            f"{options.sentences} sentences, {options.chunks} chunks; import and load in processor seconds\n"
        )
        print("| | sentences/s | of raw | CPU ms each | chunks/s | of raw | CPU ms each | padding of chunks "
              "| largest cosine error | import s | load s |\n|---" + "|---" * 10 + "|")  # fmt: skip
        first: dict[str, Any] | None = None
        raw: dict[str, dict[str, Any]] = {}  # by runtime
        missed = []
        for row in ROWS:
            if {row.dtype, row.runtime} & set(options.without):
                continue
            result = measured(row, folder)
            if "error" in result:
                print(f"| {row.name} | {result['error']} |", flush=True)
                continue
            if first is None:
                first = result
                (folder / "rows.npy").rename(folder / "reference.npy")
                np.save(folder / "rows.npy", np.load(folder / "reference.npy"))
            print(f"| {row.name} | " + " | ".join(cells(result, first, folder)) + " |", flush=True)
            alone = raw.setdefault(row.runtime, result)
            if row.how in ("ours", "remote"):
                shares = {kind: result[kind]["per_s"] / alone[kind]["per_s"] for kind in given}
                missed += [f"{row.name}: {s:.2f} for {k}" for k, s in shares.items() if s < GOAL]
    if missed:
        sys.exit(f"our batches are below {GOAL} of the same runtime alone: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
