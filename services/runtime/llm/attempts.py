"""What the calls of chat models and of embedding models have in common: one attempt, and its repetition."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from services.runtime import metrics
from services.runtime.errors import ModelOutage
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.cause import Cause
from services.runtime.llm.circuit import Circuit
from services.runtime.llm.limiter import AdaptiveLimit, Slot
from services.runtime.llm.retries import RetryPolicy

_TIMEOUTS = 2  # per call; then it is the runner's turn, which tells those who watch


@contextmanager
def attempt(
    circuit: Circuit,
    limit: AdaptiveLimit,
    slot: Slot,
    *,
    operation: str,
    stage: str,
    battle_id: str | None = None,
) -> Iterator[Callable[[int], None]]:
    """Make one call inside the block: it is measured, and circuit and limit are told how it ended.

    Args:
        circuit: Circuit to the endpoint.
        limit: Calls that it may get at once.
        slot: The slot of the call.
        operation: The operation as metrics name it.
        stage: Stage that the call is booked to.
        battle_id: The battle that the call is made for; None if it is made for no single battle.

    Yields:
        What to call with the work that was done, as `speed.work_of`, once the call has succeeded.
    """
    started, outcome, answers = time.perf_counter(), "failed", circuit.answers

    def succeeded(work: int) -> None:
        nonlocal outcome
        outcome = "ok"
        limit.succeeded(slot, work)
        circuit.answered()

    try:
        yield succeeded
    except CallFailed as failed:
        if failed.cause is None:
            circuit.answered()
        else:
            circuit.failed(failed, answers, battle_id)
        if failed.overloaded:
            limit.overloaded(slot)
        raise
    finally:
        elapsed = time.perf_counter() - started
        metrics.LLM_CONCURRENCY.labels(circuit.model).set(limit.value)
        metrics.LLM_SECONDS.labels(operation, circuit.model, stage, outcome).observe(elapsed)


@dataclass(slots=True)
class Failures:
    """The failed attempts at one call so far.

    Attributes:
        policy: How often and how long to retry.
        rng: Source of the jitter.
        count: Number of failures.
        timeouts: Number of timeouts among them.
    """

    policy: RetryPolicy
    rng: random.Random
    count: int = 0
    timeouts: int = 0

    def wait(self, failed: CallFailed) -> float | None:
        """Count a failure. Returns the seconds until the next attempt, or None when there is none."""
        self.count += 1
        self.timeouts += failed.cause is Cause.TIMEOUT
        if not failed.retryable or self.timeouts >= _TIMEOUTS:
            return None
        return self.policy.wait(self.count, failed.retry_after, self.rng)

    def outage(self, circuit: Circuit, failed: CallFailed) -> ModelOutage:
        """The error for a message whose call is given up."""
        return circuit.outage(failed, f" ({self.count} attempts)" if self.count > 1 else "")
