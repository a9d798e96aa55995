"""Recorded replies without the texts of others: what a reply copies stands as a reference to where it is.

    python -m benchmarks.real_model.quoting OUT/live.replies.jsonl TARGET.jsonl.gz

A small model copies whole sentences of answers and documents. Those belong to the data set, which the project
does not contain; a test that has it puts them back.
"""

import argparse
import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.offline_agreement import load

_SHORTEST = 24  # characters of a quotation

Part = str | list[Any]
"""A text, or where it is: name of a source, position of the first character, position behind the last."""


class Sources:
    """The texts that replies quote.

    Args:
        texts: The texts by name.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._places: dict[str, tuple[str, int]] = {}
        for name, text in texts.items():
            for start in range(len(text) - _SHORTEST + 1):
                self._places.setdefault(text[start : start + _SHORTEST], (name, start))

    def referring(self, text: str) -> list[Part]:
        """A text with references in place of its quotations."""
        parts, own, position = list[Part](), "", 0
        while position < len(text):
            place = self._places.get(text[position : position + _SHORTEST])
            if place is None:
                own, position = own + text[position], position + 1
                continue
            name, start = place
            length = _common(text[position:], self._texts[name][start:])
            parts += [*([own] if own else []), [name, start, start + length]]
            own, position = "", position + length
        return [*parts, *([own] if own else [])]


def quoting(parts: Sequence[Part], texts: Mapping[str, str]) -> str:
    """The text with its quotations.

    Raises:
        KeyError: A source is missing.
    """
    return "".join(part if isinstance(part, str) else texts[part[0]][part[1] : part[2]] for part in parts)


def texts_of(data: Path) -> dict[str, str]:
    """The answers and documents of CrowdRAG-25 by name, as they stand in the JSON of a reply."""
    texts = {row["docid"]: row["text"] for row in load(data / "documents.jsonl.gz")}
    for row in load(data / "battles.jsonl.gz"):
        texts |= {f"{row['battle_id']}/{side}": row[side]["text"] for side in "ab"}
    return {name: json.dumps(text, ensure_ascii=False)[1:-1] for name, text in texts.items()}


def restored(lines: Iterator[str], texts: Mapping[str, str]) -> Iterator[str]:
    """The lines of a recording whose replies have references."""
    for line in lines:
        reply = json.loads(line)
        yield json.dumps(reply | {"text": quoting(reply["text"], texts)})


def _common(first: str, second: str) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(first), len(second)))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("replies", type=Path, help="what the benchmark recorded")
    options.add_argument("target", type=Path, help="the file to write, compressed")
    chosen = options.parse_args()
    sources = Sources(texts_of(Path(os.environ["NUGGETSTREAM_DATA"]) / "crowdrag25"))
    with (
        chosen.replies.open(encoding="utf-8") as lines,
        gzip.open(chosen.target, "wt", encoding="utf-8") as out,
    ):
        for line in lines:
            reply = json.loads(line)
            out.write(
                json.dumps(reply | {"text": sources.referring(reply["text"])}, ensure_ascii=False) + "\n"
            )


if __name__ == "__main__":
    main()
