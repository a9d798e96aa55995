"""Certainty: would other nuggets have led to another winner?"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np

from nuggetstream.domain.battle import Vote
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.nuggets.preference import PreferenceProbability, preference_probability
from nuggetstream.nuggets.scores import CREDIT
from nuggetstream.statistics.share import Share, share

BOUNDS = (0.0, 0.5, 0.7, 0.9, 1.0)  # of the bands of certainty; the upper bound belongs to the band
CERTAIN = 0.95
RESAMPLES = 1000
_SEED = 50
_DECIDED = (Vote.A, Vote.B)


@dataclass(frozen=True, slots=True)
class BattleProbability(PreferenceProbability):
    """One battle: probability of each outcome when its nuggets are resampled."""

    battle_id: str
    nuggets: int

    @property
    def certainty(self) -> float:
        """Probability of the most likely outcome."""
        return max(self.a, self.tie, self.b)


@dataclass(frozen=True, slots=True)
class Band:
    """Battles of similar certainty.

    Attributes:
        low: Certainty above this, in [0, 1].
        high: Certainty up to this.
        battles: Battles in the band.
        agree: Agreement with people, of the battles in which people and the most likely outcome both prefer
            an answer.
    """

    low: float
    high: float
    battles: int
    agree: Share


@dataclass(frozen=True, slots=True)
class Certainty:
    """All battles.

    Attributes:
        dimension: The human dimension that agreement is measured on; None without one.
        received: All battles.
        scored: Battles with a nugget preference.
        few_nuggets: Scored battles with fewer than two nuggets: nothing to resample.
        unlabelled: Scored battles with a nugget that lacks a label.
        sure: Battles with a certainty of at least 95%, of those with a probability.
        bands: By certainty, rising.
        battles: In the order of the file.
    """

    dimension: str | None
    received: int
    scored: int
    few_nuggets: int
    unlabelled: int
    sure: Share
    bands: tuple[Band, ...]
    battles: tuple[BattleProbability, ...]


def compute_certainty(results: Results) -> Certainty:
    """A probability per battle, and agreement with people by certainty."""
    rng = np.random.default_rng(_SEED)
    dimension = results.dimensions[0] if results.dimensions else None
    scored = [battle for battle in results.battles if battle.nugget_verdict is not None]
    labelled = [battle for battle in scored if not _lacks_a_label(battle)]
    usable = [battle for battle in labelled if len(battle.counted) > 1]
    battles = tuple(_probability(battle, rng) for battle in usable)
    judged = [
        (own, battle.preferences.get(dimension) if dimension else None)
        for battle, own in zip(usable, battles, strict=True)
    ]
    return Certainty(
        dimension=dimension,
        received=results.received,
        scored=len(scored),
        few_nuggets=len(labelled) - len(usable),
        unlabelled=len(scored) - len(labelled),
        sure=share(sum(probability.certainty >= CERTAIN for probability in battles), len(battles)),
        bands=tuple(_band(low, high, judged) for low, high in pairwise(BOUNDS)),
        battles=battles,
    )


def _lacks_a_label(battle: BattleRow) -> bool:
    return any(nugget.a is None or nugget.b is None for nugget in battle.counted)


def _probability(battle: BattleRow, rng: np.random.Generator) -> BattleProbability:
    a, b = (
        np.array([CREDIT[label.support] for label in labels if label is not None])
        for labels in ([nugget.a for nugget in battle.counted], [nugget.b for nugget in battle.counted])
    )
    threshold = battle.nugget_verdict.tie_threshold if battle.nugget_verdict else 0.0
    probability = preference_probability(a, b, threshold, rng, RESAMPLES)
    return BattleProbability(**asdict(probability), battle_id=battle.id, nuggets=len(battle.counted))


def _band(low: float, high: float, judged: Sequence[tuple[BattleProbability, Vote | None]]) -> Band:
    own = [
        (probability.likeliest, human) for probability, human in judged if low < probability.certainty <= high
    ]
    decided = [(likely, human) for likely, human in own if likely in _DECIDED and human in _DECIDED]
    agree = share(sum(likely is human for likely, human in decided), len(decided))
    return Band(low, high, len(own), agree)
