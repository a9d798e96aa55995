"""The client against an endpoint that misbehaves in scripted ways."""

import asyncio
import json
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest
from prometheus_client import REGISTRY
from starlette.responses import JSONResponse, PlainTextResponse, Response

from nuggetstream.domain.failure import Reason
from services.runtime.errors import BudgetExceeded, Outage, Permanent, Retryable, Unavailable
from services.runtime.llm.accounting import Entry, Ledger, MemorySpendStore
from services.runtime.llm.blocks import Block
from services.runtime.llm.budget import Budget, Limit
from services.runtime.llm.cache import MemoryReplyCache
from services.runtime.llm.prices import Money, Price, PriceTable, Tokens
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

PRICES = PriceTable({"scripted": Price(input=Decimal(10), output=Decimal(100))})
A_CALL = Decimal("0.002")  # 100 tokens in, 10 out


async def test_a_good_reply_comes_back_with_what_it_cost(connect: Connect) -> None:
    server = Scripted([said(GOOD)])
    ask = connect(server, ledger=Ledger(PRICES))
    reply = await ask()
    assert reply.value.labels[0].label == "support"
    assert (reply.model, reply.prompt_version) == ("scripted-1", "1")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 10)
    assert (reply.usage.cached, reply.usage.cost) == (False, Money(A_CALL))
    (request,) = server.requests
    assert request["response_format"]["json_schema"]["name"] == "assignment"
    assert request["response_format"]["json_schema"]["strict"] is True
    assert (request["temperature"], request["max_tokens"], request["model"]) == (0, 200, "scripted-1")


async def test_overload_is_waited_out_for_as_long_as_the_server_asks(connect: Connect) -> None:
    ask = connect(Scripted([refused(429, retry_after="7"), refused(503), said(GOOD)]))
    assert (await ask()).value.labels
    assert ask.slept[0] >= 7
    assert 0 <= ask.slept[1] <= 1.0
    assert ask.model.limit.value == 2  # 8 halved twice


async def test_faults_that_last_end_as_unavailable_and_name_the_status(connect: Connect) -> None:
    server = Scripted([refused(500, "boom")])
    with pytest.raises(Unavailable, match=r"endpoint answered 500 \(4 attempts\)") as caught:
        await connect(server)()
    assert caught.value.admin_detail == "http://scripted.invalid/v1/: boom"
    assert caught.value.reason is Reason.LLM_UNAVAILABLE
    assert len(server.requests) == 4


async def test_a_wait_longer_than_patience_is_left_to_the_runner(connect: Connect) -> None:
    server = Scripted([refused(429, retry_after="600")])
    with pytest.raises(Unavailable) as caught:
        await connect(server)()
    assert caught.value.retry_after == 600
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "code"), [(401, "invalid_api_key"), (404, "model_not_found"), (429, "insufficient_quota")]
)
async def test_what_an_operator_must_put_right_is_not_hammered(
    connect: Connect, status: int, code: str
) -> None:
    server = Scripted([refused(status, "put this right", code=code)])
    with pytest.raises(Unavailable, match=f"answered {status}$") as caught:
        await connect(server)()
    assert caught.value.admin_detail is not None
    assert "put this right" in caught.value.admin_detail
    assert len(server.requests) == 1


async def test_a_silent_endpoint_times_out_and_its_tokens_are_estimated(connect: Connect) -> None:
    ask = connect(Scripted([silence, said(GOOD)]), timeout_s=LONG_S)
    await ask()
    spent = await ask.model.ledger.for_battle("b1")
    assert (spent.calls, spent.estimated) == (2, 1)
    assert spent.tokens.input > 100
    assert ask.model.limit.value == 4


async def test_an_endpoint_without_structured_outputs_is_asked_in_words_from_then_on(
    connect: Connect,
) -> None:
    server = Scripted([refused(400, "Unknown parameter: response_format"), said(f"```json\n{GOOD}\n```")])
    ask = connect(server)
    assert (await ask()).value.labels
    await ask(assignment("Other."))
    assert ["response_format" in request for request in server.requests] == [True, False, False]
    assert "such as 'n1 s 3'" in server.requests[1]["messages"][0]["content"]
    assert ask.slept == []


async def test_a_prompt_of_a_family_names_it_to_endpoints_that_take_a_name(connect: Connect) -> None:
    unknown = refused(422, "Extra inputs are not permitted: prompt_cache_key")
    server = Scripted([said(GOOD), unknown, said(GOOD)])
    ask = connect(server)
    alone = assignment()
    family = replace(alone, family=tuple(block.text for block in alone.blocks))
    for prompt in (alone, family, replace(family, version="2")):
        await ask(prompt)
    named = ["prompt_cache_key" in request for request in server.requests]
    assert named == [False, True, False, False]


async def test_a_reasoning_model_is_spoken_to_in_its_dialect(connect: Connect) -> None:
    server = Scripted(
        [
            refused(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
            refused(400, "Unsupported value: 'temperature' does not support 0.0."),
            said(GOOD),
        ]
    )
    await connect(server)()
    assert server.requests[-1]["max_completion_tokens"] > 200  # it may think before it replies
    assert "temperature" not in server.requests[-1]
    assert "response_format" in server.requests[-1]


async def test_an_unusable_reply_is_repaired_by_saying_what_was_wrong(connect: Connect) -> None:
    wrong = json.dumps({"labels": [{"id": "n7", "label": "support", "quote": ""}]})
    server = Scripted([said(wrong), said(f"```json\n{GOOD}\n```")])
    ask = connect(server, ledger=Ledger(PRICES))
    reply = await ask()
    assert reply.value.labels[0].id == "n1"
    *first, replied, request = server.requests[1]["messages"]
    assert first == server.requests[0]["messages"]
    assert replied == {"role": "assistant", "content": wrong}
    assert "missing ids: n1; unknown ids: n7" in request["content"]
    assert reply.usage.cost == Money(2 * A_CALL)  # the discarded reply was paid for too
    assert (await ask.model.ledger.for_battle("b1")).calls == 2


async def test_there_is_one_repair_and_no_second(connect: Connect) -> None:
    server = Scripted([said("I would rather talk.")])
    ask = connect(server)
    with pytest.raises(Retryable, match="two replies") as caught:
        await ask()
    assert caught.value.admin_detail == "it is not one complete JSON value without any other text"
    assert caught.value.reason is Reason.REPLY_UNUSABLE
    assert not isinstance(caught.value, Unavailable)
    assert len(server.requests) == 2


async def test_the_same_unusable_reply_at_a_retry_is_the_last(
    connect: Connect,
) -> None:
    server = Scripted([said("no"), said("no"), said("no")])
    ask = connect(server)
    with pytest.raises(Retryable):
        await ask()
    with pytest.raises(Permanent, match="the same unusable reply again") as caught:
        await ask()
    assert caught.value.reason is Reason.REPLY_UNUSABLE
    assert len(server.requests) == 3


async def test_an_unusable_reply_is_not_kept(connect: Connect) -> None:
    server = Scripted([said("no"), said("no"), said(GOOD)])
    ask = connect(server)
    with pytest.raises(Retryable):
        await ask()
    assert (await ask()).value.labels


async def test_a_reply_that_was_cut_is_asked_for_again_with_more_room(connect: Connect) -> None:
    server = Scripted([said(GOOD, "length"), said(GOOD)])
    await connect(server)()
    assert [request["max_tokens"] for request in server.requests] == [200, 400]
    assert server.requests[0]["messages"] == server.requests[1]["messages"]


async def test_a_reply_cut_twice_is_unusable_even_if_it_reads(connect: Connect) -> None:
    with pytest.raises(Retryable) as caught:
        await connect(Scripted([said(GOOD, "length")]))()
    assert caught.value.admin_detail == "the reply was cut off at 400 tokens"


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (said(None, refusal="I cannot help with that."), Reason.LLM_REFUSED),
        (said("", "content_filter"), Reason.CONTENT_FILTERED),
        (refused(400, "The response was filtered", code="content_filter"), Reason.CONTENT_FILTERED),
        (refused(400, "Too long", code="context_length_exceeded"), Reason.TOO_LARGE),
        (refused(400, "the request exceeds the available context size"), Reason.TOO_LARGE),
        (refused(413, "Payload too large"), Reason.TOO_LARGE),
        (refused(400, "messages: something is odd"), Reason.INVALID_INPUT),
    ],
)
async def test_what_cannot_change_is_permanent_and_asked_once(
    connect: Connect, response: Response, reason: Reason
) -> None:
    server = Scripted([response])
    with pytest.raises(Permanent) as caught:
        await connect(server)()
    assert caught.value.reason is reason
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "nonsense",
    [
        PlainTextResponse("<html>a proxy's login page</html>", media_type="text/html"),
        PlainTextResponse('{"choices": [', media_type="application/json"),
        PlainTextResponse('{"object": "chat.completion"}', media_type="application/json"),
        PlainTextResponse('{"choices": [{"index": 0}]}', media_type="application/json"),
        PlainTextResponse("[]", media_type="application/json"),
    ],
)
async def test_a_body_that_is_no_completion_is_an_endpoint_that_does_not_answer(
    connect: Connect, nonsense: Response
) -> None:
    ask = connect(Scripted([nonsense, said(GOOD)]))
    assert (await ask()).value.labels
    assert len(ask.slept) == 1


async def test_a_second_ask_is_answered_from_the_cache_and_costs_nothing(connect: Connect) -> None:
    server, cache = Scripted([said(GOOD)]), MemoryReplyCache()
    first = await connect(server, cache=cache, ledger=Ledger(PRICES))()
    after_a_crash = connect(server, cache=cache, ledger=Ledger(PRICES))
    second = await after_a_crash(battle="b2")
    assert second.value == first.value
    assert (second.usage.cached, second.usage.cost) == (True, Money(Decimal(0)))
    assert (second.model, second.usage.input_tokens) == ("scripted-1", 100)
    assert len(server.requests) == 1
    assert (await after_a_crash.model.ledger.for_battle("b2")).calls == 0


async def test_a_reply_with_objects_that_no_line_can_hold_is_paid_for_once(connect: Connect) -> None:
    label = {"id": "n1", "label": "support", "first": -1}
    server, cache = Scripted([said(json.dumps({"labels": [label]}))]), MemoryReplyCache()
    first = await connect(server, cache=cache)()
    second = await connect(server, cache=cache)()
    assert second.value == first.value
    assert (second.usage.cached, len(server.requests)) == (True, 1)


READ_ONLY = Outage(Reason.STORE_UNAVAILABLE, "cannot execute INSERT in a read-only transaction")


class ReadOnlyBill(MemorySpendStore):
    """Answers and takes nothing for now: the disk is full, or the server is no longer the primary."""

    refusing = True

    async def add(self, entry: Entry) -> None:
        if self.refusing:
            raise READ_ONLY
        await super().add(entry)


class ReadOnlyReplies(MemoryReplyCache):
    """Likewise."""

    refusing = True

    async def put(self, key: str, value: str, battle_id: str) -> None:
        if self.refusing:
            raise READ_ONLY
        await super().put(key, value, battle_id)


async def test_a_reply_whose_bill_cannot_be_written_yet_is_kept_and_paid_for_once(connect: Connect) -> None:
    server, bill, replies = Scripted([said(GOOD)]), ReadOnlyBill(), ReadOnlyReplies()
    ask = connect(server, ledger=Ledger(PRICES, store=bill), cache=replies)
    for _ in range(3):
        with pytest.raises(Outage):
            await ask()
    replies.refusing = False
    with pytest.raises(Outage):  # it is cached now, but not booked
        await ask()
    bill.refusing = False
    assert (await ask()).value.labels
    assert (len(server.requests), (await bill.of_battle("b1")).calls) == (1, 1)
    assert not ask.model._calls.kept


async def test_a_discarded_reply_is_not_paid_for_again_when_the_repair_meets_an_outage(
    connect: Connect,
) -> None:
    bill = ReadOnlyBill()
    server = Scripted([said("no"), said(GOOD)])
    ask = connect(server, ledger=Ledger(PRICES, store=bill))
    with pytest.raises(Outage):
        await ask()
    assert len(server.requests) == 1  # no second exchange before the first is booked
    bill.refusing = False
    reply = await ask()
    assert (len(server.requests), (await bill.of_battle("b1")).calls) == (2, 2)
    assert reply.usage.cost == Money(2 * A_CALL)


async def test_a_reply_that_arrived_survives_an_attempt_that_is_cancelled_while_it_is_booked(
    connect: Connect,
) -> None:
    booking, answers = asyncio.Event(), asyncio.Event()

    class Slow(MemorySpendStore):
        async def add(self, entry: Entry) -> None:
            booking.set()
            await answers.wait()
            await super().add(entry)

    server, bill = Scripted([said(GOOD)]), Slow()
    ask = connect(server, ledger=Ledger(PRICES, store=bill))
    attempt = asyncio.create_task(ask())
    await booking.wait()
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt
    answers.set()
    assert (await ask()).value.labels
    assert (len(server.requests), (await bill.of_battle("b1")).calls) == (1, 1)


async def test_a_reply_that_cannot_be_kept_now_is_not_paid_for_again(connect: Connect) -> None:
    server, replies = Scripted([said(GOOD)]), ReadOnlyReplies()
    ask = connect(server, cache=replies)
    for _ in range(3):
        with pytest.raises(Outage):
            await ask()
    replies.refusing = False
    assert (await ask()).value.labels
    assert (await ask()).usage.cached
    assert (len(server.requests), len(replies.entries)) == (1, 1)


async def test_a_kept_reply_that_no_longer_reads_is_asked_for_again(connect: Connect) -> None:
    server, cache = Scripted([said(GOOD)]), MemoryReplyCache()
    cache.entries[assignment().cache_key("scripted-1")] = '{"reply": "of another age"}'
    assert (await connect(server, cache=cache)()).usage.cached is False
    assert len(server.requests) == 1


async def test_identical_asks_at_the_same_time_share_one_call(connect: Connect) -> None:
    gate = asyncio.Event()

    async def when_all_have_asked() -> Response:
        await gate.wait()
        return said(GOOD)

    server = Scripted([when_all_have_asked])
    ask = connect(server, ledger=Ledger(PRICES))
    asks = [asyncio.create_task(ask()) for _ in range(6)]
    other = asyncio.create_task(ask(assignment("Something else.")))
    while len(server.requests) < 2:
        await asyncio.sleep(0)
    gate.set()
    replies = await asyncio.gather(*asks)
    await other
    assert len(server.requests) == 2
    assert sorted(reply.usage.cached for reply in replies) == [False] + [True] * 5
    assert sum(reply.usage.cost.amount for reply in replies) == A_CALL


async def test_a_call_that_nobody_waits_for_any_more_is_ended(connect: Connect) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def when_nobody_waits() -> Response:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    server = Scripted([when_nobody_waits, said(GOOD)])
    ask = connect(server)
    asks = [asyncio.create_task(ask()) for _ in range(2)]
    await started.wait()
    for waiting in asks:
        assert not ended.is_set()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await asyncio.wait_for(ended.wait(), 90)
    assert (await ask()).usage.cached is False
    assert len(server.requests) == 2


async def test_a_budget_ends_before_the_call_that_would_pass_it(connect: Connect) -> None:
    server = Scripted([said(GOOD)])
    ledger = Ledger(PRICES, Budget(battle=Limit(tokens=350)), today=lambda: date(2026, 3, 1))
    ask = connect(server, ledger=ledger)
    await ask(assignment("One."))
    with pytest.raises(BudgetExceeded, match="of 350 tokens"):
        await ask(assignment("A long answer. " * 100))
    assert len(server.requests) == 1
    assert (await ledger.for_battle("b1")).tokens == Tokens(100, 10)
    assert (await ask(assignment("One."))).usage.cached  # what is known already costs nothing
    assert (await ask(assignment("Two."), battle="b2")).value.labels


async def test_a_reply_whose_usage_makes_no_sense_is_still_used(connect: Connect) -> None:
    """It was paid for; only its tokens are estimated."""
    body = json.loads(bytes(said(GOOD).body)) | {"usage": {"prompt_tokens": "many"}}
    reply = await connect(Scripted([JSONResponse(body)]))()
    assert reply.usage.input_tokens > 0
    assert reply.usage.cached is False


async def test_usage_that_is_not_reported_is_estimated_and_says_so(connect: Connect) -> None:
    ask = connect(Scripted([said(GOOD, usage=False)]), ledger=Ledger(PRICES))
    reply = await ask()
    spent = await ask.model.ledger.for_battle("b1")
    assert spent.estimated == 1
    assert spent.tokens.output == -(-len(GOOD) // 4)
    assert reply.usage.cost is not None
    assert reply.usage.cost.amount > 0


async def test_an_unknown_price_is_said_to_be_unknown(connect: Connect) -> None:
    ask = connect(Scripted([said(GOOD)]))
    assert (await ask()).usage.cost is None
    assert (await ask.model.ledger.for_battle("b1")).unpriced == 1


async def test_a_call_nobody_waits_for_any_more_is_still_booked(connect: Connect) -> None:
    asked = asyncio.Event()

    async def slowly() -> Response:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    ask = connect(Scripted([slowly]))
    task = asyncio.create_task(ask())
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    while not (spent := await ask.model.ledger.for_battle("b1")).calls:
        await asyncio.sleep(0)
    assert (spent.calls, spent.estimated) == (1, 1)


async def test_calls_are_counted_by_outcome(connect: Connect) -> None:
    def count(outcome: str) -> float:
        labels = {"stage": "assigner", "model": "scripted-1", "outcome": outcome}
        return REGISTRY.get_sample_value("nuggetstream_llm_calls_total", labels) or 0.0

    before = {outcome: count(outcome) for outcome in ("ok", "cached", "retried", "failed")}
    ask = connect(Scripted([refused(500), said(GOOD), said("no"), said("no")]))
    await ask()
    await ask()
    with pytest.raises(Retryable):
        await ask(assignment("Other."))
    assert {name: count(name) - start for name, start in before.items()} == dict.fromkeys(before, 1.0)


def too_long(context: int) -> Response:
    said = f"This model's maximum context length is {context} tokens. However, you requested 9000 tokens."
    return refused(400, said)


async def test_a_reply_that_might_not_fit_into_the_context_is_limited_from_then_on(connect: Connect) -> None:
    server = Scripted([too_long(1000), said(GOOD)])
    ask = connect(server)
    assert (await ask(assignment(max_tokens=5000))).value.labels
    assert (await ask(assignment("Other.", max_tokens=5000))).value.labels
    limits = [request["max_tokens"] for request in server.requests]
    assert limits[0] == 5000
    assert len(limits) == 3
    assert 100 <= max(limits[1:]) < 1000


async def test_a_prompt_that_is_longer_than_the_context_fails_and_says_how_much_is_read(
    connect: Connect,
) -> None:
    server = Scripted([too_long(1000)])
    with pytest.raises(Permanent, match="too long for the model: 1000 tokens at most") as caught:
        await connect(server)(assignment("It is very tall. " * 1000))
    assert caught.value.reason is Reason.TOO_LARGE
    assert len(server.requests) == 2


async def test_passages_for_which_the_context_has_no_room_are_left_out_and_the_version_says_so(
    connect: Connect,
) -> None:
    passages = [Block("chunk", f"c{number}", "The tower is tall. " * 40) for number in range(1, 9)]
    prompt = assignment(max_tokens=100)
    prompt = replace(prompt, blocks=(*prompt.blocks, *passages), spare=tuple(x.id for x in passages))
    server = Scripted([too_long(1000), too_long(1000), said(GOOD)])
    ask = connect(server)
    reply = await ask(prompt)
    shown = server.requests[-1]["messages"][-1]["content"]
    assert [f"c{number}: The tower" in shown for number in range(1, 9)] == [True] * 3 + [False] * 5
    assert reply.prompt_version == "1+without-5-passages"
    again = await ask(replace(prompt, instructions="Label each nugget once."))
    assert again.prompt_version == reply.prompt_version
    assert len(server.requests) == 4  # the second prompt fits at once


async def test_a_context_that_a_message_only_quotes_is_not_learnt(connect: Connect) -> None:
    quoting = refused(
        422, "Input should be a valid string: " + "x" * 400 + " exceeds the context length of 600"
    )
    ask = connect(Scripted([quoting]))
    with pytest.raises(Permanent) as caught:
        await ask()
    assert caught.value.reason is Reason.INVALID_INPUT
    assert ask.model.endpoint.dialect.context is None
