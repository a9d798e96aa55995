"""The table of consumers, and what every stage over events has in common."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from nuggetstream.domain.event import BattleEvent, BattleFailed, Event
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.pipeline import Stage
from services.runtime.bus import Delivery
from services.runtime.runner import DeadLetter
from services.wire import subjects, topology
from services.wire.codec import REFERENCE_SCHEMA_SUFFIX, decode, encode, schema_of
from services.wire.stages import battle_failed, event_stage, failure_of
from tests import samples


class NoBlobs:
    async def put_blob(self, key: str, body: bytes, battle_id: str | None) -> None: ...

    async def get_blob(self, key: str) -> bytes | None:
        return None


async def nothing(event: BattleEvent) -> list[Event]:
    return []


def stage(name: Stage):
    return event_stage(name, nothing, NoBlobs(), concurrency=1, deadline=1.0)


FAILURE = StageFailure(Stage.JUDGE, Reason.LLM_REFUSED, "declined", 1)


def test_every_stage_has_its_own_consumer_and_dead_letters() -> None:
    consumers = topology.consumers(["rubric"])
    expected = {stage.value for stage in Stage} - {Stage.GRADER.value} | {"grader-rubric"}
    assert expected <= {spec.durable for spec in consumers}
    assert len({spec.durable for spec in consumers}) == len(consumers)
    assert {spec.stream for spec in consumers} <= {spec.name for spec in topology.streams()}


def test_production_streams_are_copied() -> None:
    assert {spec.replicas for spec in topology.streams(3)} == {3}


def test_every_event_of_a_battle_is_kept_by_the_arena_stream() -> None:
    prefix = subjects.BATTLES.removesuffix(">")
    of_battles = [subject for subject in subjects.SUBJECTS.values() if subject.startswith(prefix)]
    assert len(of_battles) == len(subjects.SUBJECTS) - 1
    assert subjects.BATTLES in topology.consumer(Stage.RECORDER).subjects


async def test_an_event_goes_in_and_out_as_it_is() -> None:
    judge, event = stage(Stage.JUDGE), samples.retrieved()
    schema = schema_of(type(event))
    delivery = Delivery("arena.v1.battle.retrieved", "id", 1, 1, datetime.now(UTC), {"schema": schema})
    assert await judge.decode(delivery, encode(event)) == event
    out = await judge.encode(event)
    assert (out.subject, out.id, out.schema) == (
        "arena.v1.battle.retrieved",
        "BattleRetrieved:k1",
        "arena.v1.BattleRetrieved",
    )


def test_giving_up_says_so_and_the_same_each_time() -> None:
    (said,) = stage(Stage.JUDGE).give_up(samples.retrieved(), FAILURE)
    assert said == battle_failed(samples.retrieved(), FAILURE)
    assert (said.battle_id, said.arena, said.failure) == ("b1", "default", FAILURE)


def test_a_failure_to_record_breeds_no_other_failure() -> None:
    assert stage(Stage.RECORDER).give_up(samples.retrieved(), FAILURE) == []


def test_garbage_names_no_battle() -> None:
    assert stage(Stage.JUDGE).give_up(None, FAILURE) == []


def exhausted(stage_name: str, schema: str, body: bytes) -> DeadLetter:
    return DeadLetter(
        stage=stage_name, subject="s", id="m1", schema=schema, headers={}, body=body,
        reason=Reason.MAX_DELIVERIES, detail="delivered 10 times", attempts=10, stream="ARENA", stream_seq=7,
    )  # fmt: skip


async def test_a_message_only_the_mover_could_take_away_fails_its_battle() -> None:
    event = samples.retrieved()
    (told,) = await failure_of(exhausted("judge", schema_of(type(event)), encode(event)), NoBlobs())
    failure = decode(told.schema, told.body)
    assert isinstance(failure, BattleFailed)
    assert failure.battle_id == event.battle.id
    expected = StageFailure(Stage.JUDGE, Reason.MAX_DELIVERIES, "delivered 10 times", 10)
    assert failure.failure == expected


async def test_a_large_message_only_the_mover_could_take_away_fails_its_battle() -> None:
    event = samples.retrieved()
    letter = exhausted("judge", schema_of(type(event)) + REFERENCE_SCHEMA_SUFFIX, b"hash")

    class OneBlob(NoBlobs):
        async def get_blob(self, key: str) -> bytes | None:
            return encode(event) if key == "hash" else None

    (told,) = await failure_of(letter, OneBlob())
    failure = decode(told.schema, told.body)
    assert isinstance(failure, BattleFailed)
    assert failure.battle_id == event.battle.id
    gone = replace(letter, body=b"another hash")
    assert await failure_of(gone, OneBlob()) == []


@pytest.mark.parametrize(
    ("stage_name", "schema"), [("judge", "arena.v1.Nope"), ("recorder", "arena.v1.BattleRetrieved")]
)
async def test_a_message_that_names_no_failed_battle_is_only_a_dead_letter(
    stage_name: str, schema: str
) -> None:
    assert await failure_of(exhausted(stage_name, schema, b"\xff"), NoBlobs()) == []


def test_what_keeps_the_record_outlasts_an_outage() -> None:
    patience = {stage: topology.consumer(stage).max_deliver for stage in Stage}
    assert min(patience[stage] for stage in (Stage.INTAKE, Stage.RECORDER)) >= 200
    assert patience[Stage.JUDGE] == 5


def test_all_streams_together_have_the_configured_size() -> None:
    specs = topology.streams(total_bytes=10_000_000_000)
    assert sum(spec.max_bytes for spec in specs) == 10_000_000_000
    assert min(spec.max_bytes for spec in specs) > 0
