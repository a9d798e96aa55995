"""How tests are marked, and in which order processes take them when several share the work (pytest -n)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# What every test of a folder is.
FOLDERS = {
    "tests/e2e/": "slow",
    "tests/browser/": "browser",
    "tests/integration/gateway/": "broker",
    "tests/integration/runtime/": "broker",
}
# What a test is that takes a fixture.
FIXTURES = {
    "browser": "browser",
    "bus": "broker",
    "nats_server": "broker",
    "postgres": "postgresql",
    "recorded_data": "recorded",
}
# Beside the store's own tests, what runs on both databases is represented by PostgreSQL.
DATABASE, STORE = "database_url", "tests/integration/store/"
# The longest tests first: at the end, short ones keep every process busy.
FIRST = ("slow", "browser", "postgresql", "broker", "recorded")
# Each test of this folder runs where there is room,
ALONE = "tests/e2e/"
# and all tests of such a folder run in one process: they share a browser, or a PostgreSQL server.
TOGETHER = ("tests/browser/", "tests/integration/store/")


def mark(items: Sequence[pytest.Item]) -> None:
    """Say of every test what it needs, so that `-m "not broker"` and the like can leave it out."""
    for item in items:
        names = {name for folder, name in FOLDERS.items() if item.nodeid.startswith(folder)}
        names |= {FIXTURES[fixture] for fixture in getattr(item, "fixturenames", ()) if fixture in FIXTURES}
        if parameters(item).get(DATABASE) == "sqlite" and not item.nodeid.startswith(STORE):
            names.add("full")
        for name in sorted(names):
            item.add_marker(name)


def parameters(item: pytest.Item) -> Mapping[str, Any]:
    """The parameters of a test and of its fixtures."""
    return item.callspec.params if hasattr(item, "callspec") else {}


def in_order(items: list[pytest.Item]) -> None:
    """Sort by the first mark; within one mark the order stays."""

    def rank(item: pytest.Item) -> int:
        return next((n for n, name in enumerate(FIRST) if item.get_closest_marker(name)), len(FIRST))

    ranks: dict[str, int] = {}
    for item in items:  # a module stays together
        module = item.nodeid.partition("::")[0]
        ranks[module] = min(rank(item), ranks.get(module, len(FIRST)))
    items.sort(key=lambda item: ranks[item.nodeid.partition("::")[0]])


class ByModule(LoadScopeScheduling):  # type: ignore[misc]
    """One process runs all tests of a module, in order."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(ALONE):
            return nodeid
        return next((folder for folder in TOGETHER if nodeid.startswith(folder)), nodeid.partition("::")[0])
