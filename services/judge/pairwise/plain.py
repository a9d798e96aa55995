"""The judge `pairwise`: which of two answers is better, given the best passages?"""

from collections.abc import Awaitable, Callable

from nuggetstream.domain.battle import Side
from nuggetstream.domain.judgment import OrderedVerdict
from services.judge.decisions import decided, verdict_decision
from services.judge.evaluators import EVALUATORS, Evaluator
from services.judge.graders.evaluator import Ask, Material
from services.judge.pairwise.kind import Kind, Order, verdict_of
from services.judge.selection import JudgeOptions

Compare = Callable[[Ask, Material, JudgeOptions], Awaitable[Order]]


def asking_by(prompt: Evaluator) -> Compare:
    """The comparison by a prompt about the query, the two answers and the evidence.

    Profiles that ask for decisions ask for one instead; the chat model is asked where it is declined.
    """

    async def compare(ask: Ask, material: Material, options: JudgeOptions) -> Order:  # noqa: ARG001
        battle, evidence = material.battle, [chunk.text for chunk in material.evidence]

        async def order(first: Side) -> OrderedVerdict:
            shown = battle.query, *battle.texts(first), evidence
            decision = await ask.decide(verdict_decision(*shown))
            if decision is not None and decision.answers[0].letter is not None:
                return decided(decision.answers[0], first)
            return verdict_of(await ask(prompt(*shown)), first)

        return order

    return compare


def kinds() -> dict[str, Kind]:
    """The kinds that are a prompt and nothing else, by name."""
    return {
        name: Kind(
            name=name,
            summary="The better answer, given the best passages.",
            source="RAGElo and Search Arena Meets Nuggets, pairwise judges",
            calls="2, one per order",
            compare=asking_by(prompt),
        )
        for name, prompt in EVALUATORS.items()
    }
