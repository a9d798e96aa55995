"""A rerun: a stage or an evaluator runs again on old battles of an arena, page by page, newest first.

    start    ->  the input of the stage is recorded again, and published for this stage alone
    compare  ->  what runs, what has failed, and how many preferences differ from those before
    dry run  ->  how many battles there are, and what these stages have cost for them

Starting a battle twice is one run, because its key follows from the name of the rerun.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from nuggetstream.domain.pipeline import MODEL_STAGES, PIPELINE, Stage
from nuggetstream.domain.progress import Branch
from nuggetstream.views.reruns import RerunCost, RerunSource, RerunView
from services.gateway.admission import Admission
from services.gateway.battles.query import written
from services.gateway.errors import InvalidQuery
from services.gateway.reruns.query import RerunQuery, StartQuery
from services.store.battles.battle_search import BattleFilter, BattleSearch
from services.store.battles.battles import BattleRow
from services.store.spend.costs import Costs
from services.store.work.stage_runs import RunResult, StageRuns
from services.wire.evaluators import EVALUATORS, durable_of
from services.wire.publishing import Publish
from services.wire.subjects import event_name


@dataclass(frozen=True, slots=True)
class Reruns:
    """Reruns of all arenas.

    Attributes:
        search: Finds battles.
        runs: Starts and compares runs.
        costs: What calls have cost.
        publish: Publishes an event for one stage or evaluator.
        admission: Whether there is room for work.
        evaluators: Names of the declared evaluators.
    """

    search: BattleSearch
    runs: StageRuns
    costs: Costs
    publish: Publish
    admission: Admission
    evaluators: Collection[str]

    async def estimate(self, query: RerunQuery) -> RerunView:
        """What the stages that would run have cost for these battles.

        Raises:
            InvalidQuery: There is no such stage or evaluator.
            Unavailable: The database does not answer.
        """
        stages = self._asked(query.stage)
        lines = await self.costs.of_stages(query.arena, query.since, stages)
        return RerunView(
            battles=await self.runs.count(query.arena, query.since),
            costs=[RerunCost.showing(line) for line in lines],
        )

    async def start(self, query: StartQuery) -> RerunView:
        """Start the battles of one page.

        Raises:
            InvalidQuery: There is no such stage or evaluator.
            Unavailable: The database or the broker does not answer, or there is no room; starting again
                is safe.
        """
        self._asked(query.stage)
        await self.admission.require()
        rows, following = await self._page(query)
        results = Counter[RunResult]()
        for row in rows:
            run = query.run_of(row.id, query.model)
            result, event = await self.runs.start(run, datetime.now(UTC))
            if event is not None:
                await self.publish(event, query.stage)
            results[result] += 1
        return RerunView(
            battles=len(rows),
            started=results[RunResult.STARTED],
            running=results[RunResult.RUNNING],
            left_out=results[RunResult.LEFT_OUT],
            next=following,
        )

    async def compare(self, query: RerunQuery) -> RerunView:
        """Compare the results of one page with those before.

        Raises:
            InvalidQuery: There is no such stage or evaluator.
            Unavailable: The database does not answer.
        """
        self._asked(query.stage)
        rows, following = await self._page(query)
        count, states = 0, Counter[Branch]()
        compared, changed = Counter[str](), Counter[str]()
        for row in rows:
            comparison = await self.runs.comparison(query.run_of(row.id))
            if comparison is None:
                continue
            count += 1
            states[comparison.state] += 1
            both = comparison.before.keys() & comparison.after.keys()
            compared.update(both)
            changed.update(
                source for source in both if comparison.before[source] is not comparison.after[source]
            )
        return RerunView(
            battles=count,
            running=states[Branch.PENDING],
            failed=states[Branch.FAILED],
            sources=[
                RerunSource(source=source, battles=compared[source], changed=changed[source])
                for source in sorted(compared)
            ],
            next=following,
        )

    async def _page(self, query: RerunQuery) -> tuple[list[BattleRow], str | None]:
        page = await self.search.page(BattleFilter(arena=query.arena), query.limit, query.before)
        rows = [row for row in page.rows if row.received_at >= query.since]
        following = page.next if len(rows) == len(page.rows) else None
        return rows, None if following is None else written(following)

    def _asked(self, name: str) -> list[str]:
        """The stages that ask models in a run, as calls are booked: the one named and those behind it.

        Raises:
            InvalidQuery: There is no such stage or evaluator.
        """
        if name in self.evaluators:
            return [durable_of(name)]
        if name not in MODEL_STAGES:
            names = ", ".join([*MODEL_STAGES, *self.evaluators])
            raise InvalidQuery([f"stage: there is no {name!r}; choose one of {names}"])
        stages, published = [name], {PIPELINE[Stage(name)].publishes}
        for stage, step in PIPELINE.items():
            if step.reads in published:
                stages.append(stage.value)
                published.add(step.publishes)
        reads = {evaluator: event_name(EVALUATORS[evaluator].reads) for evaluator in self.evaluators}
        return [*stages, *(durable_of(reader) for reader, event in reads.items() if event in published)]
