"""The documents that the nuggetizer reads: both answers in a seeded random order, then the evidence."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleRetrieved
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.nugget import Provenance
from nuggetstream.nuggets.excerpts import excerpts
from services.runtime.llm.blocks import Block

# Evidence of up to so many times the limit is shown whole. Cutting it would save little, and excerpts of
# short evidence, unlike those of long, agree less with people (ADR 20).
WHOLE = 2


class NuggetSources(StrEnum):
    """Which documents are read (the ablation of Search Arena Meets Nuggets)."""

    BOTH = "both"
    ANSWERS = "answers"
    CHUNKS = "chunks"


@dataclass(frozen=True, slots=True)
class Document:
    """One text to read: its block in the prompt, and the provenance of nuggets read there."""

    block: Block
    provenance: Provenance


def documents_of(
    event: BattleRetrieved,
    sources: NuggetSources,
    characters: int | None = None,
) -> list[Document]:
    """The documents of a battle in reading order; empty texts are left out.

    The order of the answers is random, so that no side is always read first, and seeded by the event, so that
    a redelivery gives the same prompt.

    Args:
        event: The battle and its evidence.
        sources: Which documents are read.
        characters: Maximum number of characters of all chunks, see `excerpts`; up to `WHOLE` times as many
            are read whole. None reads all.
    """
    answers = [] if sources is NuggetSources.CHUNKS else _answers(event)
    chunks = [] if sources is NuggetSources.ANSWERS else _chunks(event, characters)
    return [document for document in (*answers, *chunks) if document.block.text.strip()]


def _answers(event: BattleRetrieved) -> Sequence[Document]:
    sides = list(Side)
    random.Random(event.key).shuffle(sides)  # noqa: S311 - an order, not a secret
    return [
        Document(
            Block("answer", f"a{number}", event.battle.answer(side).text), Provenance(f"answer:{side.value}")
        )
        for number, side in enumerate(sides, start=1)
    ]


def _chunks(event: BattleRetrieved, characters: int | None) -> Sequence[Document]:
    evidence: Sequence[Evidence] = event.evidence
    if characters is not None:
        evidence = excerpts(evidence, event.battle, characters, whole=WHOLE * characters)
    return [
        Document(
            Block("chunk", f"c{number}", item.text),
            Provenance(item.chunk_id, item.url, item.content_hash, item.fetched_at),
        )
        for number, item in enumerate(evidence, start=1)
    ]
