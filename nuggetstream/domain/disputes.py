"""Nuggets that labels dispute: only an answer is known to state them, and another answer contradicts it."""

from collections.abc import Iterable
from dataclasses import replace

from nuggetstream.domain.nugget import (
    Assignment,
    Grounding,
    Grounds,
    Nugget,
    NuggetList,
    Quotation,
    Support,
)


def disputed_by_labels(nugget_list: NuggetList, labels: Iterable[Assignment]) -> NuggetList:
    """The list with those answer-only nuggets disputed that a label says an answer contradicts.

    What a source states stays grounded: the answer that contradicts it is wrong, and no more.

    Args:
        nugget_list: The nuggets with their grounding.
        labels: Their labels for both answers.
    """
    disputing = {label.nugget_id: label for label in labels if label.support is Support.CONTRADICTION}
    if not disputing:
        return nugget_list
    nuggets = tuple(_disputed(nugget, disputing.get(nugget.id)) for nugget in nugget_list.nuggets)
    return replace(nugget_list, nuggets=nuggets)


def _disputed(nugget: Nugget, label: Assignment | None) -> Nugget:
    if label is None or nugget.grounding is not Grounding.ANSWER_ONLY:
        return nugget
    of_source = None if nugget.grounds is None else nugget.grounds.quotation
    shown = of_source if label.quote is None else Quotation(f"answer:{label.side.value}", label.quote)
    return replace(nugget, grounds=Grounds(Grounding.DISPUTED, shown))
