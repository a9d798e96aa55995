"""Labels of second assigners are counted with the event that brings them, on both databases."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleGraded
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.grade import Grade, Grading, MemberGrades, Subject, SubjectKind
from nuggetstream.domain.nugget import Support
from nuggetstream.nuggets.label_agreement import FIRST, ORDER, SECOND
from services.store.battles.battles import Battles, NewEvent
from services.store.battles.deletion import DeletionResult, Deletions
from services.store.database import Database
from services.store.outcomes.label_agreement import LabelCounts
from services.store.outcomes.recount import recount
from tests import samples
from tests.samples import NOON
from tests.stored import record_new

WRONG, NONE, PARTIAL, FULL = ORDER


def compared(
    battle: str, *pairs: tuple[Support, Support], model: str = "m2", key: str = "", version: int | None = None
) -> BattleGraded:
    grades = [
        Grade(Subject(SubjectKind.NUGGET, (Side.A,), item=f"n{number}"), criterion.name, 1.0, label.value)
        for number, pair in enumerate(pairs)
        for criterion, label in zip((FIRST, SECOND), pair, strict=True)
    ]
    grading = Grading("second_assigner", model, "1", (SECOND, FIRST), tuple(grades), list_version=version)
    return BattleGraded(f"compared {battle} {key}", battle, "default", grading)


async def record(battles: Battles, *events: BattleGraded) -> None:
    for event in events:
        new = NewEvent(f"graded:{event.key}", "graded", event, "arena.v1.BattleGraded", b"body")
        await record_new(battles, new, NOON)


async def test_labels_are_counted_replaced_and_deleted_with_their_battle(database: Database) -> None:
    battles, counts = Battles(database), LabelCounts(database)
    for name in ("b1", "b2"):
        await battles.accept(replace(samples.battle(), id=name), b"body", NOON)
    first = compared("b1", (FULL, FULL), (FULL, PARTIAL))
    await record(battles, first, first, compared("b2", (NONE, NONE), (FULL, NONE)), samples.graded())
    (found,) = await counts.of_arena("default")
    assert (found.evaluator, found.model, found.battles) == ("second_assigner", "m2", 2)
    assert +found.counts == {(FULL, FULL): 1, (FULL, PARTIAL): 1, (NONE, NONE): 1, (FULL, NONE): 1}
    assert await counts.of_arena("other") == []

    await record(battles, compared("b1", (FULL, FULL), model="m3", key="again"))  # the list was edited
    by_model = {each.model: (each.battles, +each.counts) for each in await counts.of_arena("default")}
    assert by_model == {"m2": (1, {(NONE, NONE): 1, (FULL, NONE): 1}), "m3": (1, {(FULL, FULL): 1})}
    assert (await recount(database, repair=False))["label_counters"] == 0

    async with database.transaction() as tx:
        await tx.exec_driver_sql(f"UPDATE battles SET ended_at = '{NOON + timedelta(hours=1)}'")
    assert await Deletions(database).delete("b1", NOON) is DeletionResult.DELETED
    assert [each.model for each in await counts.of_arena("default")] == ["m2"]
    assert (await recount(database, repair=False))["label_counters"] == 0


async def test_a_panel_and_each_of_its_members_that_answered_have_counts_of_their_own(
    database: Database,
) -> None:
    battles, counts = Battles(database), LabelCounts(database)
    await battles.accept(replace(samples.battle(), id="b1"), b"body", NOON)
    event = compared("b1", (FULL, PARTIAL), model=", ".join(["m" * 90] * 3))
    own = compared("b1", (FULL, FULL)).grading.grades
    members = (
        MemberGrades("one", "m1", own),
        MemberGrades("two", "m2", event.grading.grades),
        MemberGrades("three", "m3", abstention=Reason.LLM_REFUSED),
    )
    await record(battles, replace(event, grading=replace(event.grading, members=members)))
    found = {each.evaluator: (each.model[:2], +each.counts) for each in await counts.of_arena("default")}
    assert found == {
        "second_assigner": ("mm", {(FULL, PARTIAL): 1}),
        "second_assigner/one": ("m1", {(FULL, FULL): 1}),
        "second_assigner/two": ("m2", {(FULL, PARTIAL): 1}),
    }
    assert (await recount(database, repair=False))["label_counters"] == 0


@pytest.mark.parametrize("at_once", [True, False])
async def test_labels_of_an_older_list_that_come_late_are_not_counted(
    database: Database, at_once: bool
) -> None:
    battles, counts = Battles(database), LabelCounts(database)
    for name in ("b1", "b2"):
        await battles.accept(replace(samples.battle(), id=name), b"body", NOON)
    newer = compared("b1", (FULL, FULL), key="newer", version=3)
    older = [compared("b1", (NONE, NONE), key=str(version), version=version) for version in (None, 1, 2)]
    events = [newer, *older, compared("b2", (PARTIAL, FULL), version=1)]
    new = [NewEvent(f"graded:{e.key}", "graded", e, "arena.v1.BattleGraded", b"body") for e in events]
    for group in [new] if at_once else [[each] for each in new]:
        await battles.record_all(group, NOON)
    (found,) = await counts.of_arena("default")
    assert (found.battles, +found.counts) == (2, {(FULL, FULL): 1, (PARTIAL, FULL): 1})
    await record(battles, compared("b1", (PARTIAL, FULL), key="newest", version=3))
    (found,) = await counts.of_arena("default")
    assert +found.counts == {(PARTIAL, FULL): 2}
    assert (await recount(database, repair=False))["label_counters"] == 0
