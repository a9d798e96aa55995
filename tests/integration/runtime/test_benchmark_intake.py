"""The benchmark of intake runs at its small scale; its goals are compared by a function."""

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nats
import pytest
from nats.js import JetStreamContext
from nats.js.api import StreamConfig

from benchmarks.intake import Lag, Numbers, lag_of_recorder, missed_goals
from tests.brokers import Broker

ROOT = Path(__file__).parents[3]
GOOD = Numbers(
    battles=2_000,
    bytes=26_000_000,
    accepted=2_000,
    seconds=15.0,
    lag_messages=300,
    lag_seconds=1.5,
    step_wall=0.3,
    step_cpu=0.05,
    step="Runner._work",
)


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.broker
def test_the_small_scale_accepts_all_and_measures_lag_and_steps(tmp_path: Path) -> None:
    result = tmp_path / "numbers.json"
    command = [sys.executable, "-m", "benchmarks.intake", "--scale", "small", "--json", str(result)]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stderr  # 1: a goal was missed, on a busy machine
    numbers = json.loads(result.read_text())
    assert (numbers["accepted"], numbers["battles"]) == (40, 40)
    assert numbers["lag_messages"] >= 0  # 40 battles can be accepted and recorded between two looks
    assert min(numbers["step_cpu"], numbers["step_wall"]) > 0  # of two clocks, either can be ahead
    assert numbers["step"]


async def lag_of(js: JetStreamContext, messages: int) -> Lag:
    """The lag once it is so many messages: the broker confirms a message before it counts it."""
    async with asyncio.timeout(90):
        while (lag := await lag_of_recorder(js)).messages != messages:
            await asyncio.sleep(0.01)
    return lag


@pytest.mark.broker
async def test_the_recorder_is_as_far_behind_as_it_has_not_acked(broker: Broker) -> None:
    client = await nats.connect(broker.url)
    js = client.jetstream()
    await js.add_stream(StreamConfig(name="ARENA", subjects=["arena.v1.battle.>"]))
    pull = await js.pull_subscribe("arena.v1.battle.>", "recorder", "ARENA")
    for _ in range(3):
        await js.publish("arena.v1.battle.submitted", b"")
    await lag_of(js, 3)
    first, *rest = await pull.fetch(3, timeout=90)
    await first.ack_sync()
    assert (await lag_of(js, 2)).seconds > 0
    for message in rest:
        await message.ack_sync()
    assert await lag_of(js, 0) == Lag(0, 0.0)
    await client.close()


def test_a_run_that_meets_the_goals_misses_none() -> None:
    assert missed_goals(GOOD) == []


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        ({"accepted": 1_999}, "1 battles were not accepted"),
        ({"seconds": 20.5}, "accepting took 20.5 s"),
        ({"lag_seconds": 2.5}, "the recorder was 2.5 s behind"),
        ({"step_cpu": 0.15}, "a step of the event loop took 150 ms"),
    ],
)
def test_every_goal_can_be_missed(change: dict[str, float], missed: str) -> None:
    [goal] = missed_goals(replace(GOOD, **change))
    assert goal.startswith(missed)
