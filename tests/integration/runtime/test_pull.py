"""The pull loop keeps its consumer fed and never spins."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from contextlib import contextmanager
from time import monotonic

import structlog

from services.runtime.bus import Outgoing, ensure
from services.runtime.bus.pull import Puller, PullSettings
from services.runtime.runner import Runner

NEXT = "$JS.API.CONSUMER.MSG.NEXT.>"
CREATE = "$JS.API.CONSUMER.CREATE.JOBS.>"
QUICK = PullSettings(expires=0.3, heartbeat=0.1)


async def test_a_deleted_consumer_is_created_again_and_work_goes_on(flow):
    async with flow.hearing("result.>") as results, flow.running(flow.stage(), pull=QUICK):
        await flow.submit("before")
        await results.next()
        async with flow.hearing(NEXT, CREATE) as requests:
            await flow.bus.js.delete_consumer("JOBS", "assigner")
            while not (await requests.next()).subject.startswith("$JS.API.CONSUMER.CREATE"):
                pass
            await flow.submit("before", "after")
            # The new consumer reads the stream from its start; "before" gives no second result.
            while (await results.next()).body != b"AFTER":
                pass
        await flow.settled()
    assert await flow.count("RESULTS") == 2


async def test_a_missing_stream_is_asked_for_with_growing_pauses_until_it_is_back(flow):
    stream = (await flow.bus.js.stream_info("JOBS")).config
    async with flow.running(flow.stage(), pull=QUICK):
        async with flow.hearing(NEXT, CREATE) as requests:
            await flow.bus.js.delete_stream("JOBS")
            await requests.take(2)
            await asyncio.sleep(1.5)
            assert requests.heard <= 15
        await flow.bus.js.add_stream(stream)
        async with flow.hearing("result.>") as results:
            await flow.submit("again")
            assert (await results.next()).body == b"AGAIN"


async def test_an_idle_consumer_costs_one_request_per_expiry(flow):
    requested = 6
    async with flow.hearing(NEXT) as requests, flow.running(flow.stage(), pull=QUICK):
        await requests.next()
        began = monotonic()
        await requests.take(requested)
        assert monotonic() - began > 0.75 * requested * QUICK.expires


async def test_work_that_comes_after_a_request_expired_is_still_taken(flow):
    async with (
        flow.hearing(NEXT) as requests,
        flow.hearing("result.>") as results,
        flow.running(flow.stage(), pull=QUICK),
    ):
        await requests.take(3)
        await flow.submit("late")
        assert (await results.next()).body == b"LATE"


async def test_one_request_brings_many_messages(flow):
    total = 400
    await flow.submit(*(str(number) for number in range(total)))
    stage = flow.stage(concurrency=16)
    async with flow.hearing(NEXT) as requests, flow.running(stage):
        await flow.settled()
        assert requests.heard <= total / 4


async def test_a_broker_that_falls_silent_is_asked_again(flow, nats_server):
    patient = PullSettings(expires=20.0, heartbeat=0.1)
    async with flow.hearing("result.>") as results, flow.running(flow.stage(), pull=patient) as runner:
        await until(lambda: runner.pulls == 1)
        with suspended(nats_server):
            await until(lambda: runner.pulls == 3)
        await flow.submit("awake")
        assert (await results.next()).body == b"AWAKE"


async def test_a_process_that_stood_still_does_not_take_the_broker_for_silent(flow):
    patient = PullSettings(expires=20.0, heartbeat=0.5)
    with structlog.testing.capture_logs() as entries:
        async with flow.hearing("result.>") as results, flow.running(flow.stage(), pull=patient) as runner:
            await until(lambda: runner.pulls == 1)
            time.sleep(3 * patient.heartbeat)
            await flow.submit("awake")
            assert (await results.next()).body == b"AWAKE"
    assert [entry for entry in entries if entry["log_level"] == "warning"] == []


async def test_a_flush_that_was_given_up_on_does_not_deafen_the_connection(flow, nats_server):
    with suspended(nats_server):
        flushing = asyncio.create_task(flow.bus.flush())
        await asyncio.sleep(0)
        await asyncio.sleep(0.05)
        flushing.cancel()
        await asyncio.gather(flushing, return_exceptions=True)
    await flow.bus.publish(Outgoing("job.one", "x", "test.Job", b"x"), within=20)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(90):
        while not holds():
            await asyncio.sleep(0.01)


@contextmanager
def suspended(server):
    """A broker that is there and says nothing."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


async def test_a_consumer_that_nobody_created_is_created_by_its_runner(flow):
    await flow.bus.js.delete_consumer("JOBS", "assigner")
    stop = asyncio.Event()
    task = asyncio.create_task(Runner(flow.bus, flow.stage(), pull=QUICK).run(stop))
    async with flow.hearing("result.>") as results:
        await flow.submit("one")
        assert (await results.next()).body == b"ONE"
    stop.set()
    await asyncio.wait_for(task, 90)


async def test_ensure_is_quick_enough_to_run_at_every_start(flow):
    async with asyncio.timeout(90):
        for _ in range(10):
            await ensure(flow.bus.js, (), (flow.consumer,))


async def test_a_runner_ends_although_a_cancellation_of_its_pulling_was_swallowed(flow, monkeypatch):
    waits, swallowed = Puller._until_woken_or_silent, asyncio.Event()

    async def swallows(puller: Puller) -> None:
        try:
            await waits(puller)
        except asyncio.CancelledError:  # as asyncio.wait_for does if what it waits for comes at that moment
            if swallowed.is_set():
                raise
            swallowed.set()

    monkeypatch.setattr(Puller, "_until_woken_or_silent", swallows)
    await ensure(flow.bus.js, (), (flow.consumer,))
    runner = Runner(flow.bus, flow.stage())
    running = asyncio.create_task(runner.run(asyncio.Event()))
    async with asyncio.timeout(90):
        while not runner.pulls:
            await asyncio.sleep(0.02)
    running.cancel()
    await asyncio.wait([running], timeout=90)
    assert (swallowed.is_set(), running.cancelled()) == (True, True)
