"""Claims with a source that states them, does not state them, or contradicts them, in five languages.

Each line of `stated_facts.jsonl` says whether it was written before the rules (`before`), and which kind of
difference it has. Another name is labelled `silent`: what is said of it may be true beside the claim.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.domain.battle import Answer, Battle, Side
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.nugget import Grounding, Importance, Nugget, Provenance
from nuggetstream.nuggets.grounding import with_grounds

STATES, SILENT, CONTRADICTS = "states", "silent", "contradicts"
_LABELS = {Grounding.GROUNDED: STATES, Grounding.DISPUTED: CONTRADICTS, Grounding.ANSWER_ONLY: SILENT}


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of an answer, a source, and what the source says about it."""

    language: str
    kind: str
    label: str
    claim: str
    source: str
    before: bool

    def __str__(self) -> str:
        return f"{self.language}, {self.kind}: {self.claim} {self.source}"


CLAIMS = [
    Claim(**json.loads(line))
    for line in Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
]
KINDS = tuple(dict.fromkeys(claim.kind for claim in CLAIMS))


def found(claim: Claim, *, named: bool) -> str:
    """What grounding says about a claim.

    Args:
        claim: The claim.
        named: Whether the model that made the nugget names the source as its document.
    """
    battle = Battle("1", "a", "?", Answer("x", claim.claim), Answer("y", "I do not know."))
    chunk = Evidence(
        chunk_id="c1",
        text=claim.source,
        url=None,
        title=None,
        content_hash="",
        fetched_at=None,
        cited_by=(Side.A,),
        score=1.0,
    )
    documents = ("answer:a", "c1") if named else ("answer:a",)
    nugget = Nugget("n", claim.claim, Importance.VITAL, tuple(map(Provenance, documents)))
    (grounded,) = with_grounds([nugget], [chunk], battle)
    return _LABELS[grounded.grounding] if grounded.grounding else SILENT


def right(claims: Sequence[Claim], *, named: bool) -> Counter[str]:
    """How many claims of each kind are labelled as people label them."""
    return Counter(claim.kind for claim in claims if found(claim, named=named) == claim.label)
