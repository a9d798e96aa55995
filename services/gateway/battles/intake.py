"""Accepting battles and votes: stored in one transaction with what has to be published for them.

    a battle or a vote  ->  its rows, and its messages in the outbox  ->  BattleSubmitted, BattleVoted

The same battle again is the same battle, and a vote that comes with it is a vote, unless it came with
the battle before. If its evaluation has failed, it runs again: the stages that failed get their inputs
once more (`store.reruns`).

What is stored is accepted, and gets published: right away, or by the relay where the broker is away or the
process ends. A client that got no receipt sends again, and finds its battle accepted or not stored at all.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from nuggetstream.domain.event import BattleSubmitted, submission_key
from nuggetstream.domain.human_vote import HumanVote
from nuggetstream.files.submission import BattleSubmission
from nuggetstream.text.languages import DetectedLanguage
from nuggetstream.text.manipulation import flags_of
from nuggetstream.views.battles import Submitted
from services.access.visits import VISIT
from services.gateway.admission import Admission
from services.gateway.battles.entry_filter import EntryFilter, LeftOut
from services.gateway.battles.relay import Relay
from services.gateway.errors import Conflict, UnknownBattle
from services.runtime.bus import Outgoing
from services.runtime.errors import Unavailable
from services.runtime.languages import language_of
from services.runtime.large_work import sized
from services.runtime.metrics import BATTLES_LEFT_OUT, arena_label
from services.runtime.turns import Turns
from services.store.battles.battles import BattleRow, Battles
from services.store.battles.submissions import Submission, Submissions
from services.store.battles.votes import CastVote

_NO_CHECKS = Admission()
_EVERYTHING = EntryFilter()


@dataclass(frozen=True, slots=True)
class Intake:
    """Accepts battles and votes.

    Attributes:
        battles: Battles in the database.
        submissions: Stores what is accepted.
        relay: Publishes what is stored.
        admission: Whether anything can be accepted now.
        entry: Which battles are evaluated.
    """

    battles: Battles
    submissions: Submissions
    relay: Relay
    admission: Admission = _NO_CHECKS
    entry: EntryFilter = _EVERYTHING

    async def submit(self, submission: BattleSubmission, now: datetime) -> Submitted:
        """Accept a battle and publish its events.

        Args:
            submission: The battle as it was sent.
            now: When it was received.

        Raises:
            Conflict: its id belongs to a battle with other content.
            Unavailable: the database does not answer, or there is no room; nothing was stored.
        """
        [outcome] = await self.submit_all([submission], now)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def submit_all(
        self, submissions: Sequence[BattleSubmission], now: datetime
    ) -> list[Submitted | Conflict | Unavailable]:
        """Accept battles in one transaction and publish their events at the same time.

        Returns:
            A receipt, or why there is none, for each battle in order; one battle does not affect the others,
            unless the database does not answer.
        """
        try:
            await self.admission.require()
            async with self.admission.explaining():
                outcomes, messages = await self._accept_all(submissions, now)
        except Unavailable as error:
            return [error] * len(submissions)
        await self.relay.publish(messages)
        return outcomes

    async def _accept_all(
        self, submissions: Sequence[BattleSubmission], now: datetime
    ) -> tuple[list[Submitted | Conflict | Unavailable], list[Outgoing]]:
        """The outcomes of battles, and the messages to publish."""
        visit, sent, turns = VISIT.get(), [], Turns()
        key_name = None if visit is None else visit.caller.name
        for submission in submissions:
            detected = await language_of(submission.query) if submission.language is None else None
            sent.append(await sized(_size(submission), _stored_as, submission, now, detected, key_name))
            await turns.pause()  # a group of large battles must not stop other requests
        left_out = await self._left_out(sent)
        kept = [each for each in sent if each.event.battle.id not in left_out]
        stored = iter(await asyncio.gather(*map(self.submissions.accept, kept)))
        outcomes: list[Submitted | Conflict | Unavailable] = []
        messages: list[Outgoing] = []
        for each in sent:
            battle = each.event.battle
            if (why := left_out.get(battle.id)) is not None:
                BATTLES_LEFT_OUT.labels(arena_label(battle.arena), why).inc()
                outcomes.append(Submitted(battle_id=battle.id, created=False, left_out=why))
            elif (accepted := next(stored)) is None:
                outcomes.append(Conflict(battle.id))
            else:
                outcomes.append(Submitted.showing(accepted, battle_id=battle.id))
                messages += accepted.messages
        return outcomes, messages

    async def _left_out(self, sent: Sequence[Submission]) -> dict[str, LeftOut]:
        """Why battles are not evaluated, by id. One that is stored already goes on."""
        reasons = {
            submission.event.battle.id: self.entry.why_not(submission.event.battle) for submission in sent
        }
        left_out = {battle_id: why for battle_id, why in reasons.items() if why is not None}
        stored = await self.battles.get_all(left_out) if left_out else {}
        return {battle_id: why for battle_id, why in left_out.items() if battle_id not in stored}

    async def run_again(self, battle_id: str, now: datetime) -> bool:
        """Run the failed stages of a battle again, as sending the battle again does.

        Returns:
            False where nothing of the battle has failed, or where it still runs.

        Raises:
            UnknownBattle: there is no such battle.
            Unavailable: the database does not answer; nothing was changed.
        """
        await known_row(self.battles, battle_id)
        messages = await self.submissions.run_again(battle_id, now)
        await self.relay.publish(messages)
        return bool(messages)

    async def vote(self, battle_id: str, vote: HumanVote, now: datetime) -> None:
        """Record a human vote and publish it; the newest vote of its voter counts.

        Raises:
            UnknownBattle: there is no such battle.
            Unavailable: the database does not answer, or there is no room; the vote was not stored.
        """
        await self.admission.require()
        async with self.admission.explaining():
            voted = await self.submissions.vote(CastVote(battle_id, vote, now))
        if voted is None:
            raise UnknownBattle(battle_id)
        await self.relay.publish([voted])


def _stored_as(
    submission: BattleSubmission, now: datetime, detected: DetectedLanguage | None, key_name: str | None
) -> Submission:
    """A battle as it is stored."""
    battle = submission.to_core()
    key = submission_key(battle.id, battle.content_hash())
    event = BattleSubmitted(
        key=key,
        battle=battle,
        vote=submission.vote,
        flags=flags_of(battle),
        voter=submission.voter,
        comment=submission.comment,
    )
    return Submission.of(event, now, detected, key_name)


def _size(submission: BattleSubmission) -> int:
    """Characters of the texts of sources, the only texts of a battle that can be long."""
    return sum(len(source.text or "") for answer in (submission.a, submission.b) for source in answer.sources)


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
