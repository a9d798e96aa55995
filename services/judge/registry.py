"""All evaluators, by name: the modules that the table of `services.wire.evaluators` names."""

from importlib import import_module

from services.judge.evaluator import Evaluator
from services.offline.answers import Heuristic
from services.wire import evaluators as wire

EVALUATORS: dict[str, Evaluator] = {
    name: import_module(f"services.judge.{registered.yields.value}.{name}").EVALUATOR
    for name, registered in wire.EVALUATORS.items()
}


def tasks() -> tuple[str, ...]:
    """The tasks of all evaluators, by which an operator overrides their prompts."""
    return tuple(heuristics())


def heuristics() -> dict[str, Heuristic]:
    """How the offline model answers the prompts of all evaluators, by task."""
    return {task: answer for evaluator in EVALUATORS.values() for task, answer in evaluator.offline.items()}
