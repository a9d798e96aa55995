"""A stage: it reads messages of one type and publishes messages of another.

    bytes -> decode -> In -> handle -> [Out] -> encode -> Outgoing -> bus

A stage is generic over the types of its messages; protobuf and subjects belong to `services.wire`. All its
parts are values, so that it is wired up in one expression and its handler is tested by calling it.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nuggetstream.domain.failure import StageFailure
from nuggetstream.domain.pipeline import Stage as StageName
from services.runtime.bus.message import Delivery, Notification, Outgoing
from services.runtime.bus.topology import ConsumerSpec
from services.runtime.work import Work

__all__ = ["Delivery", "Outgoing", "Stage"]

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class Stage(Generic[In, Out]):
    """One step of the flow, as the runner sees it.

    Attributes:
        name: Stage named in the failures it reports, and its label in metrics and logs.
        consumer: The consumer that delivers its messages, with delivery limits and backoff.
        decode: Decodes a message body; may be asynchronous, for bodies that travel by reference. A StageError
            it raises is treated like a handler's. Any other error means that the bytes are undecodable: the
            message goes to the dead letters.
        handle: Handles one message. It raises errors of `services.runtime.errors`; any other error is a bug.
        encode: Encodes an output, with an id that is the same on every retry.
        give_up: Returns what to publish when the runner gives up a message, usually one failure event. Its
            first argument is None where the message could not be decoded. Published before the dead letter.
        failure_suffices: Whether what `give_up` publishes stands for the message, so that no dead letter is
            stored beside it. A message for which it publishes nothing goes to the dead letters.
        concurrency: Number of messages handled at once.
        deadline: Seconds that one attempt may take, decoding and publishing included; those in which it waits
            for a model do not count.
        prefetch: Messages fetched beyond those being handled; as many as `concurrency` by default. 0 spreads
            long jobs most evenly over processes.
        fill_limit: Largest part of its stream that may be in use when an attempt begins; 1.0 never waits.
        alias: Label in metrics and logs, where several stages share one name.
        about: Returns what a message is about, for log lines and for metrics by arena; None when unknown.
        retried: Returns what to tell those who watch when an attempt failed and another one follows: from the
            message, the failure, and the seconds in which the next attempt ends. None where nobody watches.
    """

    name: StageName
    consumer: ConsumerSpec
    decode: Callable[[Delivery, bytes], In | Awaitable[In]]
    handle: Callable[[In], Awaitable[Sequence[Out]]]
    encode: Callable[[Out], Outgoing | Awaitable[Outgoing]]
    give_up: Callable[[In | None, StageFailure], Sequence[Out]]
    failure_suffices: bool = False
    concurrency: int = 4
    deadline: float = 60.0
    prefetch: int | None = None
    fill_limit: float = 1.0
    alias: str | None = None
    about: Callable[[In], Work | None] = lambda _: None
    retried: Callable[[In, StageFailure, float], Notification | None] = lambda *_: None

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        if self.deadline <= 0:
            raise ValueError("deadline must be positive")

    @property
    def label(self) -> str:
        """Label of the stage in metrics and logs."""
        return self.alias or self.name.value

    @property
    def ready(self) -> int:
        """Number of messages to prefetch, at most `concurrency`."""
        return self.concurrency if self.prefetch is None else min(self.prefetch, self.concurrency)
