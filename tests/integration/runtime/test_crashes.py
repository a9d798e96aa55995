"""Processes and servers that end without saying goodbye."""

import asyncio
import signal
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import psutil
import pytest

from nuggetstream.domain.failure import Reason
from services.runtime.bus import Bus, BusClosed, BusSettings, Outgoing, StreamSpec, ensure
from services.runtime.errors import Outage, Unavailable
from services.runtime.nats_server import NatsServer
from services.runtime.runner import AdvisoryMover, Runner
from services.runtime.runner.dead_letter import DeadLetter
from services.runtime.runner.mover import Exhausted

IMPATIENT = {"ACK_WAIT": "0.5"}
SOON = 10.0  # seconds; a pull that does not notice the restart waits for 30
LONG = 600.0  # seconds; what comes back sooner was handed back
PATIENT = {"ACK_WAIT": str(LONG)}


async def run_until_it_survives(flow, mode: str, **variables: str) -> int:
    """Start a worker again whenever it dies, as a supervisor does; the number of deaths."""
    deaths = 0
    async with flow.hearing("dead.>") as ear:
        while True:
            async with flow.worker(mode, **IMPATIENT, **variables) as process:
                died = asyncio.create_task(process.wait())
                heard = asyncio.create_task(ear.next(within=30))
                await asyncio.wait({died, heard}, return_when=asyncio.FIRST_COMPLETED)
                died.cancel()
                if heard.done():
                    return deaths
                heard.cancel()
                deaths += 1


async def impatient(flow) -> None:
    await ensure(flow.bus.js, (), (flow.stage(ack_wait=0.5).consumer,))


async def test_a_job_that_kills_its_process_is_dead_lettered_and_named_in_the_failure(flow):
    await impatient(flow)
    await flow.submit("kill")
    async with flow.hearing("failed.>") as ear:
        deaths = await run_until_it_survives(flow, "crash")
        assert (await ear.next()).subject == "failed.kill.max_deliveries"
    [letter] = await flow.dead_letters()
    assert (deaths, letter.reason, letter.body) == (3, Reason.MAX_DELIVERIES, b"kill")


async def test_jobs_held_beside_the_killer_keep_their_chances(flow):
    await ensure(flow.bus.js, (), (flow.stage(ack_wait=0.5, max_deliver=5).consumer,))
    jobs = ["before", "kill", *(f"after-{n}" for n in range(6))]
    await flow.submit(*jobs)
    await run_until_it_survives(flow, "crash", MAX_DELIVER="5")
    async with flow.worker("crash", **IMPATIENT, MAX_DELIVER="5"):
        await flow.settled()
    assert [letter.body for letter in await flow.dead_letters()] == [b"kill"]
    assert await flow.count("RESULTS") == len(jobs)  # the failure event takes the killer's place


async def test_a_job_that_kills_its_process_while_being_decoded_is_dead_lettered_as_bytes(flow):
    await impatient(flow)
    await flow.submit("kill")
    deaths = await run_until_it_survives(flow, "crash-decoding")
    [letter] = await flow.dead_letters()
    assert (deaths, letter.reason, letter.attempts) == (4, Reason.MAX_DELIVERIES, 5)


async def test_what_the_broker_stopped_delivering_is_moved_by_its_advisory(flow):
    spec = flow.stage(ack_wait=0.1, max_deliver=1).consumer
    await ensure(flow.bus.js, (), (spec,))
    await flow.submit("lost")
    mover = AdvisoryMover(flow.bus, (spec,))
    async with flow.hearing("dead.>") as ear, flow.running(mover.stage("dead.mover")):
        await take_and_never_answer(flow, spec.broker_max_deliver)
        dead = await ear.next()
        await flow.settled("mover", "ADVISORIES")
    letter = DeadLetter.read(dead.headers, dead.body)
    assert (letter.stage, letter.reason, letter.body) == ("assigner", Reason.MAX_DELIVERIES, b"lost")
    assert (letter.attempts, letter.subject) == (spec.broker_max_deliver, "job.one")


async def test_what_stands_for_a_moved_message_takes_the_place_of_its_dead_letter(flow):
    spec = flow.stage(ack_wait=0.1, max_deliver=1).consumer
    await ensure(flow.bus.js, (), (spec,))
    await flow.submit("lost")

    async def failure(letter: DeadLetter) -> list[Outgoing]:
        return [Outgoing(f"failed.{letter.stage}", letter.id, "test.Failed", letter.body or b"")]

    mover = AdvisoryMover(flow.bus, (spec,), instead=failure)
    async with flow.hearing("failed.>") as ear, flow.running(mover.stage("dead.mover")):
        await take_and_never_answer(flow, spec.broker_max_deliver)
        failed = await ear.next()
        await flow.settled("mover", "ADVISORIES")
    assert (failed.subject, failed.body) == ("failed.assigner", b"lost")
    assert await flow.count("DEAD") == 0


async def test_an_exhausted_message_no_longer_waits_in_its_stream(flow):
    spec = replace(flow.stage(ack_wait=0.1, max_deliver=1).consumer, stream="WORK", subjects=("work.>",))
    await ensure(flow.bus.js, (StreamSpec("WORK", ("work.>",), until_acked=True),), (spec,))
    await flow.bus.publish(Outgoing("work.one", "lost", "test.Job", b"lost"))
    async with flow.running(AdvisoryMover(flow.bus, (spec,)).stage("dead.mover")), asyncio.timeout(90):
        await take_and_never_answer(flow, spec.broker_max_deliver, "WORK")
        while await flow.count("WORK"):
            await asyncio.sleep(0.01)
    assert [letter.body for letter in await flow.dead_letters()] == [b"lost"]


async def test_an_advisory_about_a_stream_that_was_lost_moves_nothing_of_the_new_one(flow):
    spec = flow.stage(ack_wait=0.1, max_deliver=1).consumer
    await flow.submit("another")
    before = datetime.now(UTC) - timedelta(hours=1)
    assert await AdvisoryMover(flow.bus, (spec,))(Exhausted("JOBS", "assigner", 1, 8, before)) == []
    assert await flow.count("DEAD") == 0


async def take_and_never_answer(flow, times: int, stream: str = "JOBS") -> None:
    """What a consumer looks like whose process dies at every delivery."""
    pull = await flow.bus.js.pull_subscribe_bind("assigner", stream)
    for _ in range(times):
        await pull.fetch(1, timeout=90)
    # One more pull makes the broker notice that this was the last.
    with pytest.raises(TimeoutError):
        await pull.fetch(1, timeout=0.5)
    await pull.unsubscribe()


async def test_a_hopeless_job_whose_body_cannot_be_fetched_now_is_named_once_it_can(flow):
    spec, tries = flow.stage(ack_wait=0.1, max_deliver=1).consumer, count()
    await ensure(flow.bus.js, (), (spec,))
    await flow.submit("lost")
    pull = await flow.bus.js.pull_subscribe_bind("assigner", "JOBS")
    await pull.fetch(1, timeout=90)  # its only attempt, never answered
    await pull.unsubscribe()

    async def decode(_, body: bytes) -> str:
        if next(tries) == 0:
            raise Outage(Reason.STORE_UNAVAILABLE, "the database does not answer")
        return body.decode()

    stage = flow.stage(ack_wait=0.1, max_deliver=1, decode=decode)
    async with flow.hearing("failed.>") as ear, flow.running(stage):
        assert (await ear.next()).subject == "failed.lost.max_deliveries"
        await flow.settled()


async def test_an_exhausted_message_that_the_broker_does_not_show_now_is_moved_later(flow):
    async with Bus.connect(BusSettings(servers=(flow.server.url,))) as bus:
        mover = AdvisoryMover(bus, (flow.consumer,))
        await bus._nc.close()
        with pytest.raises(Unavailable, match="message 1 of JOBS cannot be read"):
            await mover(Exhausted("JOBS", "assigner", 1, 8, datetime.now(UTC)))


async def test_an_exhausted_message_too_large_for_its_story_is_moved_without_its_body(flow):
    spec = flow.stage(ack_wait=0.1, max_deliver=1).consumer
    body = b"x" * (1024 * 1024 - 200)  # the broker takes 1 MiB, headers included
    await flow.submit(body)
    exhausted = Exhausted("JOBS", "assigner", 1, 8, datetime.now(UTC) + timedelta(seconds=1))
    assert await AdvisoryMover(flow.bus, (spec,))(exhausted) == []
    [letter] = await flow.dead_letters()
    assert (letter.body, letter.stream_seq) == (None, 1)
    assert letter.detail.endswith(f"(the body of {len(body)} bytes is left in JOBS at 1)")


async def test_an_advisory_about_a_stranger_moves_nothing(flow):
    spec = flow.stage(ack_wait=0.1, max_deliver=1).consumer
    await ensure(flow.bus.js, (), (spec,))
    await flow.submit("lost")
    async with flow.running(AdvisoryMover(flow.bus, ()).stage("dead.mover")):
        await take_and_never_answer(flow, spec.broker_max_deliver)
        assert await flow.count("ADVISORIES") == 1
        await flow.settled("mover", "ADVISORIES")
    assert await flow.count("DEAD") == 0


async def test_work_resumes_soon_after_the_server_was_killed_and_nothing_is_lost(flow, nats_server):
    total = 300

    async def handle(text: str) -> list[str]:
        await asyncio.sleep(0.01)
        return [text]

    async with flow.running(flow.stage(handle, ack_wait=1.0)), flow.hearing("result.>") as ear:
        await flow.submit(*(str(number) for number in range(total)))

        await ear.take(10)
        await nats_server.kill()
        ear.forget()  # what was heard before the crash
        await nats_server.start()
        await ear.next(within=SOON)
        await flow.settled()
    assert await flow.count("RESULTS") == total
    assert await flow.count("DEAD") == 0


async def test_an_idle_runner_takes_new_work_soon_after_a_restart(flow, nats_server):
    async with flow.hearing("result.>") as ear, flow.running(flow.stage()):
        await flow.submit("before")
        await ear.next()
        await nats_server.kill()
        await nats_server.start()
        await flow.bus.publish(Outgoing("job.one", "after", "test.Job", b"after"))
        # A result whose acknowledgement the killed server forgot may be heard once more.
        while (await ear.next(within=SOON)).body != b"AFTER":
            pass


async def test_a_job_in_flight_when_the_server_dies_is_handled_once(flow, nats_server):
    calls, started, finish = [], asyncio.Event(), asyncio.Event()

    async def slow(text: str) -> list[str]:
        calls.append(text)
        started.set()
        await finish.wait()
        return [text]

    async with flow.running(flow.stage(slow, ack_wait=0.3)):
        await flow.submit("one")
        await started.wait()
        await nats_server.kill()
        await asyncio.sleep(0.5)  # longer than ack_wait: the broker will deliver it again
        await nats_server.start()
        async with flow.hearing("result.>") as ear:
            await asyncio.sleep(0.4)
            finish.set()
            assert (await ear.next()).body == b"one"
        await flow.settled()
    assert calls == ["one"]


async def test_a_publication_waits_for_the_broker_and_is_stored_once(flow, nats_server):
    await nats_server.kill()
    waiting = asyncio.create_task(flow.bus.publish(Outgoing("result.one", "x", "test.Result", b"x")))
    await nats_server.start()
    first = await asyncio.wait_for(waiting, 90)
    second = await flow.bus.publish(Outgoing("result.one", "x", "test.Result", b"x"))
    assert (first.duplicate, second.duplicate) == (False, True)


async def test_a_publication_nobody_confirms_ends_as_unavailable_within_its_limit(flow, nats_server):
    await nats_server.kill()
    with pytest.raises(Unavailable):
        await flow.bus.publish(Outgoing("result.one", "x", "test.Result", b"x"), within=0.1)
    await nats_server.start()
    with pytest.raises(Unavailable, match="did not confirm"):
        await flow.bus.publish(Outgoing("no.stream.takes.this", "x", "test.Result", b"x"), within=0.2)


async def test_a_bus_without_a_broker_is_not_connected_and_recovers(nats_server: NatsServer):
    settings = BusSettings(servers=(nats_server.url,), reconnect_wait=0.05)
    async with Bus.connect(settings) as bus:
        back = asyncio.Event()
        bus.on_reconnect(back.set)
        await nats_server.kill()
        async with asyncio.timeout(90):
            while bus.connected:
                await asyncio.sleep(0.01)
        await nats_server.start()
        await asyncio.wait_for(back.wait(), 90)
        assert bus.connected


async def test_connecting_to_nobody_says_so_in_time():
    with pytest.raises(Unavailable, match="no broker at"):
        async with Bus.connect(BusSettings(servers=("nats://127.0.0.1:1",), connect_within=0.2)):
            pass


async def test_a_runner_whose_connection_is_closed_for_good_ends_with_an_error(flow):
    started = asyncio.Event()

    async def stuck(_: str) -> list[str]:
        started.set()
        await asyncio.Event().wait()
        return []

    async with Bus.connect(BusSettings(servers=(flow.server.url,))) as bus:
        running = asyncio.create_task(Runner(bus, flow.stage(stuck), grace=0.1).run(asyncio.Event()))
        await flow.submit(*(str(number) for number in range(8)))
        await started.wait()
        await bus._nc.close()  # what the library does when the broker refuses the credentials
        with pytest.raises(BusClosed):
            await asyncio.wait_for(running, 90)
        assert bus.closed.is_set()


async def test_sigterm_finishes_what_is_in_flight_hands_back_the_rest_and_leaves_no_process(flow):
    await ensure(flow.bus.js, (), (flow.stage(ack_wait=LONG).consumer,))
    async with flow.hearing("started") as ear, flow.worker("slow", **PATIENT) as process:
        await flow.submit("one", "two", "three", "four")
        in_flight = {note.body for note in await ear.take(2)}
        await flow.holding(4)
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        async with flow.hearing("result.>") as results:
            process.terminate()
            assert await asyncio.wait_for(process.wait(), 90) == 0
            finished = {note.body for note in await results.take(2)}
            async with flow.running(flow.stage(ack_wait=LONG)):
                # Another runner has the rest at once, not when ack_wait is over.
                handed_back = {note.body for note in await results.take(2)}
    assert finished == in_flight == {b"one", b"two"}
    assert handed_back == {b"THREE", b"FOUR"}
    assert not [member for member in family if member.is_running()]


async def test_no_job_is_started_once_draining_has_begun(flow):
    stop, begun, pulled, started = asyncio.Event(), asyncio.Event(), asyncio.Event(), []

    async def until_stopped(text: str) -> list[str]:
        started.append(text)
        begun.set()
        await stop.wait()
        return [text]

    stage = flow.stage(until_stopped, ack_wait=LONG, concurrency=1)
    await ensure(flow.bus.js, (), (stage.consumer,))
    runner = Runner(flow.bus, stage)
    pull = runner._puller.run

    async def pull_and_end_late() -> None:
        await pull()
        await pulled.wait()

    runner._puller.run = pull_and_end_late
    running = asyncio.create_task(runner.run(stop))
    await flow.submit("one", "two")
    await flow.holding(2)
    await begun.wait()
    stop.set()
    async with asyncio.timeout(90):
        while len(runner._in_flight):
            await asyncio.sleep(0.01)
    pulled.set()
    await running
    assert started == ["one"]


async def test_sigterm_hands_back_a_job_that_does_not_finish_within_the_grace(flow):
    await ensure(flow.bus.js, (), (flow.stage(ack_wait=LONG).consumer,))
    async with flow.hearing("started") as ear, flow.worker("hang", **PATIENT) as process:
        await flow.submit("one")
        await ear.next()
        process.terminate()
        assert await asyncio.wait_for(process.wait(), 90) == 0
        async with flow.running(flow.stage(ack_wait=LONG)):
            await flow.settled()
    assert await flow.count("RESULTS") == 1


async def test_a_second_signal_ends_the_process_at_once(flow):
    async with flow.hearing("hello") as ear, flow.worker("deaf") as process:
        await ear.next()
        process.terminate()
        ended = asyncio.create_task(process.wait())
        done, _ = await asyncio.wait({ended}, timeout=0.2)
        assert not done
        while not done:  # two signals that meet before the process runs are one to it
            process.terminate()
            done, _ = await asyncio.wait({ended}, timeout=0.2)
        assert await ended == 128 + signal.SIGTERM


async def test_two_processes_share_the_work(flow):
    total = 4  # each of the two holds at most two, those that it handles
    async with (
        flow.hearing("hello") as ear,
        flow.hearing("result.>") as results,
        flow.worker("share") as first,
        flow.worker("share") as second,
    ):
        await ear.take(2, within=60)
        await flow.submit(*(str(number) for number in range(total)))
        await flow.holding(total)
        for process in (first, second):
            process.terminate()
        workers = [result.body.split()[-1] for result in await results.take(total, within=60)]
        await flow.settled()
    assert sorted(Counter(workers).values()) == [2, 2]
    assert await flow.count("RESULTS") == total
