"""The pipeline: every stage once. Whoever needs a fact about a stage takes it from here.

    submitted -> scraper -> indexer -> retriever -> nuggetizer -> assigner -> assigned    branch of nuggets
                                                 -> judge                  -> judged      branch of the judge

Which stages a stage waits for, and on which branches it is, follows from what it reads and publishes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """What can fail: the steps of the pipeline, what receives and stores battles, and evaluators."""

    INTAKE = "intake"
    SCRAPER = "scraper"
    INDEXER = "indexer"
    RETRIEVER = "retriever"
    NUGGETIZER = "nuggetizer"
    ASSIGNER = "assigner"
    JUDGE = "judge"
    RECORDER = "recorder"
    GRADER = "grader"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One stage of the pipeline.

    Attributes:
        reads: Short name of the event that it reads: "scraped" for `BattleScraped`.
        publishes: Short name of the event that it publishes when it succeeds.
        title: What it does, in a word for people.
        port: Default gRPC port of its service, for processes on one machine.
        deadline: Seconds that one attempt may take.
        asks_model: Whether it can ask a chat model, of which settings can name another one for it.
    """

    reads: str
    publishes: str
    title: str
    port: int
    deadline: float
    asks_model: bool = False


PIPELINE: Mapping[Stage, Step] = {
    Stage.SCRAPER: Step(
        reads="submitted",
        publishes="scraped",
        title="Fetch",
        port=7101,
        deadline=120.0,
    ),
    Stage.INDEXER: Step(
        reads="scraped",
        publishes="indexed",
        title="Index",
        port=7102,
        deadline=300.0,
    ),
    Stage.RETRIEVER: Step(
        reads="indexed",
        publishes="retrieved",
        title="Retrieve",
        port=7103,
        deadline=60.0,
        asks_model=True,
    ),
    Stage.NUGGETIZER: Step(
        reads="retrieved",
        publishes="nuggetized",
        title="Extract",
        port=7104,
        deadline=300.0,
        asks_model=True,
    ),
    Stage.ASSIGNER: Step(
        reads="nuggetized",
        publishes="assigned",
        title="Label",
        port=7105,
        deadline=180.0,
        asks_model=True,
    ),
    Stage.JUDGE: Step(
        reads="retrieved",
        publishes="judged",
        title="Judge",
        port=7106,
        deadline=180.0,
        asks_model=True,
    ),
}

MODEL_STAGES = tuple(stage.value for stage, step in PIPELINE.items() if step.asks_model)

# The state of each branch as battles have it, and the event that ends the branch.
BRANCHES: Mapping[str, str] = {
    "nugget_state": "assigned",
    "judge_state": "judged",
}

_PUBLISHERS = {step.publishes: stage for stage, step in PIPELINE.items()}


def predecessor(stage: Stage) -> Stage | None:
    """The stage that a stage waits for; None for the first, which waits for the battle itself.

    >>> predecessor(Stage.JUDGE), predecessor(Stage.SCRAPER)
    (<Stage.RETRIEVER: 'retriever'>, None)
    """
    return _PUBLISHERS.get(PIPELINE[stage].reads)


def stages_of(branch: str) -> tuple[Stage, ...]:
    """The stages of a branch, in their order.

    >>> [stage.value for stage in stages_of("judge_state")]
    ['scraper', 'indexer', 'retriever', 'judge']
    """
    stages: list[Stage] = []
    stage: Stage | None = _PUBLISHERS[BRANCHES[branch]]
    while stage is not None:
        stages.insert(0, stage)
        stage = predecessor(stage)
    return tuple(stages)


def branches_of(stage: Stage) -> tuple[str, ...]:
    """The branches that end when a stage gives up.

    >>> branches_of(Stage.INTAKE), branches_of(Stage.ASSIGNER), branches_of(Stage.GRADER)
    (('nugget_state', 'judge_state'), ('nugget_state',), ())
    """
    return tuple(name for name in BRANCHES if stage is Stage.INTAKE or stage in stages_of(name))
