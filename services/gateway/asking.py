"""Query parameters: none is ever ignored.

An endpoint that takes some has one argument, `question`, whose model names them; one without it takes none.
"""

from collections.abc import Iterator
from typing import Annotated, TypeVar, get_origin, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import Request

from services.gateway.refusals import InvalidQuestion, problems_in

MAX_WAIT = 120.0  # seconds
MOST_LISTED = 200


def storable(text: str) -> str:
    """A text that the record may be asked for.

    Raises:
        ValueError: no database keeps a NUL character, and some refuse to look for one.
    """
    if "\x00" in text:
        raise ValueError("contains a NUL character")
    return text


Q = TypeVar("Q", bound="Question")
Text = Annotated[str, AfterValidator(storable)]


class Question(BaseModel):
    """What may be asked of a path; only a list may be given more than once."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class _Listed(Question):
    arena: Text | None = None
    """Of this arena only."""
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 50
    """At most so many, the newest."""


class BattlesQuestion(_Listed):
    """Battles."""


class FailuresQuestion(_Listed):
    """Stages that gave up."""

    battle: Text | None = None
    """On this battle only."""


class SubmissionQuestion(Question):
    """How to take a battle in."""

    wait: Annotated[float, Field(ge=0, le=MAX_WAIT)] | None = None
    """Seconds to wait for the battle's end."""


class FrontPageQuestion(Question):
    """Battles for a person."""

    arena: Text | None = None
    """Of this arena only."""


async def nothing_ignored(request: Request) -> None:
    """Refuse parameters that the endpoint asked would ignore; a dependency of every router of the API.

    Raises:
        InvalidQuestion: naming each of them.
    """
    kind = get_type_hints(request.scope["endpoint"]).get("question", Question)
    if problems := list(ignored(kind, request.query_params)):
        raise InvalidQuestion(problems)


def ignored(kind: type[Question], params: QueryParams) -> Iterator[str]:
    """What of the parameters a question would not hear, and why.

    >>> list(ignored(BattlesQuestion, QueryParams("limt=3&arena=x&arena=y&limit=3")))
    ['limt: Extra inputs are not permitted', 'arena: is given 2 times, and one value is answered here']
    """
    for name in dict.fromkeys(params):
        times = len(params.getlist(name))
        if name not in kind.model_fields:
            yield f"{name}: Extra inputs are not permitted"
        elif times > 1 and get_origin(kind.model_fields[name].annotation) is not list:
            yield f"{name}: is given {times} times, and one value is answered here"


def asked_by_form(kind: type[Q], params: QueryParams, **otherwise: str) -> Q:
    """What a page is asked; a form sends every field, and an empty one says nothing.

    Args:
        kind: of question.
        params: what was sent.
        otherwise: fields that the form may leave open.

    Raises:
        InvalidQuestion: naming every field that is wrong and why.
    """
    filled = QueryParams([(name, value) for name, value in params.multi_items() if value])
    if problems := list(ignored(kind, filled)):
        raise InvalidQuestion(problems)
    many = [name for name, field in kind.model_fields.items() if get_origin(field.annotation) is list]
    given = {name: filled.getlist(name) if name in many else filled[name] for name in filled}
    try:
        return kind.model_validate(otherwise | given)
    except ValidationError as error:
        raise InvalidQuestion(problems_in(error.errors(include_url=False, include_input=False))) from None
