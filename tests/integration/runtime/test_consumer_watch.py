"""The lag of a stage is known while no process runs the stage."""

import asyncio

from prometheus_client import REGISTRY

from services.runtime.bus import ensure
from services.runtime.lag import ConsumerWatch


def lag(stage: str) -> float | None:
    return REGISTRY.get_sample_value("nuggetstream_consumer_lag", {"stage": stage})


async def test_the_lag_of_a_stage_that_nobody_runs_is_exported(flow):
    spec = flow.stage().consumer
    await ensure(flow.bus.js, (), (spec,))
    await flow.submit("one", "two", "three")
    watch = ConsumerWatch(flow.bus, [spec.stream])
    async with asyncio.timeout(10):  # the broker counts a moment after it has stored
        await watch.measure()
        while lag(spec.durable) != 3:
            await asyncio.sleep(0.02)
            await watch.measure()
    assert REGISTRY.get_sample_value("nuggetstream_consumer_pulls", {"stage": spec.durable}) == 0


async def test_a_deleted_consumer_has_no_value_instead_of_an_old_one(flow):
    spec = flow.stage().consumer
    await ensure(flow.bus.js, (), (spec,))
    watch = ConsumerWatch(flow.bus, [spec.stream])
    await watch.measure()
    assert lag(spec.durable) is not None
    await flow.bus.js.delete_consumer(spec.stream, spec.durable)
    await watch.measure()
    assert lag(spec.durable) is None


async def test_streams_that_cannot_be_read_leave_no_value_and_do_not_end_the_watch(flow):
    spec = flow.stage().consumer
    await ensure(flow.bus.js, (), (spec,))
    watch = ConsumerWatch(flow.bus, [spec.stream])
    await watch.measure()
    assert lag(spec.durable) is not None
    await flow.bus.js.delete_stream(spec.stream)
    await watch.measure()
    assert lag(spec.durable) is None
