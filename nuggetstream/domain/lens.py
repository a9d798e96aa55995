"""The three lenses: the kinds of preference from which a leaderboard is computed."""

from enum import StrEnum


class Lens(StrEnum):
    """Whose preferences a board is computed from."""

    HUMAN = "human"
    NUGGET = "nugget"
    JUDGE = "judge"


_OF_JUDGE = f"{Lens.JUDGE.value}:"


def source_of_judge(evaluator: str) -> str:
    """The source of a judge's outcomes.

    >>> source_of_judge("pairwise"), evaluator_of("judge:pairwise"), evaluator_of("human")
    ('judge:pairwise', 'pairwise', None)
    """
    return _OF_JUDGE + evaluator


def evaluator_of(source: str) -> str | None:
    """The judge whose outcomes have a source; None for other sources."""
    return source.removeprefix(_OF_JUDGE) if source.startswith(_OF_JUDGE) else None
