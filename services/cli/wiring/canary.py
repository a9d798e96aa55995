"""The canary battles of an installation: its judges as they are configured, and their schedule."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import structlog

from services.cli.wiring.panels import open_judge, open_panels
from services.cli.wiring.settings import NO_MODEL
from services.judge.canary.checking import (
    CanaryJudge,
    CanaryResult,
    CanaryRun,
    CanaryState,
    canary_judges,
)
from services.runtime import metrics
from services.runtime.errors import StageError
from services.runtime.polling import ended_before, pause
from services.store.work.canary_runs import CanaryProblem, CanaryRuns, StoredCanaryRun

if TYPE_CHECKING:
    from services.cli.wiring.parts import Parts
    from services.runtime.service import BackgroundTask

log = structlog.get_logger(__name__)

_LONGEST_S = 600.0  # seconds between two looks whether a run is due
OpenJudges = Callable[[], AbstractAsyncContextManager[Sequence[CanaryJudge]]]


@asynccontextmanager
async def open_canary_judges(parts: "Parts") -> AsyncIterator[Sequence[CanaryJudge]]:
    """Every judge, evaluator and model of a judge process, with clients that know no earlier reply.

    Raises:
        click.ClickException: The file of options cannot be used.
    """
    pipeline = parts.pipeline.model_copy(update={"embedding_model": NO_MODEL})
    fresh = replace(parts, pipeline=pipeline, fresh_replies=True)
    async with AsyncExitStack() as opened:
        judge, _ = await opened.enter_async_context(open_judge(fresh))
        beside = await opened.enter_async_context(open_panels(fresh))
        yield [checked for panel in (judge, *beside) for checked in canary_judges(panel)]


@dataclass(frozen=True, slots=True)
class CanaryWatch:
    """Runs the canary battles on a schedule that all processes of a judge share, and reports the results.

    Attributes:
        open_judges: Opens the judges of this process for one run.
        runs: Where results are stored.
        interval: Time between two runs of one judge and model.
    """

    open_judges: OpenJudges
    runs: CanaryRuns
    interval: timedelta

    async def run(self, stop: asyncio.Event) -> None:
        """Run what is due until the event is set. What a run depends on may be away: it is tried again.

        A run that is interrupted by the event is due again at once, for this or another process.
        """
        seconds = min(self.interval.total_seconds() / 4, _LONGEST_S)
        while not stop.is_set():
            try:
                await ended_before(stop, self.once())
            except StageError as error:
                log.warning("canary_run_failed", reason=error.reason.value)
            await pause(seconds, stop)

    async def once(self) -> None:
        """Run what is due, and report the latest runs of the judges of this process."""
        async with self.open_judges() as judges:
            for judge in judges:
                now = datetime.now(UTC)
                if await self.runs.claim(judge.evaluator, judge.model, now, self.interval):
                    await self._run(judge, now)
            own = {(judge.evaluator, judge.model) for judge in judges}
        for stored in await self.runs.latest():
            if (stored.evaluator, stored.model) in own:
                _report(stored)

    async def _run(self, judge: CanaryJudge, claimed_at: datetime) -> None:
        """Run what was claimed; the claim is given up if the run has no result.

        After any other error, which is a bug and ends the process, the claim stays: the next process would
        end in the same way.
        """
        try:
            run = await self._stored(judge)
        except (asyncio.CancelledError, StageError):
            await self.runs.release(judge.evaluator, judge.model, claimed_at)
            raise
        if run.should_be_repeated:
            await self.runs.release(judge.evaluator, judge.model, claimed_at)

    async def _stored(self, judge: CanaryJudge) -> CanaryRun:
        run = await judge.run()
        flips = run.count(CanaryState.FLIPPED)
        metrics.CANARY_RUNS.labels(run.evaluator, run.model).inc()
        metrics.CANARY_FLIPS.labels(run.evaluator, run.model).inc(flips)
        if not run.passed:
            problems = {result.name: result.state.value for result in problems_of(run)}
            log.warning("canary_battles", evaluator=run.evaluator, model=run.model, problems=problems)
        await self.runs.put(stored_run(run))
        return run


def canary_watch(parts: "Parts") -> "list[BackgroundTask]":
    """The schedule of a judge process; nothing where it is switched off."""
    seconds = parts.pipeline.canary_seconds
    if not seconds:
        return []
    runs = CanaryRuns(parts.database)
    return [CanaryWatch(partial(open_canary_judges, parts), runs, timedelta(seconds=seconds)).run]


def stored_run(run: CanaryRun) -> StoredCanaryRun:
    """A run as it is stored."""
    problems = tuple(
        CanaryProblem(result.name, result.state.value, result.detail or "") for result in problems_of(run)
    )
    return StoredCanaryRun(run.evaluator, run.model, run.at, len(run.results), problems)


def problems_of(run: CanaryRun) -> list[CanaryResult]:
    """The results of the battles that did not pass."""
    return [result for result in run.results if result.state is not CanaryState.PASSED]


def _report(stored: StoredCanaryRun) -> None:
    for state in CanaryState:
        if state is not CanaryState.PASSED:
            gauge = metrics.CANARY_PROBLEMS.labels(stored.evaluator, stored.model, state.value)
            gauge.set(stored.count(state.value))
    metrics.CANARY_LAST_RUN.labels(stored.evaluator, stored.model).set(stored.at.timestamp())
