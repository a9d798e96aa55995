"""Streams and consumers as declarations, and the one call that makes a broker agree with them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import nats.errors
from nats.js import JetStreamContext, api
from nats.js.errors import APIError, BadRequestError

_STREAM_NAME_IN_USE = 10058


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """One stream: what it keeps, for how long, and how often.

    Attributes:
        name: the stream's name.
        subjects: what it captures; wildcards allowed.
        max_age: seconds a message is kept.
        max_bytes: the oldest messages go when the stream grows beyond this; -1 for no bound.
        max_msg_size: largest message in bytes, headers included; -1 for the server's own bound.
        replicas: copies in a cluster; 3 in production.
        duplicate_window: seconds in which a repeated message id is recognised. Must outlast the
            longest run of retries that publish the same id, or the repetition is stored again.
    """

    name: str
    subjects: tuple[str, ...]
    max_age: float = 7 * 24 * 3600.0
    max_bytes: int = -1
    max_msg_size: int = -1
    replicas: int = 1
    duplicate_window: float = 600.0

    def config(self) -> api.StreamConfig:
        """The declaration in the broker's words. Kept by limits, since several stages read one event."""
        return api.StreamConfig(
            name=self.name,
            subjects=list(self.subjects),
            retention=api.RetentionPolicy.LIMITS,
            storage=api.StorageType.FILE,
            discard=api.DiscardPolicy.OLD,
            max_age=self.max_age,
            max_bytes=self.max_bytes,
            max_msg_size=self.max_msg_size,
            num_replicas=self.replicas,
            duplicate_window=min(self.duplicate_window, self.max_age),
            allow_direct=True,
        )


@dataclass(frozen=True, slots=True)
class Backoff:
    """Full-jitter exponential delay: uniform in [0, min(cap, base * 2^(attempt - 1))] seconds."""

    base: float = 1.0
    cap: float = 60.0

    def ceiling(self, attempt: int) -> float:
        """The longest delay after this attempt, in seconds.

        >>> [Backoff(1.0, 10.0).ceiling(n) for n in (1, 2, 3, 4, 5)]
        [1.0, 2.0, 4.0, 8.0, 10.0]
        """
        return min(self.cap, self.base * 2.0 ** min(attempt - 1, 32))


@dataclass(frozen=True, slots=True)
class ConsumerSpec:
    """One durable pull consumer, its patience, and where its hopeless messages go.

    Attributes:
        stream: the stream it reads.
        durable: its name; also the label of the stage in dead letters.
        subjects: the part of the stream it wants; empty for all of it.
        dead_subject: where messages go that were given up on.
        ack_wait: seconds without a sign of life after which a message is delivered again.
        max_deliver: deliveries a message gets before it is given up on; UNLIMITED never gives up.
        max_ack_pending: messages out at once, those waiting for a retry included. When a dependency
            is down and everything waits, the consumer stops here: back pressure, not loss.
        backoff: the delay before a retry.
        replicas: copies of the consumer's state; 0 as many as the stream has.
    """

    stream: str
    durable: str
    subjects: tuple[str, ...]
    dead_subject: str
    ack_wait: float = 30.0
    max_deliver: int = 5
    max_ack_pending: int = 1000
    backoff: Backoff = field(default_factory=Backoff)
    replicas: int = 0

    @property
    def broker_max_deliver(self) -> int:
        """The broker's own limit, above ours.

        The runner gives up at `max_deliver` and still needs deliveries in which to say so: one to
        name the job it belonged to, more when that itself kills the process or the dead-letter
        stream is away. After these the broker stops, and its advisory reaches the AdvisoryMover.
        """
        return UNLIMITED if self.max_deliver == UNLIMITED else self.max_deliver + DELIVERIES_TO_GIVE_UP

    def config(self) -> api.ConsumerConfig:
        """The declaration in the broker's words."""
        single = self.subjects[0] if len(self.subjects) == 1 else None
        return api.ConsumerConfig(
            name=self.durable,
            durable_name=self.durable,
            ack_policy=api.AckPolicy.EXPLICIT,
            deliver_policy=api.DeliverPolicy.ALL,
            ack_wait=self.ack_wait,
            max_deliver=self.broker_max_deliver,
            max_ack_pending=self.max_ack_pending,
            filter_subject=single,
            filter_subjects=list(self.subjects) if len(self.subjects) > 1 else None,
            num_replicas=self.replicas or None,
        )


UNLIMITED = -1
DELIVERIES_TO_GIVE_UP = 5


async def ensure(
    js: JetStreamContext, streams: Sequence[StreamSpec], consumers: Sequence[ConsumerSpec] = ()
) -> None:
    """Create what is missing and update what differs. Running it again changes nothing.

    Raises:
        nats.js.errors.APIError: when the broker refuses, for instance because a stream's storage or a
            consumer's delivery policy, which cannot change, was declared differently before.
    """
    for stream in streams:
        await _ensure_stream(js, stream)
    for consumer in consumers:
        await ensure_consumer(js, consumer)


def in_words(error: nats.errors.Error) -> str:
    """What came of a question about streams and consumers, for an operator.

    >>> in_words(APIError(code=500, description="replicas > 1 not supported in non-clustered mode"))
    'the broker refuses: replicas > 1 not supported in non-clustered mode'
    """
    if not isinstance(error, APIError):
        return f"the broker does not answer: {error}"
    if error.description is None:  # nobody listens where JetStream would
        return "the broker has no JetStream, or none that answers now"
    return f"the broker refuses: {error.description}"


async def ensure_consumer(js: JetStreamContext, spec: ConsumerSpec) -> None:
    """Create or update one consumer; the broker does either with the same call."""
    await js.add_consumer(spec.stream, spec.config())


async def _ensure_stream(js: JetStreamContext, spec: StreamSpec) -> None:
    try:
        await js.add_stream(spec.config())
    except BadRequestError as error:
        if error.err_code != _STREAM_NAME_IN_USE:
            raise
        await js.update_stream(spec.config())
