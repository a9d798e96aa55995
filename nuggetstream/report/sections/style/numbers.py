"""The human lens with and without style held equal, and how much style itself was preferred."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.numerals import many
from nuggetstream.files.results import Results
from nuggetstream.ratings.fitting.ballots import Ballots
from nuggetstream.ratings.fitting.style_control import Coefficient
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.options import Options
from nuggetstream.ratings.style import EqualStyle, StyledVotes, at_equal_style
from nuggetstream.report.human_ratings import Rated, human_battles, human_ratings, rated
from nuggetstream.report.lenses import POLICY
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
    ratings = human_ratings(battles)
    if isinstance(ratings, str):
        return _without(name, 0, 0, len(battles), ratings)
    ballots, used_battles = _ranked_ballots(ratings, battles)
    of_a = np.stack([_features(battle.a.text) for battle in used_battles])
    of_b = np.stack([_features(battle.b.text) for battle in used_battles])
    votes, queries = len(used_battles), len({battle.query for battle in used_battles})
    differs = (of_a != of_b).sum(axis=0)
    used = [index for index in range(len(FEATURES)) if differs[index] >= PER_PARAMETER]
    if not used:
        return _without(name, votes, queries, len(battles), _nothing_differs(votes))
    parameters = len(ballots.systems) - 1 + len(used)
    if votes < (least := LEAST_PER_PARAMETER * parameters):
        reason = f"{many(votes, 'vote')} cannot determine {parameters} numbers; that takes {least} votes"
        return _without(name, votes, queries, len(battles), reason)
    names = tuple(FEATURES[index] for index in used)
    equal = at_equal_style(StyledVotes(ballots, of_a[:, used], of_b[:, used], names), Options(policy=POLICY))
    if equal.missing is not None:
        return _without(name, votes, queries, len(battles), equal.missing)
    coefficients = {coefficient.feature: coefficient for coefficient in equal.coefficients}
    return StyleControl(
        arena=name,
        votes=votes,
        queries=queries,
        received=len(battles),
        parameters=parameters,
        systems=_beside(ratings, equal),
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


def _ranked_ballots(ratings: Ratings, battles: Sequence[BattleRow]) -> tuple[Ballots, list[BattleRow]]:
    """The votes between rated systems, as ballots and as battles, in the same order."""
    rated = ratings.strengths.keys()
    used = [battle for battle in human_battles(battles) if {battle.a.system, battle.b.system} <= rated]
    assert ratings.fit is not None  # noqa: S101 - there would be no ratings
    assert isinstance(ratings.votes, Ballots)  # noqa: S101 - as `human_ratings` gives them
    return ratings.votes.within(ratings.fit.group), used


def _beside(plain: Ratings, equal: EqualStyle) -> tuple[Beside, ...]:
    systems = []
    for standing in equal.standings:
        as_voted = rated(plain[standing.system].rating, plain[standing.system].interval)
        controlled = rated(standing.rating, standing.interval)
        if as_voted is not None and controlled is not None:
            systems.append(Beside(standing.system, as_voted, controlled))
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
