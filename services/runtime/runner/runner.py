"""The loop around every handler: decode, handle, publish, acknowledge; retry, give up, drain.

    pull -> hold (signs of life) -> worker: decode -> handle -> publish -> acknowledge
                                        error: retry later | outputs of give_up, dead letter, terminate
                                       outage: keep it in hand and try again here

At least once: the acknowledgement is sent after the outputs are stored. Effectively once: the outputs
carry ids derived from the input, so a repetition stores nothing new.
"""

import asyncio
import inspect
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from time import perf_counter, time
from typing import Generic, TypeVar

import nats.errors
import structlog
from nats.aio.msg import Msg

from nuggetstream.domain.failure import Reason, StageFailure
from services.runtime import metrics, tracing
from services.runtime.bus.connection import Bus, BusClosed
from services.runtime.bus.pull import Puller, PullSettings
from services.runtime.bus.settings import DRAIN_WITHIN
from services.runtime.errors import Retryable, StageError
from services.runtime.runner.dead_letter import DeadLetter
from services.runtime.runner.flow import Caution, demand
from services.runtime.runner.hold import Held, Hold
from services.runtime.runner.outage import through_outages
from services.runtime.runner.policy import Dead, Retry, after_error, before_handling, detail_of, may_decode
from services.runtime.stage import Stage

log = structlog.get_logger(__name__)
In = TypeVar("In")
Out = TypeVar("Out")


class Undecodable(StageError):
    """The bytes are not a message of this stage."""


class Runner(Generic[In, Out]):
    """Runs one stage against the bus.

    Args:
        bus: a connection; may be shared by several runners.
        stage: what to run.
        grace: seconds that jobs in flight get to finish after `stop`; then they are handed back.
        pull: the rhythm of pulling.
        jitter: draws from [0, 1]; replaced in tests.
    """

    def __init__(
        self,
        bus: Bus,
        stage: Stage[In, Out],
        *,
        grace: float = 20.0,
        pull: PullSettings | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._bus = bus
        self._stage = stage
        self._spec = stage.consumer
        self._label = stage.label
        self._grace = grace
        self._jitter = jitter
        self._hold = Hold(bus, stage.consumer)
        self._waiting: asyncio.Queue[Held] = asyncio.Queue()
        self._draining = asyncio.Event()
        full = stage.concurrency + stage.ready
        self._caution = Caution(full=full, room=full)
        self._puller = Puller(bus, stage.consumer, self._demand, self._take, pull)

    @property
    def pulls(self) -> int:
        """Pull requests sent so far."""
        return self._puller.requests

    async def run(self, stop: asyncio.Event) -> None:
        """Handle messages until `stop` is set, then finish or hand back what is in flight.

        Raises:
            BusClosed: when the connection ended for good; restart the process.
        """
        await self._look_around()
        alive = asyncio.create_task(self._hold.keep_alive())
        pulling = asyncio.create_task(self._puller.run())
        workers = [asyncio.create_task(self._work()) for _ in range(self._stage.concurrency)]
        endings = [asyncio.create_task(each.wait()) for each in (stop, self._bus.closed)]
        everything = [alive, pulling, *workers, *endings]
        try:
            finished, _ = await asyncio.wait(everything, return_when=asyncio.FIRST_COMPLETED)
            for task in finished:
                task.result()  # a crash of the loop itself ends the process, not one message
            await self._drain(pulling, workers)
        finally:
            for task in everything:
                task.cancel()
            self._hold.drop()
            await asyncio.gather(*everything, return_exceptions=True)
        if self._bus.closed.is_set() and not stop.is_set():
            raise BusClosed

    async def _look_around(self) -> None:
        """Start with caution where messages were delivered more than once and are still unsettled."""
        with suppress(nats.errors.Error):  # no such consumer yet: nothing was delivered either
            info = await self._bus.js.consumer_info(self._spec.stream, self._spec.durable)
            if info.num_redelivered:
                self._caution.room = 1
                asyncio.get_running_loop().call_later(self._spec.ack_wait, self._calm_down)

    def _calm_down(self) -> None:
        self._caution.end()
        self._puller.poke()

    # --- in and out of hand --------------------------------------------------------------------
    def _demand(self, outstanding: int) -> int:
        return demand(
            room=self._caution.room,
            held=len(self._hold),
            waiting=self._waiting.qsize(),
            outstanding=outstanding,
            prefetch=self._stage.ready,
        )

    def _take(self, msg: Msg) -> None:
        held = self._hold.admit(msg)
        if held is None:
            return
        delivery = held.delivery
        metrics.DELIVERIES.labels(self._label, str(delivery.attempt > 1).lower()).inc()
        metrics.LAG.labels(self._label).set(msg.metadata.num_pending)
        if delivery.attempt == 1:
            age = max(0.0, time() - delivery.published_at.timestamp())
            metrics.LAG_AGE_SECONDS.labels(self._label).set(age)
        self._waiting.put_nowait(held)

    async def _work(self) -> None:
        while True:
            held = await self._waiting.get()
            try:
                if self._draining.is_set():  # while pulling comes to its end
                    await self._hold.hand_back(held)
                    continue
                with metrics.IN_FLIGHT.labels(self._label).track_inprogress():
                    await self._observed(held)
                self._caution.settled(held.delivery.attempt)
            finally:
                self._waiting.task_done()
                self._puller.poke()

    async def _drain(self, pulling: asyncio.Task[None], workers: Sequence[asyncio.Task[None]]) -> None:
        """Stop pulling, hand back what was not started, let the rest finish, then hand that back too."""
        self._puller.stop()
        self._draining.set()
        await pulling
        while not self._waiting.empty():
            await self._hold.hand_back(self._waiting.get_nowait())
            self._waiting.task_done()
        try:
            await asyncio.wait_for(self._waiting.join(), self._grace)
        except TimeoutError:
            log.warning("handing back unfinished jobs", stage=self._label, jobs=len(self._hold))
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        await self._hold.words_heard(within=DRAIN_WITHIN)
        await self._bus.flush()

    # --- one delivery --------------------------------------------------------------------------
    async def _observed(self, held: Held) -> None:
        """Settle a delivery inside its span, with its time and outcome on record."""
        delivery, started = held.delivery, perf_counter()
        with (
            tracing.span(f"{self._label} process", delivery.headers) as trace,
            structlog.contextvars.bound_contextvars(
                stage=self._label, message_id=delivery.id, trace_id=trace.trace_id
            ),
        ):
            try:
                outcome = await self._settle(held)
            except asyncio.CancelledError:
                await self._hold.hand_back(held)
                raise
        metrics.PROCESS_SECONDS.labels(self._label, outcome).observe(perf_counter() - started)

    async def _settle(self, held: Held) -> str:
        """Bring one delivery to its last word; returns the outcome as the metrics name it."""
        hopeless = before_handling(held.delivery.attempt, self._spec)
        if hopeless is not None:
            return await self._give_up(held, await self._named(held), hopeless)
        seen: list[In] = []
        try:
            done = await self._through_outages(lambda: self._attempt(held, seen))
        except Exception as error:
            return await self._failed(held, seen[0] if seen else None, error)
        if not done:
            await self._hold.hand_back(held)
            return "retried"
        self._hold.done(held)
        return "ok"

    async def _attempt(self, held: Held, seen: list[In]) -> None:
        """One attempt within its deadline. `seen` keeps the message for the next one, or who gives it up."""
        deadline = asyncio.timeout(self._stage.deadline)
        try:
            async with deadline:
                if not seen:
                    seen.append(await self._decoded(held))
                await self._publish(await self._stage.handle(seen[0]))
        except TimeoutError as error:
            if not deadline.expired():
                raise
            detail = f"no answer within {self._stage.deadline:g} s"
            raise Retryable(Reason.DEADLINE, detail) from error

    async def _failed(self, held: Held, message: In | None, error: Exception) -> str:
        if isinstance(error, Undecodable):
            return await self._give_up(held, None, Dead(error.reason, detail_of(error)))
        if not isinstance(error, StageError):
            log.exception("bug in handler", exc_info=error)
        decision = after_error(error, held.delivery.attempt, self._spec, self._jitter())
        if isinstance(decision, Dead):
            return await self._give_up(held, message, decision)
        return self._retry(held, decision, error)

    def _retry(self, held: Held, decision: Retry, error: Exception) -> str:
        log.info("retry", attempt=held.delivery.attempt, delay=round(decision.delay, 3), why=str(error))
        self._hold.again(held, decision.delay)
        return "retried"

    async def _through_outages(self, attempt: Callable[[], Awaitable[None]]) -> bool:
        return await through_outages(attempt, self._pause, self._draining, self._label)

    def _pause(self, attempt: int) -> float:
        return self._jitter() * self._spec.backoff.ceiling(attempt)

    async def _decoded(self, held: Held) -> In:
        try:
            found = self._stage.decode(held.delivery, held.body)
            return await found if inspect.isawaitable(found) else found
        except (StageError, TimeoutError):
            raise
        except Exception as error:
            raise Undecodable(Reason.UNDECODABLE, f"{type(error).__name__}: {error}") from error

    async def _publish(self, outputs: Sequence[Out]) -> None:
        for output in outputs:
            message = self._stage.encode(output)
            await self._bus.publish(await message if inspect.isawaitable(message) else message)

    # --- giving up -----------------------------------------------------------------------------
    async def _named(self, held: Held) -> In | None:
        """The message of a hopeless delivery, where it can still be had."""
        if not may_decode(held.delivery.attempt, self._spec):
            return None
        found: list[In] = []

        async def decode() -> None:
            async with asyncio.timeout(self._stage.deadline):
                found.append(await self._decoded(held))

        with suppress(StageError, TimeoutError):
            await self._through_outages(decode)
        return found[0] if found else None

    async def _give_up(self, held: Held, message: In | None, why: Dead) -> str:
        """Say so to the flow, keep the message, then end its deliveries; in this order.

        Interrupted anywhere, the next delivery does it again under the same ids.
        """
        failure = StageFailure(self._stage.name, why.reason, why.detail, held.delivery.attempt)
        log.error("giving up", reason=why.reason.value, detail=why.detail, attempts=failure.attempts)
        try:
            await self._say_goodbye(message, failure)
            letter = DeadLetter.of(held, self._spec.durable, why)
            await self._bus.publish(letter.fitting(self._spec.dead_subject, self._bus))
        except StageError as error:
            return self._retry(held, Retry(self._pause(held.delivery.attempt)), error)
        self._hold.dead(held, why.reason.value)
        metrics.DEAD_LETTERS.labels(self._label, why.reason.value).inc()
        return "dead_lettered"

    async def _say_goodbye(self, message: In | None, failure: StageFailure) -> None:
        try:
            await self._publish(self._stage.give_up(message, failure))
        except StageError:
            raise
        except Exception:  # a bug here must not keep the message from the dead letters
            log.exception("bug in give_up")
