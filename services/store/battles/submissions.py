"""Accepting battles and votes: each is stored in one transaction with the messages that have to be published.

    a battle                ->  its row, the vote that came with it, and its submission in the outbox
    a battle that failed    ->  its failed branches are pending, and the inputs of its stages in the outbox
    a known battle's vote   ->  as any vote, unless the same vote has come with the battle before
    a vote                  ->  its event and its outcome, recorded and counted, and its event in the outbox

A vote is recorded where it is accepted, as an edit is, so that no stream can lose it. What arrives together
shares a transaction, also where it is the same battle or a vote for the same battle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from sqlalchemy import Connection

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleEvent, BattleSubmitted, BattleVoted, vote_of
from nuggetstream.text.languages import DetectedLanguage
from services.runtime.bus import Outgoing
from services.runtime.grouping import Grouping
from services.store.battles.accepting import NewBattle, known_hashes, store_new
from services.store.battles.recording import NewEvent, record_all
from services.store.battles.votes import CastVote, Contestants, cast_events, counted_votes, recorded_votes
from services.store.database import Database
from services.store.outcomes.stated_outcomes import outcomes_of
from services.store.work import outbox
from services.store.work.reruns import run_again
from services.wire.codec import inline

_MAX_GROUP = 128  # battles or votes in one transaction


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
            vote=event.human_vote,
            key_name=key_name,
        )
        return cls(event, new, received_at)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A battle that is stored.

    Attributes:
        created: Whether it was not known before.
        messages: What has to be published, and is in the outbox.
        rerun: Whether stages that had failed run again.
        voted: Whether it was known and its vote is recorded as a new one.
        vote: The newest vote of its voter; None where no vote came with it.
    """

    created: bool
    messages: Sequence[Outgoing]
    rerun: bool = False
    voted: bool = False
    vote: Vote | None = None


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
    again = [sent for sent, stored in both if stored == sent.new.content_hash]
    new = [sent for sent, stored in both if stored is None]
    # Rows of battles are locked before counters, as in the recorder, so that the two cannot deadlock.
    votes = _votes_again(connection, new, again, at)
    runs = run_again(connection, {sent.event.battle.id for sent in again}, at) if again else {}
    store_new(connection, [sent.new for sent in new], at, list(votes.values()))
    events: list[list[BattleEvent] | None] = []
    for sent, stored in both:
        if stored is None:
            voted = vote_of(sent.event.battle, sent.event.human_vote, at)
            events.append([sent.event] if voted is None else [voted, sent.event])
        elif stored == sent.new.content_hash:
            cast = votes.get(id(sent))
            events.append(runs.pop(sent.event.battle.id, []) + ([] if cast is None else [cast]))
        else:
            events.append(None)
    keys = {sent.event.key for sent in new}
    voted_on = {sent.event.battle.id for sent in (*new, *again) if sent.event.vote is not None}
    counted = counted_votes(connection, voted_on) if voted_on else {}
    messages = iter(outbox.put(connection, [event for of_one in events for event in of_one or ()], keys))
    return [
        None
        if of_one is None
        else Accepted(
            created=stored is None,
            messages=list(islice(messages, len(of_one))),
            rerun=stored is not None and any(not isinstance(event, BattleVoted) for event in of_one),
            voted=id(sent) in votes,
            vote=sent.event.vote and counted.get((sent.event.battle.id, sent.event.voter)),
        )
        for of_one, (sent, stored) in zip(events, both, strict=True)
    ]


def _votes_again(
    connection: Connection, new: Sequence[Submission], again: Sequence[Submission], at: datetime
) -> dict[int, BattleVoted]:
    """The votes of battles that are known, by identity of the submission, without repeated ones.

    A client that got no reply sends its battle again, and a broker delivers it again: the vote that came with
    it before is no new one, so that it replaces none that was cast since.
    """
    cast = {
        id(sent): CastVote(sent.event.battle.id, vote, at, with_battle=True)
        for sent in again
        if (vote := sent.event.human_vote) is not None
    }
    if not cast:
        return {}
    first = [vote_of(sent.event.battle, sent.event.human_vote, at) for sent in new]
    seen = recorded_votes(connection, [cast_vote.key for cast_vote in cast.values()])
    seen |= {vote.key for vote in first if vote is not None}
    changed: dict[int, CastVote] = {}
    for number, of_sent in cast.items():
        if of_sent.key not in seen:
            changed[number] = of_sent
            seen.add(of_sent.key)
    stored_now = {vote.battle_id: at for vote in first if vote is not None}
    systems = {sent.event.battle.id: Contestants.of(sent.event.battle) for sent in new}
    events = cast_events(connection, list(changed.values()), systems, stored_now)
    return {number: event for number, event in zip(changed, events, strict=True) if event is not None}


def _vote_all(connection: Connection, votes: Sequence[CastVote]) -> list[Outgoing | None]:
    cast = cast_events(connection, votes, {}, {})
    events = [event for event in cast if event is not None]
    if events:
        at = max(vote.voted_at for vote in votes)
        record_all(connection, [NewEvent.of(event, outcomes_of(event, at)) for event in events], at)
    messages = iter(outbox.put(connection, events))
    return [None if event is None else next(messages) for event in cast]
