"""The loop around every handler: decode, handle, publish, acknowledge; retry, give up, drain.

    pull -> in flight (heartbeats) -> worker: decode -> handle -> publish -> ack
                                         error: nak with a delay | give_up outputs, dead letter, term
                                        outage: keep the message in flight and try again here

At least once: the ack is sent after the outputs are stored. Effectively once: the outputs carry ids
derived from the input, so handling a message again stores nothing new.
"""

import asyncio
import inspect
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Generic, TypeVar

import nats.errors
import structlog
from nats.aio.msg import Msg
from structlog.contextvars import bound_contextvars as logged

from nuggetstream.domain.failure import Reason, StageFailure
from services.runtime import metrics, tracing, work
from services.runtime.bus.connection import Bus, BusClosed
from services.runtime.bus.pull import Puller, PullSettings
from services.runtime.bus.settings import DRAIN_WITHIN
from services.runtime.bus.spans import processing
from services.runtime.deadline import Deadline
from services.runtime.errors import Outage, Retryable, StageError
from services.runtime.runner import policy
from services.runtime.runner.dead_letter import DeadLetter
from services.runtime.runner.flow import SlowStart, demand
from services.runtime.runner.in_flight import InFlight, MessagesInFlight
from services.runtime.runner.measuring import attempted, delivered
from services.runtime.runner.outage import LONGEST_PAUSE, through_outages
from services.runtime.runner.policy import GiveUp, Retry, Undecodable
from services.runtime.runner.retrying import tell_retry
from services.runtime.stage import Stage

log = structlog.get_logger(__name__)
In = TypeVar("In")
Out = TypeVar("Out")


class Runner(Generic[In, Out]):
    """Runs one stage against the bus.

    Args:
        bus: Connection to the broker; several runners may share one.
        stage: The stage to run.
        grace: Seconds that jobs in flight get to finish after `stop`; then they are handed back.
        pull: Timing of pull requests.
        jitter: Draws from [0, 1] to spread retries.
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
        self._in_flight = MessagesInFlight(bus, stage.consumer)
        self._waiting: asyncio.Queue[InFlight] = asyncio.Queue()
        self._draining = asyncio.Event()
        maximum = stage.concurrency + stage.ready
        self._slow_start = SlowStart(maximum=maximum, limit=maximum)
        self._puller = Puller(bus, stage.consumer, self._demand, self._take, pull)
        metrics.begin_stage(self._label, (reason for reason in Reason if not reason.is_finding))

    @property
    def pulls(self) -> int:
        """Number of pull requests sent so far."""
        return self._puller.requests

    async def run(self, stop: asyncio.Event) -> None:
        """Handle messages until `stop` is set, then finish or hand back what is in flight.

        Raises:
            BusClosed: The connection was closed for good; restart the process.
        """
        await self._begin_slowly_after_redeliveries()
        heartbeat = asyncio.create_task(self._in_flight.heartbeat())
        pulling = asyncio.create_task(self._puller.run())
        workers = [asyncio.create_task(self._work()) for _ in range(self._stage.concurrency)]
        endings = [asyncio.create_task(event.wait()) for event in (stop, self._bus.closed)]
        tasks = [heartbeat, pulling, *workers, *endings]
        try:
            finished, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in finished:
                task.result()  # an error in the loop itself ends the process, not one message
            await self._drain(pulling, workers)
        finally:
            self._puller.stop()  # also where a client of the broker swallows the cancellation
            for task in tasks:
                task.cancel()
            self._in_flight.cancel_confirmations()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._bus.closed.is_set() and not stop.is_set():
            raise BusClosed

    async def _begin_slowly_after_redeliveries(self) -> None:
        """Begin with one message where messages were redelivered before and are not settled yet."""
        with suppress(nats.errors.Error):  # there is no such consumer yet, so nothing was delivered
            info = await self._bus.js.consumer_info(self._spec.stream, self._spec.durable)
            if info.num_redelivered:
                self._slow_start.limit = 1
                asyncio.get_running_loop().call_later(self._spec.ack_wait, self._end_slow_start)

    def _end_slow_start(self) -> None:
        self._slow_start.end()
        self._puller.poke()

    # --- taking and working --------------------------------------------------------------------
    def _demand(self, outstanding: int) -> int:
        return demand(
            limit=self._slow_start.limit,
            in_flight=len(self._in_flight),
            waiting=self._waiting.qsize(),
            outstanding=outstanding,
            prefetch=self._stage.ready,
        )

    def _take(self, msg: Msg) -> None:
        if (message := self._in_flight.admit(msg)) is not None:
            delivered(self._label, message.delivery)
            self._waiting.put_nowait(message)

    async def _work(self) -> None:
        while True:
            message = await self._waiting.get()
            try:
                if self._draining.is_set():  # pulling may still be ending
                    await self._in_flight.hand_back(message)
                    continue
                with metrics.IN_FLIGHT.labels(self._label).track_inprogress():
                    await self._process(message)
                self._slow_start.settled(message.delivery.attempt)
            finally:
                self._waiting.task_done()
                self._puller.poke()

    async def _drain(self, pulling: asyncio.Task[None], workers: Sequence[asyncio.Task[None]]) -> None:
        """Stop pulling, hand back jobs that have not begun, and hand back the rest after the grace period."""
        self._puller.stop()
        self._draining.set()
        await pulling
        while not self._waiting.empty():
            await self._in_flight.hand_back(self._waiting.get_nowait())
            self._waiting.task_done()
        try:
            await asyncio.wait_for(self._waiting.join(), self._grace)
        except TimeoutError:
            log.warning("handing back unfinished jobs", stage=self._label, jobs=len(self._in_flight))
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        await self._in_flight.acks_flushed(within=DRAIN_WITHIN)
        await self._bus.flush()

    # --- one delivery --------------------------------------------------------------------------
    async def _process(self, message: InFlight) -> None:
        """Settle a delivery inside its span, and record its time and outcome."""
        delivery, started = message.delivery, perf_counter()
        with (
            work.delivery(),
            processing(self._label, delivery) as span,
            logged(stage=self._label, message_id=delivery.id, trace_id=tracing.trace_id(span)),
        ):
            try:
                outcome = await self._settle(message)
            except asyncio.CancelledError:
                await self._in_flight.hand_back(message)
                raise
            attempted(self._label, outcome, perf_counter() - started)

    async def _settle(self, message: InFlight) -> str:
        """Handle one delivery and ack, nak or term it; returns the outcome as the metrics name it."""
        if (exhausted := policy.when_exhausted(message.delivery.attempt, self._spec)) is not None:
            return await self._give_up(message, await self._job_of_exhausted(message), exhausted)
        decoded: list[In] = []
        try:
            done = await self._through_outages(message, lambda: self._attempt(message, decoded))
        except Exception as error:
            return await self._failed(message, decoded[0] if decoded else None, error)
        if not done:
            await self._in_flight.hand_back(message)
            return "retried"
        self._in_flight.ack(message)
        return "ok"

    async def _attempt(self, message: InFlight, decoded: list[In]) -> None:
        """One attempt within its deadline. `decoded` keeps the job for the next attempt and for giving up."""
        deadline = Deadline(self._stage.deadline)
        try:
            async with deadline:
                if not decoded:
                    decoded.append(await self._decoded(message))
                await self._publish(await self._stage.handle(decoded[0]))
        except TimeoutError as error:
            if not deadline.expired:
                raise
            raise Retryable(Reason.DEADLINE, f"no result within {self._stage.deadline:g} s") from error
        except Outage as error:
            job = decoded[0] if decoded else None
            await tell_retry(self._bus, self._stage, message.delivery, job, error, delay=LONGEST_PAUSE)
            raise

    async def _failed(self, message: InFlight, job: In | None, error: Exception) -> str:
        log.debug("an attempt failed", admin_detail=policy.admin_detail_of(error))
        if isinstance(error, Undecodable):
            return await self._give_up(message, None, GiveUp.of(error))
        if not isinstance(error, StageError):
            log.exception("bug in handler", exc_info=error)
        decision = policy.after_error(error, message.delivery.attempt, self._spec, self._jitter())
        if isinstance(decision, GiveUp):
            return await self._give_up(message, job, decision)
        await tell_retry(self._bus, self._stage, message.delivery, job, error, delay=decision.delay)
        return self._retry(message, decision, error)

    def _retry(self, message: InFlight, decision: Retry, error: Exception) -> str:
        log.info("retry", attempt=message.delivery.attempt, delay=round(decision.delay, 3), why=str(error))
        self._in_flight.nak(message, decision.delay)
        return "retried"

    async def _through_outages(self, message: InFlight, attempt: Callable[[], Awaitable[None]]) -> bool:
        published_at = message.delivery.published_at.timestamp()
        return await through_outages(attempt, self._pause, self._draining, self._label, published_at)

    def _pause(self, attempt: int) -> float:
        return self._jitter() * self._spec.backoff.ceiling(attempt)

    async def _decoded(self, message: InFlight) -> In:
        try:
            decoding = self._stage.decode(message.delivery, message.body)
            job = await decoding if inspect.isawaitable(decoding) else decoding
            if (subject := self._stage.about(job)) is not None:
                work.begin(subject)
            return job
        except (StageError, TimeoutError):
            raise
        except Exception as error:
            raise Undecodable(Reason.UNDECODABLE, type(error).__name__, admin_detail=str(error)) from error

    async def _publish(self, outputs: Sequence[Out]) -> None:
        for output in outputs:
            message = self._stage.encode(output)
            await self._bus.publish(await message if inspect.isawaitable(message) else message)

    async def _job_of_exhausted(self, message: InFlight) -> In | None:
        """The job of a message whose attempts are used up; None where it cannot or must not be decoded."""
        if not policy.may_decode(message.delivery.attempt, self._spec):
            return None
        decoded: list[In] = []

        async def decode() -> None:
            async with asyncio.timeout(self._stage.deadline):
                decoded.append(await self._decoded(message))

        with suppress(StageError, TimeoutError):
            await self._through_outages(message, decode)
        return decoded[0] if decoded else None

    async def _give_up(self, message: InFlight, job: In | None, decision: GiveUp) -> str:
        """Publish the give_up outputs, a dead letter unless they suffice, then term: it can be repeated."""
        failure = decision.failure(self._stage.name, attempts := message.delivery.attempt)
        say = log.info if decision.reason.is_finding else log.error
        say("giving up", reason=decision.reason.value, detail=decision.detail, attempts=attempts)
        try:
            is_published = await self._publish_give_up(job, failure)
            if not (is_published and self._stage.failure_suffices):
                letter = DeadLetter.of(message, self._spec.durable, decision)
                await self._bus.publish(letter.fitting(self._spec.dead_subject, self._bus))
        except StageError as error:
            return self._retry(message, Retry(self._pause(attempts)), error)
        self._in_flight.term(message, decision.reason.value)
        if not decision.reason.is_finding:
            metrics.DEAD_LETTERS.labels(self._label, decision.reason.value).inc()
        return "dead_lettered"

    async def _publish_give_up(self, job: In | None, failure: StageFailure) -> bool:
        try:
            await self._publish(outputs := self._stage.give_up(job, failure))
            return bool(outputs)
        except StageError:
            raise
        except Exception:  # a bug here must not prevent the dead letter
            log.exception("bug in give_up")
            return False
