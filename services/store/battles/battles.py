"""Battles, their events, their failures and their state."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, exists, or_, select

from nuggetstream.domain.battle import Battle, Vote
from nuggetstream.domain.event import BattleEvent, BattleNuggetized
from nuggetstream.domain.human_vote import HumanVote
from nuggetstream.domain.nugget_edit import RecordedEdit
from nuggetstream.domain.progress import BattleState, Branch, state_of
from nuggetstream.text.languages import DetectedLanguage
from services.store.batches import among, rows_of_keys
from services.store.battles.accepting import NewBattle, known_hashes, store_new
from services.store.battles.deletion import deleted_at
from services.store.battles.event_reading import RecordedEvent, read_events, read_submission
from services.store.battles.nugget_edits import NuggetEdits
from services.store.battles.recording import NewEvent, Recording, record_all
from services.store.battles.votes import counted_votes
from services.store.content.text_references import Filled
from services.store.outcomes.battle_counts import BattleCounts
from services.store.tables import battles, events
from services.store.work.failed import FailedBattle, FailedBattles, FailureFilter
from services.store.work.parked import ParkedEvents
from services.wire.subjects import event_name

# Without the body, which may be megabytes and is not needed to list battles.
BATTLE_ROWS = select(
    *(column for column in battles.c if column.name not in ("body", "key_name", "carried_hash"))
)
_ROW = BATTLE_ROWS.where(battles.c.id == bindparam("battle"))
_ENDED = select(battles.c.id, battles.c.nugget_state, battles.c.judge_state).where(
    among(battles.c.id), battles.c.ended_at.is_not(None)
)
_STATES = select(battles.c.id, battles.c.nugget_state, battles.c.judge_state).order_by(
    battles.c.received_at, battles.c.id
)
_LISTED = select(battles.c.id).where(
    among(battles.c.id),
    or_(
        battles.c.nugget_state != Branch.PENDING.value,
        exists().where(events.c.battle_id == battles.c.id, events.c.name == event_name(BattleNuggetized)),
    ),
)
_FOLLOWED = _ROW.add_columns(battles.c.body)
_ROWS_OF = BATTLE_ROWS.where(among(battles.c.id))


@dataclass(frozen=True, slots=True)
class BattleRow:
    """One battle as stored, without its body.

    Attributes:
        id: Id of the battle.
        arena: Arena that sent it.
        query: The user's question.
        language: BCP 47 tag that the arena declared; None when it declared none.
        detected: Language of the query as it was detected, where none was declared; None when unknown.
        tags: The battle's tags.
        system_a: Name of the system that wrote answer A.
        system_b: Name of the system that wrote answer B.
        content_hash: Hash of everything but the id.
        received_at: When the battle was accepted.
        nugget_state: State of the nugget branch.
        judge_state: State of the judge branch.
        ended_at: When the later of the two branches ended; None while one is pending.
        event_count: Number of events recorded so far; they are numbered from 1.
        flagged: Whether an answer is flagged.
    """

    id: str
    arena: str
    query: str
    language: str | None
    detected: DetectedLanguage | None
    tags: tuple[str, ...]
    system_a: str
    system_b: str
    content_hash: str
    received_at: datetime
    nugget_state: Branch
    judge_state: Branch
    ended_at: datetime | None
    event_count: int
    flagged: bool = False

    @property
    def state(self) -> BattleState:
        """State of the battle, which follows from its two branches."""
        return state_of(self.nugget_state, self.judge_state)


@dataclass(frozen=True, slots=True)
class WholeBattle:
    """Everything that is stored of one battle, as one read sees it.

    Attributes:
        row: Its row.
        body: The event that submitted it, encoded, with the texts of its sources.
        events: Its events in order.
    """

    row: BattleRow
    body: bytes
    events: list[RecordedEvent]


class Battles(BattleCounts):
    """The battles table with its events and failures, and how many battles there are."""

    async def accept(
        self,
        battle: Battle,
        body: bytes,
        received_at: datetime,
        *,
        detected: DetectedLanguage | None = None,
        flagged: bool = False,
        vote: HumanVote | None = None,
    ) -> str | None:
        """Store one battle; see `NewBattle` for the arguments and `accepting.known_hashes` for the result."""
        new = NewBattle(battle=battle, body=body, detected=detected, flagged=flagged, vote=vote)
        return (await self.accept_all([new], received_at))[0]

    async def accept_all(self, new: Sequence[NewBattle], received_at: datetime) -> list[str | None]:
        """Store several battles in one transaction; see `accepting.known_hashes` for the result."""

        def work(connection: Connection) -> list[str | None]:
            hashes = known_hashes(connection, new)
            added = [battle for battle, stored in zip(new, hashes, strict=True) if stored is None]
            store_new(connection, added, received_at)
            return hashes

        return await self._database.write(work)

    async def get(self, battle_id: str) -> BattleRow | None:
        """One battle, or None when there is none with this id."""
        if "\x00" in battle_id:  # no stored id has one, and PostgreSQL rejects the query
            return None
        row = await self._database.row(_ROW, {"battle": battle_id})
        return None if row is None else battle_row(row)

    async def whole(self, battle_id: str) -> WholeBattle | None:
        """Everything that is stored of one battle; None when there is none with this id."""
        if "\x00" in battle_id:  # as in `get`
            return None

        def read(connection: Connection) -> WholeBattle | None:
            row = connection.execute(_ROW, {"battle": battle_id}).one_or_none()
            submission = None if row is None else read_submission(connection, battle_id)
            if row is None or submission is None:
                return None
            return WholeBattle(battle_row(row), submission.body, read_events(connection, battle_id))

        return await self._database.read(read)

    async def get_all(self, ids: Collection[str]) -> dict[str, BattleRow]:
        """Those of the given battles that are stored, by id; for a few battles, not for thousands."""
        valid = sorted(battle_id for battle_id in ids if "\x00" not in battle_id)  # as in `get`
        rows = await self._database.rows(_ROWS_OF, {"keys": valid})
        return {row.id: battle_row(row) for row in rows}

    async def deleted_at(self, battle_id: str) -> datetime | None:
        """When a battle was deleted last; None if it never was. It may have been sent again since."""
        return await deleted_at(self._database, battle_id)

    async def submission(self, battle_id: str) -> Filled | None:
        """The encoded battle as accepted, with the texts of its sources, and whether it is complete.

        None when it is unknown; see `RecordedEvent`.
        """
        return await self._database.read(lambda connection: read_submission(connection, battle_id))

    async def ended_among(self, ids: Sequence[str]) -> dict[str, BattleState]:
        """The states of those of the given battles that have ended, by id."""
        rows = await self._database.read(lambda connection: [*rows_of_keys(connection, _ENDED, ids)])
        return {row.id: state_of(Branch(row.nugget_state), Branch(row.judge_state)) for row in rows}

    async def states(self) -> dict[str, BattleState]:
        """The state of every battle, in the order of receipt."""
        rows = await self._database.rows(_STATES)
        return {row.id: state_of(Branch(row.nugget_state), Branch(row.judge_state)) for row in rows}

    async def listed_among(self, ids: Sequence[str]) -> set[str]:
        """Those of the given battles that have a nugget list, or get none."""
        rows = await self._database.read(lambda connection: [*rows_of_keys(connection, _LISTED, ids)])
        return {row.id for row in rows}

    async def votes_of(self, ids: Sequence[str]) -> dict[tuple[str, str | None], Vote]:
        """The newest vote by battle and voter."""
        return await self._database.read(lambda connection: counted_votes(connection, ids))

    async def record_all(self, new: Sequence[NewEvent], at: datetime) -> list[Recording]:
        """Record several events in one transaction; see `recording.record_all`."""
        return await self._database.write(lambda connection: record_all(connection, new, at))

    async def park(self, event: BattleEvent) -> None:
        """Store an event until its battle is stored; see `parked`."""
        await ParkedEvents(self._database).park(event)

    async def park_unread(self, message_id: str, schema: str, body: bytes) -> None:
        """Store a message that this build cannot read, until one runs that can; see `parked`."""
        await ParkedEvents(self._database).park_unread(message_id, schema, body)

    async def progress(
        self, battle_id: str, after: int = 0, *, texts: bool = True
    ) -> tuple[BattleRow | None, list[RecordedEvent]]:
        """A battle, None where there is none with this id, and its events after a sequence number.

        Args:
            battle_id: Id of the battle.
            after: Number of the last event that is not wanted.
            texts: As in `read_events`.
        """
        if "\x00" in battle_id:  # as in `get`
            return None, []

        def read(connection: Connection) -> tuple[BattleRow | None, list[RecordedEvent]]:
            # The state is read first, so that the events read next include all up to the end.
            row = connection.execute(_FOLLOWED, {"battle": battle_id}).one_or_none()
            if row is None or row.event_count <= after:
                return (None if row is None else battle_row(row)), []
            events = read_events(connection, battle_id, after, texts=texts, body=row.body)
            return battle_row(row), events

        return await self._database.read(read)

    async def events_of(self, battle_id: str, after: int = 0, last: int | None = None) -> list[RecordedEvent]:
        """The events of a battle after a sequence number, and up to one where it is given, in order."""
        return await self._database.read(lambda tx: read_events(tx, battle_id, after, until=last))

    async def edits_of(self, battle_id: str) -> list[RecordedEdit]:
        """The edits of a battle's nugget list, oldest first."""
        return await NuggetEdits(self._database).of_battle(battle_id)

    async def failures(
        self, limit: int = 1000, battle_id: str | None = None, arenas: Collection[str] | None = None
    ) -> list[FailedBattle]:
        """The newest failures, of one battle or some arenas where given, newest first."""
        selection = FailureFilter(battle=battle_id, within=arenas, closed=True)
        return await FailedBattles(self._database).select(selection, limit)


def battle_row(row: Any) -> BattleRow:
    """The battle in a row of `BATTLE_ROWS`."""
    values = dict(row._mapping)
    values.pop("body", None)
    confidence = values.pop("language_confidence")
    values["detected"] = None if confidence is None else DetectedLanguage(values["language"], confidence)
    values["language"] = values["language"] if confidence is None else None
    values["tags"] = tuple(values["tags"])
    values["nugget_state"] = Branch(values["nugget_state"])
    values["judge_state"] = Branch(values["judge_state"])
    return BattleRow(**values)
