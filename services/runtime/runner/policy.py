"""What to do with a delivery that failed: a pure decision from the error, the attempt and the limits."""

from dataclasses import dataclass

from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.pipeline import Stage
from services.runtime.bus.topology import UNLIMITED, ConsumerSpec
from services.runtime.errors import Permanent, Retryable, StageError
from services.runtime.masking import KNOWN

_ADMIN_LIMIT = 2000  # characters


class Undecodable(StageError):
    """The bytes are not a message of this stage."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Nak the message; the broker delivers it again after `delay` seconds."""

    delay: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Send the message to the dead letters and term it."""

    reason: Reason
    detail: str
    admin_detail: str | None = None

    @classmethod
    def of(cls, error: Exception) -> "GiveUp":
        """Give up because of an error."""
        return cls(reason_of(error), detail_of(error), admin_detail_of(error))

    def failure(self, stage: Stage, attempts: int) -> StageFailure:
        """The failure of the stage after so many attempts."""
        return StageFailure(
            stage=stage,
            reason=self.reason,
            detail=self.detail,
            attempts=attempts,
            admin_detail=self.admin_detail,
        )


Decision = Retry | GiveUp


def after_error(error: Exception, attempt: int, spec: ConsumerSpec, jitter: float) -> Decision:
    """Decide what happens to a delivery whose attempt failed.

    The delay is explicit because the broker delivers a message again at once after a nak without a delay:
    its own backoff applies only to deliveries without an ack or nak.

    Args:
        error: The error that the attempt raised.
        attempt: Number of deliveries so far, this one included; from 1.
        spec: Limits and backoff of the consumer.
        jitter: Share of the longest delay to wait, uniform in [0, 1].

    Returns:
        GiveUp for a Permanent error and for the last attempt, else Retry. An error that is not a
        StageError is a bug and has Reason.BUG.
    """
    is_last = spec.max_deliver != UNLIMITED and attempt >= spec.max_deliver
    if isinstance(error, Permanent) or is_last:
        return GiveUp.of(error)
    least = error.retry_after if isinstance(error, Retryable) else None
    return Retry((least or 0.0) + jitter * spec.backoff.ceiling(attempt))


def when_exhausted(attempt: int, spec: ConsumerSpec) -> GiveUp | None:
    """Give up a message before handling it when its attempts are used up; None while it has attempts left.

    Such a message kills the process, or could not be settled after its last attempt.
    """
    if spec.max_deliver == UNLIMITED or attempt <= spec.max_deliver:
        return None
    return GiveUp(
        Reason.MAX_DELIVERIES, f"delivered {attempt} times without an ack, {spec.max_deliver} allowed"
    )


def may_decode(attempt: int, spec: ConsumerSpec) -> bool:
    """Whether a message whose attempts are used up may be decoded, so that its failure can name the job.

    It is tried once. If decoding kills the process, the next delivery goes to the dead letters undecoded.
    """
    return spec.max_deliver == UNLIMITED or attempt <= spec.max_deliver + 1


def reason_of(error: Exception) -> Reason:
    """The enumerated reason of an error."""
    return error.reason if isinstance(error, StageError) else Reason.BUG


def detail_of(error: Exception) -> str:
    """The error as one sentence for everybody; of a bug only the type, as its text may quote anything."""
    return _published(error.detail if isinstance(error, StageError) else type(error).__name__)


def admin_detail_of(error: Exception) -> str | None:
    """What the other side said, or the text of a bug, for administrators; None where there is nothing."""
    text = error.admin_detail if isinstance(error, StageError) else f"{type(error).__name__}: {error}"
    return None if text is None else _published(text)[:_ADMIN_LIMIT]


def _published(text: str) -> str:
    """The text without secrets and valid as UTF-8.

    A lone surrogate, quoted from a page or a model's reply, has no encoding and would prevent both the
    failure event and the dead letter from being published.
    """
    return KNOWN.redact(text).encode("utf-8", "replace").decode("utf-8")
