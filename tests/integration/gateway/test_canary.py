"""The schedule of canary battles: claimed once, paid for anew, stored, shown, and in nothing else."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from prometheus_client import REGISTRY
from sqlalchemy import Table, func, select

from nuggetstream.client import AsyncClient
from nuggetstream.domain.lens import Lens
from services.cli.canary import CanaryWatch, open_canary_judges
from services.cli.fetch_settings import FetchSettings
from services.cli.settings import PipelineSettings, PlatformSettings
from services.cli.wiring import Parts
from services.judge.canary.battles import CANARIES
from services.judge.canary.checking import CanaryJudge
from services.runtime.llm.settings import LLMSettings
from services.store.canary_runs import CanaryProblem, CanaryRuns, StoredCanaryRun
from services.store.tables import battles, outcomes, replies, spend
from tests.integration.gateway.world import World
from tests.samples import NOON

PROBLEM = CanaryProblem("de-verdict", "flipped", "the answer with the injection won")
FLIPPED = StoredCanaryRun("pairwise", "m", NOON, 8, (PROBLEM,))


async def test_a_run_is_due_once_per_interval_asks_anew_and_is_shown(world: World) -> None:
    assert (await world.http.get("/v1/canary")).json() == []
    parts = Parts(
        bus=world.bus,
        database=world.database,
        platform=PlatformSettings(evaluators="utility,aspects,query_profile"),
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
