"""The three lenses: the kinds of preference from which a leaderboard is computed."""

from enum import StrEnum


class Lens(StrEnum):
    """Whose preferences a board is computed from."""

    HUMAN = "human"
    NUGGET = "nugget"
    JUDGE = "judge"
