"""The evaluators that there are: what each reads, what it yields, and the durable consumer of each.

Every process knows them, because the broker has a consumer for each declared one and settings name them. How
they ask is in the module of the same name in `services.judge`, which only the processes of the judge import.

Every evaluator reads every battle on a consumer of its own, so a slow or failing one delays no other and no
score. It also reads a subject of its own, on which an event is published again for it alone.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from nuggetstream.domain.event import BattleAssigned, BattleRetrieved
from nuggetstream.domain.pipeline import Stage
from services.wire.subjects import GRADING

Reads: TypeAlias = type[BattleRetrieved] | type[BattleAssigned]
"""`BattleRetrieved` for evidence, `BattleAssigned` for nuggets and their labels."""
Readable: TypeAlias = BattleRetrieved | BattleAssigned
GRADER_PREFIX = f"{Stage.GRADER.value}-"


class Yields(StrEnum):
    """What an evaluator yields; its module is in the folder of `services.judge` with this name."""

    VERDICT = "verdicts"  # which of two answers is better: a judge
    GRADES = "grades"  # grades of answers, documents, citations, nuggets or the query; labels are grades


@dataclass(frozen=True, slots=True)
class Registered:
    """What every process knows of an evaluator.

    Attributes:
        yields: What it yields.
        reads: Type of the event that it reads.
    """

    yields: Yields
    reads: Reads = BattleRetrieved

    @property
    def is_guided(self) -> bool:
        """Whether it is a judge that is shown the nuggets, so that its verdicts depend on them."""
        return self.yields is Yields.VERDICT and self.reads is BattleAssigned


# A name is part of the name of a consumer and of a subject, and of the column `stage` of booked calls.
EVALUATORS: dict[str, Registered] = {
    "answer_quality": Registered(Yields.GRADES),
    "aspects": Registered(Yields.GRADES),
    "citation_support": Registered(Yields.GRADES),
    "direct": Registered(Yields.GRADES),
    "language_quality": Registered(Yields.GRADES),
    "manipulation": Registered(Yields.GRADES),
    "nugget_entailment": Registered(Yields.GRADES, BattleAssigned),
    "nugget_guided": Registered(Yields.VERDICT, BattleAssigned),
    "pairwise": Registered(Yields.VERDICT),
    "pairwise_documents": Registered(Yields.VERDICT),
    "query_profile": Registered(Yields.GRADES),
    "retrieval_relevance": Registered(Yields.GRADES),
    "rubric": Registered(Yields.GRADES),
    "second_assigner": Registered(Yields.GRADES, BattleAssigned),
    "utility": Registered(Yields.VERDICT),
}


def can_be_awaited(name: str) -> bool:
    """Whether battles can wait for an evaluator: it is a judge that needs no nuggets."""
    registered = EVALUATORS.get(name)
    return registered is not None and registered.yields is Yields.VERDICT and not registered.is_guided


def require_evaluators(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of evaluators that exist and are named once.

    Raises:
        ValueError: There is no evaluator with a name, or a name appears twice.
    """
    for name in names:
        if name not in EVALUATORS:
            raise ValueError(f"there is no evaluator {name!r}; choose of {', '.join(sorted(EVALUATORS))}")
    if len(set(names)) < len(names):
        raise ValueError("an evaluator is named twice")
    return names


def durable_of(name: str) -> str:
    """The consumer of an evaluator, which is also its stage in accounts, metrics and logs.

    >>> durable_of("answer_quality")
    'grader-answer_quality'
    """
    return GRADER_PREFIX + name


def subject_of(name: str) -> str:
    """The subject that only one evaluator, or one stage that asks a model, reads.

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
