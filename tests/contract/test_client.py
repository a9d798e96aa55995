"""The client asks everything that the gateway answers, under the gateway's own names."""

from types import SimpleNamespace
from typing import Any, cast, get_type_hints

import pytest
from pydantic import BaseModel

from nuggetstream.client import AsyncClient, Client, calls, options
from nuggetstream.client.battles import Battles
from nuggetstream.client.ratings import Ratings
from nuggetstream.client.requests import Asking
from nuggetstream.domain import event as events
from nuggetstream.views.events import KINDS
from services.gateway.app import create_app
from services.gateway.battles.query import BattlesQuery, FailuresQuery, SubmissionQuery
from services.gateway.deletion.routes import ExpiryQuery
from services.gateway.health import Draining
from services.gateway.ports import Gateway
from services.gateway.ratings.query import StyleQuery
from services.gateway.reruns.query import RerunQuery, StartQuery
from services.wire import rating_queries as query
from services.wire.subjects import event_name


class Described(Battles, Ratings, Asking):
    """Sends nothing: what a client would ask is what it returns."""

    def _ask(self, call: calls.Call[Any]) -> Any:
        return call


REQUESTS: Any = Described()
ASKED: list[tuple[type[Any], type[BaseModel]]] = [
    (options.BattleOptions, BattlesQuery),
    (options.BoardOptions, query.BoardsQuery),
    (options.PairsOptions, query.PairsQuery),
    (options.TimelineOptions, query.TimelineQuery),
    (options.StyleOptions, StyleQuery),
    (options.CombinedOptions, query.CombinedQuery),
    (options.AdviceOptions, query.AdviceQuery),
    (options.AgreementOptions, query.AgreementQuery),
    (options.ExpiryOptions, ExpiryQuery),
    (options.RerunOptions, RerunQuery),
    (options.StartOptions, StartQuery),
]
CALLS: dict[tuple[str, str], calls.Call[Any]] = {
    (call.method, call.path): call
    for call in (
        REQUESTS.submit({}),
        REQUESTS.vote("x", "a"),
        REQUESTS.battle("x"),
        REQUESTS.battles("x", 5),
        REQUESTS.failures("x", "y", 5),
        REQUESTS.leaderboard("x"),
        REQUESTS.combined("x"),
        REQUESTS.pairs("x"),
        REQUESTS.advice("x"),
        REQUESTS.timeline("x"),
        REQUESTS.style("x"),
        REQUESTS.agreement("x"),
        REQUESTS.judge_biases("x"),
        REQUESTS.embed_token("x", 60, vote=True),
        REQUESTS.ready(),
    )
}
NOT_ASKED = {("GET", "/healthz")}  # whether the process lives is the business of whoever runs it


@pytest.mark.parametrize(("asked", "answered"), ASKED, ids=lambda kind: kind.__name__)
def test_the_options_of_the_client_are_the_parameters_of_the_gateway(
    asked: type[Any], answered: type[BaseModel]
) -> None:
    assert {*get_type_hints(asked), "arena", "limit"} == {*answered.model_fields, "limit"}


@pytest.mark.parametrize(
    ("call", "answered"),
    [
        (REQUESTS.failures("x", "y", 5), FailuresQuery),
        (REQUESTS.submit_and_wait({}, 1.0), SubmissionQuery),
    ],
)
def test_the_arguments_of_the_client_are_the_parameters_of_the_gateway(
    call: calls.Call[Any], answered: type[BaseModel]
) -> None:
    assert {name for name, _ in call.params} == set(answered.model_fields)


def test_every_path_of_the_api_has_a_method() -> None:
    app = create_app(
        cast(Gateway, SimpleNamespace(readiness=None, draining=Draining(), models=None, access=None))
    )  # only described, never asked
    paths = {
        (method.upper(), path.replace("{battle_id}", "x"))
        for path, methods in app.openapi()["paths"].items()
        for method in methods
    }
    assert paths - NOT_ASKED == {*CALLS, ("GET", calls.events_path("x"))}


def test_every_event_of_a_battle_is_known() -> None:
    kinds = events.BattleEvent.__args__
    assert {event_name(kind) for kind in kinds} | {"ended"} == KINDS


def test_both_clients_have_the_same_methods() -> None:
    def public(kind: type[Any]) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert public(AsyncClient) - {"aclose"} == public(Client) - {"close"}
