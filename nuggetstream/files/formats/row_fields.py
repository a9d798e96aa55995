"""The fields of a row that is no battle, checked; what is wrong is named."""

from collections.abc import Callable
from typing import Any

from nuggetstream.files.formats.rows import shown
from nuggetstream.files.submission import InvalidSubmission


class WrongRow(InvalidSubmission):
    """A row has other fields; says which."""

    def __init__(self, problem: str) -> None:
        super().__init__([problem])


def object_in(fields: Any) -> dict[str, Any]:
    """A row that is an object.

    Raises:
        WrongRow: It is something else.
    """
    if not isinstance(fields, dict):
        raise WrongRow("is not a JSON object")
    return fields


def id_in(name: str, value: Any) -> str:
    """An id, which is a text or a number and not blank.

    Raises:
        WrongRow: It is something else; names the field.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        raise WrongRow(f"{name}: is missing")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise WrongRow(f"{name}: is {shown(value)}; expected a text or a number")
    return str(value)


def text_in(name: str, value: Any) -> str:
    """A text, which may be empty.

    Raises:
        WrongRow: It is something else; names the field.
    """
    if not isinstance(value, str):
        raise WrongRow(
            f"{name}: is missing" if value is None else f"{name}: is {shown(value)}; expected a text"
        )
    return value


def number_in(name: str, text: str, kind: Callable[[str], float]) -> float:
    """A number that is written as a text.

    Raises:
        WrongRow: The text is no such number; names the field.
    """
    try:
        return kind(text)
    except ValueError:
        raise WrongRow(f"{name}: is {text!r}; expected a number") from None
