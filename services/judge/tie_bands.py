"""The tie band of a judge: how close the probabilities of A and B are where its verdict is a tie."""

from dataclasses import replace

from nuggetstream.domain.judgment import Aggregation, Judgment
from nuggetstream.nuggets.scores import preference


def with_tie_band(judgment: Judgment, band: float | None) -> Judgment:
    """The judgment with the verdict that its mean probabilities give.

    It stays as it is without a band, without probabilities, and where the majority of a panel decided.

    Args:
        judgment: The judgment, of one model or of a panel.
        band: Largest difference of the probabilities of A and B that is a tie; None for no band.
    """
    told = judgment.probabilities
    if band is None or told is None or judgment.aggregation is Aggregation.MAJORITY:
        return judgment
    return replace(judgment, winner=preference(told.a, told.b, band), tie_band=band)
