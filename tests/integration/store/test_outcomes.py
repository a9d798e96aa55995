"""Outcomes: one per battle and source, the newest; counted by pair, on both databases."""

from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from sqlalchemy import update

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import Grounding, Grounds
from nuggetstream.ratings.counts import PairCount
from services.store.battles.battles import Battles
from services.store.battles.deletion import Deletions
from services.store.battles.recording import NewEvent
from services.store.database import Database
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.recount import recount
from services.store.outcomes.stated_outcomes import outcomes_of
from services.store.tables import battles
from tests import samples
from tests.samples import NOON, battle
from tests.stored import WrittenOutcomes, pair_counts, record_new

OUTCOME = Outcome("b1", "human", Lens.HUMAN, "default", "left", "right", Vote.A, None, NOON)


async def test_an_outcome_comes_back_whole(database: Database) -> None:
    outcomes = WrittenOutcomes(database)
    nugget = replace(OUTCOME, source="nugget", lens=Lens.NUGGET, margin=-0.25)
    for outcome in (nugget, OUTCOME, OUTCOME):
        await outcomes.put(outcome)
    assert await outcomes.of_battle("b1") == [OUTCOME, nugget]
    assert await outcomes.count("default") == 2
    assert await outcomes.count("elsewhere") == 0


@pytest.mark.parametrize("minutes", [0, 1])
async def test_a_newer_outcome_of_the_same_source_wins(database: Database, minutes: int) -> None:
    outcomes, newer = WrittenOutcomes(database), NOON + timedelta(minutes=minutes)
    await outcomes.put(OUTCOME)
    await outcomes.put(replace(OUTCOME, winner=Vote.B, decided_at=newer))
    (found,) = await outcomes.of_battle("b1")
    assert (found.winner, found.decided_at) == (Vote.B, newer)


async def test_an_older_outcome_that_comes_late_is_ignored(database: Database) -> None:
    outcomes = WrittenOutcomes(database)
    await outcomes.put(OUTCOME)
    await outcomes.put(replace(OUTCOME, winner=Vote.B, decided_at=NOON - timedelta(microseconds=1)))
    assert await outcomes.of_battle("b1") == [OUTCOME]


async def test_the_models_of_labels_and_judges_are_known_while_an_outcome_rests_on_them(
    database: Database,
) -> None:
    outcomes = WrittenOutcomes(database)
    nugget = replace(OUTCOME, source="nugget", lens=Lens.NUGGET, judge_model="n", list_version=1)
    judges = [
        replace(OUTCOME, source=f"{lens.value}:x", lens=lens, judge_model=lens.value, longer=0)
        for lens in (Lens.JUDGE, Lens.GUIDED, Lens.MEMBER)
    ]
    elsewhere = replace(nugget, battle_id="b2", arena="elsewhere", judge_model="m")
    await Battles(database).accept(replace(battle("b2"), arena="elsewhere"), b"", NOON)
    await outcomes.put_all([OUTCOME, nugget, *judges, elsewhere])
    assert await outcomes.models("default") == ["guided", "judge", "member", "n"]
    assert [each.model for each in await outcomes.judge_counts("default")] == ["guided", "judge", "member"]
    await outcomes.put(replace(nugget, judge_model="newer", list_version=2))
    assert await outcomes.models("default") == ["guided", "judge", "member", "newer"]
    assert set((await recount(database, repair=False)).values()) == {0}
    async with database.transaction() as tx:
        await tx.execute(update(battles).values(ended_at=NOON))
    await Deletions(database).delete("b2", NOON)
    assert await outcomes.models("elsewhere") == []


async def test_a_list_without_grounded_nuggets_takes_back_the_preference_of_an_older_one(
    database: Database,
) -> None:
    outcomes = WrittenOutcomes(database)
    nugget = replace(OUTCOME, source="nugget", lens=Lens.NUGGET, margin=0.2, list_version=1)
    grounded = replace(nugget, source="grounded", lens=Lens.GROUNDED)
    await outcomes.put_all([nugget, grounded])
    assert (await outcomes.lens_counts("default", Lens.GROUNDED)).decided == 1
    edited = replace(nugget, winner=Vote.B, list_version=2)
    await outcomes.put_all([edited])
    await outcomes.put_all([nugget, grounded])  # delivered again, late
    assert await outcomes.of_battle("b1") == [edited]
    assert (await outcomes.lens_counts("default", Lens.GROUNDED)).decided == 0
    again = replace(grounded, list_version=3)
    await outcomes.put_all([replace(edited, list_version=3), again])
    assert again in await outcomes.of_battle("b1")


async def test_an_edited_list_that_decides_nothing_takes_back_the_preference_of_the_older_one(
    database: Database,
) -> None:
    event = samples.assigned(2, 0, of=2)
    claims = [replace(n, grounds=Grounds(Grounding.ANSWER_ONLY)) for n in event.nugget_list.nuggets]
    edited = replace(
        event, key="edited", nugget_list=replace(event.nugget_list, nuggets=tuple(claims), edit=1)
    )
    outcomes = WrittenOutcomes(database)
    await Battles(database).accept(battle(), b"", NOON)
    for labelled, stored in ((event, [Vote.A]), (edited, [])):
        await record_new(Battles(database), NewEvent.of(labelled, outcomes_of(labelled, NOON)), NOON)
        assert [outcome.winner for outcome in await outcomes.of_battle("b1")] == stored
    assert (await outcomes.lens_counts("default", Lens.NUGGET)).decided == 0
    assert set((await recount(database, repair=False)).values()) == {0}


async def test_newer_means_newer_whatever_the_time_zone(database: Database) -> None:
    outcomes = WrittenOutcomes(database)
    await outcomes.put(OUTCOME)
    earlier = (NOON - timedelta(minutes=1)).astimezone(timezone(timedelta(hours=9)))
    await outcomes.put(replace(OUTCOME, winner=Vote.B, decided_at=earlier))
    assert await outcomes.of_battle("b1") == [OUTCOME]


async def test_a_moment_without_a_time_zone_is_refused(database: Database) -> None:
    with pytest.raises(Exception, match="has no time zone"):
        await WrittenOutcomes(database).put(replace(OUTCOME, decided_at=NOON.replace(tzinfo=None)))


async def test_pairs_are_counted_by_arena_and_lens(database: Database) -> None:
    outcomes = WrittenOutcomes(database)
    for number, winner in enumerate([Vote.A, Vote.A, Vote.TIE]):
        await outcomes.put(replace(OUTCOME, battle_id=f"b{number}", winner=winner))
    await outcomes.put(replace(OUTCOME, battle_id="b7", system_a="right", system_b="left"))
    await outcomes.put(replace(OUTCOME, battle_id="b8", lens=Lens.JUDGE, source="judge:x"))
    await outcomes.put(replace(OUTCOME, battle_id="b9", arena="elsewhere"))
    assert await pair_counts(database, "default", Lens.HUMAN) == [
        PairCount("left", "right", Vote.A, 2),
        PairCount("left", "right", Vote.TIE, 1),
        PairCount("right", "left", Vote.A, 1),
    ]
    assert await pair_counts(database, "nowhere", Lens.HUMAN) == []


async def test_a_battle_with_two_judges_is_one_decided_battle(database: Database) -> None:
    outcomes = WrittenOutcomes(database)
    for source in ("judge:x", "judge:y"):
        await outcomes.put(replace(OUTCOME, source=source, lens=Lens.JUDGE))
    assert (await outcomes.lens_counts("default", Lens.JUDGE)).decided == 1
    assert (await outcomes.lens_counts("default", Lens.HUMAN)).decided == 0
