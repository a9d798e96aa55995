"""All streams and consumers of the system, which `nuggetstream bootstrap` creates at the broker.

| stream     | contents                                          |
|------------|---------------------------------------------------|
| ARENA      | events of battles, changes of boards              |
| INGEST     | battles that arenas send over NATS                |
| DEAD       | dead letters: what no failure of a battle reports |
| ADVISORIES | the broker's advisories that deliveries ran out   |

Streams are transport; battles are stored in the database. A message of ARENA or INGEST is deleted once every
stage that reads it has acked it, so the size of a stream bounds how far behind a stage may fall. A full
stream rejects messages and deletes none. Before ARENA or INGEST is full, the gateway accepts no battles, and
then one stage after another waits, the earlier ones first, so that the later ones have room to finish what is
in flight.
"""

from collections.abc import Sequence
from dataclasses import replace

from nuggetstream.domain.pipeline import BRANCHES, PIPELINE, Stage, branches_of, stages_of
from services.runtime.bus import ConsumerSpec, StreamSpec
from services.runtime.runner import advisory_consumer, advisory_stream
from services.wire import subjects
from services.wire.evaluators import EVALUATORS, durable_of, stage_of, subject_of
from services.wire.subjects import SUBJECTS

_DAY = 24 * 3600.0
# Less than the broker's own limit of 1 MiB by the headers of a dead letter, so that the dead letter of a
# battle that is rejected contains the battle.
_INGEST_MESSAGE_BYTES = 1024 * 1024 - 8 * 1024

MOVER_DEAD = f"{subjects.DEAD}.mover"


def dead_subject(stage: Stage) -> str:
    """Subject for the dead letters of a stage."""
    return f"{subjects.DEAD}.{stage.value}"


# Bytes of all streams together, unless configured; the smallest broker of the shipped manifests has 4 GB.
STREAM_BYTES = 3_000_000_000
SMALLEST_STREAM_BYTES = 50_000_000
_SHARES = {subjects.STREAM_ARENA: 0.70, subjects.STREAM_INGEST: 0.15, subjects.STREAM_DEAD: 0.13}

# How full the streams of what waits may be when a battle is accepted, and ARENA when a stage begins an
# attempt; others do not wait. A full DEAD keeps messages waiting in these streams.
ADMISSION_LIMIT = 0.75
ADMITTING = (subjects.STREAM_ARENA, subjects.STREAM_INGEST)


def fill_limit(stage: Stage) -> float:
    """How full ARENA may be when a stage begins an attempt: the later in a branch, the fuller.

    The last stage of a branch, and a stage that is in none, never wait.

    >>> [fill_limit(stage) for stage in (Stage.SCRAPER, Stage.NUGGETIZER, Stage.ASSIGNER, Stage.GRADER)]
    [0.8, 0.95, 1.0, 1.0]
    """
    longest = max(len(stages_of(branch)) for branch in BRANCHES)
    for stages in map(stages_of, branches_of(stage)):
        if stage in stages[:-1]:
            return ADMISSION_LIMIT + (1 - ADMISSION_LIMIT) * (stages.index(stage) + 1) / longest
    return 1.0


def streams(replicas: int = 1, total_bytes: int = STREAM_BYTES) -> list[StreamSpec]:
    """All streams.

    Args:
        replicas: Copies of each stream in the cluster; 3 in production.
        total_bytes: Size of all streams together, of which each has a fixed share.
    """
    sizes = {name: int(total_bytes * share) for name, share in _SHARES.items()}
    return [
        StreamSpec(
            name=subjects.STREAM_ARENA,
            subjects=(subjects.BATTLES, subjects.RATINGS, f"{subjects.GRADING}.>"),
            max_bytes=sizes[subjects.STREAM_ARENA],
            until_acked=True,
            reject_when_full=True,
            replicas=replicas,
        ),
        StreamSpec(
            name=subjects.STREAM_INGEST,
            subjects=(subjects.INGEST,),
            max_bytes=sizes[subjects.STREAM_INGEST],
            max_msg_size=_INGEST_MESSAGE_BYTES,
            until_acked=True,
            reject_when_full=True,
            replicas=replicas,
        ),
        StreamSpec(
            name=subjects.STREAM_DEAD,
            subjects=(f"{subjects.DEAD}.>",),
            max_age=30 * _DAY,
            max_bytes=sizes[subjects.STREAM_DEAD],
            reject_when_full=True,
            replicas=replicas,
        ),
        advisory_stream(replicas, total_bytes - sum(sizes.values())),
    ]


# Stages that write to the database cannot report their own failure: a message that they give up is lost.
# They retry for hours, so that an outage of the database is back pressure and not loss.
_MAX_DELIVER = {Stage.INTAKE: 200, Stage.RECORDER: 200}


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
        subjects=_read_by(stage),
        dead_subject=dead_subject(stage),
    )


def _read_by(stage: Stage) -> tuple[str, ...]:
    if stage is Stage.RECORDER:
        return (subjects.BATTLES,)
    if stage is Stage.GRADER:
        return (f"{subjects.GRADING}.>",)
    reads = f"{subjects.BATTLE}.{PIPELINE[stage].reads}"
    return (reads, subject_of(stage)) if PIPELINE[stage].asks_model else (reads,)


def grader_consumer(name: str) -> ConsumerSpec:
    """The durable consumer of the evaluator with a name."""
    subjects_read = (SUBJECTS[EVALUATORS[name].reads], subject_of(name))
    return replace(consumer(Stage.GRADER), durable=durable_of(name), subjects=subjects_read)


def consumers(evaluators: Sequence[str] = ()) -> Sequence[ConsumerSpec]:
    """All durable consumers: one per stage and evaluator, and the mover's."""
    of_stages = [consumer(stage) for stage in Stage if stage is not Stage.GRADER]
    return [*of_stages, *map(grader_consumer, evaluators), advisory_consumer(MOVER_DEAD)]


def is_own_consumer(durable: str) -> bool:
    """Whether a durable consumer is one of the platform's, which it creates and deletes.

    That of an evaluator that is no longer declared is one, too: it keeps every message.

    >>> is_own_consumer("grader-utility"), is_own_consumer("my-archive")
    (True, False)
    """
    return stage_of(durable) is not None or durable == advisory_consumer(MOVER_DEAD).durable
