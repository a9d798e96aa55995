"""How often something happened between two systems: what a database hands to the rating model."""

from dataclasses import dataclass

from nuggetstream.domain.battle import Vote


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
