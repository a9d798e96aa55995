"""The evaluators that grade battles: their names, and the durable consumer of each.

Every evaluator reads every battle on a consumer of its own, so a slow or failing one delays no other and no
score. An evaluator also reads a subject of its own, on which an event is published again for it alone.
"""

import re
from dataclasses import dataclass

from nuggetstream.domain.event import BattleEvent
from nuggetstream.domain.failure import Stage
from services.wire.subjects import GRADING

# It is part of the name of a consumer and of a subject, and of the column `stage` of booked calls.
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
GRADER_PREFIX = f"{Stage.GRADER.value}-"


@dataclass(frozen=True, slots=True)
class Graders:
    """The declared evaluators.

    Attributes:
        reads: The type of event that each evaluator reads, by its name.
    """

    reads: tuple[tuple[str, type[BattleEvent]], ...] = ()

    def __post_init__(self) -> None:
        for name in self.names:
            if _NAME.fullmatch(name) is None:
                raise ValueError(
                    f"{name!r} cannot name an evaluator: use up to 32 lower-case letters, digits, underscores"
                )
        if len(set(self.names)) < len(self.names):
            raise ValueError("an evaluator is named twice")

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(name for name, _ in self.reads)

    @property
    def durables(self) -> tuple[str, ...]:
        """The consumers of all evaluators."""
        return tuple(map(durable_of, self.names))


def durable_of(name: str) -> str:
    """The consumer of an evaluator, which is also its stage in accounts, metrics and logs.

    >>> durable_of("answer_quality")
    'grader-answer_quality'
    """
    return GRADER_PREFIX + name


def subject_of(name: str) -> str:
    """The subject that only one evaluator reads.

    >>> subject_of("answer_quality")
    'arena.v1.grading.answer_quality'
    """
    return f"{GRADING}.{name}"


def evaluator_of(durable: str) -> str | None:
    """The evaluator that reads a consumer; None for other consumers."""
    return durable.removeprefix(GRADER_PREFIX) if durable.startswith(GRADER_PREFIX) else None


def stage_of(durable: str) -> Stage | None:
    """The stage that reads a consumer; None for a consumer of no stage.

    >>> stage_of("grader-utility"), stage_of("nuggetizer"), stage_of("mover")
    (<Stage.GRADER: 'grader'>, <Stage.NUGGETIZER: 'nuggetizer'>, None)
    """
    if evaluator_of(durable) is not None:
        return Stage.GRADER
    return next((stage for stage in Stage if stage.value == durable), None)
