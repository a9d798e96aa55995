"""Accepting battles, recording their events, and the state that follows, on both databases."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleEvent
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import BattleState, Branch
from services.store.battles.battles import Battles
from services.store.battles.recording import NewEvent
from services.store.database import Database
from tests import samples
from tests.samples import NOON
from tests.stored import body_of, record_new


@pytest.fixture
async def battles(database: Database) -> Battles:
    battles = Battles(database)
    await battles.accept(samples.battle(), b"body", NOON)
    return battles


def new(event: BattleEvent, message_id: str = "") -> NewEvent:
    name = type(event).__name__
    return NewEvent(message_id or f"{name}:{event.key}", name, event, f"arena.v1.{name}", event.key.encode())


async def state(battles: Battles) -> BattleState:
    row = await battles.get("b1")
    assert row is not None
    return row.state


async def test_a_battle_comes_back_as_it_was_accepted(database: Database) -> None:
    battles = Battles(database)
    battle = replace(samples.battle(), language="de", tags=("category:food", "ü"))
    assert await battles.accept(battle, b"\x00body", NOON) is None
    row = await battles.get("b1")
    assert row is not None
    assert (row.arena, row.query, row.language, row.tags) == (
        "default",
        "What is tea?",
        "de",
        ("category:food", "ü"),
    )
    assert (row.system_a, row.system_b, row.received_at) == ("left", "right", NOON)
    assert await body_of(battles, "b1") == b"\x00body"
    assert (row.state, row.ended_at, row.event_count) == (BattleState.RUNNING, None, 0)


async def test_the_same_battle_again_is_seen_before_and_changes_nothing(battles: Battles) -> None:
    known = await battles.accept(samples.battle(), b"other", NOON + timedelta(hours=1))
    assert known == samples.battle().content_hash()
    row = await battles.get("b1")
    assert row is not None
    assert (await body_of(battles, "b1"), row.received_at) == (b"body", NOON)


async def test_another_battle_under_a_known_id_is_a_conflict_and_changes_nothing(battles: Battles) -> None:
    other = samples.battle(a="Something else.")
    assert await battles.accept(other, b"other", NOON) not in (None, other.content_hash())
    row = await battles.get("b1")
    assert row is not None
    assert row.content_hash == samples.battle().content_hash()


async def test_of_many_who_accept_a_battle_at_once_one_is_first(database: Database) -> None:
    battles = Battles(database)
    said = await asyncio.gather(*(battles.accept(samples.battle(), b"", NOON) for _ in range(10)))
    assert sorted(said, key=str) == [samples.battle().content_hash()] * 9 + [None]


async def test_a_battle_nobody_sent_is_none(battles: Battles) -> None:
    assert await battles.get("never") is None


async def test_battles_are_counted_by_arena(battles: Battles) -> None:
    for number in range(2, 6):
        battle = samples.battle(f"b{number}", arena="odd" if number % 2 else "default")
        await battles.accept(battle, b"", NOON + timedelta(minutes=number))
    assert await battles.arenas() == {"default": 3, "odd": 2}


async def test_events_come_back_in_order_as_the_bytes_that_travelled(battles: Battles) -> None:
    assert await record_new(battles, new(samples.judged()), NOON) == 1
    assert await record_new(battles, new(samples.voted()), NOON + timedelta(seconds=1)) == 2
    first, second = await battles.events_of("b1")
    assert (first.sequence, first.name, first.body, first.recorded_at) == (
        1,
        "BattleJudged",
        b"judged pairwise",
        NOON,
    )
    assert await battles.events_of("b1", after=1) == [second]


async def test_an_event_recorded_twice_leaves_the_counter_alone(battles: Battles) -> None:
    assert await record_new(battles, new(samples.judged()), NOON) == 1
    assert await record_new(battles, new(samples.judged()), NOON) is None
    assert await record_new(battles, new(samples.voted()), NOON) == 2
    row = await battles.get("b1")
    assert row is not None
    assert row.event_count == 2


async def test_an_event_of_an_unknown_battle_is_refused(battles: Battles) -> None:
    with pytest.raises(LookupError, match="'never' is not in the database"):
        await record_new(battles, new(samples.voted(name="never")), NOON)


async def test_twenty_recorders_at_once_number_events_densely_and_each_once(
    battles: Battles, database_url: str
) -> None:
    others = [Database(database_url) for _ in range(4)]  # as many processes
    recorders = [battles, *(Battles(other) for other in others)]
    jobs = [
        record_new(recorders[number % 5], new(samples.judged(evaluator=f"j{number % 20}")), NOON)
        for number in range(40)  # each event twice
    ]
    numbers = await asyncio.gather(*jobs)
    await asyncio.gather(*(other.close() for other in others))
    assert sorted(n for n in numbers if n is not None) == list(range(1, 21))
    assert [event.sequence for event in await battles.events_of("b1")] == list(range(1, 21))


async def test_nuggets_and_a_verdict_make_a_battle_scored(battles: Battles) -> None:
    await record_new(battles, new(samples.assigned(1, 0, of=1)), NOON)
    assert await state(battles) is BattleState.RUNNING
    await record_new(battles, new(samples.judged()), NOON)
    assert await state(battles) is BattleState.SCORED


@pytest.mark.parametrize("stage", [Stage.NUGGETIZER, Stage.ASSIGNER])
async def test_a_verdict_without_nuggets_is_partial(battles: Battles, stage: Stage) -> None:
    await record_new(battles, new(samples.judged()), NOON)
    await record_new(battles, new(samples.failed(stage)), NOON)
    assert await state(battles) is BattleState.PARTIAL


@pytest.mark.parametrize("stage", [Stage.INTAKE, Stage.SCRAPER, Stage.INDEXER, Stage.RETRIEVER])
async def test_a_failure_before_the_branches_ends_both(battles: Battles, stage: Stage) -> None:
    await record_new(battles, new(samples.failed(stage)), NOON)
    assert await state(battles) is BattleState.FAILED


async def test_a_failure_after_the_branches_ends_neither(battles: Battles) -> None:
    await record_new(battles, new(samples.failed(Stage.RECORDER)), NOON)
    assert await state(battles) is BattleState.RUNNING


async def test_a_late_failure_does_not_undo_a_success(battles: Battles) -> None:
    await record_new(battles, new(samples.judged()), NOON)
    await record_new(battles, new(samples.failed(Stage.JUDGE)), NOON)
    row = await battles.get("b1")
    assert row is not None
    assert row.judge_state is Branch.DONE


async def test_a_success_after_a_failure_counts(battles: Battles) -> None:
    await record_new(battles, new(samples.failed(Stage.SCRAPER)), NOON)
    await record_new(battles, new(samples.judged()), NOON)
    assert await state(battles) is BattleState.PARTIAL
    await record_new(battles, new(samples.assigned(1, 0, of=1)), NOON)
    assert await state(battles) is BattleState.SCORED


async def test_a_battle_ends_once(battles: Battles) -> None:
    later = NOON + timedelta(minutes=1)
    await record_new(battles, new(samples.judged()), NOON)
    await record_new(battles, new(samples.failed(Stage.ASSIGNER)), later)
    await record_new(battles, new(samples.assigned(1, 0, of=1)), later + timedelta(minutes=1))
    row = await battles.get("b1")
    assert row is not None
    assert row.ended_at == later


async def test_a_vote_moves_no_branch(battles: Battles) -> None:
    await record_new(battles, new(samples.voted(Vote.TIE)), NOON)
    assert await state(battles) is BattleState.RUNNING


async def test_failures_come_newest_first_with_their_reason(battles: Battles) -> None:
    await battles.accept(samples.battle("b2"), b"", NOON)
    await record_new(battles, new(samples.failed(Stage.JUDGE)), NOON)
    refused = samples.failed(Stage.ASSIGNER, "b2", Reason.LLM_REFUSED)
    await record_new(battles, new(refused), NOON + timedelta(seconds=1))
    newest, oldest = await battles.failures()
    assert (newest.battle_id, newest.failure) == ("b2", refused.failure)
    assert (oldest.battle_id, oldest.failed_at) == ("b1", NOON)
    assert await battles.failures(battle_id="b1") == [oldest]
    assert await battles.failures(limit=1) == [newest]
    assert await battles.failures(arenas=[newest.arena]) == [newest, oldest]
    assert await battles.failures(arenas=["elsewhere"]) == []


async def test_an_id_with_a_nul_character_is_nobodys(battles: Battles) -> None:
    """PostgreSQL cannot even be asked for one."""
    assert await battles.get("b1\x00") is None
