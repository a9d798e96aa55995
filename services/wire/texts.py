"""The texts in an event, whatever its type: answers, chunks, nuggets, queries."""

from dataclasses import fields, is_dataclass

_SHORTEST = 24  # characters; a reference to a shorter text would save nothing


def texts_of(event: object) -> list[str]:
    """The different texts of an event that have at least 24 characters and a space, the longest first.

    >>> texts_of(("A sentence that is long enough.", ["short", "no-spaces-in-this-identifier"]))
    ['A sentence that is long enough.']
    """
    texts: dict[str, None] = {}
    _collect(event, texts)
    return sorted(texts, key=len, reverse=True)


def _collect(value: object, texts: dict[str, None]) -> None:
    if isinstance(value, str):
        if len(value) >= _SHORTEST and " " in value:
            texts[value] = None
    elif isinstance(value, tuple | list):
        for item in value:
            _collect(item, texts)
    elif is_dataclass(value):
        for field in fields(value):
            _collect(getattr(value, field.name), texts)
