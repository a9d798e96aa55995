"""The human lens with and without style held equal, and how much style itself was preferred."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.ratings.newton import NotConverged
from nuggetstream.ratings.sandwich import normal_ratings
from nuggetstream.ratings.style_control import (
    Coefficient,
    Controlled,
    StyleUndetermined,
    control,
    relative_difference,
)
from nuggetstream.report.lenses import POLICY
from nuggetstream.report.strengths import Rated, Strengths, human_strengths, rated
from nuggetstream.text.citations import citation_use
from nuggetstream.text.style import FEATURES, features

Floats = NDArray[np.float64]

# Votes for each number to be found: with few, one feature nearly separates winners from losers, and its
# coefficient is huge and looks sure (Peduzzi et al., 1996).
PER_PARAMETER, LEAST_PER_PARAMETER = 10, 5


@dataclass(frozen=True, slots=True)
class Beside:
    """One system as voted, and at equal style."""

    system: str
    plain: Rated
    controlled: Rated


@dataclass(frozen=True, slots=True)
class StyleEffect:
    """How much one feature of style was preferred.

    Attributes:
        differs: votes in which the two answers differ in it.
        coefficient: logits per standard deviation, with its interval; None where too few votes differ:
            a few battles that one side happens to win would drive it to infinity.
    """

    feature: str
    differs: int
    coefficient: Coefficient | None


@dataclass(frozen=True, slots=True)
class StyleControl:
    """One arena.

    Attributes:
        votes: human votes that count: between two different systems that can be ranked.
        queries: that those votes are on; few of them make the intervals too narrow.
        received: battles of the arena.
        parameters: strengths and coefficients that the votes have to determine.
        systems: best first, as voted.
        effects: one per feature; held equal are those with a coefficient.
        missing: why there is no answer; None where there is one.
    """

    arena: str
    votes: int
    queries: int
    received: int
    parameters: int
    systems: tuple[Beside, ...]
    effects: tuple[StyleEffect, ...]
    missing: str | None


def compute(results: Results) -> tuple[StyleControl, ...]:
    """Every arena on its own."""
    return tuple(_arena(name, battles) for name, battles in results.by_arena().items())


def _arena(name: str, battles: Sequence[BattleRow]) -> StyleControl:
    found = human_strengths(battles)
    if isinstance(found, str):
        return _without(name, 0, 0, len(battles), found)
    difference = relative_difference(
        *(np.stack([_features(text) for text in texts]) for texts in _texts(found.battles))
    )
    votes, queries = len(found.battles), found.ballots.clusters
    differs = (difference != 0).sum(axis=0)
    used = [place for place in range(len(FEATURES)) if differs[place] >= PER_PARAMETER]
    if not used:
        return _without(name, votes, queries, len(battles), _nothing_differs(votes))
    parameters = len(found.ballots.systems) - 1 + len(used)
    if votes < (least := LEAST_PER_PARAMETER * parameters):
        reason = f"{votes} votes for {parameters} numbers to be found; it takes {least}"
        return _without(name, votes, queries, len(battles), reason)
    try:
        equal = control(
            found.ballots, difference[:, used], [FEATURES[place] for place in used], policy=POLICY
        )
    except (StyleUndetermined, NotConverged) as error:
        return _without(name, votes, queries, len(battles), str(error))
    coefficients = {each.feature: each for each in equal.coefficients}
    return StyleControl(
        arena=name,
        votes=votes,
        queries=queries,
        received=len(battles),
        parameters=parameters,
        systems=_beside(found, equal),
        effects=tuple(
            StyleEffect(feature, int(count), coefficients.get(feature))
            for feature, count in zip(FEATURES, differs, strict=True)
        ),
        missing=None,
    )


def _nothing_differs(votes: int) -> str:
    if votes < PER_PARAMETER:
        return f"{votes} votes; it takes {PER_PARAMETER} that differ in a feature of style"
    return f"no feature of style differs in at least {PER_PARAMETER} of {votes} votes"


def _beside(plain: Strengths, equal: Controlled) -> tuple[Beside, ...]:
    as_voted = normal_ratings(plain.theta, plain.covariance)
    at_equal_style = normal_ratings(equal.theta, equal.covariance)
    systems = [
        Beside(system, rated(as_voted, place), rated(at_equal_style, place))
        for place, system in enumerate(equal.systems)
    ]
    return tuple(sorted(systems, key=lambda each: (-each.plain.rating, each.system)))


def _without(name: str, votes: int, queries: int, received: int, reason: str) -> StyleControl:
    return StyleControl(name, votes, queries, received, 0, (), (), reason)


def _texts(battles: Sequence[BattleRow]) -> tuple[list[str], list[str]]:
    return [each.a.text for each in battles], [each.b.text for each in battles]


def _features(answer: str) -> Floats:
    return features(answer, citation_use(answer).count)
