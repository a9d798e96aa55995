"""Which battles are evaluated: a share of them, and those of some arenas, tags and languages."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from services.store.battles.accepting import NewBattle

_ALL = 2**64


class LeftOut(StrEnum):
    """Why a battle is not evaluated."""

    ARENA = "arena"
    TAG = "tag"
    LANGUAGE = "language"
    SHARE = "share"


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """What is evaluated; everything by default.

    Attributes:
        share: Share of the battles, in [0, 1].
        arenas: Arenas of the battles; empty for all.
        tags: Tags of which a battle has one; empty for all battles.
        languages: Language tags, declared or detected; empty for all battles.
    """

    share: float = 1.0
    arenas: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()

    def why_not(self, new: NewBattle) -> LeftOut | None:
        """Why a battle is not evaluated; None for one that is. The same battle gets the same answer."""
        battle = new.battle
        if self.arenas and battle.arena not in self.arenas:
            return LeftOut.ARENA
        if self.tags and self.tags.isdisjoint(battle.tags):
            return LeftOut.TAG
        if self.languages and new.language not in self.languages:
            return LeftOut.LANGUAGE
        return LeftOut.SHARE if position(battle.id) >= self.share else None


def position(battle_id: str) -> float:
    """Where an id lies between 0 and 1, by its hash: every share contains the battles of a smaller one.

    >>> 0 <= position("tides") < 1, position("tides") == position("tides")
    (True, True)
    """
    return int.from_bytes(hashlib.sha256(battle_id.encode()).digest()[:8]) / _ALL
