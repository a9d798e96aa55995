"""What to do with a delivery: a pure decision from the error, the attempt and the limits."""

from dataclasses import dataclass

from nuggetstream.domain.failure import Reason
from services.runtime.bus.topology import UNLIMITED, ConsumerSpec
from services.runtime.errors import Permanent, Retryable, StageError


@dataclass(frozen=True, slots=True)
class Retry:
    """Hand it back; the broker delivers it again after `delay` seconds."""

    delay: float


@dataclass(frozen=True, slots=True)
class Dead:
    """Give it up."""

    reason: Reason
    detail: str


Decision = Retry | Dead


def after_error(error: Exception, attempt: int, spec: ConsumerSpec, jitter: float) -> Decision:
    """Decide what becomes of a delivery whose attempt failed.

    The delay is given explicitly because a negative acknowledgement without one is delivered again
    at once: the broker's own backoff applies to unanswered deliveries only.

    Args:
        error: what the attempt raised.
        attempt: deliveries so far, this one included; from 1.
        spec: limits and backoff.
        jitter: uniform in [0, 1]; the part of the longest delay to wait.

    Returns:
        Dead for a Permanent error and for the last attempt, else Retry. An error that is no
        StageError is a bug and ends as Reason.BUG.
    """
    if isinstance(error, Permanent) or is_last(attempt, spec):
        return Dead(reason_of(error), detail_of(error))
    asked = error.retry_after if isinstance(error, Retryable) else None
    return Retry((asked or 0.0) + jitter * spec.backoff.ceiling(attempt))


def before_handling(attempt: int, spec: ConsumerSpec) -> Dead | None:
    """Give up, unhandled, a message that used up its attempts and never came back from the last.

    That is a message that kills the process, or one whose end could not be recorded.
    """
    if spec.max_deliver == UNLIMITED or attempt <= spec.max_deliver:
        return None
    return Dead(
        Reason.MAX_DELIVERIES, f"delivered {attempt} times without an answer, {spec.max_deliver} allowed"
    )


def may_decode(attempt: int, spec: ConsumerSpec) -> bool:
    """Whether a given-up message may still be decoded, to name the job it belonged to.

    Once is worth the risk. When even that kills the process, the next delivery goes to the
    dead letters as bytes.
    """
    return spec.max_deliver == UNLIMITED or attempt <= spec.max_deliver + 1


def is_last(attempt: int, spec: ConsumerSpec) -> bool:
    """Whether this attempt is the last one allowed."""
    return spec.max_deliver != UNLIMITED and attempt >= spec.max_deliver


def reason_of(error: Exception) -> Reason:
    """The enumerated reason of an error."""
    return error.reason if isinstance(error, StageError) else Reason.BUG


def detail_of(error: Exception) -> str:
    """One sentence for a person, in characters that can be sent.

    Half of a surrogate pair, quoted from a page or a model's reply, has no encoding and would keep both
    the failure event and the dead letter from being published.
    """
    said = error.detail if isinstance(error, StageError) else f"{type(error).__name__}: {error}"
    return said.encode("utf-8", "replace").decode("utf-8")
