"""Battles as other libraries take them: won, lost or tied, and never called bad on both sides."""

import numpy as np
from evalica import Winner
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.bradley_terry import fit
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.drawn import NAMES, Battle, tally_of

Battles = list[Battle]
THEIRS = {Vote.A: Winner.X, Vote.B: Winner.Y, Vote.TIE: Winner.Draw}
CIRCLE: Battles = [("w", "x", Vote.A), ("x", "y", Vote.A), ("y", "z", Vote.A), ("w", "z", Vote.B)]
# A circle of wins ranks everybody; what is drawn on top is as lopsided as it likes.
BATTLES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(list(THEIRS))).filter(
        lambda battle: battle[0] != battle[1]
    ),
    max_size=40,
).map(lambda drawn: CIRCLE + drawn)


def columns(battles: Battles) -> tuple[list[str], list[str], list[Winner]]:
    a, b, votes = zip(*battles, strict=True)
    return list(a), list(b), [THEIRS[vote] for vote in votes]


def strengths(battles: Battles) -> np.ndarray:
    return fit(tally_of(battles).points(TiePolicy.HALF))
