"""Dead letters: messages that were given up, with the reason."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import derived_id
from services.runtime.bus.connection import Bus
from services.runtime.bus.message import SCHEMA, Outgoing
from services.runtime.runner.in_flight import InFlight
from services.runtime.runner.policy import GiveUp

_PREFIX = "dead-"
_DETAIL_LIMIT = 500  # characters; headers count towards the broker's size limit
_LEFT_OUT = "left out"
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # a token of RFC 9110, section 5.6.2


class BodyLeftOut(Exception):
    """A dead letter cannot be retried, because it was stored without its body."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that was given up.

    Attributes:
        stage: Durable name of the consumer that gave up.
        subject: Subject of the original message.
        id: Id of the original message.
        schema: Schema header of the original message.
        headers: Headers of the original message; those whose names cannot be sent are left out of the letter.
        body: Body of the original message; None where it was not read, or was left out because with the
            `dead-*` headers it is too large for the broker. It is then still in the stream.
        reason: The enumerated cause.
        detail: The cause as one sentence for a person.
        admin_detail: What the other side said, without known secrets; None where it said nothing.
        attempts: Number of deliveries used.
        stream: Stream that the message came from.
        stream_seq: Its sequence number there.
    """

    stage: str
    subject: str
    id: str
    schema: str
    headers: Mapping[str, str]
    body: bytes | None
    reason: Reason
    detail: str
    attempts: int
    stream: str
    stream_seq: int
    admin_detail: str | None = None

    @classmethod
    def of(cls, message: InFlight, stage: str, decision: GiveUp) -> "DeadLetter":
        """The dead letter of a message in flight."""
        delivery = message.delivery
        return cls(
            stage=stage,
            subject=delivery.subject,
            id=delivery.id,
            schema=delivery.headers.get(SCHEMA, ""),
            headers=delivery.headers,
            body=message.body,
            reason=decision.reason,
            detail=decision.detail,
            attempts=delivery.attempt,
            stream=message.stream,
            stream_seq=delivery.stream_seq,
            admin_detail=decision.admin_detail,
        )

    def outgoing(self, dead_subject: str) -> Outgoing:
        """The dead letter as a message: original body and headers, and the failure in `dead-*` headers.

        Its id is derived from the id and the position of the original: giving up one message twice is one
        dead letter, giving up a republished message is another.
        """
        failure = {
            "stage": self.stage,
            "subject": self.subject,
            "id": self.id,
            "reason": self.reason.value,
            "detail": self.detail[:_DETAIL_LIMIT],
            "attempts": str(self.attempts),
            "stream": self.stream,
            "stream-seq": str(self.stream_seq),
        }
        if self.admin_detail is not None:
            failure["admin-detail"] = self.admin_detail[:_DETAIL_LIMIT]
        if self.body is None:
            failure["body"] = _LEFT_OUT
        headers = {key: value for key, value in self.headers.items() if _is_publishers(key)}
        return Outgoing(
            subject=dead_subject,
            id=derived_id("dead", self.stage, self.stream, self.stream_seq, self.id),
            schema=self.schema,
            body=self.body or b"",
            headers=headers | {_PREFIX + key: value for key, value in failure.items()},
        )

    def fitting(self, dead_subject: str, bus: Bus) -> Outgoing:
        """As `outgoing`, but without the body where the message would be too large for the broker."""
        complete = self.outgoing(dead_subject)
        if self.body is None or bus.fits(complete):
            return complete
        note = f" (the body of {len(self.body)} bytes is left in {self.stream} at {self.stream_seq})"
        detail = self.detail[: _DETAIL_LIMIT - len(note)] + note
        return replace(self, body=None, detail=detail).outgoing(dead_subject)

    @classmethod
    def read(cls, headers: Mapping[str, str], body: bytes | None) -> "DeadLetter":
        """Read a message of the dead-letter stream; its body is None where only headers were read.

        Raises:
            KeyError: The message is not a dead letter.
        """
        failure = {
            key.removeprefix(_PREFIX): value for key, value in headers.items() if key.startswith(_PREFIX)
        }
        original = {
            key: value
            for key, value in headers.items()
            if _is_publishers(key) and not key.startswith(_PREFIX)
        }
        return cls(
            stage=failure["stage"],
            subject=failure["subject"],
            id=failure["id"],
            schema=headers.get(SCHEMA, ""),
            headers=original,
            body=None if failure.get("body") == _LEFT_OUT else body,
            reason=Reason(failure["reason"]),
            detail=failure.get("detail", ""),
            attempts=int(failure["attempts"]),
            stream=failure["stream"],
            stream_seq=int(failure["stream-seq"]),
            admin_detail=failure.get("admin-detail"),
        )

    def again(self) -> Outgoing:
        """The original message under a new id, to be published for another attempt.

        Under its old id the broker would drop it as a duplicate. Every stage that reads the subject receives
        it again; results that exist already have the same ids and change nothing.

        Raises:
            BodyLeftOut: The dead letter has no body; the error says where the body is.
        """
        if self.body is None:
            raise BodyLeftOut(f"the body of {self.id} is in {self.stream} at {self.stream_seq}, not here")
        return Outgoing(
            subject=self.subject,
            id=derived_id("again", self.id, self.stage, self.stream_seq),
            schema=self.schema,
            body=self.body,
            headers=self.headers,
        )


def _is_publishers(key: str) -> bool:
    """Whether the publisher set a header that can be sent again.

    `Nats-*` headers control the broker and must not be repeated. The broker delivers names that nats-py does
    not send, such as those with a slash; they are left out.
    """
    return not key.startswith("Nats-") and key != SCHEMA and _NAME.fullmatch(key) is not None
