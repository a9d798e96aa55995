"""How often something happened between two systems: what a database hands to the rating model."""

from collections.abc import Iterable
from dataclasses import dataclass

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.tally import Tally


@dataclass(frozen=True, slots=True)
class PairCount:
    """How often one outcome happened between two systems in one lens."""

    system_a: str
    system_b: str
    winner: Vote
    count: int


@dataclass(frozen=True, slots=True)
class JointCount:
    """How often two lenses gave these outcomes for battles of two systems; None where a lens has none."""

    system_a: str
    system_b: str
    first: Vote | None
    second: Vote | None
    count: int


def tally_of(counts: Iterable[PairCount]) -> Tally:
    """Counts as a database has them, as a matrix of counts.

    Raises:
        ValueError: A system that battles itself, or a count that is negative.
    """
    return Tally.count((count.system_a, count.system_b, count.winner, count.count) for count in counts)
