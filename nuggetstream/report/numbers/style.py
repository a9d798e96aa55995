"""The human lens with and without style held equal, and how much style itself was preferred."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.figures.charts import Rated
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.ratings.fitting.ballots import Ballots
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.options import Options
from nuggetstream.ratings.style import EqualStyle
from nuggetstream.ratings.style_effects import StyleEffect, fit_style
from nuggetstream.report.lenses import POLICY
from nuggetstream.report.numbers.human_ratings import human_battles, human_ratings, rated
from nuggetstream.text.citations import citation_use
from nuggetstream.text.style import features

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Beside:
    """One system's rating as voted, and at equal style."""

    system: str
    plain: Rated
    controlled: Rated


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


def compute_style(results: Results) -> tuple[StyleControl, ...]:
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
    fitted = fit_style(ballots, of_a, of_b, Options(policy=POLICY))
    if isinstance(fitted, str):
        return _without(name, votes, queries, len(battles), fitted)
    return StyleControl(
        arena=name,
        votes=votes,
        queries=queries,
        received=len(battles),
        parameters=fitted.parameters,
        systems=_beside(ratings, fitted.equal),
        effects=fitted.effects,
        missing=None,
    )


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
        as_voted = rated(plain[standing.system])
        controlled = rated(standing)
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
