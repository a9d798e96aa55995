"""Credentials reach the endpoint in the form in which it expects them, and come back to nobody."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.judge.verdicts.pairwise import prompt as verdict
from services.runtime.asgi import serving
from services.runtime.errors import StageError
from services.runtime.llm.build import build_chat_model
from services.runtime.llm.settings import LLMSettings
from services.runtime.runner.policy import admin_detail_of, detail_of
from tests.attempts import attempts
from tests.integration.llm.conftest import GOOD, assignment, said

KEY, PASSWORD = "sk-very-secret-key", "pa@ss word"


class Echo:
    """An endpoint that answers with a status and repeats all it was sent, or with a good reply."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.requests = list[Request]()

    async def answer(self, request: Request) -> Response:
        self.requests.append(request)
        if self.status == 200:
            return said(GOOD)
        sent = f"{request.url} {dict(request.headers)} {PASSWORD}"
        return JSONResponse({"error": {"message": sent, "code": sent, "param": None}}, self.status)


@asynccontextmanager
async def endpoint(echo: Echo) -> AsyncIterator[str]:
    app = Starlette(routes=[Route("/v1/chat/completions", echo.answer, methods=["POST"])])
    async with serving(app, quiet=True) as url:
        yield url.removeprefix("http://")


def settings(url: str, key: str | None = None) -> LLMSettings:
    return LLMSettings(base_url=url, model="m", api_key=None if key is None else SecretStr(key))


async def ask(given: LLMSettings) -> None:
    with attempts(1):
        model = build_chat_model(given)
    try:
        await model.ask(assignment(), stage="judge", battle_id="b1")
    finally:
        await model.close()


async def test_a_password_in_the_url_is_sent_as_basic_authorization() -> None:
    echo = Echo(200)
    async with endpoint(echo) as host:
        await ask(settings(f"http://ada:pa%40ss%20word@{host}/v1"))
        await ask(settings(f"http://ada:pa%40ss%20word@{host}/v1/", KEY))
    pair = base64.b64encode(f"ada:{PASSWORD}".encode()).decode()
    assert [request.headers["authorization"] for request in echo.requests] == [f"Basic {pair}"] * 2


async def test_parameters_of_the_url_go_with_every_request_and_leave_its_path_alone() -> None:
    echo = Echo(200)
    async with endpoint(echo) as host:
        await ask(settings(f"http://{host}/v1?api-key=k3y%2Bvalue&api-version=2", KEY))
    (request,) = echo.requests
    assert request.url.path == "/v1/chat/completions"
    assert dict(request.query_params) == {"api-key": "k3y+value", "api-version": "2"}
    assert request.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [400, 401, 413, 429, 500])
async def test_an_endpoint_that_repeats_what_it_was_sent_publishes_no_secret(status: int) -> None:
    async with endpoint(Echo(status)) as host:
        for given in (
            settings(f"http://ada:pa%40ss%20word@{host}/v1"),
            settings(f"http://{host}/v1?api-key=k3y%2Bvalue", KEY),
        ):
            with pytest.raises(StageError) as caught:
                await ask(given)
            assert detail_of(caught.value).endswith(f"the model's endpoint answered {status}")
            cause = admin_detail_of(caught.value) or ""
            assert "user-agent" in cause  # the administrator sees the rest of it
            pair = base64.b64encode(f"ada:{PASSWORD}".encode()).decode()
            for secret in (KEY, PASSWORD, "pa%40ss", "k3y+value", "k3y%2Bvalue", pair):
                assert secret not in cause


async def test_a_secret_that_a_reply_repeats_is_in_no_result() -> None:
    async def reply(_: Request) -> Response:
        return said(json.dumps({"reasoning": f"You sent {KEY}", "winner": "tie"}))

    app = Starlette(routes=[Route("/v1/chat/completions", reply, methods=["POST"])])
    async with serving(app, quiet=True) as url:
        model = build_chat_model(settings(f"{url}/v1", KEY))
        answer = await model.ask(verdict("Why?", "A.", "B.", []), stage="judge", battle_id="b1")
        await model.close()
    assert answer.value.reasoning == "You sent ***"


def test_a_base_url_that_is_none_is_an_error_without_the_url() -> None:
    with pytest.raises(ValueError, match="base URL of the model must be") as caught:
        settings("ftp://u:hunter22@host/v1").address  # noqa: B018
    assert "hunter22" not in str(caught.value)
