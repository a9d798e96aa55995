"""The judge `utility`: which of two answers is better in each of seven dimensions of utility?

The verdict is that of the dimension `quality_overall`. One call asks for all dimensions of an order, or,
with `per_dimension`, one call for each. The answers alone are shown, as they were to the people of the study.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from nuggetstream.domain.battle import Side
from nuggetstream.domain.judgment import DimensionVerdict, OrderedVerdict
from services.judge.evaluator import Ask, Evaluator, Material, Order, Verdicts
from services.judge.grades.heuristics import closeness_of
from services.judge.options import VerdictOptions
from services.judge.verdicts.decisions import (
    answered,
    as_decision,
    decided,
    decision_task,
    shares_of,
    shown_to_side,
)
from services.judge.verdicts.pairwise import SYSTEM
from services.offline.answers import WINNER, ParsedPrompt
from services.offline.heuristics import Verdict, judge
from services.offline.heuristics.facts import is_fact
from services.offline.heuristics.text import paragraphs, sentences, terms
from services.runtime.llm.blocks import Block
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import Line, Reply, Winner, every_id_once

VERSION = "utility-1"
TASK = "utility"
OVERALL = "quality_overall"
DIMENSIONS: Mapping[str, str] = {
    "correctness_topical": "which answer is about what was asked, and gets it right?",
    "coherence_logical": "which answer is easier to follow, because each part leads to the next?",
    "coherence_stylistic": "which answer keeps one tone and form throughout?",
    "coverage_broad": "which answer covers more of the aspects of the question?",
    "coverage_deep": "which answer goes deeper into the aspects that it covers?",
    "consistency_internal": "which answer contradicts itself less?",
    OVERALL: "which answer is better, all things considered?",
}
_INSTRUCTIONS = (
    "Compare the two answers to the query in the listed dimensions, each for itself: an answer may be better "
    "in one and worse in another. Call a dimension a tie only when neither answer is better in it.\n"
    "reasoning: one or two sentences that name what decided most of it."
)
_CLOSE = 0.05  # relative difference of two measures that the offline model calls a tie


class UtilityOptions(VerdictOptions):
    """The options of a judge, and how it asks.

    Attributes:
        per_dimension: Whether to ask for each dimension in a call of its own.
    """

    per_dimension: bool = False


class DimensionLine(Line):
    """The better answer in one dimension."""

    pattern = re.compile(r"(?P<dimension>\w+)[ \t:]+(?P<winner>\w+)\.?")
    example = "coverage_deep second"

    dimension: str
    winner: Winner

    def line(self) -> str:
        """The item as a line."""
        return f"{self.dimension} {self.winner}"


class UtilityReply(Reply):
    """Reply to task `utility`: the better answer in every dimension."""

    form = (
        "Write each verdict as one line: the dimension, and first, second or tie; for example: "
        "coverage_deep second"
    )
    reasoning: str
    verdicts: list[DimensionLine]


def prompt(query: str, first: str, second: str, dimensions: Sequence[str]) -> Prompt[UtilityReply]:
    """Asks which of two answers is better in some dimensions, with the answers in one order."""
    listed = "\n".join(f"{name}: {DIMENSIONS[name]}" for name in dimensions)
    return Prompt(
        task=TASK,
        version=VERSION,
        system=SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(
            Block("query", "q", query),
            Block("dimensions", "list", listed),
            Block("answer", "first", first),
            Block("answer", "second", second),
        ),
        reply=UtilityReply,
        max_tokens=300 + 20 * len(dimensions),
        check=lambda reply: every_id_once((line.dimension for line in reply.verdicts), dimensions),
        family=(query, listed, *sorted((first, second))),
    )


async def compare(ask: Ask, material: Material) -> Order:
    """The comparison of a battle in all dimensions."""
    battle, names = material.battle, list(DIMENSIONS)
    groups = [[name] for name in names] if material.own(UtilityOptions).per_dimension else [names]

    async def order(first: Side) -> OrderedVerdict:
        shown = battle.query, *battle.texts(first)
        prompts = [prompt(*shown, group) for group in groups]
        if (verdict := await _decided(ask, prompts, groups, first)) is not None:
            return verdict
        replies = [await ask(question) for question in prompts]
        winners = {
            line.dimension: shown_to_side(line.winner, first) for reply in replies for line in reply.verdicts
        }
        return OrderedVerdict(
            first=first,
            winner=winners[OVERALL],
            reasoning=" ".join(reply.reasoning.strip() for reply in replies),
            dimensions=tuple(DimensionVerdict(name, winners[name]) for name in names),
        )

    return order


async def _decided(
    ask: Ask, prompts: Sequence[Prompt[UtilityReply]], groups: Sequence[Sequence[str]], first: Side
) -> OrderedVerdict | None:
    """The verdicts by decisions; None where there is no model for them, or it declines a dimension."""
    answers: dict[str, Answer] = {}
    for asked, group in zip(prompts, groups, strict=True):
        decision = await ask.decide(as_decision(asked, {name: DIMENSIONS[name] for name in group}))
        if decision is None or any(answer.letter is None for answer in decision.answers):
            return None
        answers |= {answer.name: answer for answer in decision.answers}
    parts = tuple(DimensionVerdict(name, decided(answers[name], first).winner) for name in DIMENSIONS)
    return replace(decided(answers[OVERALL], first), dimensions=parts)


def offline(prompt: ParsedPrompt) -> UtilityReply:
    """The offline model's verdicts: simple measures of each text, and the judge's heuristics overall."""
    overall, margins = _measured(prompt)
    verdicts = {name: _winner(margin) for name, margin in margins.items()}
    verdicts[OVERALL] = WINNER[overall.winner]
    lines = [DimensionLine(dimension=name, winner=verdicts[name]) for name in _asked(prompt)]
    return UtilityReply(reasoning=overall.reason, verdicts=lines)


def offline_decision(prompt: ParsedPrompt) -> DecisionReply:
    """The offline model's decisions, by the same measures."""
    overall, margins = _measured(prompt)
    shares = {name: shares_of(margin, _CLOSE) for name, margin in margins.items()}
    shares[OVERALL] = overall.probabilities
    return DecisionReply(answers=[answered(shares[name], name) for name in _asked(prompt)])


def _asked(prompt: ParsedPrompt) -> list[str]:
    return [line.partition(":")[0] for line in prompt.the("dimensions").text.splitlines()]


def _measured(prompt: ParsedPrompt) -> tuple[Verdict, dict[str, float]]:
    """The verdict of the judge's heuristics, and how far the first answer is ahead in other dimensions."""
    first, second = prompt.the("answer", "first").text, prompt.the("answer", "second").text
    measures: Mapping[str, Callable[[str], float]] = {
        "correctness_topical": lambda text: closeness_of(prompt, text),
        "coherence_logical": lambda text: _share(sentences(text)),
        "coherence_stylistic": lambda text: len(paragraphs(text)) / max(1, len(sentences(text))),
        "coverage_broad": lambda text: len(paragraphs(text)),
        "coverage_deep": lambda text: len(set(terms(text))),
        "consistency_internal": lambda text: 1.0,  # noqa: ARG005 - no measure finds contradictions
    }
    margins = {name: _ahead(measure(first), measure(second)) for name, measure in measures.items()}
    return judge(prompt.query, first, second, (), embed=prompt.embed), margins


def _share(texts: Sequence[str]) -> float:
    return sum(map(is_fact, texts)) / max(1, len(texts))


def _ahead(first: float, second: float) -> float:
    """Relative difference of two measures."""
    return (first - second) / max(first, second) if max(first, second) > 0 else 0.0


def _winner(margin: float) -> Winner:
    if abs(margin) <= _CLOSE:
        return "tie"
    return "first" if margin > 0 else "second"


EVALUATOR = Evaluator(
    name="utility",
    summary="The better answer in seven dimensions of utility; the verdict is that of overall quality.",
    source="CrowdRAG-25, pairwise judgments of utility",
    calls="2, one per order, or 14 with `per_dimension`",
    yields=Verdicts(compare),
    options=UtilityOptions,
    offline={TASK: offline, decision_task(TASK): offline_decision},
)
