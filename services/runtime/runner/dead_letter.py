"""Dead letters: the original message, and why it was given up on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import derived_id
from services.runtime.bus.connection import Bus
from services.runtime.bus.message import SCHEMA, Outgoing
from services.runtime.runner.hold import Held
from services.runtime.runner.policy import Dead

_PREFIX = "dead-"
_DETAIL_LIMIT = 500  # characters; headers count towards the broker's size limit
_LEFT_OUT = "left out"


class BodyLeftOut(Exception):
    """A dead letter came without its body: the broker does not take both together."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that was given up on.

    Attributes:
        stage: the consumer that gave up.
        subject, id, schema, headers, body: of the original message.
        reason: why, enumerated.
        detail: why, for a person.
        attempts: deliveries used.
        stream: the stream it came from.
        stream_seq: its position there.
        body_left_out: the broker does not take it beside the story; it is still at that position.
    """

    stage: str
    subject: str
    id: str
    schema: str
    headers: Mapping[str, str]
    body: bytes
    reason: Reason
    detail: str
    attempts: int
    stream: str
    stream_seq: int
    body_left_out: bool = False

    @classmethod
    def of(cls, held: Held, stage: str, why: Dead) -> "DeadLetter":
        """The dead letter of a message in hand."""
        delivery = held.delivery
        return cls(
            stage=stage,
            subject=delivery.subject,
            id=delivery.id,
            schema=delivery.headers.get(SCHEMA, ""),
            headers=delivery.headers,
            body=held.body,
            reason=why.reason,
            detail=why.detail,
            attempts=delivery.attempt,
            stream=held.stream,
            stream_seq=delivery.stream_seq,
        )

    def outgoing(self, dead_subject: str) -> Outgoing:
        """The dead letter as a message: original body and headers, the story in `dead-*` headers.

        Its id comes from the original's position in its stream: giving up twice on one delivery is
        one dead letter, giving up on a repetition is another.
        """
        story = {
            "stage": self.stage,
            "subject": self.subject,
            "id": self.id,
            "reason": self.reason.value,
            "detail": self.detail[:_DETAIL_LIMIT],
            "attempts": str(self.attempts),
            "stream": self.stream,
            "stream-seq": str(self.stream_seq),
        }
        if self.body_left_out:
            story["body"] = _LEFT_OUT
        headers = {key: value for key, value in self.headers.items() if _is_ours(key)}
        return Outgoing(
            subject=dead_subject,
            id=derived_id("dead", self.stage, self.stream, self.stream_seq),
            schema=self.schema,
            body=self.body,
            headers=headers | {_PREFIX + key: value for key, value in story.items()},
        )

    def fitting(self, dead_subject: str, bus: Bus) -> Outgoing:
        """As `outgoing`; without its body where the broker would not take it beside the story."""
        whole = self.outgoing(dead_subject)
        if bus.fits(whole):
            return whole
        left = f" (the body of {len(self.body)} bytes is left in {self.stream} at {self.stream_seq})"
        detail = self.detail[: _DETAIL_LIMIT - len(left)] + left
        return replace(self, body=b"", body_left_out=True, detail=detail).outgoing(dead_subject)

    @classmethod
    def read(cls, headers: Mapping[str, str], body: bytes) -> "DeadLetter":
        """Read a message of the dead-letter stream.

        Raises:
            KeyError: when it is not a dead letter.
        """
        story = {
            key.removeprefix(_PREFIX): value for key, value in headers.items() if key.startswith(_PREFIX)
        }
        return cls(
            stage=story["stage"],
            subject=story["subject"],
            id=story["id"],
            schema=headers.get(SCHEMA, ""),
            headers={
                key: value for key, value in headers.items() if _is_ours(key) and key not in _told(story)
            },
            body=body,
            reason=Reason(story["reason"]),
            detail=story.get("detail", ""),
            attempts=int(story["attempts"]),
            stream=story["stream"],
            stream_seq=int(story["stream-seq"]),
            body_left_out=story.get("body") == _LEFT_OUT,
        )

    def again(self) -> Outgoing:
        """The original message for another try, under a new id.

        Under its old id the broker would take it for a repetition. Every stage that reads the
        subject sees it again; their results have the same ids as before and change nothing.

        Raises:
            BodyLeftOut: there is nothing here to send; the message says where the body is.
        """
        if self.body_left_out:
            raise BodyLeftOut(f"the body of {self.id} is in {self.stream} at {self.stream_seq}, not here")
        return Outgoing(
            subject=self.subject,
            id=derived_id("again", self.id, self.stage, self.stream_seq),
            schema=self.schema,
            body=self.body,
            headers=self.headers,
        )


def _is_ours(key: str) -> bool:
    """Whether a header is the publisher's: the broker's own ones steer it and must not be repeated."""
    return not key.startswith("Nats-") and key != SCHEMA


def _told(story: Mapping[str, str]) -> set[str]:
    return {_PREFIX + key for key in story}
