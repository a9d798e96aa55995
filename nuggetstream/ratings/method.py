"""How ratings were made, as every board says."""

from dataclasses import dataclass

from nuggetstream.domain.slice import Slice
from nuggetstream.ratings.options import Anchor, Bootstrap, Intervals, Options
from nuggetstream.ratings.ties import TiePolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How ratings were made.

    Attributes:
        tie_policy: How ties count.
        tie_parameter: ν of Davidson or κ of Rao and Kupper; None for policies without one.
        bootstrap: How resamples are drawn; None for sandwich intervals.
        intervals: Where the intervals come from.
        level: Confidence level of every interval, such as 0.95.
        resamples: Number of resamples; 0 for sandwich intervals.
        unranked_resamples: Number of resamples that could not be ranked; each of them widens the intervals.
        anchor: The system whose rating is fixed; None where the mean rating is 1000.
        slice: Filter that selects the battles.
        prior: Strength of the weak prior in pseudo-battles per system; None without one.
        provisional_below: Ratings from fewer battles are provisional.
    """

    tie_policy: TiePolicy
    tie_parameter: float | None
    bootstrap: Bootstrap | None
    intervals: Intervals
    level: float
    resamples: int
    unranked_resamples: int
    anchor: Anchor | None
    slice: Slice
    prior: float | None
    provisional_below: int


def method_of(
    options: Options, slice_: Slice, *, tie_parameter: float | None = None, unranked_resamples: int = 0
) -> Method:
    """How ratings with these options are made.

    Args:
        options: The options.
        slice_: Filter that selects the battles.
        tie_parameter: What the model of ties estimated.
        unranked_resamples: Number of resamples that could not be ranked.
    """
    resampled = options.source is Intervals.BOOTSTRAP
    return Method(
        tie_policy=options.policy,
        tie_parameter=tie_parameter,
        bootstrap=options.drawing if resampled else None,
        intervals=options.source,
        level=options.level,
        resamples=options.draws if resampled else 0,
        unranked_resamples=unranked_resamples,
        anchor=options.anchor,
        slice=slice_,
        prior=options.prior,
        provisional_below=options.provisional_below,
    )
