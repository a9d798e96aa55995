"""Scores of systems from wherever a notebook has them."""

from collections.abc import Mapping
from math import isfinite
from typing import TypeAlias, cast

from nuggetstream.api.sources import Rows, path_of, rows_of
from nuggetstream.domain.inputs import ROWS, Kind, NotAccepted, check_kind, is_mark, is_missing, type_named
from nuggetstream.files.record import as_number
from nuggetstream.rubric.leaderboards import Column, leaderboard_of, read_side
from nuggetstream.rubric.scoring import Labels, Scoring

Side: TypeAlias = Rows | Mapping[str, float] | Labels
_SIDE = "system -> score, a DataFrame with system and score, or the path of a leaderboard or of a qrels file"


def scoring_of(argument: str, given: Side) -> Scoring | Labels:
    """A scoring, or relevance labels that score runs.

    Args:
        argument: Name of the argument, for errors.
        given: What the caller handed over.

    Raises:
        NotAccepted: It holds no scores.
        UnusableFile: A row cannot be used; the message names it and its field.
    """
    if isinstance(given, Labels):
        return given
    kind = check_kind(argument, given, ROWS | {Kind.MAPPING, Kind.SERIES}, _SIDE)
    if kind is Kind.PATH:
        return read_side(path_of(argument, given, "a leaderboard"), Column())
    if kind in ROWS:
        return leaderboard_of(*rows_of(cast("Rows", given), ("system", "score"), argument), Column())
    if not hasattr(given, "items"):  # a column of polars, which names no systems
        raise NotAccepted(f"{argument}: is {type_named(given)}, which names no systems; expected {_SIDE}")
    by_system = cast("Mapping[str, object]", given)
    scores = {str(system): _score(f"{argument}[{system!r}]", score) for system, score in by_system.items()}
    return Scoring(
        scores={system: score for system, score in scores.items() if score is not None},
        unscored=tuple(system for system, score in scores.items() if score is None),
    )


def _score(location: str, score: object) -> float | None:
    if is_missing(score) or (isinstance(score, str) and is_mark(score)):
        return None
    number = as_number(score)
    if not isfinite(number):
        raise NotAccepted(f"{location}: is {type_named(score)}; expected a number")
    return number
