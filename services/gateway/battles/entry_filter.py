"""Which battles are evaluated: a share of them, and those of some arenas."""

import hashlib
from dataclasses import dataclass
from typing import Literal

from nuggetstream.domain.battle import Battle

_ALL = 2**64


LeftOut = Literal["arena", "share"]
"""The setting by which a battle is not evaluated."""


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """What is evaluated; everything by default.

    Attributes:
        share: Share of the battles, in [0, 1].
        arenas: Arenas of the battles; empty for all.
    """

    share: float = 1.0
    arenas: frozenset[str] = frozenset()

    def why_not(self, battle: Battle) -> LeftOut | None:
        """Why a battle is not evaluated; None for one that is. The same battle gets the same answer."""
        if self.arenas and battle.arena not in self.arenas:
            return "arena"
        return "share" if position(battle.id) >= self.share else None


def position(battle_id: str) -> float:
    """Where an id lies between 0 and 1, by its hash: every share contains the battles of a smaller one.

    >>> 0 <= position("tides") < 1, position("tides") == position("tides")
    (True, True)
    """
    return int.from_bytes(hashlib.sha256(battle_id.encode()).digest()[:8]) / _ALL
