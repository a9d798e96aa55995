"""Things by what they have in common."""

from collections.abc import Iterable
from typing import TypeVar

Key = TypeVar("Key")
Thing = TypeVar("Thing")


def grouped(things: Iterable[tuple[Key, Thing]]) -> dict[Key, list[Thing]]:
    """The things of each key, keys and things in the order in which they come.

    >>> grouped([("vital", "tides"), ("okay", "moon"), ("vital", "sun")])
    {'vital': ['tides', 'sun'], 'okay': ['moon']}
    """
    groups: dict[Key, list[Thing]] = {}
    for key, thing in things:
        groups.setdefault(key, []).append(thing)
    return groups
