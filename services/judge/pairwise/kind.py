"""What a kind of judge is: how a battle becomes a verdict in one order.

    a battle with its evidence, or with its labelled nuggets  ->  [kind]  ->  a verdict per order

A kind is one module: its prompt, the check of the reply, how the offline model answers, and a `Kind` that
names all of it. Both orders, panels, budgets and selection are the same for all kinds.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from nuggetstream.domain.battle import Side
from nuggetstream.domain.judgment import OrderedVerdict
from services.judge.decisions import shown_to_side
from services.judge.graders.evaluator import Ask, Material
from services.judge.selection import JudgeOptions
from services.offline.answers import Heuristic
from services.runtime.llm.replies import VerdictReply
from services.wire.evaluators import JUDGES, Reads, is_guided

Order: TypeAlias = Callable[[Side], Awaitable[OrderedVerdict]]
"""Asks for a verdict with the answer of one side shown first."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of judge.

    Attributes:
        name: Its name in settings and accounts, and the name of its verdicts unless the operator chooses one.
        summary: What it asks, as one sentence.
        source: Publication or project that it comes from.
        calls: Model calls per battle, in words.
        compare: Prepares the comparison of a battle, and returns the function that asks in one order.
        options: The fields of `JudgeOptions` that it has beside those of every judge.
        offline: How the offline model answers its prompts, by task.
    """

    name: str
    summary: str
    source: str
    calls: str
    compare: Callable[[Ask, Material, JudgeOptions], Awaitable[Order]]
    options: frozenset[str] = frozenset()
    offline: Mapping[str, Heuristic] = field(default_factory=dict)

    @property
    def reads(self) -> Reads:
        """Type of event that it needs."""
        return JUDGES[self.name]

    @property
    def guided(self) -> bool:
        """Whether it shows the nuggets and their labels, so that its verdicts depend on them."""
        return is_guided(self.name)


def verdict_of(reply: VerdictReply, first: Side) -> OrderedVerdict:
    """The verdict of a reply, when the answer of side `first` was shown first."""
    return OrderedVerdict(first, shown_to_side(reply.winner, first), reply.reasoning.strip())
