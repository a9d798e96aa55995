"""Events into the record, and a nudge for each."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from arena.v1 import arena_pb2
from prometheus_client import REGISTRY

from nuggetstream.domain.battle import Answer
from nuggetstream.domain.event import BattleEvent, BattleFailed, BattleSubmitted
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import BattleState
from nuggetstream.views.battles import FailureView
from services.recorder.parking import Parking
from services.recorder.stage import Recorder
from services.runtime.errors import InvalidInput
from services.runtime.llm.accounting import Entry
from services.runtime.llm.prices import Money, Tokens
from services.store.battles.battles import Battles
from services.store.battles.recording import NewEvent, Recording
from services.store.database import Database
from services.store.outcomes.outcomes import Outcomes
from services.store.spend.costs import Costs
from services.store.spend.spend import DatabaseSpendStore
from services.store.work.parked import ParkedEvents
from services.wire.codec import decode, encode, message_id, schema_of
from services.wire.subjects import RECORDED
from tests import samples
from tests.samples import NOON

SUBMITTED = BattleSubmitted("submitted", samples.battle())


class Nudges:
    def __init__(self) -> None:
        self.heard: list[tuple[str, int]] = []

    async def __call__(self, subject: str, body: bytes) -> None:
        assert subject == RECORDED
        nudge = arena_pb2.EventRecorded.FromString(body)
        self.heard.append((nudge.battle_id, nudge.sequence))


async def test_every_event_is_recorded_once_and_nudged_whenever_it_comes(record: Database) -> None:
    nudges = Nudges()
    recorder = Recorder(Battles(record), nudges)
    for event in (SUBMITTED, SUBMITTED, samples.judged(), samples.voted(), samples.judged()):
        assert await recorder(event) == []
    assert nudges.heard == [("b1", 1), ("b1", 1), ("b1", 2), ("b1", 3), ("b1", 2)]
    events = await Battles(record).events_of("b1")
    assert [event.name for event in events] == ["submitted", "judged", "voted"]
    assert decode(events[1].schema, events[1].body) == samples.judged()


async def test_the_cost_of_a_battle_is_exported_once_when_it_has_ended(record: Database) -> None:
    recorder = Recorder(Battles(record), Nudges(), costs=Costs(record))

    def exported() -> tuple[float | None, float | None]:
        labels = {"arena": samples.battle().arena, "currency": "XTS"}
        read, name = REGISTRY.get_sample_value, "nuggetstream_battle_cost"
        return read(f"{name}_count", labels), read(f"{name}_sum", labels)

    await recorder(SUBMITTED)
    cost = Money(Decimal("0.25"), "XTS")
    await DatabaseSpendStore(record).add(Entry("b1", "judge", "m", NOON.date(), Tokens(1, 1), cost, "usage"))
    labelled = samples.assigned(1, 0, of=1)
    edited = replace(labelled, key="edited", nugget_list=replace(labelled.nugget_list, edit=1))
    for event in (samples.judged(), labelled, samples.judged(), edited):
        await recorder(event)
    assert exported() == (1.0, 0.25)


async def test_a_battle_is_known_from_its_first_event(record: Database) -> None:
    recorder = Recorder(Battles(record), Nudges())
    await recorder(SUBMITTED)
    await recorder(samples.judged())
    await recorder(samples.assigned(1, 0, of=1))
    row = await Battles(record).get("b1")
    assert row is not None
    assert row.state is BattleState.SCORED
    assert row.content_hash == samples.battle().content_hash()


async def test_the_language_of_a_battle_that_is_stored_again_is_detected_again(record: Database) -> None:
    german = replace(samples.battle(), language=None, query="Warum gibt es zweimal am Tag Flut?")
    declared = replace(german, id="b2", language="en")
    recorder = Recorder(Battles(record), Nudges())
    await recorder(BattleSubmitted("submitted", german))
    await recorder(BattleSubmitted("declared", declared))
    rows = [await Battles(record).get(name) for name in ("b1", "b2")]
    assert [row and (row.language, row.detected and row.detected.tag) for row in rows] == [
        (None, "de"),
        ("en", None),
    ]


async def test_what_the_other_side_said_is_kept_for_administrators_alone(record: Database) -> None:
    battles = Battles(record)
    recorder = Recorder(battles, Nudges())
    await recorder(SUBMITTED)
    failure = StageFailure(
        Stage.JUDGE, Reason.LLM_UNAVAILABLE, "the endpoint answered 401", 5, "no such key: ***"
    )
    await recorder(BattleFailed("f" * 32, "b1", "default", failure))
    (recorded,) = await battles.failures()
    assert recorded.failure == failure
    assert "no such key" not in FailureView.showing(recorded.failure, recorded).model_dump_json()
    event = (await battles.events_of("b1"))[-1]
    assert event.name == "failed"
    assert b"the endpoint answered 401" in event.body
    assert b"no such key" not in event.body


async def test_an_event_that_overtakes_its_battle_is_parked_and_recorded_once_the_battle_is_stored(
    record: Database,
) -> None:
    nudges = Nudges()
    recorder = Recorder(Battles(record), nudges)
    parking = Parking(ParkedEvents(record), recorder)
    for _ in range(2):
        await recorder(samples.voted())
    await recorder(replace(samples.voted(), key="other systems", system_a="right", system_b="left"))
    assert (nudges.heard, await parking.reconcile(samples.NOON)) == ([], 0)
    await recorder(SUBMITTED)
    assert await parking.reconcile(samples.NOON) == 2
    assert await parking.reconcile(samples.NOON) == 0
    events = await Battles(record).events_of("b1")
    assert [event.name for event in events] == ["submitted", "voted"]
    assert await Outcomes(record).count("default") == 1


async def test_an_unread_event_that_is_read_before_its_battle_is_stored_waits_for_it(
    record: Database,
) -> None:
    recorder, voted = Recorder(Battles(record), Nudges()), samples.voted()
    parked = ParkedEvents(record)
    await parked.park_unread(message_id(voted), schema_of(type(voted)), encode(voted))
    parking = Parking(parked, recorder)
    assert await parking.reconcile(samples.NOON) == 1  # it is read, and waits for its battle
    assert await parked.unread("", 10) == []
    await recorder(SUBMITTED)
    assert await parking.reconcile(samples.NOON) == 1
    events = await Battles(record).events_of("b1")
    assert [event.name for event in events] == ["submitted", "voted"]


async def test_a_parked_event_whose_battle_never_comes_is_dropped_after_a_week(record: Database) -> None:
    recorder, now = Recorder(Battles(record), Nudges()), datetime.now(UTC)
    parking = Parking(ParkedEvents(record), recorder)
    await recorder(samples.voted())
    for days in (6, 8):
        await parking.reconcile(now + timedelta(days=days))
    await recorder(SUBMITTED)
    assert await parking.reconcile(now) == 0


async def test_a_battle_that_a_restore_lost_is_stored_again_from_any_event_that_carries_it(
    record: Database,
) -> None:
    """So no event of it waits for one that was handled before the restore, in the way of all others."""
    recorder, names = Recorder(Battles(record), Nudges()), [f"b{number}" for number in range(1, 31)]
    lost = [replace(samples.judged(fought=samples.battle(name)), key=f"judged {name}") for name in names]
    assert await asyncio.gather(*map(recorder, lost)) == [[]] * 30
    rows = await Battles(record).get_all(names)
    assert {row.content_hash for row in rows.values()} == {samples.battle().content_hash()}
    assert await Outcomes(record).count("default") == 30
    await recorder(samples.voted())
    await recorder(SUBMITTED)
    events = await Battles(record).events_of("b1")
    assert [event.name for event in events] == ["judged", "voted", "submitted"]


FORGED = {
    "an arena": replace(samples.voted(), arena="other"),
    "systems": replace(samples.voted(), system_a="right", system_b="left"),
    "a system": replace(samples.judged(), battle=replace(samples.battle(), a=Answer("best", "x"))),
}


@pytest.mark.parametrize("event", FORGED.values(), ids=FORGED)
async def test_an_outcome_with_another_arena_or_other_systems_is_rejected(
    record: Database, event: BattleEvent
) -> None:
    """It fails alone: what is recorded with it is recorded."""
    recorder, outcomes = Recorder(Battles(record), Nudges()), Outcomes(record)
    await recorder(SUBMITTED)
    forged, recorded = await asyncio.gather(
        recorder(event), recorder(samples.assigned(3, 1, of=4)), return_exceptions=True
    )
    assert (type(forged), recorded) == (InvalidInput, [])
    assert (await outcomes.count("default"), await outcomes.count("other")) == (1, 0)


async def test_an_event_and_what_follows_from_it_are_one_transaction(
    record: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(Battles(record), Nudges())
    await recorder(SUBMITTED)
    with monkeypatch.context() as patched:
        patched.setattr("services.store.battles.recording.put_all", _killed)
        with pytest.raises(ValueError, match="killed"):
            await recorder(samples.judged())
    assert [event.name for event in await Battles(record).events_of("b1")] == ["submitted"]
    for _ in range(2):
        await recorder(samples.judged())
    assert [event.name for event in await Battles(record).events_of("b1")] == ["submitted", "judged"]
    assert await Outcomes(record).count("default") == 1


def _killed(*_: object) -> None:
    raise ValueError("killed")


async def test_labels_with_a_gap_are_recorded_and_count_nothing(record: Database) -> None:
    recorder, event = Recorder(Battles(record), Nudges()), samples.assigned(3, 1, of=4)
    lost = replace(event.assignment_set, assignments=event.assignment_set.assignments[1:])
    await recorder(SUBMITTED)
    with pytest.raises(InvalidInput, match="label"):
        await recorder(replace(event, assignment_set=lost))
    assert [event.name for event in await Battles(record).events_of("b1")] == ["submitted", "assigned"]
    assert await Outcomes(record).count("default") == 0


class CountedBattles(Battles):
    """Notes how many events each transaction records."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.groups: list[int] = []

    async def record_all(self, new: Sequence[NewEvent], at: datetime) -> list[Recording]:
        self.groups.append(len(new))
        return await super().record_all(new, at)


async def test_events_in_flight_together_share_a_transaction(record: Database) -> None:
    battles, nudges = CountedBattles(record), Nudges()
    recorder = Recorder(battles, nudges)
    await recorder(SUBMITTED)
    battles.groups.clear()
    events = [samples.judged(evaluator=f"judge {number}") for number in range(30)]
    await asyncio.gather(*map(recorder, events))
    assert battles.groups == [30]
    assert sorted(nudges.heard) == [("b1", number) for number in range(1, 32)]


class RejectingBattles(CountedBattles):
    """Rejects one event, and with it the transaction that it is in."""

    async def record_all(self, new: Sequence[NewEvent], at: datetime) -> list[Recording]:
        self.groups.append(len(new))
        if any(isinstance(each.event, BattleFailed) for each in new):
            raise ValueError("no failures")
        return await Battles.record_all(self, new, at)


async def test_an_event_that_cannot_be_recorded_fails_alone(record: Database) -> None:
    battles, nudges = RejectingBattles(record), Nudges()
    recorder = Recorder(battles, nudges)
    await recorder(SUBMITTED)
    battles.groups.clear()
    unknown = samples.voted(name="b2")
    events = (samples.judged(), unknown, samples.failed(Stage.JUDGE), samples.voted())
    results = await asyncio.gather(*map(recorder, events), return_exceptions=True)
    assert [type(result) for result in results] == [list, list, ValueError, list]
    assert battles.groups == [4, 1, 1, 1, 1]
    assert nudges.heard == [("b1", number) for number in (1, 2, 3)]
