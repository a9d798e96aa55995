"""The evaluators that grade single answers, documents, citations and queries.

`EVALUATORS` alone decides which can be chosen. An evaluator is a module of this folder, named like the
evaluator, that exposes it as `EVALUATOR`. To add one, write the module and name it here, and in `GRADERS` of
`services.wire.evaluators`.
"""

from services.judge.graders import (
    answer_quality,
    aspects,
    citation_support,
    direct,
    language_quality,
    manipulation,
    nugget_entailment,
    query_profile,
    retrieval_relevance,
    rubric,
    second_assigner,
)
from services.judge.graders.evaluator import Evaluator
from services.offline.answers import Heuristic

EVALUATORS: dict[str, Evaluator] = {
    module.EVALUATOR.name: module.EVALUATOR
    for module in (
        answer_quality,
        aspects,
        citation_support,
        direct,
        language_quality,
        manipulation,
        nugget_entailment,
        query_profile,
        retrieval_relevance,
        rubric,
        second_assigner,
    )
}


def tasks() -> tuple[str, ...]:
    """The tasks of all evaluators."""
    return tuple(task for evaluator in EVALUATORS.values() for task in evaluator.tasks)


def heuristics() -> dict[str, Heuristic]:
    """How the offline model answers the prompts of all evaluators, by task."""
    return {task: answer for evaluator in EVALUATORS.values() for task, answer in evaluator.offline.items()}
