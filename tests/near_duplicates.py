"""Pairs of nuggets that state the same fact, or different ones, in ten languages.

Each line of `near_duplicates.jsonl` says whether it was written before the rules (`before`).
"""

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Pair:
    """Two nuggets, and whether they state the same fact."""

    language: str
    same: bool
    one: str
    other: str
    before: bool

    def __str__(self) -> str:
        return f"{self.language}: {self.one} {self.other}"


PAIRS = [
    Pair(**json.loads(line))
    for line in Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
]


def recall(measure: Callable[[str], Hashable], pairs: Sequence[Pair]) -> tuple[int, int]:
    """How many pairs of near-duplicates a measure finds, and how many there are."""
    same = [pair for pair in pairs if pair.same]
    return sum(measure(pair.one) == measure(pair.other) for pair in same), len(same)
