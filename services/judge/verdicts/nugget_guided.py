"""The judge `nugget_guided`: which of two answers is better, with the nuggets and their labels as criteria?

It depends on the nuggets, so its verdicts have a lens of their own and are in no comparison of the judges
with the nuggets.
"""

from collections.abc import Mapping, Sequence

from nuggetstream.domain.battle import Side
from nuggetstream.domain.judgment import OrderedVerdict
from nuggetstream.domain.nugget import Support
from services.judge.evaluator import Ask, Evaluator, Material, Order, Verdicts
from services.judge.verdicts.decisions import answered, decision_task, shares_of, verdict_by
from services.judge.verdicts.pairwise import SYSTEM
from services.offline.answers import ParsedPrompt
from services.runtime.llm.blocks import Block
from services.runtime.llm.decisions.reply import DecisionReply
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import VerdictReply

VERSION = "nugget-guided-2"
TASK = "verdict_guided"

_INSTRUCTIONS = (
    "Below are a query, facts that a good answer to it states (nuggets), two answers, and a table of labels. "
    "Each line of the table names a nugget, whether it is vital or okay (good to have), and whether the "
    "first and the second answer state it: yes, partly, no, or that it contradicts it. The labels were made "
    "by a model and may be wrong: check those that decide.\n"
    "Decide which answer serves the person better. Vital nuggets weigh more than others. What an answer says "
    "beyond the nuggets counts where it is correct and helps; what contradicts them counts against it. An "
    "answer with nothing in it loses to one that helps. Call it a tie only when neither is better.\n"
    "reasoning: two or three sentences that name the nuggets that decided it. winner: first, second or tie."
)
_STATES = {
    Support.SUPPORT: "yes",
    Support.PARTIAL_SUPPORT: "partly",
    Support.NOT_SUPPORT: "no",
    Support.CONTRADICTION: "contradicts",
}
_CREDIT = {"yes": 1.0, "partly": 0.5, "no": 0.0, "contradicts": 0.0}
_WEIGHT = {"vital": 1.0, "okay": 0.5}
_TIE = 0.02  # largest margin that the offline model calls a tie


def prompt(
    query: str, nuggets: Sequence[str], answers: tuple[str, str], labels: tuple[str, str]
) -> Prompt[VerdictReply]:
    """Asks which of two answers is better, with the answers in one order.

    Args:
        query: The user's question.
        nuggets: Texts of the nuggets, which get the ids n1, n2 and so on.
        answers: Texts of the answers shown first and second.
        labels: The table of labels for this order, and that for the other one.
    """
    listed = [Block("nugget", f"n{number}", text) for number, text in enumerate(nuggets, start=1)]
    return Prompt(
        task=TASK,
        version=VERSION,
        system=SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(
            Block("query", "q", query),
            *listed,
            Block("answer", "first", answers[0]),
            Block("answer", "second", answers[1]),
            Block("labels", "table", labels[0]),
        ),
        reply=VerdictReply,
        max_tokens=600,
        family=(query, *nuggets, *sorted(answers), *sorted(labels)),
    )


async def compare(ask: Ask, material: Material) -> Order:
    """The comparison of a battle by its nuggets and labels."""
    battle, nuggets = material.battle, [nugget.text for nugget in material.nuggets]
    tables = {side: _table(material, side) for side in Side}

    async def order(first: Side) -> OrderedVerdict:
        asked = prompt(battle.query, nuggets, battle.texts(first), (tables[first], tables[first.other]))
        return await verdict_by(ask, asked, first)

    return order


def _table(material: Material, first: Side) -> str:
    """A line per nugget, for the order in which one side is shown first; its words are ours alone."""
    labels: Mapping[tuple[str, Side], str] = {
        (label.nugget_id, label.side): _STATES[label.support] for label in material.labels
    }
    return "\n".join(
        f"n{number} {nugget.importance.value}: first {labels[nugget.id, first]}, "
        f"second {labels[nugget.id, first.other]}"
        for number, nugget in enumerate(material.nuggets, start=1)
    )


def offline(prompt: ParsedPrompt) -> VerdictReply:
    """The offline model's verdict: which answer has more of the nuggets, weighted by importance."""
    rows, margin = _measured(prompt)
    if abs(margin) <= _TIE:
        return VerdictReply(reasoning="Both state the nuggets equally well.", winner="tie")
    ahead, behind = (3, 5) if margin > 0 else (5, 3)
    decisive = [row[0] for row in rows if _CREDIT[row[ahead]] > _CREDIT[row[behind]]]
    winner = "first" if margin > 0 else "second"
    reason = f"The {winner} answer states more of the nuggets: {', '.join(decisive[:5])}."
    return VerdictReply(reasoning=reason, winner="first" if margin > 0 else "second")


def offline_decision(prompt: ParsedPrompt) -> DecisionReply:
    """The offline model's decision, by the same margin."""
    return DecisionReply(answers=[answered(shares_of(_measured(prompt)[1], _TIE))])


def _measured(prompt: ParsedPrompt) -> tuple[list[list[str]], float]:
    """The rows of the table, and how much more of the nuggets the first answer has, weighted."""
    rows = [line.replace(":", "").replace(",", "").split() for line in prompt.the("labels").text.splitlines()]
    weight = sum(_WEIGHT[row[1]] for row in rows)
    return rows, sum(_WEIGHT[row[1]] * (_CREDIT[row[3]] - _CREDIT[row[5]]) for row in rows) / weight


EVALUATOR = Evaluator(
    name="nugget_guided",
    summary="The better answer, with the nuggets and their labels as criteria.",
    source="pairwise judge with the nuggets of AutoNuggetizer as criteria",
    calls="2, one per order",
    yields=Verdicts(compare),
    offline={TASK: offline, decision_task(TASK): offline_decision},
)
