"""How ratings are made."""

from enum import StrEnum


class Intervals(StrEnum):
    """Where the intervals of a board come from."""

    BOOTSTRAP = "bootstrap"  # percentiles of resampled battles
    SANDWICH = "sandwich"  # normal, from robust standard errors
