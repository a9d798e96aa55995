"""Whether a message is on the subject of its schema.

Rights at the broker limit the subjects that a service publishes on, and not what it publishes there. So every
consumer compares the schema with the subject before it decodes: a service that is taken over cannot publish a
verdict as if a battle had been scraped.
"""

from collections.abc import Collection

from nuggetstream.domain.pipeline import PIPELINE, Stage
from services.wire.codec import REFERENCE_SCHEMA_SUFFIX, UndecodableMessage, schema_of
from services.wire.evaluators import EVALUATORS
from services.wire.subjects import BATTLE, EVENT_TYPES, GRADING, subject_named


class MisplacedMessage(UndecodableMessage):
    """A message is on a subject on which its schema must not be."""


def require_place(subject: str, schema: str) -> None:
    """Check that a message may be on its subject.

    Args:
        subject: Subject that it was published on.
        schema: Its schema, also one that this build does not know.

    Raises:
        MisplacedMessage: It must not be there.
    """
    name = schema.removesuffix(REFERENCE_SCHEMA_SUFFIX)
    if subject.startswith(f"{GRADING}."):
        is_in_place = name in _read_again(subject.removeprefix(f"{GRADING}."))
    else:
        is_in_place = subject == subject_named(name.rpartition(".")[2])
    if not is_in_place:
        raise MisplacedMessage(f"{schema!r} is on the subject {subject!r}")


def _read_again(name: str) -> Collection[str]:
    """The schemas that an evaluator or a stage reads on the subject that it alone reads."""
    if name in EVALUATORS:
        return {schema_of(EVALUATORS[name].reads)}
    if name in {stage.value for stage in PIPELINE}:
        return {schema_of(EVENT_TYPES[f"{BATTLE}.{PIPELINE[Stage(name)].reads}"])}
    return ()
