"""How to rate, in the words of a notebook."""

import re
from collections.abc import Collection
from enum import StrEnum
from typing import Literal, TypedDict, TypeVar

from nuggetstream.api.sources import reject_unknown
from nuggetstream.ratings.options import Anchor, Bootstrap, Intervals, InvalidOption, Options
from nuggetstream.ratings.ties import TiePolicy

E = TypeVar("E", bound=StrEnum)
Ties = Literal["half", "drop", "drop_both_bad", "davidson", "rao_kupper"]


class Choices(TypedDict, total=False):
    """How to rate.

    Attributes:
        ties: "half" a win each (the default), "drop", "drop_both_bad", or modelled: "davidson", "rao_kupper".
        intervals: "sandwich" (the default): from robust standard errors, corrected for few votes; or
            "bootstrap", the default with a prior, a model of ties, `bootstrap` or `resamples`.
        bootstrap: How resamples are drawn; "bayesian" by default.
        resamples: Number of resamples, at least 1; 1000 by default.
        level: Confidence level of every interval, in (0, 1); 0.95 by default.
        prior: Strength of a weak prior in battles per system, which rates undefeated systems too.
        ridge: Penalty of the coefficients of style; 0 by default, and arena-rank's default is 1.
        provisional_below: A rating from fewer battles is provisional; 10 by default.
        seed: Seed of all randomness.
    """

    ties: TiePolicy | Ties
    intervals: Intervals | Literal["bootstrap", "sandwich"]
    bootstrap: Bootstrap | Literal["bayesian", "multinomial"]
    resamples: int
    level: float
    prior: float | None
    ridge: float
    provisional_below: int
    seed: int


def options_of(anchor: Anchor | tuple[str, float] | None, choices: Choices) -> Options:
    """The options of the rating model.

    Raises:
        InvalidOption: A value is out of range, or two exclude each other.
        TypeError: There is no such option.
    """
    reject_unknown(choices, Choices)
    usual = Options()
    return Options(
        policy=choice("ties", TiePolicy, choices.get("ties", usual.policy)),
        intervals=choice("intervals", Intervals, choices["intervals"]) if "intervals" in choices else None,
        bootstrap=choice("bootstrap", Bootstrap, choices["bootstrap"]) if "bootstrap" in choices else None,
        resamples=choices.get("resamples"),
        seed=choices.get("seed", usual.seed),
        level=choices.get("level", usual.level),
        anchor=anchor if anchor is None or isinstance(anchor, Anchor) else Anchor(*anchor),
        prior=choices.get("prior", usual.prior),
        ridge=choices.get("ridge", usual.ridge),
        provisional_below=choices.get("provisional_below", usual.provisional_below),
    )


def choice(field: str, kind: type[E], value: str) -> E:
    """The value of an option that takes a few words, in capitals or not, with hyphens, spaces or underscores.

    Raises:
        InvalidOption: It is none of them.

    >>> choice("ties", TiePolicy, "Drop-both-bad").value
    'drop_both_bad'
    """
    return kind(word(field, tuple(kind), value))


def word(field: str, known: Collection[str], value: str) -> str:
    """One of some words, spelt as `choice` accepts it.

    Raises:
        InvalidOption: It is none of them.
    """
    by_spelling = {_folded(one): one for one in known}
    if (spelt := _folded(str(value))) not in by_spelling:
        raise InvalidOption(field, f"is {value!r}; expected one of {', '.join(known)}")
    return by_spelling[spelt]


def _folded(value: str) -> str:
    return re.sub(r"[\s_-]+", "_", value.strip().casefold())
