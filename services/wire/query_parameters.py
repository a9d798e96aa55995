"""The base of every model of query parameters, over HTTP and in requests between services."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict


def without_nul(text: str) -> str:
    """The text as it is, if a database can look for it.

    Raises:
        ValueError: it contains a NUL character, which PostgreSQL accepts in no text.
    """
    if "\x00" in text:
        raise ValueError("contains a NUL character")
    return text


Text = Annotated[str, AfterValidator(without_nul)]


class QueryParameters(BaseModel):
    """The query parameters of a path; only a parameter whose field is a list may be repeated."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


def problems_in(details: Iterable[Mapping[str, Any]]) -> list[str]:
    """The problems that a pydantic model found, one line per field.

    Args:
        details: Errors as pydantic lists them; their locations begin at the field.

    >>> problems_in([{"loc": ("tag", 0), "msg": "Value error, is empty"}, {"loc": (), "msg": "no JSON"}])
    ['tag.0: is empty', 'no JSON']
    """
    problems = []
    for detail in details:
        field = ".".join(map(str, detail["loc"]))
        message = detail["msg"].removeprefix("Value error, ")
        problems.append(f"{field}: {message}" if field else message)
    return problems
