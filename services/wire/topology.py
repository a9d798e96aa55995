"""All streams and consumers of the system, which `nuggetstream bootstrap` creates at the broker.

| stream     | contents                                          |
|------------|---------------------------------------------------|
| ARENA      | events of battles, changes of boards              |
| INGEST     | battles that arenas send over NATS                |
| DEAD       | dead letters                                      |
| ADVISORIES | the broker's advisories that deliveries ran out   |

Streams are transport; battles are stored in the database. The limits of a stream bound how far behind a
stage may fall, not how long a battle is kept.
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
    """Subject for the dead letters of a stage."""
    return f"{subjects.DEAD}.{stage.value}"


def streams(replicas: int = 1) -> list[StreamSpec]:
    """All streams.

    Args:
        replicas: Copies of each stream in the cluster; 3 in production.
    """
    return [
        StreamSpec(
            name=subjects.STREAM_ARENA, subjects=(subjects.BATTLES, subjects.RATINGS), replicas=replicas
        ),
        StreamSpec(name=subjects.STREAM_INGEST, subjects=(subjects.INGEST,), replicas=replicas),
        StreamSpec(
            name=subjects.STREAM_DEAD, subjects=(f"{subjects.DEAD}.>",), max_age=30 * _DAY, replicas=replicas
        ),
        advisory_stream(replicas),
    ]


# Stages that write to the database cannot report their own failure: a message that they give up is lost.
# They retry for hours, so that an outage of the database is back pressure and not loss.
_MAX_DELIVER = {Stage.INTAKE: 200, Stage.RATER: 200, Stage.RECORDER: 200}


def consumer(stage: Stage) -> ConsumerSpec:
    """The durable consumer of one stage."""
    spec = _consumer(stage)
    return replace(spec, max_deliver=_MAX_DELIVER.get(stage, spec.max_deliver))


def _consumer(stage: Stage) -> ConsumerSpec:
    if stage is Stage.INTAKE:
        return ConsumerSpec(
            stream=subjects.STREAM_INGEST,
            durable="intake",
            subjects=(subjects.INGEST,),
            dead_subject=dead_subject(stage),
        )
    return ConsumerSpec(
        stream=subjects.STREAM_ARENA,
        durable=stage.value,
        subjects=_INPUTS[stage],
        dead_subject=dead_subject(stage),
    )


def consumers() -> Sequence[ConsumerSpec]:
    """All durable consumers: one per stage, and the mover's."""
    return [*(consumer(stage) for stage in Stage), advisory_consumer(MOVER_DEAD)]
