"""A stage: message in, messages out, and what to say when it cannot answer.

    bytes -> decode -> In -> handle -> [Out] -> encode -> Outgoing -> bus

Generic over the types of its messages; protobuf and subjects belong to the wire. Everything a stage
is made of is a value, so wiring one up is a single expression and its handler is tested by calling it.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.failure import StageFailure
from services.runtime.bus.message import Delivery, Outgoing, PubAck
from services.runtime.bus.topology import ConsumerSpec

__all__ = ["Delivery", "Outgoing", "PubAck", "Stage"]

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class Stage(Generic[In, Out]):
    """One step of the flow, as the runner sees it.

    Attributes:
        name: `stage` of the failures it reports, and its label in metrics and logs.
        consumer: which messages, and how patiently.
        decode: bytes to message; may be asynchronous, for bodies that travel by reference. A
            StageError it raises counts like a handler's; anything else means the bytes are
            undecodable: the message is dead-lettered and the stream goes on.
        handle: the work. Raises errors of `services.runtime.errors`; anything else is a bug.
        encode: message to Outgoing, with an id that is the same on every retry.
        give_up: what to say when the runner gives a message up, usually one failure event. The
            message is None where it could not be decoded. Published before the dead letter.
        concurrency: messages handled at once.
        deadline: seconds one attempt may take, decoding and publishing included.
        prefetch: messages held ready beyond those being handled; as many as `concurrency` by
            default. 0 shares long jobs most fairly between processes.
        alias: the label where one name runs several stages and they should be told apart.
    """

    name: StageName
    consumer: ConsumerSpec
    decode: Callable[[Delivery, bytes], In | Awaitable[In]]
    handle: Callable[[In], Awaitable[Sequence[Out]]]
    encode: Callable[[Out], Outgoing | Awaitable[Outgoing]]
    give_up: Callable[[In | None, StageFailure], Sequence[Out]]
    concurrency: int = 4
    deadline: float = 60.0
    prefetch: int | None = None
    alias: str | None = None

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        if self.deadline <= 0:
            raise ValueError("deadline must be positive")

    @property
    def label(self) -> str:
        """What metrics and logs call it."""
        return self.alias or self.name.value

    @property
    def ready(self) -> int:
        """Messages to hold ready, at most `concurrency`."""
        return self.concurrency if self.prefetch is None else min(self.prefetch, self.concurrency)
