"""The table of votes that are not yet recorded and counted, on both databases."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleVoted
from nuggetstream.domain.lens import Lens
from services.store.battles import Battles
from services.store.database import Database
from services.store.outcome import Outcome
from services.store.pending_votes import CastVote, PendingVotes
from tests.samples import NOON
from tests.stored import WrittenOutcomes, sent

LATER = NOON + timedelta(hours=1)


async def accept(database: Database, *names: str) -> None:
    for name in names:
        submitted = sent(name)
        await Battles(database).accept(submitted.battle, b"", NOON)


def cast(name: str, vote: Vote, second: int = 0) -> CastVote:
    return CastVote(name, f"{name} {vote} {second}", vote, NOON + timedelta(seconds=second))


def outcome(voted: BattleVoted) -> Outcome:
    return Outcome(
        battle_id=voted.battle_id,
        source=Lens.HUMAN.value,
        lens=Lens.HUMAN,
        arena=voted.arena,
        system_a=voted.system_a,
        system_b=voted.system_b,
        winner=voted.vote,
        margin=None,
        decided_at=voted.voted_at,
    )


async def test_votes_that_arrive_together_share_a_transaction(database: Database) -> None:
    await accept(database, "one", "two")
    votes = PendingVotes(database)
    commits: list[Any] = []
    if not database.is_sqlite:
        event.listen(database.engine.sync_engine, "commit", commits.append)
    sent_at_once = [
        cast(name, vote, second)
        for second, vote in enumerate(Vote)
        for name in ("two", "nobody", "a\x00", "one")
    ]
    kept = await asyncio.gather(*map(votes.keep, sent_at_once))
    assert [(v.battle_id, v.vote, v.system_a) if v else None for v in kept] == [
        (v.battle_id, v.vote, sent(v.battle_id).battle.a.system) if v.battle_id in ("one", "two") else None
        for v in sent_at_once
    ]
    assert len(commits) <= 2  # the first vote, and those that came meanwhile
    due = await votes.take_due(LATER, None, 10)
    assert [(vote.battle_id, vote.event and vote.event.vote) for vote in due] == [
        ("one", Vote.BOTH_BAD),
        ("two", Vote.BOTH_BAD),
    ]


@pytest.mark.parametrize("counted", [False, True])
async def test_a_vote_is_newer_than_one_of_a_gateway_whose_clock_is_ahead(
    database: Database, counted: bool
) -> None:
    await accept(database, "one")
    votes = PendingVotes(database)
    for vote, second in ((Vote.A, 50), (Vote.TIE, 2), (Vote.B, 1)):
        voted = await votes.keep(cast("one", vote, second))
        assert voted is not None
        if counted:
            await WrittenOutcomes(database).put(outcome(voted))
    (due,) = await votes.take_due(LATER, None, 10)
    assert due.key == cast("one", Vote.B, second=1).key
    if counted:
        (stored,) = await WrittenOutcomes(database).of_battle("one")
        assert stored.winner is Vote.B


async def test_two_recorders_share_the_votes_that_are_due(database: Database) -> None:
    names = [f"battle {number}" for number in range(20)]
    await accept(database, *names)
    for name in names:
        await PendingVotes(database).keep(cast(name, Vote.A))
    shares = await asyncio.gather(*(PendingVotes(database).take_due(LATER, None, 15) for _ in range(2)))
    rest = await PendingVotes(database).take_due(LATER, None, 100)
    assert sorted(vote.battle_id for share in (*shares, rest) for vote in share) == sorted(names)


async def test_the_search_for_votes_reads_an_index(database: Database) -> None:
    statements: list[tuple[str, Any]] = []

    def remember(_c: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        statements.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", remember)
    try:
        assert await PendingVotes(database).take_due(LATER, NOON, 5) == []
    finally:
        event.remove(Engine, "before_cursor_execute", remember)
    (query, parameters) = next(pair for pair in statements if pair[0].startswith("SELECT pending_votes"))
    explain = "EXPLAIN QUERY PLAN " if database.is_sqlite else "EXPLAIN "
    async with database.transaction() as tx:
        if not database.is_sqlite:
            await tx.exec_driver_sql("SET LOCAL enable_seqscan = off")  # the tables are empty
        plan = "\n".join(str(tuple(row)) for row in await tx.exec_driver_sql(explain + query, parameters))
    assert "ix_pending_votes_due_at" in plan
    assert "Seq Scan" not in plan
    assert "SCAN" not in plan
