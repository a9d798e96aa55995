"""Long lists of keys in parts, because a statement has a limited number of parameters."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam

T = TypeVar("T")
K = TypeVar("K", str, bytes)
_PER_STATEMENT = 500


def batches(items: Sequence[T], size: int = _PER_STATEMENT) -> Iterator[Sequence[T]]:
    """Consecutive parts of at most so many items."""
    return (items[start : start + size] for start in range(0, len(items), size))


def among(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """The condition that a column has one of the values of the parameter `keys`."""
    return column.in_(bindparam("keys", expanding=True))


def rows_of_keys(
    connection: Connection, query: Select[Any], keys: Iterable[K], **values: object
) -> Iterator[Row[Any]]:
    """The rows of a query with the parameter `keys`, executed for each 500 of the keys in their order.

    Args:
        connection: A connection.
        query: The query; see `among`.
        keys: The keys, each of which is used once.
        values: Values of other parameters.
    """
    for batch in batches(sorted(set(keys))):
        yield from connection.execute(query, {"keys": batch, **values})
