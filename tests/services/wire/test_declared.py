"""The consumers of several judges and nuggetizers, and the failures that name them."""

from dataclasses import replace

import pytest
from pydantic import ValidationError

from nuggetstream.domain.event import BattleFailed
from nuggetstream.domain.failure import Reason, Stage, StageFailure
from services.cli.settings import PlatformSettings
from services.runtime.runner import DeadLetter
from services.wire import topology
from services.wire.codec import decode, encode, schema_of
from services.wire.declared import Judges, Nuggetizers
from services.wire.stages import battle_failed, event_stage, failure_of
from tests import samples
from tests.services.wire.test_stages import NoBlobs, nothing

TWO = Judges.parse("alpha,gpt-4.1")


def test_every_judge_reads_every_battle_on_a_consumer_of_its_own() -> None:
    specs = [spec for spec in topology.consumers(TWO) if spec.durable.startswith("judge")]
    assert [spec.durable for spec in specs] == ["judge", "judge-gpt-4_1"]
    assert {spec.subjects for spec in specs} == {topology.consumer(Stage.JUDGE).subjects}
    assert [dict(spec.metadata) for spec in specs] == [{"judge": "alpha"}, {"judge": "gpt-4.1"}]


def test_every_nuggetizer_reads_every_battle_on_a_consumer_of_its_own() -> None:
    two = Nuggetizers.parse("first,second")
    specs = {spec.durable: spec for spec in topology.consumers(nuggetizers=two)}
    mine = [specs["nuggetizer"], specs["nuggetizer-second"]]
    assert {spec.subjects for spec in mine} == {topology.consumer(Stage.NUGGETIZER).subjects}
    assert [dict(spec.metadata) for spec in mine] == [{"nuggetizer": "first"}, {"nuggetizer": "second"}]
    assert [two.is_additional(name) for name in two.names] == [False, True]


@pytest.mark.parametrize("names", ["", "alpha"])
def test_a_single_judge_keeps_the_consumer_that_it_had(names: str) -> None:
    assert sorted(topology.consumers(Judges.parse(names)), key=repr) == sorted(topology.consumers(), key=repr)
    assert topology.consumer_of(Judges.parse(names), "alpha") == topology.consumer(Stage.JUDGE)


@pytest.mark.parametrize("names", ["a b", "a/b", "-a", "x" * 71, "a.b,a_b", "a,a"])
def test_names_that_cannot_be_told_apart_at_the_broker_are_rejected(names: str) -> None:
    with pytest.raises(ValidationError, match="judge"):
        PlatformSettings(judges=names)
    with pytest.raises(ValidationError, match="nuggetizer"):
        PlatformSettings(nuggetizers=names)


def test_judges_that_give_up_for_the_same_reason_are_two_failures() -> None:
    said = []
    for name in TWO.names:
        stage = event_stage(
            Stage.JUDGE,
            nothing,
            NoBlobs(),
            concurrency=1,
            deadline=1.0,
            consumer=topology.consumer_of(TWO, name),
            evaluator=name,
        )
        said += stage.give_up(samples.retrieved(), StageFailure(Stage.JUDGE, Reason.LLM_REFUSED, "declined"))
        assert stage.label == TWO.durable(name)
    assert [failed.failure.evaluator for failed in said] == list(TWO.names)
    assert said[0].key != said[1].key


def test_the_failure_of_a_single_judge_keeps_its_key() -> None:
    failure = StageFailure(Stage.JUDGE, Reason.LLM_REFUSED, "declined")
    assert battle_failed(samples.retrieved(), failure).key == "d6f33d19fa336c65a93c7da3b5792be6"


@pytest.mark.parametrize(
    ("durable", "judges", "name"),
    [("judge", TWO, "alpha"), ("judge-gpt-4_1", TWO, "gpt-4.1"), ("judge", Judges(), None)],
)
async def test_a_message_of_a_judge_that_the_mover_takes_away_fails_its_battle(
    durable: str, judges: Judges, name: str | None
) -> None:
    event = samples.retrieved()
    letter = DeadLetter(
        stage=durable, subject="s", id="m1", schema=schema_of(type(event)), headers={}, body=encode(event),
        reason=Reason.MAX_DELIVERIES, detail="delivered 10 times", attempts=10, stream="ARENA", stream_seq=7,
    )  # fmt: skip
    (told,) = await failure_of(letter, NoBlobs(), judges)
    failed = decode(told.schema, told.body)
    assert isinstance(failed, BattleFailed)
    assert (failed.failure.stage, failed.failure.evaluator) == (Stage.JUDGE, name)


async def test_a_failure_of_the_assigner_names_the_nuggetizer_of_the_list() -> None:
    event = samples.nuggetized(1)
    event = replace(event, nugget_list=replace(event.nugget_list, nuggetizer="second", additional=True))
    stage = event_stage(Stage.ASSIGNER, nothing, NoBlobs(), concurrency=1, deadline=1.0)
    (failed,) = stage.give_up(event, StageFailure(Stage.ASSIGNER, Reason.LLM_REFUSED, "declined"))
    assert failed.failure.evaluator == "second"
    letter = DeadLetter(
        stage="assigner", subject="s", id="m1", schema=schema_of(type(event)), headers={}, body=encode(event),
        reason=Reason.MAX_DELIVERIES, detail="delivered 10 times", attempts=10, stream="ARENA", stream_seq=7,
    )  # fmt: skip
    (told,) = await failure_of(letter, NoBlobs(), Judges(), Nuggetizers())
    failed = decode(told.schema, told.body)
    assert isinstance(failed, BattleFailed)
    assert failed.failure.evaluator == "second"
