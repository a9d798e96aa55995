"""The circuit to a model: it opens when the model is away, and then calls are not made but for a probe.

    closed ── too many failures in a row, or the endpoint rejects the key ──> open
    open   ── one probe at a time, with growing pauses; any reply ──> closed

A prompt can provoke server errors and timeouts. While the model answers other calls, those of a single battle
are therefore failures of that battle, and only failures of a second battle confirm that the model is away.

While it is open, every caller gets a `ModelOutage` at once. A runner keeps its message in flight then, so
that no battle fails because of the model, and an endpoint that is overloaded is not called by all of them.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import structlog
from prometheus_client import Gauge

from nuggetstream.domain.failure import Reason
from services.runtime import metrics
from services.runtime.errors import ModelOutage
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.cause import Cause, FirstAway

log = structlog.get_logger(__name__)

Role = Literal["only", "first", "fallback"]
PATIENCE_S = 6 * 3600.0
_TROUBLED_S = 900.0  # patience with one prompt that fails while others are answered
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 5.0
_LONGEST_RETRY_AFTER_S = 300.0  # a longer wait that a server asks for is cut, so that its end is noticed
_TIMEOUTS = 3  # timeouts in a row that open the circuit; each takes long
_AT_ONCE = frozenset({Cause.KEY, Cause.QUOTA, Cause.MODEL})  # retries cannot help before an operator acts
_PROVOKED = frozenset({Cause.TIMEOUT, Cause.SERVER})  # one prompt can cause them


@dataclass(slots=True)
class _Open:
    """State of an open circuit: since when, why, and when the next probe may be made."""

    since: float
    failed: CallFailed
    probes: int = 0
    probing: bool = False
    next_probe: float = 0.0


class Circuit:
    """Whether the model answers.

    Args:
        model: Name of the model, for the metric.
        endpoint: Host of the endpoint, for the metric.
        role: Whether it is the only endpoint, or the first or the fallback of two.
        instead: Circuit to the endpoint that is asked while this one is open.
        failures: Number of failures in a row that open the circuit.
        patience: Seconds that a message may wait while it is open.
        clock: Returns the Unix time.

    Attributes:
        model: Name of the model.
        answers: Number of calls that the endpoint has answered.
    """

    def __init__(
        self,
        model: str,
        failures: int = 10,
        patience: float = PATIENCE_S,
        clock: Callable[[], float] = time.time,
        *,
        endpoint: str = "",
        role: Role = "only",
        instead: "Circuit | None" = None,
    ) -> None:
        self.model, self._limit, self._patience, self._clock = model, failures, patience, clock
        self._endpoint, self._role, self._instead = endpoint, role, instead
        self._in_a_row = 0.0
        self._battles: set[str | None] = set()  # whose calls failed in a row; None for calls of no battle
        self.answers = 0
        self._answered_at: float | None = None
        self._open: _Open | None = None
        for cause in Cause:
            metrics.LLM_CIRCUIT_OPEN.labels(model, endpoint, role, cause.value)

    @property
    def is_open(self) -> bool:
        """Whether the model is away."""
        return self._open is not None

    @property
    def admits(self) -> bool:
        """Whether a call may be made now: the circuit is closed, or it is the time for a probe."""
        state = self._open
        return state is None or not (state.probing or self._clock() < state.next_probe)

    def away(self) -> FirstAway | None:
        """Why the model is away, and since when; None while it answers."""
        state = self._open
        return None if state is None else FirstAway(state.failed.cause or Cause.SERVER, state.since)

    @contextmanager
    def call(self) -> Iterator[None]:
        """Admit one call for the duration of the block.

        Raises:
            ModelOutage: The circuit is open, and it is not the time for a probe.
        """
        state = self._open
        if state is None:
            yield
            return
        if not self.admits:
            raise self.outage(state.failed)
        state.probing = True
        try:
            yield
        finally:
            state.probing = False

    def answered(self) -> None:
        """The endpoint answered: with a completion, or with an error about the content."""
        self._in_a_row = 0.0
        self._battles.clear()
        self.answers += 1
        self._answered_at = self._clock()
        if self._open is not None:
            log.warning("the model answers again", model=self.model, endpoint=self._endpoint)
            self.forget()
        if self._instead is not None:  # it is no longer asked
            self._instead.forget()

    def forget(self) -> None:
        """Close the circuit of an endpoint that is not asked any more, so that nothing is known about it."""
        self._in_a_row = 0.0
        self._battles.clear()
        if self._open is not None:
            self._gauge(self._open).dec()
            self._open = None

    def failed(self, failed: CallFailed, answers: int, battle_id: str | None = None) -> None:
        """A call returned nothing from the model.

        Calls that were made together time out together. Where the endpoint answered others in the meantime,
        their timeouts are no sign that it is away.

        Args:
            failed: The failed call.
            answers: The number of `answers` when the call was made.
            battle_id: The battle that the call was made for; None if it was made for no single battle.
        """
        self._battles.add(battle_id)
        if failed.cause is not Cause.TIMEOUT:
            self._in_a_row += 1
        elif answers == self.answers:
            self._in_a_row += self._limit / _TIMEOUTS
        if self._open is None:
            if not self._is_away(failed.cause):
                return
            self._open = _Open(self._clock(), failed)
            log.error(
                "the model is away; a fallback is asked" if self._role == "first"
                else "the model is away; battles wait for it",
                model=self.model, endpoint=self._endpoint, why=failed.error.detail,
            )  # fmt: skip
            self._gauge(self._open).inc()
        else:
            self._gauge(self._open).dec()  # the cause may have changed
            self._open.failed = failed
            self._gauge(self._open).inc()
        self._schedule_probe(self._open, failed.retry_after)

    def outage(self, failed: CallFailed, attempts: str = "") -> ModelOutage:
        """The error for a message whose call failed or was not made.

        While other calls succeed, a call that times out or is answered by a server error may be a problem of
        its own prompt; its message waits for a shorter time.

        Args:
            failed: The failed call.
            attempts: Added to the detail: how many calls were made.
        """
        state = self._open
        own = state is None and failed.cause in _PROVOKED and self._answers()
        patience = min(_TROUBLED_S, self._patience) if own else self._patience
        return ModelOutage(
            Reason.LLM_UNAVAILABLE,
            f"{failed.error.detail}{attempts}",
            failed.retry_after,
            patience=patience,
            since=None if state is None else state.since,
            admin_detail=failed.error.admin_detail,
        )

    def _is_away(self, cause: Cause | None) -> bool:
        """Whether the failures so far show that the model answers nobody."""
        if cause in _AT_ONCE:
            return True
        by_one_battle = len(self._battles) == 1 and None not in self._battles
        if cause in _PROVOKED and by_one_battle and self._answers():
            return False
        return self._in_a_row >= self._limit

    def _answers(self) -> bool:
        """Whether the model has answered a call recently."""
        return self._answered_at is not None and self._clock() - self._answered_at < _TROUBLED_S

    def _schedule_probe(self, state: _Open, retry_after: float | None) -> None:
        pause = min(_FIRST_PAUSE_S * 2.0 ** min(state.probes, 10), _LONGEST_PAUSE_S)
        state.probes += 1
        state.next_probe = self._clock() + max(pause, min(retry_after or 0.0, _LONGEST_RETRY_AFTER_S))

    def _gauge(self, state: _Open) -> Gauge:
        cause = state.failed.cause or Cause.SERVER
        return metrics.LLM_CIRCUIT_OPEN.labels(self.model, self._endpoint, self._role, cause.value)
