"""Options of a board as a caller sees them, and the errors that name the option."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from nuggetstream.ratings.fitting.bootstrap import Bootstrap
from nuggetstream.ratings.fitting.tally import TiePolicy
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.options import Anchor, Intervals, InvalidOption, Options
from services.runtime.errors import InvalidInput
from services.store.slices import Slice


class InvalidQuestion(InvalidInput):
    """What was asked for does not exist; names the field and the reason."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field, self.why = field, why


@contextmanager
def naming_the_field(where: str | None = None) -> Iterator[None]:
    """Turn an option that the rating model rejects into an error of the caller.

    Args:
        where: Which board it is about, such as "on the human board".

    Raises:
        InvalidQuestion: The option was rejected.
    """
    try:
        yield
    except InvalidOption as error:
        why = error.why if where is None else f"{where} {error.why}"
        raise InvalidQuestion(error.field, why) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How ratings were made; the message of the same name.

    Attributes:
        tie_parameter: ν of Davidson or κ of Rao and Kupper; None for policies without one.
        bootstrap: None for sandwich intervals.
        resamples: Number of resamples; 0 for sandwich intervals.
        unranked_resamples: Resamples that could not be ranked.
        anchor: None when the mean rating is 1000.
        slice: Filter that selects the battles.
        prior: Strength of the weak prior; None without one.
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


def method_of(ratings: Ratings, slice_: Slice) -> Method:
    """How a board was made."""
    return method(
        ratings.options,
        slice_,
        tie_parameter=ratings.tie_parameter,
        unranked_resamples=ratings.unranked_resamples,
    )


def method(
    options: Options, slice_: Slice, *, tie_parameter: float | None = None, unranked_resamples: int = 0
) -> Method:
    """How ratings with these options are made."""
    resampled = options.intervals is Intervals.BOOTSTRAP
    return Method(
        tie_policy=options.policy,
        tie_parameter=tie_parameter,
        bootstrap=options.bootstrap if resampled else None,
        intervals=options.intervals,
        level=options.level,
        resamples=options.resamples if resampled else 0,
        unranked_resamples=unranked_resamples,
        anchor=options.anchor,
        slice=slice_,
        prior=options.prior,
        provisional_below=options.provisional_below,
    )
