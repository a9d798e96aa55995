"""Declarations of streams and consumers, and the function that creates or updates them at the broker."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import nats.errors
from nats.js import JetStreamContext, api
from nats.js.errors import APIError, BadRequestError, NotFoundError

_STREAM_NAME_IN_USE = 10058


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """Declaration of one stream.

    Attributes:
        name: Name of the stream.
        subjects: Subjects it captures; wildcards are allowed.
        max_age: Seconds that a message is kept.
        max_bytes: Largest size; -1 for no limit.
        until_acked: Whether a message is deleted once every consumer that reads its subject has acked it. A
            message that no consumer reads is then not stored.
        reject_when_full: Whether a full stream rejects new messages; otherwise it deletes its oldest.
        max_msg_size: Largest message in bytes, headers included; -1 for the server's own limit.
        replicas: Number of copies in a cluster; 3 in production.
        duplicate_window: Seconds in which a repeated message id is recognised. It must be longer than the
            longest series of retries that publish the same id, or the duplicate is stored.
    """

    name: str
    subjects: tuple[str, ...]
    max_age: float = 7 * 24 * 3600.0
    max_bytes: int = -1
    until_acked: bool = False
    reject_when_full: bool = False
    max_msg_size: int = -1
    replicas: int = 1
    duplicate_window: float = 600.0

    def config(self) -> api.StreamConfig:
        """The configuration for the broker."""
        return api.StreamConfig(
            name=self.name,
            subjects=list(self.subjects),
            retention=api.RetentionPolicy.INTEREST if self.until_acked else api.RetentionPolicy.LIMITS,
            storage=api.StorageType.FILE,
            discard=api.DiscardPolicy.NEW if self.reject_when_full else api.DiscardPolicy.OLD,
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
    """Declaration of one durable pull consumer.

    Attributes:
        stream: Stream that it reads.
        durable: Name of the consumer; also the label of the stage in dead letters.
        subjects: Subjects of the stream that it reads; empty for all of them.
        dead_subject: Subject for the dead letters of messages that are given up.
        ack_wait: Seconds without a heartbeat after which a message is delivered again.
        max_deliver: Deliveries of a message before it is given up; UNLIMITED never gives up.
        max_ack_pending: Largest number of unacknowledged messages, those waiting for a retry included. When a
            dependency is down and everything waits, delivery stops here: back pressure, not loss.
        backoff: Delay before a retry.
        replicas: Copies of the consumer's state; 0 for as many as the stream has.
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
        """The broker's own limit, which is higher than ours.

        The runner gives up at `max_deliver` and still needs further deliveries to do so: one to decode the
        job, more when decoding kills the process or the dead-letter stream is away. After these the broker
        stops, and its advisory reaches the AdvisoryMover.
        """
        return UNLIMITED if self.max_deliver == UNLIMITED else self.max_deliver + DELIVERIES_TO_GIVE_UP

    def config(self) -> api.ConsumerConfig:
        """The configuration for the broker."""
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
    """Create streams and consumers that are missing and update those that differ. It is idempotent.

    Raises:
        nats.js.errors.APIError: The broker rejects a declaration, for instance because it would change a
            stream's storage or a consumer's delivery policy, which cannot be changed.
    """
    for stream in streams:
        await _ensure_stream(js, stream)
    for consumer in consumers:
        await ensure_consumer(js, consumer)


async def has_streams(js: JetStreamContext, streams: Sequence[StreamSpec]) -> bool:
    """Whether the broker has all of these streams.

    Raises:
        nats.errors.Error: The broker does not answer.
    """
    existing = {info.config.name for info in await js.streams_info()}
    return existing >= {stream.name for stream in streams}


def describe_error(error: nats.errors.Error | TimeoutError) -> str:
    """Describe a failed request about streams and consumers for an operator.

    >>> describe_error(APIError(code=500, description="replicas > 1 not supported in non-clustered mode"))
    'the broker rejected the request: replicas > 1 not supported in non-clustered mode'
    """
    if not isinstance(error, APIError):
        return f"the broker does not answer: {str(error) or type(error).__name__}"
    if error.description is None:  # no JetStream responded
        return "the broker has no JetStream, or JetStream does not respond now"
    return f"the broker rejected the request: {error.description}"


async def ensure_consumer(js: JetStreamContext, spec: ConsumerSpec) -> None:
    """Create or update one consumer; the broker does both with the same call."""
    await js.add_consumer(spec.stream, spec.config())


async def remove_undeclared(
    js: JetStreamContext, stream: str, prefix: str, declared: Sequence[ConsumerSpec]
) -> list[str]:
    """Delete the consumers of a stream whose names begin with a prefix and that are not declared.

    Returns:
        The names of the deleted consumers.

    Raises:
        nats.errors.Error: The broker does not answer.
    """
    names = {spec.durable for spec in declared if spec.stream == stream}
    existing = [consumer.name for consumer in await js.consumers_info(stream)]
    removed = sorted(name for name in existing if name.startswith(prefix) and name not in names)
    for name in removed:
        with suppress(NotFoundError):  # another process was faster
            await js.delete_consumer(stream, name)
    return removed


async def _ensure_stream(js: JetStreamContext, spec: StreamSpec) -> None:
    try:
        await js.add_stream(spec.config())
    except BadRequestError as error:
        if error.err_code != _STREAM_NAME_IN_USE:
            raise
        await js.update_stream(spec.config())
