"""The three lenses: whose preference decides a battle."""

from enum import StrEnum


class Lens(StrEnum):
    """Whose preference a board is made of."""

    HUMAN = "human"
    NUGGET = "nugget"
    JUDGE = "judge"
