"""Disputed nuggets: a source contradicts them, or no source states them and an answer does.

A good answer needs no fact that may be false, so a disputed nugget is never vital, and no score that a
verdict follows from counts it.
"""

from collections.abc import Iterable
from dataclasses import replace

from nuggetstream.domain.nugget import (
    Assignment,
    Grounding,
    Grounds,
    Importance,
    Nugget,
    NuggetList,
    Quotation,
    Support,
    vital_first,
)


def disputed(nugget: Nugget, shown: Quotation | None) -> Nugget:
    """The nugget as a disputed one.

    Args:
        nugget: The nugget.
        shown: The sentence that contradicts it; None where none can be named.
    """
    return replace(nugget, importance=Importance.OKAY, grounds=Grounds(Grounding.DISPUTED, shown))


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
    return replace(nugget_list, nuggets=vital_first(nuggets))


def _disputed(nugget: Nugget, label: Assignment | None) -> Nugget:
    if label is None or nugget.grounding is not Grounding.ANSWER_ONLY:
        return nugget
    of_source = None if nugget.grounds is None else nugget.grounds.quotation
    shown = of_source if label.quote is None else Quotation(f"answer:{label.side.value}", label.quote)
    return disputed(nugget, shown)
