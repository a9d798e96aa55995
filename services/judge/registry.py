"""The tasks of all evaluators: those that grade, and the judges."""

from services.judge import graders
from services.judge.pairwise import kinds
from services.offline.answers import Heuristic


def tasks() -> tuple[str, ...]:
    """The tasks of all evaluators, by which an operator overrides their prompts."""
    return (*graders.tasks(), *(task for kind in kinds().values() for task in kind.offline))


def heuristics() -> dict[str, Heuristic]:
    """How the offline model answers the prompts of all evaluators, by task."""
    of_judges = {task: answer for kind in kinds().values() for task, answer in kind.offline.items()}
    return graders.heuristics() | of_judges
