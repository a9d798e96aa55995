"""A model that is away: the circuit, its words, and what is a failure nevertheless."""

import asyncio
import time

import pytest
from starlette.responses import Response

from nuggetstream.domain.failure import Reason
from services.runtime.errors import ModelOutage, Outage, Permanent
from services.runtime.llm.circuit import PATIENCE_S
from tests.circuits import open_circuits
from tests.integration.llm.conftest import (
    GOOD,
    LONG_S,
    Connect,
    Scripted,
    assignment,
    refused,
    said,
    silence,
)


def circuits(cause: str) -> float:
    return open_circuits("scripted-1", cause)


@pytest.mark.parametrize("away", [refused(500), refused(503), refused(429), refused(502), refused(504)])
async def test_a_model_that_is_away_is_an_outage(connect: Connect, away: Response) -> None:
    ask = connect(Scripted([away]))
    for _ in range(2):
        with pytest.raises(ModelOutage) as caught:
            await ask()
    assert caught.value.reason is Reason.LLM_UNAVAILABLE
    assert caught.value.patience == PATIENCE_S
    assert caught.value.since == pytest.approx(time.time(), abs=60)


async def test_a_port_where_nobody_listens_and_a_host_nobody_knows_are_outages(connect: Connect) -> None:
    for url in ("http://127.0.0.1:9/v1", "http://model.invalid/v1"):
        with pytest.raises(ModelOutage, match="the model cannot be reached"):
            await connect(url, attempts=1)()


async def test_a_model_that_stays_silent_ends_an_attempt_early_and_opens_the_circuit(
    connect: Connect,
) -> None:
    server = Scripted([silence])
    ask = connect(server, timeout_s=LONG_S, attempts=5)
    with pytest.raises(ModelOutage, match="no answer"):
        await ask()
    assert (len(server.requests), ask.model.circuit.is_open) == (2, False)
    with pytest.raises(ModelOutage, match="no answer"):
        await ask()
    assert (len(server.requests), ask.model.circuit.is_open) == (3, True)


async def test_calls_that_time_out_together_while_others_are_answered_do_not_open_the_circuit(
    connect: Connect,
) -> None:
    other_answered = asyncio.Event()

    async def silent_after_the_other() -> Response:
        await other_answered.wait()
        return await silence()

    server = Scripted([silent_after_the_other] * 4 + [said(GOOD)])
    ask = connect(server, timeout_s=LONG_S, attempts=5)
    hanging = [asyncio.create_task(ask(assignment(f"Hanging. {number}"))) for number in range(4)]
    while len(server.requests) < 4:
        await asyncio.sleep(0)
    assert (await ask()).value.labels
    other_answered.set()
    assert all(reply.value.labels for reply in await asyncio.gather(*hanging))
    assert (len(server.requests), ask.model.circuit.is_open) == (9, False)


@pytest.mark.parametrize(
    ("response", "cause", "words"),
    [
        (refused(401), "key", "the API key is rejected; set NUGGETSTREAM_LLM_API_KEY"),
        (refused(403), "key", "the API key is rejected; set NUGGETSTREAM_LLM_API_KEY"),
        (refused(402), "quota", "the quota at the provider is used up"),
        (refused(429, code="insufficient_quota"), "quota", "the quota at the provider is used up"),
        (refused(404), "model", "there is no such model; check NUGGETSTREAM_LLM_MODEL"),
    ],
)
async def test_what_an_operator_must_correct_is_an_outage_with_its_own_words(
    connect: Connect, response: Response, cause: str, words: str
) -> None:
    before = circuits(cause)
    ask = connect(Scripted([response, said(GOOD)]))
    with pytest.raises(ModelOutage, match=words):
        await ask()
    assert circuits(cause) == before + 1
    ask.model.circuit._open.next_probe = 0.0
    assert (await ask()).value.labels
    assert circuits(cause) == before


async def test_an_open_circuit_makes_no_call_but_one_probe_at_a_time(connect: Connect) -> None:
    gate = asyncio.Event()

    async def slow() -> Response:
        await gate.wait()
        return said(GOOD)

    server = Scripted([refused(401), slow])
    ask = connect(server)
    for _ in range(20):
        with pytest.raises(ModelOutage):
            await ask()
    assert len(server.requests) == 1
    ask.model.circuit._open.next_probe = 0.0
    probe = asyncio.create_task(ask())
    while len(server.requests) < 2:
        await asyncio.sleep(0)
    for number in range(20):
        with pytest.raises(ModelOutage):
            await ask(assignment(f"Another answer. {number}"))
    assert len(server.requests) == 2
    gate.set()
    assert (await probe).value.labels
    assert (await ask(assignment("The circuit is closed."))).value.labels


async def test_the_next_probe_waits_for_as_long_as_the_server_asks_but_not_for_a_day(
    connect: Connect,
) -> None:
    ask = connect(Scripted([refused(401, retry_after="120")]))
    with pytest.raises(ModelOutage):
        await ask()
    assert ask.model.circuit._open.next_probe == pytest.approx(time.time() + 120, abs=30)
    ask = connect(Scripted([refused(401, retry_after="86400")]))
    with pytest.raises(ModelOutage):
        await ask()
    assert ask.model.circuit._open.next_probe == pytest.approx(time.time() + 300, abs=30)


async def test_a_prompt_that_fails_while_others_are_answered_is_waited_for_less_long(
    connect: Connect,
) -> None:
    ask = connect(Scripted([refused(500), said(GOOD), refused(500)]), attempts=1)
    with pytest.raises(ModelOutage) as caught:
        await ask()
    assert (caught.value.patience, caught.value.since) == (PATIENCE_S, None)
    assert (await ask(assignment("Other."))).value.labels
    with pytest.raises(ModelOutage) as caught:
        await ask()
    assert (caught.value.patience, caught.value.since) == (900.0, None)
    assert not ask.model.circuit.is_open


async def test_errors_of_one_battle_are_no_outage_until_a_second_battle_confirms_them(
    connect: Connect,
) -> None:
    ask = connect(Scripted([said(GOOD), refused(500)]), attempts=1)
    assert (await ask(battle="fine")).value.labels
    for number in range(30):
        with pytest.raises(ModelOutage) as caught:
            await ask(assignment(f"Poison. {number}"), battle="poison")
    assert (ask.model.circuit.is_open, caught.value.since) == (False, None)
    with pytest.raises(ModelOutage):
        await ask(assignment("Other."), battle="another")
    assert ask.model.circuit.is_open


async def test_what_the_model_says_about_the_content_closes_the_circuit_and_is_no_outage(
    connect: Connect,
) -> None:
    server = Scripted([refused(401), refused(400, "the response was filtered", code="content_filter")])
    ask = connect(server)
    with pytest.raises(Outage):
        await ask()
    ask.model.circuit._open.next_probe = 0.0
    with pytest.raises(Permanent) as caught:
        await ask()
    assert caught.value.reason is Reason.CONTENT_FILTERED
    assert not ask.model.circuit.is_open
