"""All evaluators that can be chosen beside the first judge: those that grade, and additional judges."""

from collections.abc import Sequence

from services.judge import graders
from services.judge.graders import EVALUATORS
from services.judge.pairwise import kinds
from services.offline.answers import Heuristic
from services.wire.graders import Graders

# All but `pairwise`, which is the first judge unless the operator chooses another one.
BESIDE_THE_JUDGE = (*EVALUATORS, *(name for name in kinds() if name != "pairwise"))


def declared(names: Sequence[str]) -> Graders:
    """The evaluators with these names, as the broker and the other services know them.

    Raises:
        ValueError: There is no evaluator with a name, or a name appears twice.
    """
    reads = {name: evaluator.reads for name, evaluator in EVALUATORS.items()}
    reads |= {name: kind.reads for name, kind in kinds().items()}
    for name in names:
        if name not in reads:
            raise ValueError(f"there is no evaluator {name!r}; choose of {', '.join(sorted(reads))}")
    return Graders(tuple((name, reads[name]) for name in names))


def tasks() -> tuple[str, ...]:
    """The tasks of all evaluators, by which an operator overrides their prompts."""
    return (*graders.tasks(), *(task for kind in kinds().values() for task in kind.offline))


def heuristics() -> dict[str, Heuristic]:
    """How the offline model answers the prompts of all evaluators, by task."""
    of_judges = {task: answer for kind in kinds().values() for task, answer in kind.offline.items()}
    return graders.heuristics() | of_judges
