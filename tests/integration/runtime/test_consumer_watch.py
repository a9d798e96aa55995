"""The lag of a stage is known while no process runs the stage."""

import asyncio

from prometheus_client import REGISTRY

from services.runtime.bus import Bus, ConsumerSpec, ensure
from services.runtime.lag import ConsumerWatch


def watch_of(bus: Bus, spec: ConsumerSpec) -> ConsumerWatch:
    return ConsumerWatch(bus, [spec.stream], lambda name: name == spec.durable)


def lag(stage: str) -> float | None:
    return REGISTRY.get_sample_value("nuggetstream_consumer_lag", {"stage": stage})


async def test_the_lag_of_a_stage_that_nobody_runs_is_exported(flow):
    spec = flow.stage().consumer
    await ensure(flow.bus.js, (), (spec,))
    await flow.submit("one", "two", "three")
    watch = watch_of(flow.bus, spec)
    async with asyncio.timeout(90):  # the broker counts a moment after it has stored
        await watch.measure()
        while lag(spec.durable) != 3:
            await asyncio.sleep(0.02)
            await watch.measure()
    assert REGISTRY.get_sample_value("nuggetstream_consumer_pulls", {"stage": spec.durable}) == 0


async def test_a_deleted_consumer_has_no_value_instead_of_an_old_one(flow):
    spec = flow.stage().consumer
    await ensure(flow.bus.js, (), (spec,))
    watch = watch_of(flow.bus, spec)
    await watch.measure()
    assert lag(spec.durable) is not None
    await flow.bus.js.delete_consumer(spec.stream, spec.durable)
    await watch.measure()
    assert lag(spec.durable) is None


async def test_streams_that_cannot_be_read_leave_no_value_and_do_not_end_the_watch(flow):
    spec = flow.stage().consumer
    await ensure(flow.bus.js, (), (spec,))
    watch = watch_of(flow.bus, spec)
    await watch.measure()
    assert lag(spec.durable) is not None
    await flow.bus.js.delete_stream(spec.stream)
    await watch.measure()
    assert lag(spec.durable) is None


async def test_a_consumer_of_an_operator_is_no_stage_and_one_that_is_not_durable_is_left_out(flow):
    spec = flow.stage().consumer
    await ensure(flow.bus.js, (), (spec,))
    await flow.bus.js.add_consumer(spec.stream, durable_name="my-archive")
    await flow.bus.js.subscribe(spec.subjects[0], ordered_consumer=True)
    await flow.submit("one", "two", "three")
    watch, mine = watch_of(flow.bus, spec), {"stream": spec.stream, "consumer": "my-archive"}
    async with asyncio.timeout(90):
        await watch.measure()
        while REGISTRY.get_sample_value("nuggetstream_other_consumer_lag", mine) != 3:
            await asyncio.sleep(0.02)
            await watch.measure()
    names = {info.name for info in await flow.bus.js.consumers_info(spec.stream)}
    assert len(names) == 3
    assert [name for name in names if lag(name) is not None] == [spec.durable]
    exported = {
        sample.labels["consumer"]
        for metric in REGISTRY.collect()
        if metric.name == "nuggetstream_other_consumer_lag"
        for sample in metric.samples
    }
    assert exported == {"my-archive"}
    await flow.bus.js.delete_consumer(spec.stream, "my-archive")
    await watch.measure()
    assert REGISTRY.get_sample_value("nuggetstream_other_consumer_lag", mine) is None
