"""Counts as the record gives them, written shortly."""

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.counts import JointCount, PairCount


def counted(*cells: tuple[str, str, Vote, int]) -> list[PairCount]:
    """(system A, system B, winner, how many)."""
    return [PairCount(*cell) for cell in cells]


def jointly(*cells: tuple[str, str, Vote | None, Vote | None, int]) -> list[JointCount]:
    """(system A, system B, what the first lens says, what the second says, how many)."""
    return [JointCount(*cell) for cell in cells]


SIX_OF_EIGHT = counted(("x", "y", Vote.A, 6), ("x", "y", Vote.B, 2))
CIRCLE = counted(("x", "y", Vote.A, 4), ("y", "z", Vote.A, 3), ("z", "x", Vote.A, 2))
