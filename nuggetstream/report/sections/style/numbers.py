"""The human lens with and without style held equal, and how much style itself was preferred."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.numerals import many
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

# Votes for each number to estimate: with few, one feature nearly separates winners from losers, and its
# coefficient is huge and looks certain (Peduzzi et al., 1996).
PER_PARAMETER, LEAST_PER_PARAMETER = 10, 5


@dataclass(frozen=True, slots=True)
class Beside:
    """One system's rating as voted, and at equal style."""

    system: str
    plain: Rated
    controlled: Rated


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
class StyleControl:
    """One arena.

    Attributes:
        arena: Its name.
        votes: Human votes that count: between two different systems that can be ranked.
        queries: Queries of those votes; few of them make the intervals too narrow.
        received: Battles of the arena.
        parameters: Strengths and coefficients that the votes have to determine.
        systems: Best first, as voted.
        effects: One per feature; those with a coefficient are held equal.
        missing: Why there is no estimate; None where there is one.
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
    """Ratings and style effects of every arena."""
    return tuple(_arena(name, battles) for name, battles in results.by_arena().items())


def _arena(name: str, battles: Sequence[BattleRow]) -> StyleControl:
    strengths = human_strengths(battles)
    if isinstance(strengths, str):
        return _without(name, 0, 0, len(battles), strengths)
    difference = relative_difference(
        np.stack([_features(battle.a.text) for battle in strengths.battles]),
        np.stack([_features(battle.b.text) for battle in strengths.battles]),
    )
    votes, queries = len(strengths.battles), strengths.ballots.clusters
    differs = (difference != 0).sum(axis=0)
    used = [index for index in range(len(FEATURES)) if differs[index] >= PER_PARAMETER]
    if not used:
        return _without(name, votes, queries, len(battles), _nothing_differs(votes))
    parameters = len(strengths.ballots.systems) - 1 + len(used)
    if votes < (least := LEAST_PER_PARAMETER * parameters):
        reason = f"{many(votes, 'vote')} cannot determine {parameters} numbers; that takes {least} votes"
        return _without(name, votes, queries, len(battles), reason)
    try:
        equal = control(
            strengths.ballots, difference[:, used], [FEATURES[index] for index in used], policy=POLICY
        )
    except (StyleUndetermined, NotConverged) as error:
        return _without(name, votes, queries, len(battles), str(error))
    coefficients = {coefficient.feature: coefficient for coefficient in equal.coefficients}
    return StyleControl(
        arena=name,
        votes=votes,
        queries=queries,
        received=len(battles),
        parameters=parameters,
        systems=_beside(strengths, equal),
        effects=tuple(
            StyleEffect(feature, int(count), coefficients.get(feature))
            for feature, count in zip(FEATURES, differs, strict=True)
        ),
        missing=None,
    )


def _nothing_differs(votes: int) -> str:
    if votes < PER_PARAMETER:
        there = f"there is {many(votes, 'vote')}" if votes == 1 else f"there are {many(votes, 'vote')}"
        return f"{there}, and it takes {PER_PARAMETER} whose answers differ in a feature of style"
    return f"no feature of style differs in at least {PER_PARAMETER} of the {many(votes, 'vote')}"


def _beside(plain: Strengths, equal: Controlled) -> tuple[Beside, ...]:
    as_voted = normal_ratings(plain.theta, plain.covariance)
    at_equal_style = normal_ratings(equal.theta, equal.covariance)
    systems = [
        Beside(system, rated(as_voted, index), rated(at_equal_style, index))
        for index, system in enumerate(equal.systems)
    ]
    return tuple(sorted(systems, key=lambda system: (-system.plain.rating, system.system)))


def _without(name: str, votes: int, queries: int, received: int, reason: str) -> StyleControl:
    return StyleControl(
        arena=name,
        votes=votes,
        queries=queries,
        received=received,
        parameters=0,
        systems=(),
        effects=(),
        missing=reason,
    )


def _features(answer: str) -> Floats:
    return features(answer, citation_use(answer).count)
