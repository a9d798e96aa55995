"""What a delivery leaves behind in traces and metrics, and what core messages are for."""

import asyncio

import pytest
import structlog
from opentelemetry import trace
from prometheus_client import REGISTRY

from nuggetstream.domain.failure import Reason
from services.runtime import tracing, work
from services.runtime.bus import Notification, Outgoing
from services.runtime.errors import InvalidInput, Permanent, Unavailable
from services.runtime.work import Work


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_the_trace_survives_the_hop(flow):
    inside: list[str] = []

    async def handle(text: str) -> list[str]:
        inside.append(tracing.trace_id(trace.get_current_span()))
        return [text]

    async with flow.hearing("result.>") as ear, flow.running(flow.stage(handle)):
        with tracing.span("submit") as sent:
            await flow.submit("one")
        out = await ear.next()
    assert set(out.headers) == {"Nats-Msg-Id", "schema", "traceparent"}
    assert inside == [tracing.trace_id(sent)] == [out.headers["traceparent"].split("-")[1]]


async def test_two_jobs_handled_at_once_keep_their_own_traces(flow):
    both, seen = asyncio.Barrier(2), {}

    async def handle(text: str) -> list[str]:
        await both.wait()
        seen[text] = tracing.trace_id(trace.get_current_span())
        return []

    sent = {}
    async with flow.running(flow.stage(handle, concurrency=2)):
        for text in ("one", "two"):
            with tracing.span("submit") as span:
                sent[text] = tracing.trace_id(span)
                await flow.bus.publish(Outgoing("job.one", text, "test.Job", text.encode()))
        await flow.settled()
    assert seen == sent


async def test_deliveries_outcomes_and_dead_letters_are_counted(flow):
    processed = "messaging_process_duration_seconds_count"
    names = {
        "first": ("nuggetstream_deliveries_total", {"stage": "assigner", "redelivered": "false"}),
        "again": ("nuggetstream_deliveries_total", {"stage": "assigner", "redelivered": "true"}),
        "ok": (processed, {"stage": "assigner", "outcome": "ok"}),
        "retried": (processed, {"stage": "assigner", "outcome": "retried"}),
        "dead": (
            "messaging_process_duration_seconds_count",
            {"stage": "assigner", "outcome": "dead_lettered"},
        ),
        "letters": ("nuggetstream_dead_letters_total", {"stage": "assigner", "reason": "invalid_input"}),
    }
    before = {key: value(name, **labels) for key, (name, labels) in names.items()}
    calls = []

    async def handle(text: str) -> list[str]:
        calls.append(text)
        if text == "refuse":
            raise InvalidInput("no")
        if calls.count("retry") == 1:
            raise Unavailable(Reason.LLM_UNAVAILABLE, "503")
        return [text]

    async with flow.running(flow.stage(handle, concurrency=1)):
        await flow.submit("fine", "refuse", "retry")
        await flow.settled()
    grown = {key: value(name, **labels) - before[key] for key, (name, labels) in names.items()}
    assert grown == {"first": 3, "again": 1, "ok": 2, "retried": 1, "dead": 1, "letters": 1}


async def test_jobs_in_flight_and_how_long_they_waited_are_gauged(flow):
    started, finish = asyncio.Event(), asyncio.Event()

    async def handle(_: str) -> list[str]:
        started.set()
        await finish.wait()
        return []

    await flow.submit("one")
    await asyncio.sleep(0.2)
    async with flow.running(flow.stage(handle)):
        await started.wait()
        assert value("nuggetstream_in_flight", stage="assigner") == 1
        assert 0.2 <= value("nuggetstream_consumer_lag_age_seconds", stage="assigner") < 60
        finish.set()
        await flow.settled()
    assert value("nuggetstream_in_flight", stage="assigner") == 0


async def test_a_reconnection_is_counted(flow, nats_server):
    before = value("nuggetstream_bus_reconnects_total")
    back = asyncio.Event()
    flow.bus.on_reconnect(back.set)
    await nats_server.kill()
    await nats_server.start()
    await asyncio.wait_for(back.wait(), 90)
    assert value("nuggetstream_bus_reconnects_total") == before + 1


async def test_a_plain_message_reaches_all_listeners_and_one_of_a_queue(flow):
    heard: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()

    def listener(name: str):
        async def hear(note: Notification) -> None:
            heard.put_nowait((name, note.body))

        return hear

    bus = flow.bus
    async with (
        bus.core_subscribe("news", listener("a")),
        bus.core_subscribe("news", listener("b")),
        bus.core_subscribe("news", listener("queue"), queue="q"),
        bus.core_subscribe("news", listener("queue"), queue="q"),
    ):
        await bus.core_publish("news", b"hello")
        got = sorted([await asyncio.wait_for(heard.get(), 90) for _ in range(3)])
        await bus.flush()
        assert heard.empty()
    assert got == [("a", b"hello"), ("b", b"hello"), ("queue", b"hello")]


async def test_a_message_larger_than_the_broker_takes_is_refused_for_good(flow):

    with pytest.raises(Permanent, match="too_large"):
        await flow.bus.publish(Outgoing("job.one", "big", "test.Job", b"x" * 1_100_000))


@pytest.mark.parametrize(
    ("reason", "level", "letters"),
    [(Reason.NOTHING_TO_SCORE, "info", 0), (Reason.REPLY_UNUSABLE, "error", 1)],
)
async def test_what_the_texts_contain_is_no_error_in_log_and_metrics(flow, reason, level, letters):
    def dead() -> float:
        return value("nuggetstream_dead_letters_total", stage="assigner", reason=reason.value)

    before = dead()

    async def handle(text: str) -> list[str]:
        raise Permanent(reason, f"{text} has nothing")

    with structlog.testing.capture_logs() as lines:
        async with flow.running(flow.stage(handle, concurrency=1)):
            await flow.submit("it")
            await flow.settled()
    assert [line["log_level"] for line in lines if line["event"] == "giving up"] == [level]
    assert dead() - before == letters


async def test_every_log_line_of_an_attempt_names_the_battle_and_no_later_line_does(flow):
    failing = iter([Unavailable(Reason.DEADLINE, "not now"), Permanent(Reason.BUG, "never")])

    async def handle(text: str) -> list[str]:
        if text == "fails":
            raise next(failing)
        return []

    def about(text: str) -> Work | None:
        return Work("battle-7", "an arena") if text == "fails" else None

    merge = structlog.contextvars.merge_contextvars
    with structlog.testing.capture_logs(processors=[merge]) as lines:
        async with flow.running(flow.stage(handle, concurrency=1, about=about)):
            await flow.submit("fails")
            await flow.settled()
    spoken = {line["event"]: line for line in lines if line["event"] in ("retry", "giving up")}
    assert set(spoken) == {"retry", "giving up"}
    for line in spoken.values():
        assert (line["battle_id"], line["arena"]) == ("battle-7", "an arena")
    assert "battle_id" not in structlog.contextvars.get_contextvars()
    assert work.current() is None
