"""Battles drawn at random for properties: any systems, any votes, and a circle that ranks everybody."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.ballots import Ballot, Ballots
from nuggetstream.ratings.fitting.tally import Tally

NAMES = "wxyz"
Battle = tuple[str, str, Vote]
# A circle of wins with a tie across it has a rating under every policy.
CIRCLE: list[Battle] = [
    *(("w", "x", Vote.A), ("x", "y", Vote.A), ("y", "z", Vote.A), ("w", "z", Vote.B)),
    *(("w", "y", Vote.TIE), ("x", "z", Vote.BOTH_BAD)),
]
BATTLES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(Vote)).filter(
        lambda battle: battle[0] != battle[1]
    ),
    max_size=30,
).map(lambda drawn: CIRCLE + drawn)
SEEDS = st.integers(0, 10_000)
few = settings(max_examples=15, deadline=None)


def seeded(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def tally_of(battles: list[Battle], times: float = 1) -> Tally:
    return Tally.count((*battle, times) for battle in battles)


def ballots_of(battles: list[Battle], weight: float = 1.0, queries: int = 5) -> Ballots:
    return Ballots.of(Ballot(*b, weight, f"query {n % queries}") for n, b in enumerate(battles))


def mirrored(battles: list[Battle]) -> list[Battle]:
    return [(b, a, vote.swapped) for a, b, vote in battles]
