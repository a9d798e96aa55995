"""The prompt of the assigner and of a second assigner, and the check of its reply."""

from collections.abc import Sequence

from services.runtime.llm.blocks import Block
from services.runtime.llm.lines import Lines
from services.runtime.llm.numbering import numbered
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import AssignmentReply, FourLabelsReply, every_id_once

VERSION = "assigner-4"
PAPER_VERSION = "assigner-2"  # of the paper profile, with its three labels

_LABEL = "(n|[{letters}]( [1-9][0-9]{{0,3}}(-[1-9][0-9]{{0,3}})?)?)"  # and the sentences that state it

SYSTEM = (
    "You check answers against an answer key. You are strict and literal: what counts is what the answer "
    "states, not what is true, likely or implied by the topic."
)

# The paper profile keeps its wording, so that its labels stay comparable.
_THREE_LABELS = (
    "For every nugget of the key decide whether the answer states it. The numbers in brackets number its "
    "sentences.\n"
    "- s, support: the answer states the whole fact, in any words and any language;\n"
    "- p, partial support: it states part of the fact, or a vaguer form of it;\n"
    "- n, not support: it does not state it, or contradicts it.\n"
    "Give exactly one label for each nugget ID."
)
_FOUR_LABELS = (
    "Does the answer, whose sentences are numbered in brackets, state each nugget?\n"
    "- s, support: the whole fact, in any words and any language;\n"
    "- p, partial support: part of the fact, or a vaguer form of it;\n"
    "- c, contradiction: something about the same thing that cannot be true if the nugget is, such as "
    "another number, date or unit, or the opposite;\n"
    "- n, not support: none of these.\n"
    "Give exactly one label for each nugget ID."
)


def assignment(
    query: str, nuggets: Sequence[Block], answer: str, other: str, *, contradictions: bool = True
) -> Prompt[AssignmentReply]:
    """Asks which of the nuggets one answer states.

    Args:
        query: The user's question.
        nuggets: The nuggets to label, as blocks with ids.
        answer: Text of the answer.
        other: Text of the other answer, for which the same is asked in a prompt that begins alike.
        contradictions: Whether contradictions have a label of their own; else they are no support, as in the
            paper profile.
    """
    ids = [nugget.id for nugget in nuggets]

    def check(reply: AssignmentReply) -> None:
        every_id_once((label.id for label in reply.labels), ids)
        if not contradictions and (wrong := [x.id for x in reply.labels if x.label == "contradiction"]):
            raise ValueError(f"{wrong[0]}: the label must be s, p or n")

    return Prompt(
        task="assignment",
        version=VERSION if contradictions else PAPER_VERSION,
        system=SYSTEM,
        instructions=_FOUR_LABELS if contradictions else _THREE_LABELS,
        blocks=(Block("query", "q", query), *nuggets, Block("answer", "a", numbered(answer))),
        reply=FourLabelsReply if contradictions else AssignmentReply,
        max_tokens=200 + len(ids) * 30,
        check=check,
        lines=Lines.labelled(ids, _LABEL.format(letters="spc" if contradictions else "sp")),
        family=(query, *(nugget.text for nugget in nuggets), *sorted((numbered(answer), numbered(other)))),
    )
