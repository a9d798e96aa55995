"""Accepting battles and votes: each is stored in one transaction with the messages that have to be published.

    a battle                ->  its row, the vote that came with it, and its submission in the outbox
    a battle that failed    ->  its failed branches are pending, and the inputs of its stages in the outbox
    a vote                  ->  its event and its outcome, recorded and counted, and its event in the outbox

A vote is recorded where it is accepted, as an edit is, so that no stream can lose it. What arrives together
shares a transaction, also where it is the same battle or a vote for the same battle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from sqlalchemy import Connection, bindparam, select

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleEvent, BattleSubmitted, BattleVoted, vote_of
from nuggetstream.domain.lens import Lens
from nuggetstream.text.languages import DetectedLanguage
from services.runtime.bus import Outgoing
from services.runtime.grouping import Grouping
from services.store.battles.accepting import NewBattle, known_hashes, store_new
from services.store.battles.recording import NewEvent, record_all
from services.store.database import Database
from services.store.outcomes.stated_outcomes import outcomes_of
from services.store.tables import battles, outcomes
from services.store.work import outbox
from services.store.work.reruns import run_again
from services.wire.codec import inline

_MAX_GROUP = 128  # battles or votes in one transaction

_VOTED_ON = (
    select(battles.c.id, battles.c.arena, battles.c.system_a, battles.c.system_b)
    .where(battles.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(battles.c.id)  # in one order, so that two transactions cannot deadlock
    .with_for_update(key_share=True)
)
_COUNTED = select(outcomes.c.battle_id, outcomes.c.decided_at).where(
    outcomes.c.battle_id.in_(bindparam("ids", expanding=True)), outcomes.c.source == Lens.HUMAN.value
)


@dataclass(frozen=True, slots=True)
class Submission:
    """A battle that was sent.

    Attributes:
        event: The event that submits it.
        new: The battle as it is stored.
        received_at: When it was received.
    """

    event: BattleSubmitted
    new: NewBattle
    received_at: datetime

    @classmethod
    def of(
        cls,
        event: BattleSubmitted,
        received_at: datetime,
        detected: DetectedLanguage | None = None,
        key_name: str | None = None,
    ) -> "Submission":
        """A battle as it is stored.

        Args:
            event: The event that submits it.
            received_at: When it was received.
            detected: Language of a query that declares none.
            key_name: Name of the API key that it was sent with.
        """
        new = NewBattle(
            battle=event.battle,
            body=inline(event).body,
            detected=detected,
            flagged=bool(event.flags),
            vote=event.vote,
            key_name=key_name,
        )
        return cls(event, new, received_at)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A battle that is stored.

    Attributes:
        created: Whether it was not known before.
        messages: What has to be published, and is in the outbox.
    """

    created: bool
    messages: Sequence[Outgoing]


@dataclass(frozen=True, slots=True)
class CastVote:
    """A vote that was cast.

    Attributes:
        battle_id: Id of its battle.
        key: Key of its event.
        vote: The vote.
        voted_at: When it was cast.
    """

    battle_id: str
    key: str
    vote: Vote
    voted_at: datetime


class Submissions:
    """Stores what is accepted, in one transaction with its messages."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._battles: Grouping[Submission, Accepted | None] = Grouping(self._accept_all, _MAX_GROUP)
        self._votes: Grouping[CastVote, Outgoing | None] = Grouping(self._vote_all, _MAX_GROUP)

    async def accept(self, submission: Submission) -> Accepted | None:
        """Store a battle unless it is known; one that is known and has failed runs again.

        Returns:
            None where its id belongs to a battle with other content.

        Raises:
            Outage, Unavailable: The database does not answer; nothing was stored.
        """
        return await self._battles(submission)

    async def vote(self, vote: CastVote) -> Outgoing | None:
        """Record and count a vote as the newest of its battle.

        Returns:
            What has to be published, and is in the outbox; None when there is no such battle.

        Raises:
            Outage, Unavailable: The database does not answer; the vote was not stored.
        """
        if "\x00" in vote.battle_id:  # no stored id has one, and PostgreSQL rejects the query
            return None
        return await self._votes(vote)

    async def run_again(self, battle_id: str, at: datetime) -> Sequence[Outgoing]:
        """Run the failed stages of a battle again; see `reruns`.

        Returns:
            What has to be published, and is in the outbox; nothing where nothing has failed, or where the
            battle still runs.

        Raises:
            Outage, Unavailable: The database does not answer; nothing was changed.
        """

        def write(connection: Connection) -> Sequence[Outgoing]:
            return outbox.put(connection, run_again(connection, [battle_id], at).get(battle_id, []))

        return await self._database.write(write)

    async def _accept_all(self, submissions: Sequence[Submission]) -> Sequence[Accepted | None]:
        return await self._database.write(lambda connection: _accept_all(connection, submissions))

    async def _vote_all(self, votes: Sequence[CastVote]) -> Sequence[Outgoing | None]:
        return await self._database.write(lambda connection: _vote_all(connection, votes))


def _accept_all(connection: Connection, submissions: Sequence[Submission]) -> list[Accepted | None]:
    at = max(submission.received_at for submission in submissions)
    hashes = known_hashes(connection, [submission.new for submission in submissions])
    both = list(zip(submissions, hashes, strict=True))
    again = {sent.event.battle.id for sent, stored in both if stored == sent.new.content_hash}
    # Rows of battles are locked before counters, as in the recorder, so that the two cannot deadlock.
    runs = run_again(connection, again, at) if again else {}
    store_new(connection, [sent.new for sent, stored in both if stored is None], at)
    events: list[list[BattleEvent] | None] = []
    for sent, stored in both:
        if stored is None:
            voted = vote_of(sent.event.battle, sent.event.vote, at)
            events.append([sent.event] if voted is None else [voted, sent.event])
        else:
            events.append(runs.pop(sent.event.battle.id, []) if stored == sent.new.content_hash else None)
    keys = {sent.event.key for sent, stored in both if stored is None}
    messages = iter(outbox.put(connection, [event for of_one in events for event in of_one or ()], keys))
    return [
        None if of_one is None else Accepted(stored is None, list(islice(messages, len(of_one))))
        for of_one, (_, stored) in zip(events, both, strict=True)
    ]


def _vote_all(connection: Connection, votes: Sequence[CastVote]) -> list[Outgoing | None]:
    ids = sorted({vote.battle_id for vote in votes})
    rows = {row.id: row for row in connection.execute(_VOTED_ON, {"ids": ids})}
    newest = {row.battle_id: row.decided_at for row in connection.execute(_COUNTED, {"ids": sorted(rows)})}
    events: list[BattleVoted] = []
    for vote in votes:
        if (battle := rows.get(vote.battle_id)) is None:
            continue
        # In the order of the database, so that no clock of a gateway decides which vote is the newest.
        at = vote.voted_at
        if (last := newest.get(vote.battle_id)) is not None:
            at = max(at, last + timedelta.resolution)
        newest[vote.battle_id] = at
        event = BattleVoted(
            key=vote.key,
            battle_id=vote.battle_id,
            arena=battle.arena,
            system_a=battle.system_a,
            system_b=battle.system_b,
            vote=vote.vote,
            voted_at=at,
        )
        events.append(event)
    if events:
        at = max(vote.voted_at for vote in votes)
        record_all(connection, [NewEvent.of(event, outcomes_of(event, at)) for event in events], at)
    messages = iter(outbox.put(connection, events))
    return [next(messages) if vote.battle_id in rows else None for vote in votes]
