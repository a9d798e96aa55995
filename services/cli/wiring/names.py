"""Lists of names in settings and options."""

from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_settings import NoDecode


def names_of(listed: str) -> tuple[str, ...]:
    """The names in a list that is separated by commas, in order.

    >>> names_of("a, b,, ")
    ('a', 'b')
    """
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def _listed(given: Any) -> Any:
    return names_of(given) if isinstance(given, str) else given


LISTED = BeforeValidator(_listed)
"""Reads a setting of several values, which are separated by commas in the environment."""
Names = Annotated[tuple[str, ...], NoDecode, LISTED]
"""The type of a setting that is a list of names."""
