"""The texts, lists and objects of which submissions consist, each with its check."""

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("contains a NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("contains half of a surrogate pair, which is no character") from error
    return text


def at_most(limit: int) -> AfterValidator:
    """Reject a text of more bytes in UTF-8."""

    def check(text: str) -> str:
        if (size := len(text.encode("utf-8"))) > limit:
            raise ValueError(f"is {size:,} bytes long; at most {limit:,} are accepted")
        return text

    return AfterValidator(check)


def not_blank(text: str) -> str:
    """The text; one of white space alone is rejected."""
    if not text.strip():
        raise ValueError("is empty")
    return text


Text = Annotated[str, AfterValidator(_storable)]
Name = Annotated[Text, Field(max_length=200), AfterValidator(not_blank)]


def few(limit: int) -> BeforeValidator:
    """Reject a list by its length before anything in it is looked at."""

    def check(given: Any) -> Any:
        if isinstance(given, list | tuple) and len(given) > limit:
            raise ValueError(f"is {len(given)} long; at most {limit} are accepted")
        return given

    return BeforeValidator(check)


EMPTY_IS_ABSENT = BeforeValidator(lambda given: None if given == "" else given)


class Strict(BaseModel):
    """An object that has no unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _within_bounds(given: Any) -> Any:
    """A value of the domain whose numbers are probabilities."""
    for name, value in asdict(given).items():
        if isinstance(value, float) and not 0 <= value <= 1:
            raise ValueError(f"{name} is {value:g}; expected a number from 0 to 1")
    return given


OF_PROBABILITIES = AfterValidator(_within_bounds)


class Part(BaseModel):
    """A part of an evaluated battle; fields that no reader needs are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)
