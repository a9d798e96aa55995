"""The client asks everything that the gateway answers, under the gateway's own names."""

from types import SimpleNamespace
from typing import Any, cast, get_type_hints

import pytest
from pydantic import BaseModel

from nuggetstream.client import AsyncClient, Client, calls, options
from nuggetstream.client.frames import embed_token
from nuggetstream.domain import event as events
from nuggetstream.views.events import KINDS
from services.gateway.app import create_app
from services.gateway.battles.query import BattlesQuery, FailuresQuery, SubmissionQuery
from services.gateway.deletion.routes import ExpiryQuery
from services.gateway.health import Draining
from services.gateway.ports import Gateway
from services.gateway.ratings.query import StyleQuery
from services.wire import rating_queries as query
from services.wire.subjects import event_name

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
]
CALLS: dict[tuple[str, str], calls.Call[Any]] = {
    (call.method, call.path): call
    for call in (
        calls.submit({}),
        calls.vote("x", "a"),
        calls.battle("x"),
        calls.battles("x", 5, {}),
        calls.failures("x", "y", 5),
        calls.leaderboard("x", {}),
        calls.combined("x", {}),
        calls.pairs("x", {}),
        calls.advice("x", {}),
        calls.timeline("x", {}),
        calls.style("x", {}),
        calls.agreement("x", {}),
        calls.judge_biases("x"),
        embed_token("x", 60, vote=True),
        calls.ready(),
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
        (calls.failures("x", "y", 5), FailuresQuery),
        (calls.submit_and_wait({}, 1.0), SubmissionQuery),
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
        return {name for name in vars(kind) if not name.startswith("_")}

    assert public(AsyncClient) - {"aclose"} == public(Client) - {"close"}
