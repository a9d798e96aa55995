"""The evaluators that grade single answers, documents, citations and queries.

`EVALUATORS` alone decides which can be chosen. An evaluator is a module of this folder, named like the
evaluator, that exposes it as `EVALUATOR`. To add one, write the module and name it here.
"""

from collections.abc import Sequence

from services.judge.graders import (
    answer_quality,
    aspects,
    citation_support,
    direct,
    language_quality,
    nugget_entailment,
    query_profile,
    retrieval_relevance,
)
from services.judge.graders.evaluator import Evaluator
from services.offline.answers import Heuristic
from services.wire.graders import Graders

EVALUATORS: dict[str, Evaluator] = {
    module.EVALUATOR.name: module.EVALUATOR
    for module in (
        answer_quality,
        aspects,
        citation_support,
        direct,
        language_quality,
        nugget_entailment,
        query_profile,
        retrieval_relevance,
    )
}


def declared(names: Sequence[str]) -> Graders:
    """The evaluators with these names, as the broker and the other services know them.

    Raises:
        ValueError: There is no evaluator with a name, or a name appears twice.
    """
    for name in names:
        if name not in EVALUATORS:
            raise ValueError(f"there is no evaluator {name!r}; choose of {', '.join(sorted(EVALUATORS))}")
    return Graders(tuple((name, EVALUATORS[name].reads) for name in names))


def tasks() -> tuple[str, ...]:
    """The tasks of all evaluators."""
    return tuple(task for evaluator in EVALUATORS.values() for task in evaluator.tasks)


def heuristics() -> dict[str, Heuristic]:
    """How the offline model answers the prompts of all evaluators, by task."""
    return {task: answer for evaluator in EVALUATORS.values() for task, answer in evaluator.offline.items()}
