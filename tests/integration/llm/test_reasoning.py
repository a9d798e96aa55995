"""A model that reasons, behind a deployment of an Azure resource: the offline model plays both over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from services.judge.verdicts.pairwise import prompt as verdict
from services.offline.app import create_app
from services.offline.faults import Faults
from services.runtime.asgi import serving
from services.runtime.errors import StageError
from services.runtime.llm.address import EndpointAddress
from services.runtime.llm.build import build_chat_model
from services.runtime.llm.model import Reply
from services.runtime.llm.settings import LLMSettings
from tests.asgi import read_again
from tests.integration.llm.conftest import refused

KEY, VERSION = "azure-key-of-32-characters-000000", "2025-04-01-preview"
DEPLOYMENT = "/openai/deployments/judge-east"
THOUGHT = 3_000


@dataclass
class Azure:
    """A deployment: the key in its own header, the version of the API in the query, no other path."""

    model: ASGIApp
    requests: list[dict[str, Any]] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        if request.headers.get("api-key") != KEY or "authorization" in request.headers:
            await refused(401, "Access denied.")(scope, receive, send)
            return
        path = request.url.path.removeprefix(DEPLOYMENT)
        if path == request.url.path or dict(request.query_params) != {"api-version": VERSION}:
            await refused(404, "Resource not found")(scope, receive, send)
            return
        self.requests.append(await request.json())
        below = {**scope, "path": f"/v1{path}", "raw_path": f"/v1{path}".encode()}
        await self.model(below, read_again(body, receive), send)


@asynccontextmanager
async def deployment(**faults: Any) -> AsyncIterator[tuple[Azure, str]]:
    azure = Azure(create_app(None, Faults(**faults)))
    async with serving(azure, quiet=True) as url:
        yield azure, f"{url}{DEPLOYMENT}?api-version={VERSION}"


async def asked(url: str, key: str = KEY, **parameters: Any) -> Reply[Any]:
    given = LLMSettings(base_url=url, model="o4-mini", api_key=SecretStr(key), stages={"*": parameters})
    model = build_chat_model(given)
    prompt = verdict("Why is the sky blue?", "Air scatters blue light most.", "It mirrors the sea.", [])
    try:
        return await model.ask(prompt, stage="judge", battle_id="b1")
    finally:
        await model.close()


async def test_a_deployment_of_a_model_that_reasons_answers_without_temperature() -> None:
    async with deployment(reasoning_tokens=THOUGHT) as (azure, url):
        reply = await asked(url, effort="low", temperature="none")
    assert reply.value.winner in {"first", "second", "tie"}
    assert reply.usage.output_tokens > THOUGHT  # what it thought is paid for
    first, last = azure.requests[0], azure.requests[-1]
    assert ["max_tokens" in request for request in azure.requests] == [True, False]
    assert (last["reasoning_effort"], "temperature" in last) == ("low", False)
    assert last["max_completion_tokens"] == first["max_tokens"] > THOUGHT


async def test_what_the_model_does_not_accept_is_learnt_once() -> None:
    async with deployment(reasoning_tokens=THOUGHT) as (azure, url):
        await asked(url)
    sent = [
        {"max_tokens", "max_completion_tokens", "temperature"} & request.keys() for request in azure.requests
    ]
    assert sent == [
        {"max_tokens", "temperature"},
        {"max_completion_tokens", "temperature"},
        {"max_completion_tokens"},
    ]


async def test_without_effort_nothing_is_added_to_the_limit_of_other_models() -> None:
    async with deployment() as (azure, url):
        reply = await asked(url)
        with pytest.raises(StageError, match="API key is rejected"):
            await asked(url, key="another-key")
    assert [request["max_tokens"] for request in azure.requests] == [600]
    assert reply.usage.output_tokens < 600


def test_models_are_listed_by_the_resource_of_a_deployment() -> None:
    azure = EndpointAddress.of(f"https://n.openai.azure.com{DEPLOYMENT}?api-version=1", KEY)
    assert azure.models_url == "https://n.openai.azure.com/openai/models"
    assert azure.headers == {"api-key": KEY}
    assert (
        EndpointAddress.of("https://n.openai.azure.com/openai/v1/", KEY)
        .headers["Authorization"]
        .endswith(KEY)
    )
