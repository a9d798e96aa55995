"""Every route and every gRPC method has a rule, and docs/access.md has the same table."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from arena.v1 import arena_pb2, ratings_pb2
from fastapi import FastAPI

from services.gateway.access.guard import Access
from services.gateway.access.rules import RULES, Scope
from services.gateway.app import create_app
from services.gateway.battles import grpc_service as arena_service
from services.gateway.build import further_routes
from services.gateway.ports import Gateway
from services.rater import grpc_service as ratings_service
from services.runtime.bus import Bus
from services.store.database import Database

DOCS = Path(__file__).parents[2] / "docs" / "access.md"
# Nothing of an arena, and no route of ours: the description of the API, and the files of the pages.
STATIC = {"/openapi.json", "/static", "/static/swagger"}
WHERE = {
    Scope.ANYWHERE: "any arena",
    Scope.ARENA: "`arena`, else `default`",
    Scope.LISTED: "`arena`, else the key's",
    Scope.ARENA_OR_ALL: "`arena`, else all arenas",
    Scope.BATTLE: "of the battle",
    Scope.INSIDE: "of its subject",
}


def application() -> FastAPI:
    """The whole gateway, only described and never asked."""
    nothing: Any = None
    access = Access(keys=nothing, battles=nothing, log=nothing, admin=nothing, quotas=nothing)
    parts = SimpleNamespace(
        readiness=None, draining=_Anything(), models=None, access=access, intake=_Anything()
    )
    gateway = cast(Gateway, parts)
    bus, database = cast(Bus, _Anything()), cast(Database, _Anything())
    further = further_routes(gateway, bus, database, access, (), tail=nothing, sender=nothing)
    return create_app(gateway, None, *further)


class _Anything:
    def __getattr__(self, name: str) -> Any:
        return _Anything()

    def __call__(self, *_: Any, **__: Any) -> Any:
        return _Anything()


def routes_of(routes: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Method and path of every route; a mounted application has no method."""
    for route in routes:
        if hasattr(route, "effective_candidates"):  # a router in a router
            yield from routes_of(route.effective_candidates())
        else:
            for method in sorted(getattr(route, "methods", None) or {"GET"}):
                yield method, route.path


def test_every_route_has_a_rule_and_every_rule_a_route() -> None:
    found = {
        (method, path)
        for method, path in routes_of(application().routes)
        if method != "HEAD" and path not in STATIC
    }
    assert found == set(RULES)


def test_every_rpc_has_a_rule_and_every_rule_an_rpc() -> None:
    for module, name, rules in (
        (arena_pb2, "Arena", arena_service.RULES),
        (ratings_pb2, "Ratings", ratings_service.RULES),
    ):
        methods = module.DESCRIPTOR.services_by_name[name].methods
        assert {method.name for method in methods} == set(rules)


def test_the_documented_table_is_that_of_the_rules() -> None:
    row = re.compile(r"^\| `(\w+) (/[^`]*)` \| ([\w ]+) \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)
    documented = {
        (method, path): (role, where.strip(), action.strip())
        for method, path, role, where, action in row.findall(DOCS.read_text(encoding="utf-8"))
    }
    stated = {
        (method, path.replace(":path", "")): (
            ("everybody", "", "")
            if rule.role is None
            else (rule.role.value, WHERE[rule.scope], rule.action or "")
        )
        for (method, path), rule in RULES.items()
    }
    assert documented == stated


def test_the_documented_rpcs_are_those_of_the_rules() -> None:
    row = re.compile(r"^\| `(\w+)\.(\w+)` \| ([\w ]+) \| ([^|]*) \|$", re.MULTILINE)
    documented = {(service, name): role for service, name, role, _ in row.findall(DOCS.read_text("utf-8"))}
    rules = (("Arena", arena_service.RULES), ("Ratings", ratings_service.RULES))
    assert documented == {
        (service, name): rule.role.value for service, table in rules for name, rule in table.items()
    }
