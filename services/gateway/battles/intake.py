"""Accepting battles and votes: stored in the database first, then published.

    a battle or a vote  ->  a row in the database  ->  BattleSubmitted, BattleVoted

The same battle again is the same battle. If its evaluation has failed, it runs again: the stages that failed
get their inputs once more (`reruns`).

A crash between the two, or a broker that is down, loses nothing: the client got no receipt and sends again,
and the same event is published under the same message id. Stages that have seen it already recognise it. What
was stored and is not published, or is lost with a stream, is published by the reconciler.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleSubmitted, Event, vote_of
from nuggetstream.domain.identity import derived_id
from nuggetstream.files.submission import BattleSubmission
from nuggetstream.text.manipulation import flags_of
from services.gateway.admission import Admission
from services.gateway.battles.entry_filter import EntryFilter, LeftOut
from services.gateway.battles.reruns import rerun_events
from services.gateway.errors import Conflict, UnknownBattle
from services.runtime.bus import Bus
from services.runtime.errors import Unavailable
from services.runtime.languages import language_of
from services.runtime.metrics import BATTLES_LEFT_OUT, arena_label
from services.runtime.turns import Turns
from services.store.accepting import NewBattle
from services.store.battles import BattleRow, Battles
from services.store.pending_votes import CastVote, PendingVotes
from services.wire.codec import BlobStore, encode, seal

Publish = Callable[[Event], Awaitable[object]]
_NO_CHECKS = Admission()
_EVERYTHING = EntryFilter()


@dataclass(frozen=True, slots=True)
class Receipt:
    """A battle was accepted.

    Attributes:
        battle_id: Its id.
        created: False when the same battle had been accepted before.
        rerun: Whether the evaluation of the battle had failed and runs again.
        left_out: Why it is not evaluated, and not stored; None for a battle that is.
    """

    battle_id: str
    created: bool
    rerun: bool = False
    left_out: LeftOut | None = None


Accepted = tuple[Receipt, list[Event]]


@dataclass(frozen=True, slots=True)
class Intake:
    """Accepts battles and votes.

    Attributes:
        battles: Battles in the database.
        votes: Votes that are not yet recorded and counted.
        publish: Publishes an event; returns when the broker has stored it.
        admission: Whether anything can be accepted now.
        entry: Which battles are evaluated.
    """

    battles: Battles
    votes: PendingVotes
    publish: Publish
    admission: Admission = _NO_CHECKS
    entry: EntryFilter = _EVERYTHING

    async def submit(self, submission: BattleSubmission, now: datetime) -> Receipt:
        """Accept a battle and publish its events.

        Args:
            submission: The battle as it was sent.
            now: When it was received.

        Raises:
            Conflict: its id belongs to a battle with other content.
            Unavailable: the database or the broker does not answer, or has no room; sending it again is safe.
        """
        receipt, events = await self.accept(submission, now)
        await self._publish_all(events)
        return receipt

    async def submit_all(
        self, submissions: Sequence[BattleSubmission], now: datetime
    ) -> list[Receipt | Conflict | Unavailable]:
        """Accept battles in one transaction and publish their events at the same time.

        Returns:
            A receipt, or why there is none, for each battle in order; one battle does not affect the others,
            unless the database or the broker does not answer.
        """
        try:
            await self.admission.require()
            accepted = await self._accept_all(submissions, now)
        except Unavailable as error:
            explained = await self.admission.explained(error)
            return [explained] * len(submissions)
        return list(await asyncio.gather(*map(self._published, accepted)))

    async def _published(self, accepted: Accepted | Conflict) -> Receipt | Conflict | Unavailable:
        if isinstance(accepted, Conflict):
            return accepted
        receipt, events = accepted
        try:
            await self._publish_all(events)
        except Unavailable as error:
            return error
        return receipt

    async def accept(self, submission: BattleSubmission, now: datetime) -> Accepted:
        """Store a battle and return its events, for callers that publish them.

        A vote that comes with a battle has the time when the battle was first received, so that the battle
        sent again brings the same vote, and never one newer than a vote cast since.

        Raises:
            Conflict, Unavailable: as `submit`.
        """
        await self.admission.require()
        async with self.admission.explaining():
            [accepted] = await self._accept_all([submission], now)
        if isinstance(accepted, Conflict):
            raise accepted
        return accepted

    async def _accept_all(
        self, submissions: Sequence[BattleSubmission], now: datetime
    ) -> list[Accepted | Conflict]:
        events, fingerprints, new, turns = [], [], [], Turns()
        for submission in submissions:
            battle = submission.to_core()
            fingerprint = battle.content_hash()
            key = derived_id("submitted", battle.id, fingerprint)
            events.append(BattleSubmitted(key, battle, submission.vote, flags_of(battle)))
            fingerprints.append(fingerprint)
            detected = await language_of(battle.query) if battle.language is None else None
            new.append(NewBattle(battle, encode(events[-1]), detected, flagged=bool(events[-1].flags)))
            await turns.pause()  # a group of large battles must not stop other requests
        left_out = await self._left_out(new)
        kept = [each for each in new if each.battle.id not in left_out]
        known = iter(await self.battles.accept_all(kept, now))
        accepted: list[Accepted | Conflict] = []
        for event, fingerprint in zip(events, fingerprints, strict=True):
            battle_id = event.battle.id
            if (why := left_out.get(battle_id)) is not None:
                BATTLES_LEFT_OUT.labels(arena_label(event.battle.arena), why.value).inc()
                accepted.append((Receipt(battle_id, created=False, left_out=why), []))
            elif (stored := next(known)) not in (None, fingerprint):
                accepted.append(Conflict(battle_id))
            else:
                accepted.append(await self._accepted(event, now if stored is None else None))
        return accepted

    async def _left_out(self, new: Sequence[NewBattle]) -> dict[str, LeftOut]:
        """Why battles are not evaluated, by id. One that is stored already goes on."""
        reasons = {each.battle.id: self.entry.why_not(each) for each in new}
        left_out = {battle_id: why for battle_id, why in reasons.items() if why is not None}
        stored = await self.battles.get_all(left_out) if left_out else {}
        return {battle_id: why for battle_id, why in left_out.items() if battle_id not in stored}

    async def _accepted(self, submitted: BattleSubmitted, created: datetime | None) -> Accepted:
        """The receipt and the events of a battle that was created just now, or (None) received before.

        The vote is published first: a battle whose vote was not published is then found as one whose
        submission was not, and the reconciler publishes both.
        """
        battle_id = submitted.battle.id
        again = [] if created is not None else await rerun_events(self.battles, battle_id)
        events: list[Event] = again or [submitted]
        if submitted.vote is not None:
            received_at = created or (await known_row(self.battles, battle_id)).received_at
            if (voted := vote_of(submitted, received_at)) is not None:
                events.insert(0, voted)
        return Receipt(battle_id, created=created is not None, rerun=bool(again)), events

    async def run_again(self, battle_id: str) -> bool:
        """Run the failed stages of a battle again, as sending the battle again does.

        Returns:
            False where nothing of the battle has failed, or where it still runs.

        Raises:
            UnknownBattle: there is no such battle.
            Unavailable: the database or the broker does not answer; asking again is safe.
        """
        await known_row(self.battles, battle_id)
        events = await rerun_events(self.battles, battle_id)
        await self._publish_all(events)
        return bool(events)

    async def vote(self, battle_id: str, vote: Vote, now: datetime) -> None:
        """Store a human vote and publish it; the newest vote of a battle counts.

        Raises:
            UnknownBattle: there is no such battle.
            Unavailable: the database or the broker does not answer, or has no room; voting again is safe.
        """
        await self.admission.require()
        key = derived_id("voted", battle_id, vote, now.isoformat())
        voted = await self.votes.keep(CastVote(battle_id, key, vote, now))
        if voted is None:
            raise UnknownBattle(battle_id)
        await self._publish_all([voted])

    async def _publish_all(self, events: Sequence[Event]) -> None:
        async with self.admission.explaining():
            for event in events:
                await self.publish(event)


async def known_row(battles: Battles, battle_id: str) -> BattleRow:
    """The row of a battle.

    Raises:
        UnknownBattle: There is no such battle.
        Unavailable: The database does not answer.
    """
    row = await battles.get(battle_id)
    if row is None:
        raise UnknownBattle(battle_id)
    return row


def publisher(bus: Bus, blobs: BlobStore, within: float = 5.0) -> Publish:
    """A function that publishes events, with a short timeout since a client is waiting.

    Args:
        bus: Connection to the broker.
        blobs: Store of bodies that are too large for a message.
        within: Seconds until a broker that does not answer counts as unavailable.
    """

    async def publish(event: Event) -> object:
        return await bus.publish(await seal(event, blobs), within)

    return publish
