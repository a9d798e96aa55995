"""How to rate, in the words of a notebook."""

from enum import StrEnum
from typing import Literal, TypedDict, TypeVar

from nuggetstream.ratings.fitting.bootstrap import Bootstrap
from nuggetstream.ratings.fitting.tally import TiePolicy
from nuggetstream.ratings.options import PROVISIONAL_BELOW, SEED, Anchor, Intervals, InvalidOption, Options

E = TypeVar("E", bound=StrEnum)
Ties = Literal["half", "drop", "drop_both_bad", "davidson", "rao_kupper"]


class Choices(TypedDict, total=False):
    """How to rate; what each choice means is said at `rate`."""

    ties: TiePolicy | Ties
    intervals: Intervals | Literal["bootstrap", "sandwich"]
    bootstrap: Bootstrap | Literal["bayesian", "multinomial"]
    resamples: int
    level: float
    prior: float | None
    provisional_below: int
    seed: int


def options_of(
    *,
    ties: str = TiePolicy.HALF,
    intervals: str = Intervals.BOOTSTRAP,
    bootstrap: str = Bootstrap.BAYESIAN,
    resamples: int = 1000,
    level: float = 0.95,
    anchor: Anchor | tuple[str, float] | None = None,
    prior: float | None = None,
    provisional_below: int = PROVISIONAL_BELOW,
    seed: int = SEED,
) -> Options:
    """The options of the rating model.

    Raises:
        InvalidOption: A value is out of range, or two exclude each other.
    """
    return Options(
        policy=choice("ties", TiePolicy, ties),
        intervals=choice("intervals", Intervals, intervals),
        bootstrap=choice("bootstrap", Bootstrap, bootstrap),
        resamples=resamples,
        seed=seed,
        level=level,
        anchor=anchor if anchor is None or isinstance(anchor, Anchor) else Anchor(*anchor),
        prior=prior,
        provisional_below=provisional_below,
    )


def choice(field: str, kind: type[E], value: str) -> E:
    """The value of an option that takes a few words.

    Raises:
        InvalidOption: It is none of them.
    """
    try:
        return kind(value)
    except ValueError:
        raise InvalidOption(field, f"is {value!r}; expected one of {', '.join(kind)}") from None
