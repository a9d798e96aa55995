"""Query parameters over HTTP: how a page's form becomes a model of them, and the rule that none is ignored.

    ?arena=demo&limit=5  ->  a QueryParameters model, or InvalidQuery that names every wrong parameter

An endpoint that takes parameters has one argument, `query`, whose model names them; an endpoint without that
argument takes none.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar, get_origin, get_type_hints
from urllib.parse import urlencode

from pydantic import ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import Request

from services.gateway.errors import InvalidQuery
from services.wire.query_parameters import QueryParameters, problems_in

Q = TypeVar("Q", bound="QueryParameters")


async def reject_unknown_parameters(request: Request) -> None:
    """Reject parameters that the endpoint would ignore; a dependency of every router of the API.

    Raises:
        InvalidQuery: naming each of them.
    """
    kind = get_type_hints(request.scope["endpoint"]).get("query", QueryParameters)
    if problems := list(ignored_parameters(kind, request.query_params)):
        raise InvalidQuery(problems)


def ignored_parameters(kind: type[QueryParameters], params: QueryParams) -> Iterator[str]:
    """One problem for every parameter that a model would ignore in full or in part.

    >>> class Example(QueryParameters):
    ...     arena: str
    ...     limit: int
    >>> list(ignored_parameters(Example, QueryParams("limt=3&arena=x&arena=y&limit=3")))
    ['limt: is not a parameter of this request', 'arena: is given 2 times, and only one value is allowed']
    """
    for name in dict.fromkeys(params):
        times = len(params.getlist(name))
        if name not in kind.model_fields:
            yield f"{name}: is not a parameter of this request"
        elif times > 1 and get_origin(kind.model_fields[name].annotation) is not list:
            yield f"{name}: is given {times} times, and only one value is allowed"


def query_string(params: QueryParams, **changes: str | None) -> str:
    """The parameters of a page with some of them changed, as the query of a link to the same page.

    Args:
        params: Parameters as they were sent; empty ones are left out.
        changes: New values; None removes a parameter.

    >>> query_string(QueryParams("arena=x&tag=&before=1"), before=None, state="failed")
    'arena=x&state=failed'
    """
    kept = [(name, value) for name, value in params.multi_items() if value and name not in changes]
    return urlencode(kept + [(name, value) for name, value in changes.items() if value is not None])


def query_from_form(kind: type[Q], params: QueryParams, **defaults: str) -> Q:
    """The parameters of a page with a form: browsers send every field, so an empty value counts as absent.

    Args:
        kind: Model of the parameters.
        params: Parameters as they were sent.
        defaults: Values for fields that are absent.

    Raises:
        InvalidQuery: naming every parameter that is wrong and why.
    """
    filled = QueryParams([(name, value) for name, value in params.multi_items() if value])
    if problems := list(ignored_parameters(kind, filled)):
        raise InvalidQuery(problems)
    lists = [name for name, field in kind.model_fields.items() if get_origin(field.annotation) is list]
    given = {name: filled.getlist(name) if name in lists else filled[name] for name in filled}
    with reporting_problems():
        return kind.model_validate(defaults | given)


@contextmanager
def reporting_problems() -> Iterator[None]:
    """Turn what a model finds wrong with a request into `InvalidQuery`, which names every field."""
    try:
        yield
    except ValidationError as error:
        raise InvalidQuery(problems_in(error.errors(include_url=False, include_input=False))) from None
