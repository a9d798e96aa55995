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
from nuggetstream.report.numbers.human_ratings import human_battles, human_ratings
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
        received: Battles of the arena.
        votes: Human votes that count: between two different systems that can be ranked.
        queries: Queries of those votes; few of them make the intervals too narrow.
        parameters: Strengths and coefficients that the votes have to determine.
        systems: Best first, as voted.
        effects: One per feature; those with a coefficient are held equal.
        missing: Why there is no estimate; None where there is one.
    """

    arena: str
    received: int
    votes: int = 0
    queries: int = 0
    parameters: int = 0
    systems: tuple[Beside, ...] = ()
    effects: tuple[StyleEffect, ...] = ()
    missing: str | None = None


def compute_style(results: Results) -> tuple[StyleControl, ...]:
    """Ratings and style effects of every arena."""
    return tuple(_arena(name, battles) for name, battles in results.by_arena().items())


def _arena(name: str, battles: Sequence[BattleRow]) -> StyleControl:
    ratings = human_ratings(battles)
    if isinstance(ratings, str):
        return StyleControl(arena=name, received=len(battles), missing=ratings)
    ballots, used_battles = _ranked_ballots(ratings, battles)
    of_a = np.stack([_features(battle.a.text) for battle in used_battles])
    of_b = np.stack([_features(battle.b.text) for battle in used_battles])
    votes, queries = len(used_battles), len({battle.query for battle in used_battles})
    fitted = fit_style(ballots, of_a, of_b, Options(policy=POLICY))
    if isinstance(fitted, str):
        return StyleControl(arena=name, received=len(battles), votes=votes, queries=queries, missing=fitted)
    return StyleControl(
        arena=name,
        received=len(battles),
        votes=votes,
        queries=queries,
        parameters=fitted.parameters,
        systems=_beside(ratings, fitted.equal),
        effects=fitted.effects,
    )


def _ranked_ballots(ratings: Ratings, battles: Sequence[BattleRow]) -> tuple[Ballots, list[BattleRow]]:
    """The votes between rated systems, as ballots and as battles, in the same order."""
    rated = ratings.strengths.keys()
    used = [battle for battle in human_battles(battles) if {battle.a.system, battle.b.system} <= rated]
    assert ratings.fit is not None  # noqa: S101 - there would be no ratings
    assert isinstance(ratings.votes, Ballots)  # noqa: S101 - as `human_ratings` gives them
    return ratings.votes.within(ratings.fit.group), used


def _beside(plain: Ratings, equal: EqualStyle) -> tuple[Beside, ...]:
    voted = {
        own.system: Rated(own.rating, own.low, own.high) for own in plain.standings if own.rating is not None
    }
    systems = [Beside(own.system, voted[own.system], own) for own in equal.standings if own.system in voted]
    return tuple(sorted(systems, key=lambda system: (-system.plain.rating, system.system)))


def _features(answer: str) -> Floats:
    return features(answer, citation_use(answer).count)
