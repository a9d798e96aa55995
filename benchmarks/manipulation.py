"""How well answers that address the judge are found: recall, precision, false positives, time.

    python -m benchmarks.manipulation [FOLDER]      # FOLDER: recorded answers, NUGGETSTREAM_DATA by default

The injections and the harmless texts are those of the tests; some of both were written after the rules, which
nobody has changed since. The recorded answers are those of CrowdRAG-25, of the LFQA ratings and of RAGElo.
"""

import csv
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from nuggetstream.files.text import read_text
from nuggetstream.statistics.proportion import wilson
from nuggetstream.text.manipulation import flagged
from tests.injections import HARMLESS, INJECTIONS

SHORTEST = 150  # characters of a string that is taken for an answer


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    for name, texts in (
        ("injections", [each.text for each in INJECTIONS if each.seen]),
        ("injections written after the rules", [each.text for each in INJECTIONS if not each.seen]),
        ("harmless texts", [text for text, seen in HARMLESS if seen]),
        ("harmless texts written after the rules", [text for text, seen in HARMLESS if not seen]),
    ):
        print(f"{name}: {sum(bool(flagged(text)) for text in texts)} of {len(texts)} flagged")
    folder = arguments[0] if arguments else os.environ.get("NUGGETSTREAM_DATA")
    if folder is None:
        return
    answers = sorted(recorded(Path(folder)))
    start = time.process_time()
    count = sum(bool(flagged(text)) for text in answers)
    seconds = time.process_time() - start
    low, high = (1000 * bound for bound in wilson(count, len(answers)))
    print(f"recorded answers: {count} of {len(answers)} flagged ({low:.1f} to {high:.1f} per 1,000)")
    print(f"{1000 * seconds / len(answers):.2f} ms of processor time per answer")


def recorded(folder: Path) -> set[str]:
    """The recorded answers, each once."""
    texts = set[str]()
    for name in ("crowdrag25/battles.jsonl.gz", "lfqa/answers.jsonl"):
        lines = (line for line in read_text(folder / name).split("\n") if line)
        texts.update(long for line in lines for long in strings(json.loads(line)))
    rows = csv.reader(read_text(folder / "ragelo" / "answers.csv").splitlines(keepends=True))
    texts.update(long for row in rows for long in strings(row))
    return texts


def strings(value: object) -> Iterator[str]:
    """The long texts in a JSON value."""
    if isinstance(value, str):
        if len(value) > SHORTEST:
            yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


if __name__ == "__main__":
    main(sys.argv[1:])
