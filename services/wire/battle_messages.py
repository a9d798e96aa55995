"""The messages of battles in all streams, found and deleted when the battles are deleted.

Messages have the battle in a header, so that a stream is read without bodies. Those without the header, which
arenas publish, are decoded.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import cast

import nats.errors
from arena.v1 import arena_pb2
from google.protobuf.message import DecodeError
from nats.js.errors import APIError, NotFoundError

from nuggetstream.domain.event import BattleEvent, battle_id_of
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import content_hash
from nuggetstream.files.submission import InvalidSubmission
from services.runtime.bus import Bus, describe_error
from services.runtime.bus.message import BATTLE, SCHEMA
from services.runtime.bus.stored import stored_headers
from services.runtime.errors import Unavailable
from services.runtime.message_bounds import TooManyFields, check_fields
from services.wire import subjects
from services.wire.codec import UndecodableMessage, decode
from services.wire.submitted import submitted_battle

_SUBJECTS = (
    (subjects.STREAM_ARENA, subjects.BATTLES),
    (subjects.STREAM_ARENA, f"{subjects.GRADING}.>"),
    (subjects.STREAM_DEAD, f"{subjects.DEAD}.>"),
    (subjects.STREAM_INGEST, subjects.INGEST),
)


class BattleMessages:
    """The messages of battles.

    Args:
        bus: Connection to the broker.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def delete(self, battles: Mapping[str, datetime | None]) -> int:
        """Delete the messages of battles in all streams. The broker overwrites them on its disk.

        Args:
            battles: Ids of the battles, each with the time before which its messages are deleted; None
                deletes all of them.

        Returns:
            Number of messages deleted.

        Raises:
            Unavailable: The broker does not answer; deleting again is safe.
        """
        until = {content_hash(battle_id): moment for battle_id, moment in battles.items()}
        if not until:
            return 0
        deleted = 0
        try:
            for stream, subject in _SUBJECTS:
                numbers = [
                    number
                    async for number, battle, stored_at in self._read(stream, subject)
                    if battle in until and _is_before(stored_at, until[battle])
                ]
                for number in numbers:
                    deleted += await self._delete_one(stream, number)
        except (nats.errors.Error, TimeoutError) as error:
            raise Unavailable(Reason.DEADLINE, describe_error(error)) from error
        return deleted

    async def _read(self, stream: str, subject: str) -> AsyncIterator[tuple[int, str | None, datetime]]:
        """Number, hash of the battle (None where it has none) and time of every message of a stream."""
        async for message in stored_headers(self._bus, stream, subject):
            number = message.metadata.sequence.stream
            battle = (message.headers or {}).get(BATTLE) or await self._decoded(stream, number)
            yield number, battle, message.metadata.timestamp

    async def _decoded(self, stream: str, number: int) -> str | None:
        try:
            message = await self._bus.js.get_msg(stream, number)
        except NotFoundError:  # acked since
            return None
        battle_id = _battle_in((message.headers or {}).get(SCHEMA, ""), message.data or b"")
        return None if battle_id is None else content_hash(battle_id)

    async def _delete_one(self, stream: str, number: int) -> bool:
        try:
            return await self._bus.js.delete_msg(stream, number)
        except APIError:
            try:
                await self._bus.js.get_msg(stream, number)
            except NotFoundError:  # acked since
                return False
            raise


def _is_before(stored_at: datetime, until: datetime | None) -> bool:
    return until is None or stored_at < until


def _battle_in(schema: str, body: bytes) -> str | None:
    """The battle of a message without the header; None where it cannot be decoded.

    A message without a schema comes from an arena. A body that is stored apart is no text of a battle.
    """
    try:
        if schema:
            return battle_id_of(cast(BattleEvent, decode(schema, body)))
        check_fields(body, arena_pb2.SubmitBattleRequest)
        return submitted_battle(arena_pb2.SubmitBattleRequest.FromString(body).battle).to_core().id
    except (UndecodableMessage, DecodeError, TooManyFields, InvalidSubmission):
        return None
