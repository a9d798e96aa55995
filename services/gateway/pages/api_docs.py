"""GET /docs: the API as a page, from its OpenAPI document; nothing is loaded from elsewhere.

the OpenAPI document  ->  operations by subject, and the fields of every object
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment

_SCHEMAS = "#/components/schemas/"
_SUBJECTS = ("battles", "ratings", "operations", "administration")  # in the order of use, others behind them
_BATTLE = "/v1/battles/{battle_id}"
_FIRST = (
    ("POST", "/v1/battles"),
    ("GET", _BATTLE),
    ("GET", f"{_BATTLE}/events"),
    ("POST", f"{_BATTLE}/vote"),
    ("GET", "/v1/battles"),
)  # of their subject


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the name of a type: text, or the name of an object that the page describes."""

    text: str
    is_object: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of an object.

    Attributes:
        name: Its name.
        place: Where a parameter is, such as "query"; None for a field.
        parts: Its type.
        required: Whether it must be present.
        default: Its default; None where there is none.
        text: Its description; None where there is none.
    """

    name: str
    place: str | None
    parts: tuple[Part, ...]
    required: bool
    default: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Operation:
    """A method of a path.

    Attributes:
        method: Such as "GET".
        path: With the names of its parameters in braces.
        summary: One line.
        text: Its description; None where there is none.
        parameters: Parameters of the path and the query.
        bodies: Media type and type of each body that it accepts.
        replies: Status, description and type of each reply.
    """

    method: str
    path: str
    summary: str
    text: str | None
    parameters: tuple[Field, ...]
    bodies: tuple[tuple[str, tuple[Part, ...]], ...]
    replies: tuple[tuple[str, str, tuple[Part, ...]], ...]

    @property
    def anchor(self) -> str:
        """Id of the operation on the page."""
        return "-".join(
            [self.method.lower(), *self.path.strip("/").replace("{", "").replace("}", "").split("/")]
        )


def routes(env: Environment, document: Callable[[], Mapping[str, Any]]) -> APIRouter:
    """The route of the page.

    Args:
        env: Templates of the pages.
        document: Gives the OpenAPI document.
    """
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @cache
    def content() -> dict[str, Any]:
        return content_of(document())

    @router.get("/docs")
    async def docs(request: Request) -> str:
        arena = request.query_params.get("arena") or None  # only for the links of the page
        return env.get_template("docs/page.html").render(arena=arena, **content())

    return router


def content_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the template shows of an OpenAPI document."""
    subjects: dict[str, list[Operation]] = {}
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            subject = (described.get("tags") or ["health"])[0]
            subjects.setdefault(subject, []).append(_operation(method.upper(), path, described))
    subjects = {
        name: sorted(subjects[name], key=lambda each: _place((each.method, each.path), _FIRST))
        for name in sorted(subjects, key=lambda name: _place(name, _SUBJECTS))
    }
    schemas = sorted(document["components"]["schemas"].items())
    objects = {name: (schema.get("description"), _fields(schema)) for name, schema in schemas}
    return {"info": document["info"], "subjects": subjects, "objects": objects, "schemas": dict(schemas)}


def _place(item: object, order: Sequence[object]) -> int:
    return order.index(item) if item in order else len(order)


def _operation(method: str, path: str, described: Mapping[str, Any]) -> Operation:
    contents = described.get("requestBody", {}).get("content", {})
    return Operation(
        method=method,
        path=path,
        summary=described.get("summary", ""),
        text=described.get("description"),
        parameters=tuple(_parameter(one) for one in described.get("parameters", ())),
        bodies=tuple((kind, parts_of(content.get("schema", {}))) for kind, content in contents.items()),
        replies=tuple(
            (status, reply["description"], _reply_type(reply))
            for status, reply in described["responses"].items()
        ),
    )


def _reply_type(reply: Mapping[str, Any]) -> tuple[Part, ...]:
    kinds = [
        parts_of(content["schema"]) for content in reply.get("content", {}).values() if content.get("schema")
    ]
    return kinds[0] if kinds else ()


def _parameter(described: Mapping[str, Any]) -> Field:
    schema = described["schema"]
    return _field(described["name"], described["in"], schema, required=described.get("required", False))


def _fields(schema: Mapping[str, Any]) -> tuple[Field, ...]:
    required = schema.get("required", ())
    return tuple(
        _field(name, None, field, required=name in required)
        for name, field in schema.get("properties", {}).items()
    )


def _field(name: str, place: str | None, schema: Mapping[str, Any], *, required: bool) -> Field:
    default = schema.get("default")
    return Field(
        name=name,
        place=place,
        parts=parts_of(schema),
        required=required,
        default=None if default is None else str(default),
        text=schema.get("description"),
    )


def parts_of(schema: Mapping[str, Any]) -> tuple[Part, ...]:
    """The type that a schema describes, in words.

    >>> listed = {"type": "array", "items": {"$ref": "#/components/schemas/X"}}
    >>> [part.text for part in parts_of({"anyOf": [listed, {"type": "null"}]})]
    ['list of ', 'X', ' or ', 'null']
    """
    return tuple(_parts(schema))


def _parts(schema: Mapping[str, Any]) -> Iterator[Part]:
    several = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf") or ()
    if "$ref" in schema:
        yield Part(schema["$ref"].removeprefix(_SCHEMAS), is_object=True)
    elif several:
        for number, one in enumerate(several):
            if number:
                yield Part(" or ")
            yield from _parts(one)
    elif "enum" in schema or "const" in schema:
        yield Part(" or ".join(f'"{value}"' for value in schema.get("enum") or [schema["const"]]))
    elif schema.get("type") == "array":
        yield Part("list of ")
        yield from _parts(schema.get("items", {}))
    else:
        kind = schema.get("format") or schema.get("type") or "anything"
        yield Part(str(kind))
