"""How sure each nugget preference is, and whether sure ones are right more often."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nuggetstream.domain.battle import Vote
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.nuggets.preference import PreferenceProbability, preference_probability
from nuggetstream.nuggets.scores import CREDIT
from nuggetstream.report.rows import Results
from nuggetstream.statistics.share import Share, share

EDGES = (0.0, 0.5, 0.7, 0.9, 1.0)  # of the bands of certainty, the upper one belonging to the band
SURE = 0.95
RESAMPLES = 1000
_SEED = 50
_DECIDED = (Vote.A, Vote.B)


@dataclass(frozen=True, slots=True)
class BattleProbability:
    """One battle: chances of each outcome when its nuggets are drawn again; they sum to 1."""

    battle_id: str
    nuggets: int
    a: float
    tie: float
    b: float

    @property
    def certainty(self) -> float:
        """Chance of the likeliest outcome."""
        return max(self.a, self.tie, self.b)


@dataclass(frozen=True, slots=True)
class Band:
    """Battles of like certainty.

    Attributes:
        low: certainty above this, in [0, 1].
        high: and up to this.
        battles: in the band.
        agree: with people, of those in which people and the likeliest outcome both prefer an answer.
    """

    low: float
    high: float
    battles: int
    agree: Share


@dataclass(frozen=True, slots=True)
class Certainty:
    """All battles.

    Attributes:
        dimension: the human dimension that agreement is with; None without one.
        received: battles.
        scored: battles with a nugget preference.
        few_nuggets: of those, with fewer than two nuggets: nothing to draw again.
        unlabelled: of those, with a nugget that lacks a label.
        sure: certainty of at least 95 %, of the battles with a probability.
        bands: by certainty, rising.
        battles: in the order of the file.
    """

    dimension: str | None
    received: int
    scored: int
    few_nuggets: int
    unlabelled: int
    sure: Share
    bands: tuple[Band, ...]
    battles: tuple[BattleProbability, ...]


def compute(results: Results) -> Certainty:
    """A probability per battle, and agreement with people by certainty."""
    rng = np.random.default_rng(_SEED)
    dimension = results.dimensions[0] if results.dimensions else None
    scored = [row for row in results.rows if row.nugget_verdict is not None]
    unlabelled = [row for row in scored if any(n.a is None or n.b is None for n in row.nuggets)]
    lost = {row.id for row in unlabelled}
    labelled = [row for row in scored if row.id not in lost]
    able = [row for row in labelled if len(row.nuggets) > 1]
    found = [(row, _probability(row, rng)) for row in able]
    battles = tuple(
        BattleProbability(row.id, len(row.nuggets), each.a, each.tie, each.b) for row, each in found
    )
    human = {
        battle.battle_id: battle.reference[dimension]
        for battle in results.battles
        if dimension is not None and dimension in battle.reference
    }
    judged = [
        (each.certainty, likely.likeliest, human.get(row.id))
        for each, (row, likely) in zip(battles, found, strict=True)
    ]
    return Certainty(
        dimension=dimension,
        received=results.received,
        scored=len(scored),
        few_nuggets=len(labelled) - len(able),
        unlabelled=len(unlabelled),
        sure=share(sum(each.certainty >= SURE for each in battles), len(battles)),
        bands=tuple(_band(low, high, judged) for low, high in pairwise(EDGES)),
        battles=battles,
    )


def _probability(row: BattleRow, rng: np.random.Generator) -> PreferenceProbability:
    a, b = (
        np.array([CREDIT[label.support] for label in labels if label is not None])
        for labels in ([n.a for n in row.nuggets], [n.b for n in row.nuggets])
    )
    threshold = row.nugget_verdict.tie_threshold if row.nugget_verdict else 0.0
    return preference_probability(a, b, threshold, rng, RESAMPLES)


def _band(low: float, high: float, judged: Sequence[tuple[float, Vote, Vote | None]]) -> Band:
    own = [(likely, human) for certainty, likely, human in judged if low < certainty <= high]
    both = [(likely, human) for likely, human in own if likely in _DECIDED and human in _DECIDED]
    return Band(low, high, len(own), share(sum(likely is human for likely, human in both), len(both)))
