"""The latest run of the canary battles by each judge and model, and whose turn the next one is.

canary_runs   one row per judge and model; nothing of a battle

Several processes of one judge share the schedule: the one that claims a run is the only one that pays for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import JSON, Column, Connection, Integer, String, Table, select, update

from services.store.database import Store, inserting_new
from services.store.tables import metadata
from services.store.utc_datetime import UtcDateTime

canary_runs = Table(
    "canary_runs",
    metadata,
    Column("evaluator", String(80), primary_key=True),
    Column("model", String(200), primary_key=True),
    Column("claimed_at", UtcDateTime(), nullable=False),
    Column("at", UtcDateTime()),  # of the latest run that ended; NULL before the first
    Column("battles", Integer, nullable=False, server_default="0"),
    Column("problems", JSON(none_as_null=True)),  # [name, state, detail] of the battles that did not pass
)

_FAILED = "failed"
_EARLIER = " (in an earlier run)"
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CanaryProblem:
    """A canary battle that did not pass: its name, "flipped", "unequal" or "failed", and what happened."""

    name: str
    state: str
    detail: str


@dataclass(frozen=True, slots=True)
class StoredCanaryRun:
    """The latest run of one judge and model.

    Attributes:
        evaluator: Name of the judge.
        model: Configured model.
        at: When it began.
        battles: Number of canary battles.
        problems: Those that did not pass. One without a verdict is "failed" and, where an earlier run found
            it flipped or unequal, that as well.
    """

    evaluator: str
    model: str
    at: datetime
    battles: int
    problems: tuple[CanaryProblem, ...]

    def count(self, state: str) -> int:
        """Number of battles in a state other than "passed"."""
        return sum(problem.state == state for problem in self.problems)


class CanaryRuns(Store):
    """The table of runs."""

    async def claim(self, evaluator: str, model: str, now: datetime, interval: timedelta) -> bool:
        """Whether the next run is due and this caller's; then nobody else's until the interval has passed."""
        key = (canary_runs.c.evaluator == evaluator) & (canary_runs.c.model == model)
        new = {"evaluator": evaluator, "model": model, "claimed_at": now, "battles": 0}

        def write(connection: Connection) -> bool:
            statement = inserting_new(connection.dialect.name, canary_runs)
            if connection.execute(statement, new).rowcount == 1:
                return True
            due = key & (canary_runs.c.claimed_at <= now - interval)
            return connection.execute(update(canary_runs).where(due).values(claimed_at=now)).rowcount == 1

        return await self._database.write(write)

    async def release(self, evaluator: str, model: str, claimed_at: datetime) -> None:
        """Give up a claim that has not led to a result, so that the next run is due at once."""
        key = (canary_runs.c.evaluator == evaluator) & (canary_runs.c.model == model)
        released = update(canary_runs).where(key & (canary_runs.c.claimed_at == claimed_at))
        await self._database.execute(released.values(claimed_at=_LONG_AGO))

    async def put(self, run: StoredCanaryRun) -> None:
        """Store a run in place of the one before; battles without a verdict keep the problem they had."""
        key = (canary_runs.c.evaluator == run.evaluator) & (canary_runs.c.model == run.model)
        new = {"evaluator": run.evaluator, "model": run.model, "claimed_at": run.at}

        def write(connection: Connection) -> None:
            connection.execute(inserting_new(connection.dialect.name, canary_runs), {**new, "battles": 0})
            stored = connection.scalar(select(canary_runs.c.problems).where(key))
            earlier = [CanaryProblem(*problem) for problem in stored or ()]
            problems = [
                [fault.name, fault.state, fault.detail] for fault in _with_earlier(run.problems, earlier)
            ]
            values = {"at": run.at, "battles": run.battles, "problems": problems}
            connection.execute(update(canary_runs).where(key).values(values))

        await self._database.write(write)

    async def latest(self) -> Sequence[StoredCanaryRun]:
        """The runs that ended, by judge and model."""
        query = select(canary_runs).where(canary_runs.c.at.is_not(None))
        query = query.order_by(canary_runs.c.evaluator, canary_runs.c.model)
        return [
            StoredCanaryRun(
                evaluator=row.evaluator,
                model=row.model,
                at=row.at,
                battles=row.battles,
                problems=tuple(CanaryProblem(*problem) for problem in row.problems or ()),
            )
            for row in await self._database.rows(query)
        ]


def _with_earlier(problems: Sequence[CanaryProblem], earlier: Sequence[CanaryProblem]) -> list[CanaryProblem]:
    """The problems of a run, and those of earlier runs about which it says nothing, for lack of a verdict."""
    failed = {problem.name for problem in problems if problem.state == _FAILED}
    kept = [problem for problem in earlier if problem.name in failed and problem.state != _FAILED]
    return [
        *problems,
        *(replace(problem, detail=problem.detail.removesuffix(_EARLIER) + _EARLIER) for problem in kept),
    ]
