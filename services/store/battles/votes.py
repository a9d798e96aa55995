"""The newest vote of each voter in each battle, from which the preference of people follows.

    BattleVoted  ->  the row of its battle and voter  ->  one outcome per battle, see `human_vote.common_vote`

A battle counts once on a board, however many people voted on it, as with several judges.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from nuggetstream.domain.battle import Battle, Vote
from nuggetstream.domain.event import BattleVoted, vote_key
from nuggetstream.domain.human_vote import HumanVote, common_vote
from nuggetstream.domain.lens import Lens
from services.store.batches import among, rows_of_keys
from services.store.database import replacing
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.stated_outcomes import outcomes_of
from services.store.tables import battles, events, outcomes, votes

ANYBODY = ""  # the voter of votes whose voter is not known

_OF_BATTLES = select(votes).where(among(votes.c.battle_id)).order_by(votes.c.battle_id, votes.c.voter)
_RECORDED = select(events.c.message_id).where(among(events.c.message_id))

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
class CastVote:
    """A vote that was cast.

    Attributes:
        battle_id: Id of its battle.
        vote: The vote, with its voter.
        voted_at: When it was cast.
        with_battle: Whether it came with its battle, so that it is the same vote when it comes again.
    """

    battle_id: str
    vote: HumanVote
    voted_at: datetime
    with_battle: bool = False

    @property
    def key(self) -> str:
        """Key of its event."""
        moment = () if self.with_battle else (self.voted_at.isoformat(),)
        return vote_key(self.battle_id, self.vote, *moment)


class Contestants(NamedTuple):
    """What a vote repeats of its battle."""

    arena: str
    system_a: str
    system_b: str

    @classmethod
    def of(cls, battle: Battle) -> "Contestants":
        """Those of a battle."""
        return cls(battle.arena, battle.a.system, battle.b.system)


def recorded_votes(connection: Connection, keys: Iterable[str]) -> set[str]:
    """Those of the keys of votes that belong to recorded ones."""
    ids = {f"{BattleVoted.__name__}:{key}": key for key in keys}
    return {ids[row.message_id] for row in rows_of_keys(connection, _RECORDED, ids)}


def counted_votes(connection: Connection, battle_ids: Iterable[str]) -> dict[tuple[str, str | None], Vote]:
    """The newest vote by battle and voter."""
    rows = rows_of_keys(connection, _OF_BATTLES, battle_ids)
    return {(row.battle_id, row.voter or None): Vote(row.vote) for row in rows}


def note_votes(connection: Connection, cast: Iterable[BattleVoted]) -> Mapping[str, Outcome]:
    """Store votes, each unless a newer one of its voter is stored.

    Args:
        connection: Connection in a transaction that has locked the rows of the battles.
        cast: Votes in the order in which they are recorded.

    Returns:
        What people prefer now, by battle, as of the newest vote.
    """
    newest: dict[tuple[str, str], BattleVoted] = {}
    for event in cast:
        key = (event.battle_id, event.voter or ANYBODY)
        if key not in newest or newest[key].voted_at <= event.voted_at:
            newest[key] = event
    if not newest:
        return {}
    rows = [
        {"battle_id": battle_id, "voter": voter, "vote": event.vote.value, "voted_at": event.voted_at}
        for (battle_id, voter), event in sorted(newest.items())
    ]
    unless_newer = replacing(connection.dialect.name, votes, lambda new: votes.c.voted_at <= new.voted_at)
    connection.execute(unless_newer, rows)
    by_battle = defaultdict(list)
    for row in rows_of_keys(connection, _OF_BATTLES, {battle_id for battle_id, _ in newest}):
        by_battle[row.battle_id].append(row)
    preferred = {}
    for (battle_id, _), event in newest.items():
        [stated] = outcomes_of(event, event.voted_at)
        common = common_vote(Vote(row.vote) for row in by_battle[battle_id])
        decided_at = max(row.voted_at for row in by_battle[battle_id])
        preferred[battle_id] = replace(stated, winner=common, decided_at=decided_at)
    return preferred


def cast_events(
    connection: Connection,
    votes: Sequence[CastVote],
    systems: Mapping[str, "Contestants"],
    newest: Mapping[str, datetime],
) -> list[BattleVoted | None]:
    """The events of votes, later than all others on their battles; None where there is no such battle.

    Their order is that of the database, so that no clock of a gateway decides which vote is the newest.

    Args:
        connection: Connection in a transaction; the rows of stored battles are locked.
        votes: The votes.
        systems: Arena and systems of battles that this transaction is about to store.
        newest: Times of the votes that come with these battles.
    """
    ids = sorted({vote.battle_id for vote in votes})
    rows = {row.id: Contestants(*row[1:]) for row in connection.execute(_VOTED_ON, {"ids": ids})}
    rows.update(systems)
    last = {row.battle_id: row.decided_at for row in connection.execute(_COUNTED, {"ids": ids})}
    last.update(newest)
    cast: list[BattleVoted | None] = []
    for vote in votes:
        if (battle := rows.get(vote.battle_id)) is None:
            cast.append(None)
            continue
        at = vote.voted_at
        if (before := last.get(vote.battle_id)) is not None:
            at = max(at, before + timedelta.resolution)
        last[vote.battle_id] = at
        cast.append(_event(vote, battle, at))
    return cast


def _event(vote: CastVote, battle: Contestants, at: datetime) -> BattleVoted:
    cast = vote.vote
    return BattleVoted(
        key=vote.key,
        battle_id=vote.battle_id,
        arena=battle.arena,
        system_a=battle.system_a,
        system_b=battle.system_b,
        vote=cast.vote,
        voted_at=at,
        voter=cast.voter,
        comment=cast.comment,
    )
