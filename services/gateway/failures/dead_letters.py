"""The dead letters in their stream: read, published again, deleted."""

from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime

import nats.errors
from nats.js.errors import NotFoundError

from nuggetstream.domain.failure import Reason
from services.gateway.errors import Irretrievable
from services.runtime.bus import Bus, describe_error
from services.runtime.bus.message import delivery_of
from services.runtime.bus.stored import stored_headers
from services.runtime.errors import Unavailable
from services.runtime.runner import DeadLetter
from services.store.work.failed import FailureFilter
from services.wire.subjects import DEAD, STREAM_DEAD


@dataclass(frozen=True, slots=True)
class StoredLetter:
    """A dead letter in its stream.

    Attributes:
        sequence: Its number in the stream.
        letter: The dead letter; without its body where it was read with others.
        stored_at: When it was stored.
    """

    sequence: int
    letter: DeadLetter
    stored_at: datetime


class DeadLetters:
    """The stream of dead letters."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def select(
        self, selection: FailureFilter, limit: int, below: int | None = None
    ) -> list[StoredLetter]:
        """The newest dead letters that the filter selects and that stand for no failed battle, newest first.

        Args:
            selection: The filter.
            limit: Maximum number of letters.
            below: Only letters with a smaller number, to read on.

        Raises:
            Unavailable: The broker does not answer.
        """
        if (selection.arena, selection.battle, selection.within) != (None, None, None):
            return []  # such a message names no battle, and so no arena
        newest: deque[StoredLetter] = deque(maxlen=limit)
        try:
            subject = f"{DEAD}.>" if selection.stage is None else f"{DEAD}.{selection.stage.value}"
            async for stored in self._read(subject):
                if (below is None or stored.sequence < below) and _selected(stored, selection):
                    newest.append(stored)
        except (nats.errors.Error, TimeoutError) as error:
            raise _unavailable(error) from error
        return list(reversed(newest))

    async def get(self, sequence: int) -> StoredLetter | None:
        """One dead letter; None when it was deleted or never existed.

        Raises:
            Unavailable: The broker does not answer.
        """
        try:
            raw = await self._bus.js.get_msg(STREAM_DEAD, sequence)
            letter = DeadLetter.read(raw.headers or {}, raw.data or b"")
        except (NotFoundError, KeyError):
            return None
        except nats.errors.Error as error:
            raise _unavailable(error) from error
        return StoredLetter(sequence, letter, raw.time or datetime.now().astimezone())

    async def existed(self, sequence: int) -> bool:
        """Whether a dead letter with this number was ever stored."""
        try:
            info = await self._bus.js.stream_info(STREAM_DEAD)
        except nats.errors.Error as error:
            raise _unavailable(error) from error
        return 0 < sequence <= info.state.last_seq

    async def publish_again(self, letter: DeadLetter) -> None:
        """Publish the original message for another attempt, under an id that is the same every time.

        Raises:
            Irretrievable: Its body was left out, and is no longer in its stream either.
            Unavailable: The broker does not answer.
        """
        if letter.body is None:
            letter = replace(letter, body=await self._original_body(letter))
        await self._bus.publish(letter.again())

    async def delete(self, sequence: int) -> None:
        """Delete a dead letter; deleting it twice changes nothing."""
        try:
            await self._bus.js.delete_msg(STREAM_DEAD, sequence)
        except nats.errors.Error as error:
            if await self.get(sequence) is not None:
                raise _unavailable(error) from error

    async def _original_body(self, letter: DeadLetter) -> bytes:
        try:
            raw = await self._bus.js.get_msg(letter.stream, letter.stream_seq)
        except NotFoundError:
            raise Irretrievable(letter.id, letter.stream) from None
        except nats.errors.Error as error:
            raise _unavailable(error) from error
        return raw.data or b""

    async def _read(self, subject: str) -> AsyncIterator[StoredLetter]:
        """The dead letters on a subject, oldest first, without their bodies."""
        async for message in stored_headers(self._bus, STREAM_DEAD, subject):
            try:
                letter = DeadLetter.read(message.headers or {}, None)
            except (KeyError, ValueError):
                continue  # not written by this platform
            yield StoredLetter(message.metadata.sequence.stream, letter, delivery_of(message).published_at)


def _selected(stored: StoredLetter, selection: FailureFilter) -> bool:
    reason: Reason | None = selection.reason
    return (
        (reason is None or stored.letter.reason is reason)
        and (selection.since is None or stored.stored_at >= selection.since)
        and (selection.until is None or stored.stored_at < selection.until)
    )


def _unavailable(error: nats.errors.Error | TimeoutError) -> Unavailable:
    return Unavailable(Reason.DEADLINE, describe_error(error))
