"""The schedule of canary battles: claimed once, paid for anew, stored, shown, and in nothing else."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import Table, func, select

from nuggetstream.client import AsyncClient
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleRetrieved
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.lens import Lens
from services.cli.wiring.canary import CanaryWatch, open_canary_judges
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.parts import Parts
from services.cli.wiring.settings import PipelineSettings, PlatformSettings
from services.judge.canary.battles import CANARIES
from services.judge.canary.checking import CanaryJudge
from services.runtime.errors import Permanent
from services.runtime.llm.settings import LLMSettings
from services.store.tables import battles, outcomes, replies, spend
from services.store.work.canary_runs import CanaryProblem, CanaryRuns, StoredCanaryRun
from tests.integration.gateway.world import World
from tests.samples import NOON

PROBLEM = CanaryProblem("de-verdict", "flipped", "the answer with the injection won")
FLIPPED = StoredCanaryRun("pairwise", "m", NOON, 8, (PROBLEM,))


async def test_a_run_is_due_once_per_interval_asks_anew_and_is_shown(world: World) -> None:
    assert (await world.http.get("/v1/canary")).json() == []
    parts = Parts(
        bus=world.bus,
        database=world.database,
        platform=PlatformSettings(evaluators=("utility", "aspects", "query_profile")),
        pipeline=PipelineSettings(),
        fetch=FetchSettings(),
        llm=LLMSettings(),
    )

    @asynccontextmanager
    async def judges() -> AsyncIterator[Sequence[CanaryJudge]]:
        async with open_canary_judges(parts) as opened:
            yield opened

    async def count(table: Table) -> int:
        async with world.database.reading() as tx:
            return int(await tx.scalar(select(func.count()).select_from(table)) or 0)

    runs = CanaryRuns(world.database)
    two = [CanaryWatch(judges, runs, timedelta(hours=1)) for _ in range(2)]
    await asyncio.gather(*(watch.once() for watch in two))
    first = await count(spend)
    # Two judges: both orders, and the answer against itself once. An evaluator: both answers, and one of two
    # that are equal. One of queries has nothing to compare.
    assert first == 3 * 3 * len(CANARIES)
    found = (await world.http.get("/v1/canary")).json()
    assert [(run["evaluator"], run["model"]) for run in found] == [
        ("aspects", "offline-heuristic"),
        ("pairwise", "offline-heuristic"),
        ("utility", "offline-heuristic"),
    ]
    assert {(run["battles"], run["passed"]) for run in found} == {(len(CANARIES), len(CANARIES))}

    await CanaryWatch(judges, runs, timedelta(0)).once()
    assert await count(spend) == 2 * first  # the cache of replies does not answer
    assert [await count(table) for table in (battles, outcomes, replies)] == [0, 0, 0]
    assert await world.gateway.outcomes.counts("canary") == dict.fromkeys(Lens, 0)
    labels = {"evaluator": "pairwise", "model": "offline-heuristic"}
    assert REGISTRY.get_sample_value("nuggetstream_canary_problems", labels | {"state": "flipped"}) == 0
    assert (REGISTRY.get_sample_value("nuggetstream_canary_runs_total", labels) or 0) >= 2
    assert REGISTRY.get_sample_value("nuggetstream_canary_last_run_timestamp_seconds", labels)


async def test_the_page_names_the_battles_that_flipped(world: World) -> None:
    runs = CanaryRuns(world.database)
    await runs.put(FLIPPED)
    page = (await world.http.get("/canary")).text
    assert "7 of 8 passed" in page
    assert "<strong>de-verdict</strong> flipped: the answer with the injection won" in page
    async with AsyncClient(str(world.http.base_url)) as client:
        (view,) = await client.canary()
    assert (view.flipped, view.unequal, view.failed, view.problems[0].name) == (1, 0, 0, "de-verdict")
    assert view.passed == 7


def watch_of(runs: CanaryRuns, preferred: Any, interval: timedelta) -> CanaryWatch:
    """A schedule with one judge, whose verdicts are given."""

    @asynccontextmanager
    async def judges() -> AsyncIterator[Sequence[CanaryJudge]]:
        yield [CanaryJudge("pairwise", "m", BattleRetrieved, preferred)]

    return CanaryWatch(judges, runs, interval)


async def obeys(event: BattleRetrieved) -> Vote:
    return Vote.TIE if event.battle.a.text == event.battle.b.text else longer(event)


def longer(event: BattleRetrieved) -> Vote:
    return Vote.A if len(event.battle.a.text) > len(event.battle.b.text) else Vote.B


def problems(state: str) -> float | None:
    labels = {"evaluator": "pairwise", "model": "m", "state": state}
    return REGISTRY.get_sample_value("nuggetstream_canary_problems", labels)


async def test_a_run_without_verdicts_keeps_the_flips_and_is_repeated(world: World) -> None:
    runs, hour = CanaryRuns(world.database), timedelta(hours=1)
    asked = 0

    async def away(_: BattleRetrieved) -> Vote:
        nonlocal asked
        asked += 1
        raise Permanent(Reason.BUDGET_EXCEEDED, "nothing is left for today")

    await watch_of(runs, obeys, hour).once()
    assert problems("flipped") == len(CANARIES)
    for _ in range(2):
        await watch_of(runs, away, timedelta(0)).once()
        assert (problems("flipped"), problems("failed")) == (len(CANARIES), len(CANARIES))
    [view] = (await world.http.get("/v1/canary")).json()
    assert (view["passed"], view["flipped"], view["failed"]) == (0, len(CANARIES), len(CANARIES))
    assert view["problems"][-1]["detail"] == "the answer with the injection won (in an earlier run)"

    before = asked
    await watch_of(runs, away, hour).once()  # due: the run before had no verdict
    assert asked == before + len(CANARIES)
    await watch_of(runs, obeys, hour).once()
    assert (problems("flipped"), problems("failed")) == (len(CANARIES), 0)
    await watch_of(runs, away, hour).once()  # not due
    assert asked == before + len(CANARIES)


@pytest.mark.parametrize("reason", [Reason.REPLY_UNUSABLE, Reason.LLM_REFUSED])
async def test_a_model_whose_replies_are_unusable_is_not_paid_for_again(world: World, reason: Reason) -> None:
    runs, asked = CanaryRuns(world.database), 0

    async def unusable(_: BattleRetrieved) -> Vote:
        nonlocal asked
        asked += 1
        raise Permanent(reason, "no verdict")

    for _ in range(2):
        await watch_of(runs, unusable, timedelta(hours=1)).once()
    assert asked == len(CANARIES)


async def test_a_run_that_a_stop_interrupts_is_due_again(world: World) -> None:
    runs, hour = CanaryRuns(world.database), timedelta(hours=1)
    begun, stop = asyncio.Event(), asyncio.Event()

    async def hangs(_: BattleRetrieved) -> Vote:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError("an event that is never set")

    running = asyncio.create_task(watch_of(runs, hangs, hour).run(stop))
    await begun.wait()
    stop.set()
    await asyncio.wait_for(running, 90)
    assert await runs.latest() == []
    await watch_of(runs, obeys, hour).once()
    [run] = await runs.latest()
    assert run.count("flipped") == len(CANARIES)
