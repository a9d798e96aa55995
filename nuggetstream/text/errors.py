"""Errors of measures on texts."""


class NothingToMeasure(ValueError):
    """The text holds no word: the measure has no value, which differs from zero."""
