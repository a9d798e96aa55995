"""The indexes of the port, each over a database of the test's own."""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.retriever.memory import MemoryIndex
from services.retriever.pgvector import PgVectorIndex
from services.retriever.port import VectorIndex
from services.store.database import Database
from tests.databases import copy_of
from tests.integration.store.conftest import WAIT

MAKERS: dict[str, Callable[[Database], VectorIndex]] = {
    "memory": lambda _: MemoryIndex(),
    "pgvector": lambda database: PgVectorIndex(database, "words", 20_000),
    "pgvector graph": lambda database: PgVectorIndex(database, "words", 0),
}
POSTGRESQL = [
    pytest.param((kind, "postgresql"), id=f"{kind}-postgresql", marks=pytest.mark.postgresql)
    for kind in ("memory", "pgvector", "pgvector graph")
]


@dataclass(frozen=True, slots=True)
class Indexed:
    """An index and its database.

    Attributes:
        database: The database.
        make: Another index over the same database, as another process has it.
    """

    database: Database
    make: Callable[[], VectorIndex]


@pytest.fixture(params=[pytest.param(("memory", "sqlite"), id="memory-sqlite"), *POSTGRESQL])
def kind_and_url(
    request: pytest.FixtureRequest, migrated_sqlite: Path, tmp_path: Path
) -> Iterator[tuple[str, str]]:
    """The kind of an index, and the URL of its database."""
    kind, where = request.param
    if where == "sqlite":
        yield kind, copy_of(migrated_sqlite, tmp_path)
        return
    with request.getfixturevalue("postgres_server").database("migrated") as url:
        yield kind, url


@pytest.fixture
async def indexed(kind_and_url: tuple[str, str]) -> AsyncIterator[Indexed]:
    """Each kind of index in turn."""
    kind, url = kind_and_url
    database, made = Database(url, wait=WAIT), list[VectorIndex]()

    def make() -> VectorIndex:
        made.append(MAKERS[kind](database))
        return made[-1]

    if kind.startswith("pgvector"):
        await PgVectorIndex(database, "words", 0).prepare()
    yield Indexed(database, make)
    for index in made:
        if isinstance(index, PgVectorIndex):
            await index.settled()
    await database.close()
