"""Every stream and consumer of the system in one table; `nuggetstream bootstrap` makes the broker agree.

| stream     | keeps                                  |
|------------|----------------------------------------|
| ARENA      | what happened to battles, boards       |
| INGEST     | battles sent by arenas over the bus    |
| DEAD       | messages given up on                   |
| ADVISORIES | the broker's own word that it gave up  |

The database is the record and the streams are transport: their limits bound how far behind a stage
may fall, not how long a battle is remembered.
"""

from collections.abc import Sequence
from dataclasses import replace

from nuggetstream.domain import event as events
from nuggetstream.domain.failure import Stage
from services.runtime.bus import ConsumerSpec, StreamSpec
from services.runtime.runner import advisory_consumer, advisory_stream
from services.wire import subjects
from services.wire.subjects import SUBJECTS

_DAY = 24 * 3600.0

_INPUTS: dict[Stage, tuple[str, ...]] = {
    Stage.SCRAPER: (SUBJECTS[events.BattleSubmitted],),
    Stage.INDEXER: (SUBJECTS[events.BattleScraped],),
    Stage.RETRIEVER: (SUBJECTS[events.BattleIndexed],),
    Stage.NUGGETIZER: (SUBJECTS[events.BattleRetrieved],),
    Stage.JUDGE: (SUBJECTS[events.BattleRetrieved],),
    Stage.ASSIGNER: (SUBJECTS[events.BattleNuggetized],),
    Stage.RATER: (
        SUBJECTS[events.BattleAssigned],
        SUBJECTS[events.BattleJudged],
        SUBJECTS[events.BattleVoted],
    ),
    Stage.RECORDER: (subjects.BATTLES,),
}


MOVER_DEAD = f"{subjects.DEAD}.mover"


def dead_subject(stage: Stage) -> str:
    """Where a stage's hopeless messages go."""
    return f"{subjects.DEAD}.{stage.value}"


def streams(replicas: int = 1) -> list[StreamSpec]:
    """Every stream.

    Args:
        replicas: copies of each in the cluster; 3 in production.
    """
    return [
        StreamSpec(subjects.STREAM_ARENA, (subjects.BATTLES, subjects.RATINGS), replicas=replicas),
        StreamSpec(subjects.STREAM_INGEST, (subjects.INGEST,), replicas=replicas),
        StreamSpec(subjects.STREAM_DEAD, (f"{subjects.DEAD}.>",), max_age=30 * _DAY, replicas=replicas),
        advisory_stream(replicas),
    ]


# A stage that keeps the record cannot say that it failed: what it gave up on would be lost. It tries for
# hours, so that an outage of the database is back pressure and not loss.
_PATIENT = {Stage.INTAKE: 200, Stage.RATER: 200, Stage.RECORDER: 200}


def consumer(stage: Stage) -> ConsumerSpec:
    """The durable consumer of one stage."""
    spec = _consumer(stage)
    return replace(spec, max_deliver=_PATIENT.get(stage, spec.max_deliver))


def _consumer(stage: Stage) -> ConsumerSpec:
    if stage is Stage.INTAKE:
        return ConsumerSpec(subjects.STREAM_INGEST, "intake", (subjects.INGEST,), dead_subject(stage))
    return ConsumerSpec(subjects.STREAM_ARENA, stage.value, _INPUTS[stage], dead_subject(stage))


def consumers() -> Sequence[ConsumerSpec]:
    """Every durable consumer: one per stage, and the mover of messages the broker gave up on."""
    return [*(consumer(stage) for stage in Stage), advisory_consumer(MOVER_DEAD)]
