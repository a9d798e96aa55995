"""Which features of style the votes can hold equal, and the board with those held equal."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.files.numerals import many
from nuggetstream.ratings.fitting.ballots import Ballots
from nuggetstream.ratings.fitting.style_control import Coefficient
from nuggetstream.ratings.options import Options
from nuggetstream.ratings.style import EqualStyle, StyledVotes, at_equal_style
from nuggetstream.text.style import FEATURES

Floats = NDArray[np.float64]

# Votes for each number to estimate: with few, one feature nearly separates winners from losers, and its
# coefficient is huge and looks certain (Peduzzi et al., 1996).
PER_PARAMETER, LEAST_PER_PARAMETER = 10, 5


@dataclass(frozen=True, slots=True)
class StyleEffect:
    """How much one feature of style was preferred.

    Attributes:
        feature: Its name.
        differs: Votes in which the two answers differ in it.
        coefficient: In logits per standard deviation, with its interval; None where too few votes differ: a
            few battles that one side happens to win would drive it to infinity.
    """

    feature: str
    differs: int
    coefficient: Coefficient | None


@dataclass(frozen=True, slots=True)
class StyleFit:
    """A board with style held equal.

    Attributes:
        equal: The ratings.
        effects: One per feature; those with a coefficient are held equal.
        parameters: Strengths and coefficients that the votes have to determine.
    """

    equal: EqualStyle
    effects: tuple[StyleEffect, ...]
    parameters: int


def fit_style(ballots: Ballots, of_a: Floats, of_b: Floats, options: Options) -> StyleFit | str:
    """Hold equal the features that differ in enough votes; a sentence that says why not where that fails.

    Args:
        ballots: N votes between systems that can be ranked.
        of_a: (N, 5) amounts of `FEATURES` in the answers of A.
        of_b: (N, 5) amounts in the answers of B.
        options: Tie policy and level apply.
    """
    votes = len(ballots.a)
    differs = (of_a != of_b).sum(axis=0)
    used = [index for index in range(len(FEATURES)) if differs[index] >= PER_PARAMETER]
    if not used:
        return _nothing_differs(votes)
    parameters = len(ballots.systems) - 1 + len(used)
    if votes < (least := LEAST_PER_PARAMETER * parameters):
        return f"{many(votes, 'vote')} cannot determine {parameters} numbers; that takes {least} votes"
    names = tuple(FEATURES[index] for index in used)
    equal = at_equal_style(StyledVotes(ballots, of_a[:, used], of_b[:, used], names), options)
    if equal.missing is not None:
        return equal.missing
    coefficients = {coefficient.feature: coefficient for coefficient in equal.coefficients}
    effects = tuple(
        StyleEffect(feature, int(count), coefficients.get(feature))
        for feature, count in zip(FEATURES, differs, strict=True)
    )
    return StyleFit(equal, effects, parameters)


def _nothing_differs(votes: int) -> str:
    if votes < PER_PARAMETER:
        there = f"there is {many(votes, 'vote')}" if votes == 1 else f"there are {many(votes, 'vote')}"
        return f"{there}, and it takes {PER_PARAMETER} whose answers differ in a feature of style"
    return f"no feature of style differs in at least {PER_PARAMETER} of the {many(votes, 'vote')}"
