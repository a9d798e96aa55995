"""Two processes need the same reply: one asks the model, and the other gets the reply without a call."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import openai
import pytest
from sqlalchemy import select
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from nuggetstream.domain.failure import Reason
from services.runtime.claims import Claims
from services.runtime.errors import ModelOutage, Outage
from services.runtime.llm.build import with_asgi
from services.runtime.llm.client import LLMClient
from services.runtime.llm.endpoint import Endpoint
from services.runtime.llm.retries import RetryPolicy
from services.store.content.blobs import Replies
from services.store.database import Database
from services.store.tables import claims
from services.store.work.claims import DatabaseClaims
from tests.integration.llm.conftest import GOOD, assignment, refused, said


@dataclass
class Slow:
    """An endpoint that answers when it is told to."""

    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    calls: int = 0
    reply: Response | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.calls += 1
        self.asked.set()
        await self.may_answer.wait()
        await (self.reply or said(GOOD))(scope, receive, send)


def process(database: Database, endpoint: Slow, **timing: float) -> LLMClient:
    sdk = openai.AsyncOpenAI(
        api_key="none", base_url="http://scripted.invalid/v1", max_retries=0, http_client=with_asgi(endpoint)
    )
    return LLMClient(
        Endpoint(sdk, "scripted-1", 20.0),
        Replies(database),
        retries=RetryPolicy(attempts=1),
        claims=Claims(DatabaseClaims(database), **timing),
    )


async def keys(database: Database) -> set[str]:
    async with database.reading() as tx:
        return set(await tx.scalars(select(claims.c.key)))


def ask(client: LLMClient) -> "asyncio.Task[Any]":
    return asyncio.create_task(client.ask(assignment(), stage="assigner", battle_id="b1"))


async def test_two_processes_with_the_same_message_pay_once(postgres: Database) -> None:
    endpoint = Slow()
    first = ask(process(postgres, endpoint))
    await endpoint.asked.wait()
    second = ask(process(postgres, endpoint))
    done, _ = await asyncio.wait({second}, timeout=0.5)
    assert not done
    endpoint.may_answer.set()
    one, two = await asyncio.gather(first, second)
    assert endpoint.calls == 1
    assert (one.usage.cached, two.usage.cached) == (False, True)
    assert one.value == two.value


async def test_claims_that_are_over_are_swept_by_age_the_oldest_first(postgres: Database) -> None:
    store = DatabaseClaims(postgres)
    for number in range(5):
        assert await store.take([f"ended {number}"], "killed", -7200.0 + number)
    assert await store.take(["ended just now"], "killed", -1.0)
    assert await store.take(["running"], "alive", 30.0)
    assert await store.sweep(limit=3) == 3
    assert await keys(postgres) == {"ended 3", "ended 4", "ended just now", "running"}
    assert await store.sweep() == 2
    assert await store.sweep() == 0
    assert await keys(postgres) == {"ended just now", "running"}
    assert await store.sweep(age=timedelta(0)) == 1


async def test_as_many_claims_as_a_battle_can_have_new_chunks_are_taken_and_given_back(
    postgres: Database,
) -> None:
    store, names = DatabaseClaims(postgres), {f"chunk {number}" for number in range(20_000)}
    assert await store.take(["chunk 7"], "another", 60.0)
    assert await store.take(names, "one", 60.0) == names - {"chunk 7"}
    assert await store.take({"chunk 1", "chunk 7"}, "another", 60.0) == {"chunk 7"}
    assert await store.take(names, "one", 60.0) == names - {"chunk 7"}  # extends its own
    await store.release(names, "one")
    assert await keys(postgres) == {"chunk 7"}


async def test_claims_are_swept_until_the_process_stops(postgres: Database) -> None:
    store, stop = DatabaseClaims(postgres), asyncio.Event()
    assert await store.take(["ended"], "killed", -7200.0)
    sweeping = asyncio.create_task(store.sweep_regularly(stop))
    async with asyncio.timeout(90):
        while await keys(postgres):
            await asyncio.sleep(0.02)
    assert not sweeping.done()
    stop.set()
    await sweeping


async def test_a_claim_of_a_process_that_was_killed_ends(postgres: Database) -> None:
    endpoint = Slow()
    endpoint.may_answer.set()
    client = process(postgres, endpoint)
    key = assignment().cache_key(client.name)
    assert await DatabaseClaims(postgres).take([key], "killed", 0.5)
    assert not (await ask(client)).usage.cached
    assert endpoint.calls == 1


async def test_a_claim_lasts_as_long_as_the_call(postgres: Database) -> None:
    endpoint = Slow()
    first = ask(process(postgres, endpoint, lease=0.3))
    await endpoint.asked.wait()
    with pytest.raises(Outage, match="another process is asking") as caught:
        await ask(process(postgres, endpoint, wait=1.5))
    assert not isinstance(caught.value, ModelOutage)  # the message waits, and uses up no attempt
    endpoint.may_answer.set()
    await first
    assert endpoint.calls == 1


async def test_a_model_that_is_away_leaves_no_claim(postgres: Database) -> None:
    endpoint = Slow(reply=refused(503))
    endpoint.may_answer.set()
    with pytest.raises(ModelOutage):
        await ask(process(postgres, endpoint))
    endpoint.reply = None
    assert not (await ask(process(postgres, endpoint, wait=0.1))).usage.cached


async def test_a_claim_is_kept_while_a_paid_reply_waits_for_the_database(postgres: Database) -> None:
    store = DatabaseClaims(postgres)
    claims = Claims(store)
    with pytest.raises(Outage):
        async with claims.held("key"):
            raise Outage(Reason.STORE_UNAVAILABLE, "the database does not answer")
    assert not await store.take(["key"], "another", 1.0)
    async with claims.held("key"):  # its own attempt continues at once
        pass
    assert await store.take(["key"], "another", 1.0)
