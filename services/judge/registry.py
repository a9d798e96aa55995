"""All evaluators, by name: the modules that the table of `services.wire.evaluators` names."""

from importlib import import_module

from services.judge.evaluator import Evaluator
from services.offline.answers import Heuristic
from services.wire import evaluators as wire

EVALUATORS: dict[str, Evaluator] = {
    name: import_module(f"services.judge.{registered.yields.value}.{name}").EVALUATOR
    for name, registered in wire.EVALUATORS.items()
}


def heuristics() -> dict[str, Heuristic]:
    """How the offline model answers all evaluators, by task, by which an operator overrides a prompt."""
    return {task: answer for evaluator in EVALUATORS.values() for task, answer in evaluator.offline.items()}
