"""The texts in an event, whatever its type: answers, chunks, nuggets, queries."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from operator import attrgetter

_SHORTEST = 24  # characters; a reference to a shorter text would save nothing


def texts_of(event: object) -> list[str]:
    """The different texts of an event that have at least 24 characters and a space, the longest first.

    >>> texts_of(("A sentence that is long enough.", ["short", "no-spaces-in-this-identifier"]))
    ['A sentence that is long enough.']
    """
    texts: dict[str, None] = {}
    open_values = [event]
    while open_values:
        value = open_values.pop()
        if isinstance(value, str):
            if len(value) >= _SHORTEST and " " in value:
                texts[value] = None
        elif isinstance(value, tuple | list):
            open_values.extend(reversed(value))
        elif value is not None:
            open_values.extend(_contents(type(value))(value))  # type: ignore[arg-type]  # types are hashable
    return sorted(texts, key=len, reverse=True)


@lru_cache(maxsize=256)  # the types of events and of what they contain
def _contents(kind: type) -> Callable[[object], tuple[object, ...]]:
    """Reads the fields of a value of this type, the last first; nothing of a type without fields."""
    names = [field.name for field in reversed(fields(kind))] if is_dataclass(kind) else []
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)
