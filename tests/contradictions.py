"""Pairs of a claim and a text that contradicts it, or does not, in six languages.

Most pairs of `contradictions.jsonl` were written before the rules. Of these a third, drawn at random, was
kept `apart` and not looked at while the rules were made. Those written `later` are longer.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.text.contradiction import contradicts


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim and a text; `differs` says in what the text contradicts the claim, None: it does not."""

    language: str
    differs: str | None
    claim: str
    text: str
    apart: bool
    later: bool = False

    def __str__(self) -> str:
        return f"{self.language}: {self.claim} {self.text}"

    @property
    def found(self) -> bool:
        """Whether the rules find a contradiction."""
        return contradicts(self.claim, self.text) is not None


PAIRS = [
    Pair(**json.loads(line))
    for line in Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
]
