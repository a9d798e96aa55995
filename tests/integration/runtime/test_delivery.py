"""What becomes of one message, on a real broker."""

import asyncio
import json
import time
from dataclasses import replace
from itertools import pairwise
from math import inf
from time import monotonic
from urllib.parse import urlsplit

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.pipeline import Stage
from services.runtime import masking
from services.runtime.bus import Backoff, Outgoing, StreamSpec, ensure
from services.runtime.errors import InvalidInput, ModelOutage, Outage, Permanent, Retryable, Unavailable
from services.runtime.runner import BodyLeftOut
from services.runtime.runner.outage import through_outages

TERMINATED = "$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.>"


async def test_a_message_is_handled_its_result_stored_and_then_it_is_acknowledged(flow):
    async with flow.hearing("result.>") as ear, flow.running(flow.stage()):
        await flow.submit("one")
        assert (await ear.next()).body == b"ONE"
        await flow.settled()
    assert await flow.count("RESULTS") == 1
    assert await flow.count("DEAD") == 0


async def test_a_job_submitted_twice_under_one_id_is_one_job(flow):
    job = Outgoing("job.one", "the-id", "test.Job", b"one")
    first, second = await flow.bus.publish(job), await flow.bus.publish(job)
    assert (first.duplicate, second.duplicate, first.seq) == (False, True, second.seq)


async def test_a_message_delivered_twice_gives_one_result(flow):
    calls = []

    async def handle(text: str) -> list[str]:
        calls.append(text)
        return [text.upper()]

    async with flow.running(flow.stage(handle)):
        await flow.bus.publish(Outgoing("job.one", "first", "test.Job", b"same"))
        await flow.bus.publish(Outgoing("job.one", "second", "test.Job", b"same"))
        await flow.settled()
    assert calls == ["same", "same"]
    assert await flow.count("RESULTS") == 1


async def test_a_result_stored_before_a_failure_is_not_stored_again_by_the_retry(flow):
    broken = True

    def encode(text: str) -> Outgoing:
        nonlocal broken
        if text == "second" and broken:
            broken = False
            raise RuntimeError("lost between two outputs")
        return Outgoing("result.one", f"result-of-{text}", "test.Result", text.encode())

    async def handle(_: str) -> list[str]:
        return ["first", "second"]

    async with flow.running(flow.stage(handle, encode=encode)):
        await flow.submit("job")
        await flow.settled()
    assert await flow.count("RESULTS") == 2


async def test_garbage_is_dead_lettered_and_the_stream_goes_on(flow):
    async with flow.hearing("result.>") as ear, flow.running(flow.stage()):
        await flow.submit(b"\xff\xfe garbage", "good")
        assert (await ear.next()).body == b"GOOD"
        await flow.settled()
    [letter] = await flow.dead_letters()
    assert (letter.reason, letter.attempts, letter.body) == (Reason.UNDECODABLE, 1, b"\xff\xfe garbage")
    assert (letter.subject, letter.stage, letter.schema) == ("job.one", "assigner", "test.Job")
    assert letter.id
    assert "UnicodeDecodeError" in letter.detail


async def test_a_body_behind_a_reference_that_cannot_be_fetched_now_is_retried_not_dead_lettered(flow):
    tries = []

    async def decode(_, body: bytes) -> str:
        tries.append(body)
        if len(tries) == 1:
            raise Unavailable(Reason.STORE_UNAVAILABLE, "page store away")
        return body.decode()

    async with flow.running(flow.stage(decode=decode)):
        await flow.submit("one")
        await flow.settled()
    assert len(tries) == 2
    assert await flow.count("DEAD") == 0


class Away:
    """A handler whose record is away at first."""

    def __init__(self, outages: float) -> None:
        self.outages = outages
        self.calls = 0
        self.waiting = asyncio.Event()

    async def __call__(self, text: str) -> list[str]:
        self.calls += 1
        if self.calls <= self.outages:
            if self.calls == 2:  # it has waited once
                self.waiting.set()
            raise Outage(Reason.STORE_UNAVAILABLE, "the database does not answer")
        return [text]


async def test_an_outage_is_waited_for_in_hand_and_uses_up_no_delivery(flow):
    handle = Away(outages=7)  # of three deliveries allowed
    async with (
        flow.hearing("result.>", "dead.>") as ear,
        flow.running(flow.stage(handle), jitter=lambda: 0.0),
    ):
        await flow.submit("one")
        assert (await ear.next()).body == b"one"
        await flow.settled()
        consumer = await flow.bus.js.consumer_info("JOBS", "assigner")
    assert handle.calls == 8
    assert consumer.delivered.consumer_seq == 1
    assert await flow.count("DEAD") == 0


async def test_a_model_that_is_away_is_waited_for_until_the_patience_is_over(flow):
    calls = 0

    async def handle(text: str) -> list[str]:
        nonlocal calls
        calls += 1
        patience = 3600.0 if calls < 9 else 0.0  # three deliveries are allowed
        raise ModelOutage(Reason.LLM_UNAVAILABLE, "the model is away", patience=patience)

    async with (
        flow.hearing("failed.>") as ear,
        flow.running(flow.stage(handle), jitter=lambda: 0.0),
    ):
        await flow.submit("one")
        assert (await ear.next()).subject == "failed.one.llm_unavailable"
        await flow.settled()
        consumer = await flow.bus.js.consumer_info("JOBS", "assigner")
    assert (calls, consumer.delivered.consumer_seq) == (9, 1)
    (letter,) = await flow.dead_letters()
    assert letter.detail == "the model is away; given up after waiting for 0 s"


@pytest.mark.parametrize(("since", "given_up"), [(-100.0, True), (-40.0, False), (None, False)])
async def test_a_message_waits_from_its_publication_or_from_the_start_of_the_outage(since, given_up):
    """A message of 70 s ago, with a patience of 60 s."""
    now = time.time()
    tries = 0

    async def attempt() -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            start = None if since is None else now + since
            raise ModelOutage(Reason.LLM_UNAVAILABLE, "away", patience=60.0, since=start)

    waited = through_outages(attempt, lambda _: 0.0, asyncio.Event(), "assigner", now - 70.0)
    if given_up:
        with pytest.raises(Permanent, match="away; given up after waiting for 1 min"):
            await waited
    else:
        assert await waited


async def test_a_message_that_waits_for_an_outage_to_end_is_decoded_once(flow):
    decoded = []

    def decode(_, body: bytes) -> str:
        decoded.append(body)
        return body.decode()

    stage = flow.stage(Away(outages=5), decode=decode)
    async with flow.hearing("result.>") as ear, flow.running(stage, jitter=lambda: 0.0):
        await flow.submit("one")
        assert (await ear.next()).body == b"one"
    assert decoded == [b"one"]


async def test_what_waits_for_an_outage_to_end_is_handed_back_when_draining_begins(flow):
    await ensure(flow.bus.js, (), (flow.stage(ack_wait=600.0).consumer,))
    handle = Away(outages=inf)
    async with flow.running(flow.stage(handle, ack_wait=600.0, backoff=Backoff(0.01, 0.05)), grace=600.0):
        await flow.submit("one")
        await handle.waiting.wait()
        assert REGISTRY.get_sample_value("nuggetstream_outage_waiting", {"stage": "assigner"}) == 1
    assert REGISTRY.get_sample_value("nuggetstream_outage_waiting", {"stage": "assigner"}) == 0
    async with flow.hearing("result.>") as ear, flow.running(flow.stage(ack_wait=600.0)):
        assert (await ear.next()).body == b"ONE"
    assert await flow.count("DEAD") == 0


async def test_delays_between_attempts_grow(flow):
    times = []

    async def fail(_: str) -> list[str]:
        times.append(monotonic())
        raise Unavailable(Reason.LLM_UNAVAILABLE, "503")

    stage = flow.stage(fail, max_deliver=4, backoff=Backoff(base=0.1, cap=10.0))
    async with flow.running(stage, jitter=lambda: 1.0):
        await flow.submit("one")
        await flow.settled()
    gaps = [after - before for before, after in pairwise(times)]
    assert len(gaps) == 3
    assert all(gap >= delay for gap, delay in zip(gaps, (0.1, 0.2, 0.4), strict=True))
    assert max(gaps) < flow.consumer.ack_wait  # asked for again, not merely given up waiting for


async def test_the_delay_a_dependency_asks_for_is_respected(flow):
    times = []

    async def limited(text: str) -> list[str]:
        times.append(monotonic())
        if len(times) == 1:
            raise Retryable(Reason.LLM_UNAVAILABLE, "429", retry_after=0.5)
        return [text]

    async with flow.running(flow.stage(limited)):
        await flow.submit("one")
        await flow.settled()
    assert 0.5 <= times[1] - times[0] < flow.consumer.ack_wait


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Unavailable(Reason.LLM_UNAVAILABLE, "503"), Reason.LLM_UNAVAILABLE),
        (KeyError("typo"), Reason.BUG),
    ],
)
async def test_a_hopeless_job_is_dead_lettered_after_exactly_max_deliver_attempts(flow, error, reason):
    calls = []

    async def fail(text: str) -> list[str]:
        calls.append(text)
        raise error

    async with flow.hearing("dead.>") as ear, flow.running(flow.stage(fail)):
        await flow.submit("one")
        await ear.next()
        await flow.settled()
    [letter] = await flow.dead_letters()
    assert (len(calls), letter.attempts, letter.reason) == (3, 3, reason)


async def test_a_permanent_error_is_dead_lettered_at_once(flow):
    calls = []

    async def refuse(text: str) -> list[str]:
        calls.append(text)
        raise InvalidInput("two answers expected")

    async with flow.hearing("dead.>") as ear, flow.running(flow.stage(refuse)):
        await flow.submit("one")
        await ear.next()
        await flow.settled()
    [letter] = await flow.dead_letters()
    assert (len(calls), letter.reason, letter.detail) == (1, Reason.INVALID_INPUT, "two answers expected")


async def test_a_reason_that_no_header_can_carry_does_not_keep_a_message_from_the_dead_letters(flow):
    async def refuse(_: str) -> list[str]:
        raise InvalidInput("the page says \ud83d\nand more")

    async with flow.running(flow.stage(refuse)):
        await flow.submit("one")
        await flow.settled()
    [letter] = await flow.dead_letters()
    assert (letter.body, letter.detail) == (b"one", "the page says ? and more")


async def submit_raw(url: str, header: bytes) -> None:
    """Publish a job as a client that does not check the names of headers."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    headers = b"NATS/1.0\r\nkept: yes\r\n" + header + b"\r\n\r\n"
    options = {"verbose": False, "headers": True, "auth_token": address.username}
    writer.write(b"CONNECT %s\r\n" % json.dumps(options).encode())
    writer.write(b"HPUB job.one %d %d\r\n%sone\r\nPING\r\n" % (len(headers), len(headers) + 3, headers))
    while not (await reader.readline()).startswith(b"PONG"):
        pass
    writer.close()
    await writer.wait_closed()


async def test_a_header_that_cannot_be_sent_does_not_keep_a_message_from_the_dead_letters(flow):
    async def refuse(_: str) -> list[str]:
        raise InvalidInput("no")

    async with flow.running(flow.stage(refuse)):
        await submit_raw(flow.server.url, b"x/y: 1")
        await flow.settled()
    [letter] = await flow.dead_letters()
    assert (letter.body, letter.headers["kept"]) == (b"one", "yes")
    assert "x/y" not in letter.headers
    assert letter.again().headers == letter.headers


async def test_a_header_that_cannot_be_sent_is_not_an_outage(flow):
    with pytest.raises(Permanent, match="x/y"):
        await flow.bus.publish(Outgoing("job.one", "id", "test.Job", b"one", {"x/y": "1"}))


async def test_a_message_too_large_to_be_kept_beside_its_story_is_dead_lettered_without_its_body(flow):
    body = b"\xff" * (1024 * 1024 - 200)  # the broker takes 1 MiB, headers included

    async with flow.running(flow.stage(backoff=Backoff(0.01, 0.01))):
        await flow.submit(body)
        await flow.settled()
    [letter] = await flow.dead_letters()
    assert (letter.reason, letter.body, letter.attempts) == (Reason.UNDECODABLE, None, 1)
    assert letter.detail.endswith(f"(the body of {len(body)} bytes is left in JOBS at 1)")
    with pytest.raises(BodyLeftOut, match=f"the body of {letter.id} is in JOBS at 1, not here"):
        letter.again()


async def test_giving_up_says_so_first_keeps_the_message_second_and_ends_it_last(flow):
    async def refuse(_: str) -> list[str]:
        raise InvalidInput("no")

    async with (
        flow.hearing("failed.>", "dead.>", TERMINATED) as ear,
        flow.running(flow.stage(refuse)),
    ):
        await flow.submit("one")
        failed, dead, terminated = await ear.take(3)
    assert failed.subject == "failed.one.invalid_input"
    assert dead.subject == "dead.assigner"
    assert json.loads(terminated.body)["reason"] == "invalid_input"


async def test_what_the_other_side_said_is_in_the_dead_letter_without_secrets_and_in_no_log(flow):
    masking.KNOWN.remember("correct horse")
    told = []

    async def refuse(_: str) -> list[str]:
        raise Permanent(
            Reason.LLM_UNAVAILABLE, "the endpoint answered 401", admin_detail="no such key: correct horse"
        )

    def give_up(_message: str | None, failure: StageFailure) -> list[str]:
        told.append(failure)
        return []

    with capture_logs() as logged:
        async with flow.running(flow.stage(refuse, give_up=give_up)):
            await flow.submit("one")
            await flow.settled()
    [letter] = await flow.dead_letters()
    assert (letter.detail, letter.admin_detail) == ("the endpoint answered 401", "no such key: ***")
    assert [failure.admin_detail for failure in told] == ["no such key: ***"]
    loud = [line for line in logged if line["log_level"] != "debug"]
    assert "the endpoint answered 401" in str(loud)
    assert "no such key" not in str(loud)
    assert "correct horse" not in str(logged)


async def test_giving_up_receives_the_failure_as_data(flow):
    told = []

    def give_up(message: str | None, failure: StageFailure) -> list[str]:
        told.append((message, failure))
        return []

    async def refuse(_: str) -> list[str]:
        raise InvalidInput("no")

    async with flow.running(flow.stage(refuse, give_up=give_up)):
        await flow.submit("one")
        await flow.settled()
    assert told == [("one", StageFailure(Stage.ASSIGNER, Reason.INVALID_INPUT, "no", 1))]


async def test_a_bug_in_give_up_does_not_keep_the_message_from_the_dead_letters(flow):
    def give_up(_message: str | None, _failure: StageFailure) -> list[str]:
        raise ZeroDivisionError

    async with flow.running(flow.stage(give_up=give_up)):
        await flow.submit(b"\xff")
        await flow.settled()
    assert await flow.count("DEAD") == 1


async def test_a_handler_slower_than_ack_wait_is_kept_alive_and_so_is_what_waits_behind_it(flow):
    calls = []

    async def slow(text: str) -> list[str]:
        calls.append(text)
        await asyncio.sleep(1.8)
        return [text]

    async with (
        flow.hearing("$JS.ACK.>") as ear,
        flow.running(flow.stage(slow, ack_wait=0.9, concurrency=1)),
    ):
        await flow.submit("one", "two")
        await flow.settled()
    assert calls == ["one", "two"]
    kept = {note.subject.split(".")[5] for note in await ear.take(ear.heard) if note.body == b"+WPI"}
    assert kept == {"1", "2"}  # sequences in the stream


async def test_an_attempt_that_overruns_its_deadline_is_retried_and_ends_as_deadline(flow):
    calls = []

    async def stuck(text: str) -> list[str]:
        calls.append(text)
        await asyncio.Event().wait()
        return []

    async with flow.running(flow.stage(stuck, deadline=0.05)):
        await flow.submit("one")
        await flow.settled()
    [letter] = await flow.dead_letters()
    assert (len(calls), letter.reason, letter.attempts) == (3, Reason.DEADLINE, 3)


async def test_no_more_than_twice_the_concurrency_is_held_at_once(flow):
    release, busy, running, most = asyncio.Event(), asyncio.Event(), 0, 0

    async def wait(_: str) -> list[str]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 3:
            busy.set()
        await release.wait()
        running -= 1
        return []

    await flow.submit(*(str(n) for n in range(20)))
    async with flow.running(flow.stage(wait, concurrency=3)):
        await busy.wait()
        await flow.holding(6)
        await flow.bus.flush()
        assert await flow.held() == 6
        release.set()
        await flow.settled()
    assert most == 3


async def test_a_dead_letter_can_be_sent_again_and_is_then_a_new_job(flow):
    broken = True

    async def handle(text: str) -> list[str]:
        if broken:
            raise InvalidInput("not yet")
        return [text]

    async with flow.hearing("result.>") as ear, flow.running(flow.stage(handle)):
        await flow.submit("one")
        await flow.settled()
        broken = False
        [letter] = await flow.dead_letters()
        ack = await flow.bus.publish(letter.again())
        assert (await ear.next()).body == b"one"
    assert not ack.duplicate


async def test_ensuring_twice_changes_nothing_and_a_changed_declaration_is_applied(flow):

    before = await flow.bus.js.consumer_info("JOBS", "assigner")
    stream = StreamSpec("JOBS", ("job.>",), max_age=60.0)
    for _ in range(2):
        await ensure(flow.bus.js, (stream,), (replace(flow.consumer, max_ack_pending=7),))
    info = await flow.bus.js.consumer_info("JOBS", "assigner")
    assert (await flow.bus.js.stream_info("JOBS")).config.max_age == 60.0
    assert (info.config.max_ack_pending, info.created) == (7, before.created)
