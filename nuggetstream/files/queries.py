"""Queries by their ids: an object per line, or an id, a tab and the query."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.text import text_lines

_IDS = ("id", "qid", "query_id", "topic_id")
_TEXTS = ("query", "text", "question")


def read_queries(path: Path) -> dict[str, str]:
    """The queries of a file by their ids, in order.

    Raises:
        UnusableFile: A line cannot be used; names file, line and field.
    """
    queries: dict[str, str] = {}
    for number, line in text_lines(path):
        location = f"{path}:{number}"
        name, query = _query_of(line, location)
        if name != "".join(name.split()) or not name:
            raise UnusableFile(f"{location}: id: is {name!r}; expected an id without white space")
        if not query.strip():
            raise UnusableFile(f"{location}: query: is empty")
        if name in queries:
            raise UnusableFile(f"{location}: id: {name!r} is there twice")
        queries[name] = query.strip()
    if not queries:
        raise UnusableFile(f"{path}: holds no query")
    return queries


def _query_of(line: str, location: str) -> tuple[str, str]:
    if not line.lstrip().startswith("{"):
        name, tab, query = line.rstrip("\r\n").partition("\t")
        if not tab:
            raise UnusableFile(
                f"{location}: expected a query id, a tab and the query, or an object with id and query"
            )
        return name.strip(), query
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UnusableFile(f"{location}: is not a JSON object: {error}") from error
    return _first(row, _IDS, location), _first(row, _TEXTS, location)


def _first(row: Mapping[str, Any], names: tuple[str, ...], location: str) -> str:
    for name in names:
        value = row.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
    raise UnusableFile(f"{location}: {names[0]}: is missing, or no text")
