"""Several judges and nuggetizers on a real broker: each reads every battle, and none another's consumer."""

from collections.abc import AsyncIterator

import pytest

from nuggetstream.domain.failure import Stage
from services.cli.own_consumer import own_consumer
from services.cli.prepared import NotPrepared
from services.runtime.bus import Bus, BusSettings, ensure, remove_undeclared
from services.runtime.nats_server import NatsServer
from services.wire.declared import Judges, Nuggetizers, prefix_of
from services.wire.subjects import STREAM_ARENA
from services.wire.topology import consumers, streams

TWO = Judges(("alpha", "beta"))
ALPHA, ANY = Judges(("alpha",)), Judges()


@pytest.fixture
async def bus(nats_server: NatsServer) -> AsyncIterator[Bus]:
    async with Bus.connect(BusSettings(servers=(nats_server.url,), name="test")) as bus:
        await declare(bus, TWO)
        yield bus


async def declare(bus: Bus, judges: Judges) -> list[str]:
    declared = consumers(judges)
    await ensure(bus.js, streams(), declared)
    return await remove_undeclared(bus.js, STREAM_ARENA, prefix_of(Stage.JUDGE), declared)


async def test_a_battle_waits_for_both_judges(bus: Bus) -> None:
    await bus.js.publish("arena.v1.battle.retrieved", b"")
    specs = [await own_consumer(bus, TWO, name) for name in TWO.names]
    assert [spec.durable for spec in specs] == ["judge", "judge-beta"]
    for spec in specs:
        info = await bus.js.consumer_info(STREAM_ARENA, spec.durable)
        assert info.num_pending == 1


@pytest.mark.parametrize(
    ("judges", "name", "problem"),
    [
        (TWO, "gamma", "declares alpha, beta and not gamma"),
        (ANY, "gamma", "consumer judge belongs to the judge alpha and not to gamma"),
        (Judges(("beta", "alpha")), "beta", "consumer judge belongs to the judge alpha and not to beta"),
        (Judges((*TWO.names, "gamma")), "gamma", "consumer judge-gamma is missing"),
    ],
)
async def test_a_judge_without_a_consumer_of_its_own_does_not_start(
    bus: Bus, judges: Judges, name: str, problem: str
) -> None:
    with pytest.raises(NotPrepared, match=problem):
        await own_consumer(bus, judges, name)


async def test_a_judge_that_is_no_longer_declared_loses_its_consumer_and_no_other_consumer_is_deleted(
    bus: Bus,
) -> None:
    await bus.js.add_consumer(STREAM_ARENA, durable_name="mine")
    assert await declare(bus, ALPHA) == ["judge-beta"]
    assert await declare(bus, ALPHA) == []
    assert "mine" in {info.name for info in await bus.js.consumers_info(STREAM_ARENA)}
    assert (await own_consumer(bus, ANY, "whoever")).durable == "judge"  # a single judge may have any name


async def test_two_nuggetizers_have_a_consumer_each_and_do_not_start_on_that_of_another(bus: Bus) -> None:
    two = Nuggetizers(("first", "second"))
    await ensure(bus.js, streams(), consumers(TWO, nuggetizers=two))
    await bus.js.publish("arena.v1.battle.retrieved", b"")
    specs = [await own_consumer(bus, two, name) for name in two.names]
    assert [spec.durable for spec in specs] == ["nuggetizer", "nuggetizer-second"]
    assert [(await bus.js.consumer_info(STREAM_ARENA, s.durable)).num_pending for s in specs] == [1, 1]
    problem = "consumer nuggetizer belongs to the nuggetizer first and not to second"
    with pytest.raises(NotPrepared, match=problem):
        await own_consumer(bus, Nuggetizers(("second", "first")), "second")
    with pytest.raises(NotPrepared, match="NUGGETSTREAM_NUGGETIZERS declares first, second and not third"):
        await own_consumer(bus, two, "third")
