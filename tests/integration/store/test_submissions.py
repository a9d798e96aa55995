"""Battles and votes are stored in one transaction with their messages, on both databases."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleEvent, BattleFailed, BattleSubmitted, BattleVoted
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.human_vote import HumanVote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.pipeline import Stage
from services.runtime.bus import Outgoing
from services.store.battles.battles import Battles
from services.store.battles.event_tail import take_positions
from services.store.battles.recording import NewEvent
from services.store.battles.submissions import Submission, Submissions
from services.store.battles.votes import CastVote
from services.store.database import Database
from services.store.outcomes.recount import recount
from services.store.outcomes.stated_outcomes import outcomes_of
from services.store.work.outbox import Outbox
from services.wire.codec import decode, message_id
from tests.samples import NOON
from tests.stored import WrittenOutcomes, sent

AT_ONCE = timedelta(0)


async def accept(database: Database, *names: str, vote: Vote | None = None) -> None:
    submissions = Submissions(database)
    await asyncio.gather(*(submissions.accept(submission(name, vote)) for name in names))


def submission(name: str, vote: Vote | None = None, at: datetime = NOON) -> Submission:
    battle = sent(name).battle
    return Submission.of(BattleSubmitted(f"submitted {name}", battle, vote), at)


def cast(name: str, vote: Vote, second: int = 0, voter: str | None = None) -> CastVote:
    return CastVote(name, HumanVote(vote, voter), NOON + timedelta(seconds=second))


async def taken(database: Database, limit: int = 100) -> list[BattleEvent]:
    """The messages of the outbox, which are published."""
    events: list[Any] = []

    async def publish(messages: Sequence[Outgoing]) -> list[str]:
        events.extend(decode(message.schema, message.body) for message in messages)
        return [message.id for message in messages]

    await Outbox(database).relay(publish, AT_ONCE, limit)
    return events


def ids_of(events: Sequence[BattleEvent]) -> list[str]:
    return sorted(map(message_id, events))


async def test_a_battle_is_stored_with_its_vote_and_their_messages(database: Database) -> None:
    accepted = await Submissions(database).accept(submission("one", Vote.A))
    assert accepted is not None
    assert accepted.created
    assert ids_of(await taken(database)) == sorted(message.id for message in accepted.messages)
    assert await taken(database) == []
    (stored,) = await WrittenOutcomes(database).of_battle("one")
    assert (stored.source, stored.winner) == (Lens.HUMAN.value, Vote.A)
    assert not any((await recount(database, repair=False)).values())


async def test_votes_that_arrive_together_share_a_transaction(database: Database) -> None:
    await accept(database, "one", "two")
    await taken(database)
    submissions = Submissions(database)
    commits: list[Any] = []
    if not database.is_sqlite:
        event.listen(database.engine.sync_engine, "commit", commits.append)
    votes = [
        cast(name, vote, second)
        for second, vote in enumerate(Vote)
        for name in ("two", "nobody", "a\x00", "one")
    ]
    voted = await asyncio.gather(*map(submissions.vote, votes))
    assert [message.id if message else None for message in voted] == [
        f"BattleVoted:{vote.key}" if vote.battle_id in ("one", "two") else None for vote in votes
    ]
    assert len(commits) <= 2  # the first vote, and those that came meanwhile
    published = await taken(database)
    assert ids_of(published) == sorted(message.id for message in voted if message)
    assert {(v.battle_id, v.system_a) for v in published if isinstance(v, BattleVoted)} == {
        (name, sent(name).battle.a.system) for name in ("one", "two")
    }
    for name in ("one", "two"):
        (stored,) = await WrittenOutcomes(database).of_battle(name)
        assert stored.winner is Vote.BOTH_BAD


async def test_a_vote_is_newer_than_one_of_a_gateway_whose_clock_is_ahead(database: Database) -> None:
    await accept(database, "one")
    for vote, second in ((Vote.A, 50), (Vote.TIE, 2), (Vote.B, 1)):
        assert await Submissions(database).vote(cast("one", vote, second)) is not None
    (stored,) = await WrittenOutcomes(database).of_battle("one")
    assert stored.winner is Vote.B


async def test_of_each_voter_the_newest_vote_counts_and_of_several_voters_the_majority(
    database: Database,
) -> None:
    await accept(database, "one")
    votes = [("u1", Vote.A), ("u2", Vote.B), (None, Vote.A), ("u3", Vote.B), ("u1", Vote.B), ("u2", Vote.TIE)]
    preferred = []
    for second, (voter, vote) in enumerate(votes):
        assert await Submissions(database).vote(cast("one", vote, second, voter)) is not None
        (stored,) = await WrittenOutcomes(database).of_battle("one")
        preferred.append(stored.winner)
    # a; a b; a b a; a b a b; b b a b; b tie a b
    assert preferred == [Vote.A, Vote.TIE, Vote.A, Vote.TIE, Vote.B, Vote.TIE]
    assert not any((await recount(database, repair=False)).values())


async def test_a_battle_sent_again_with_another_vote_is_voted_on_and_a_repeated_one_is_not(
    database: Database,
) -> None:
    submissions = Submissions(database)
    replies = [await submissions.accept(submission("one", vote)) for vote in (None, Vote.A, Vote.B, Vote.A)]
    assert all(reply is not None for reply in replies)
    assert [(r.created, r.voted, r.vote) for r in replies if r] == [
        (True, False, None),
        (False, True, Vote.A),
        (False, True, Vote.B),
        (False, False, Vote.B),  # as a client that sends again after a lost reply
    ]
    (stored,) = await WrittenOutcomes(database).of_battle("one")
    assert stored.winner is Vote.B
    voted = [event for event in await taken(database) if isinstance(event, BattleVoted)]
    assert sorted(event.vote for event in voted) == [Vote.A, Vote.B]


async def test_votes_of_several_people_that_arrive_with_one_battle_at_once_all_count(
    database: Database,
) -> None:
    submissions = Submissions(database)
    rows = [("u1", Vote.A), ("u2", Vote.B), ("u3", Vote.B), ("u1", Vote.A)]
    battle = sent("one").battle
    sent_rows = [
        Submission.of(BattleSubmitted("submitted one", battle, vote, voter=voter), NOON)
        for voter, vote in rows
    ]
    replies = await asyncio.gather(*map(submissions.accept, sent_rows))
    assert [reply.voted for reply in replies if reply] == [False, True, True, False]
    (stored,) = await WrittenOutcomes(database).of_battle("one")
    assert stored.winner is Vote.B
    assert len([event for event in await taken(database) if isinstance(event, BattleVoted)]) == 3
    assert not any((await recount(database, repair=False)).values())


async def test_votes_in_two_orders_and_a_recorder_do_not_deadlock(postgres: Database) -> None:
    names = [f"battle {number}" for number in range(12)]
    await accept(postgres, *names)
    deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"

    async def votes(order: list[str], turn: int) -> None:
        """The votes of one gateway, in a transaction."""
        submissions = Submissions(postgres)
        await asyncio.gather(*(submissions.vote(cast(name, Vote.A, turn)) for name in order))

    async def recorded(order: list[str], turn: int) -> None:
        voted = [event for event in await taken(postgres) if not isinstance(event, BattleSubmitted)]
        again = [NewEvent.of(event, outcomes_of(event, NOON)) for event in voted]
        await Battles(postgres).record_all(again, NOON + timedelta(seconds=turn))
        await accept(postgres, *(f"{name} {turn}" for name in order), vote=Vote.B)

    for turn in range(10):
        await asyncio.gather(votes(names, turn), votes(names[::-1], turn), recorded(names[::-1], turn))
    async with postgres.reading() as tx:
        assert (await tx.exec_driver_sql(deadlocks)).scalar_one() == 0
    assert not any((await recount(postgres, repair=False)).values())


async def test_a_battle_sent_again_beside_new_votes_and_a_recorder_do_not_deadlock(
    postgres: Database,
) -> None:
    await accept(postgres, "failed")
    why = StageFailure(stage=Stage.SCRAPER, reason=Reason.BUG, detail="", attempts=1)
    failed = NewEvent.of(BattleFailed("failed", "failed", "default", why))
    await Battles(postgres).record_all([failed], NOON)
    late = NewEvent.of(BattleFailed("failed late", "failed", "default", why))

    async def waiting(number: int) -> None:
        blocked = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        async with asyncio.timeout(90), postgres.reading() as tx:
            while (await tx.exec_driver_sql(blocked)).scalar_one() < number:
                await asyncio.sleep(0.01)

    async with postgres.transaction() as tx:
        await tx.run_sync(take_positions, 1)  # so that the others take theirs in this order
        together = [submission("one", Vote.B), submission("failed")]
        accepting = asyncio.create_task(Submissions(postgres)._accept_all(together))
        await waiting(1)
        recording = asyncio.create_task(Battles(postgres).record_all([late], NOON))
        await waiting(2)
    await asyncio.gather(accepting, recording)
    async with postgres.reading() as tx:
        deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        assert (await tx.exec_driver_sql(deadlocks)).scalar_one() == 0


async def test_two_gateways_share_the_messages_that_wait(database: Database) -> None:
    names = [f"battle {number}" for number in range(20)]
    await accept(database, *names)
    shares = await asyncio.gather(*(taken(database, 15) for _ in range(2)))
    if database.is_sqlite:  # both may read the same rows, and the broker drops what is published twice
        assert {str(event) for share in shares for event in share} <= {str(sent(name)) for name in names}
    rest = await taken(database)
    published = [event.battle.id for share in (*shares, rest) for event in share]
    assert set(published) == set(names)
    assert database.is_sqlite or len(published) == len(names)


async def test_two_gateways_that_get_one_id_at_once_accept_one_battle(
    database: Database, database_url: str
) -> None:
    other = Database(database_url)
    battles = [replace(sent("one").battle, query=f"Why {number}?") for number in range(8)]
    accepted = await asyncio.gather(
        *(
            Submissions(gateway).accept(Submission.of(BattleSubmitted(battle.query, battle), NOON))
            for battle, gateway in zip(battles, (database, other) * 4, strict=True)
        )
    )
    await other.close()
    [created] = [each for each in accepted if each is not None]
    assert created.created
    assert ids_of(await taken(database)) == [message.id for message in created.messages]


async def test_a_message_that_is_not_published_stays(database: Database) -> None:
    await accept(database, "one", "two")

    async def publish(messages: Sequence[Outgoing]) -> list[str]:
        return [message.id for message in messages if message.id.endswith("one")]

    assert await Outbox(database).relay(publish, AT_ONCE, 10) == 1
    assert await Outbox(database).count() == 1
    assert await Outbox(database).relay(publish, timedelta(hours=1), 10) == 0
    assert [event.battle.id for event in await taken(database)] == ["two"]


async def test_what_is_known_or_conflicts_adds_no_message(database: Database) -> None:
    await accept(database, "one")
    await taken(database)
    changed = replace(sent("one").battle, query="Another?")
    other = Submission.of(BattleSubmitted("other", changed), NOON)
    same, conflict = await asyncio.gather(*map(Submissions(database).accept, (submission("one"), other)))
    assert same is not None
    assert (same.created, list(same.messages), conflict) == (False, [], None)
    assert await Outbox(database).count() == 0


async def test_a_transaction_that_fails_stores_neither_the_battle_nor_its_message(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr("services.store.work.outbox.put", fails)
    with pytest.raises(RuntimeError, match="killed"):
        await Submissions(database).accept(submission("one", Vote.A))
    monkeypatch.undo()
    assert await Battles(database).get("one") is None
    assert await Outbox(database).count() == 0
    assert await WrittenOutcomes(database).of_battle("one") == []
