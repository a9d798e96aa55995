"""Which answer did a judge prefer? Replies that end in `[[A]]`, `[[B]]` or `[[C]]` (a tie).

Source: the verdict format of Zheng et al., "Judging LLM-as-a-Judge", 2023, as RAGElo records it.
"""

import re

from nuggetstream.domain.battle import Vote

_VERDICT = re.compile(r"\[\[\s*([^\[\]]*?)\s*\]\]")
_VOTES = {"A": Vote.A, "B": Vote.B, "C": Vote.TIE, "TIE": Vote.TIE}


class NoVerdict(ValueError):
    """The reply holds no verdict that can be read. An unreadable judge is not a tie."""


def parse_verdict(reply: str) -> Vote:
    """The last verdict of a reply, in upper or lower case.

    A judge may quote the format before it decides, so the last one counts. It must be one of the letters
    asked for; otherwise the reply has no verdict, whatever stands before.

    Raises:
        NoVerdict: There is no `[[...]]`, or the last one is none of A, B, C, tie.

    >>> parse_verdict("Answer with [[A]], [[B]] or [[C]]. Both miss the point: [[c]]")
    <Vote.TIE: 'tie'>
    """
    brackets = _VERDICT.findall(reply)
    if not brackets:
        raise NoVerdict("the reply holds no [[...]]")
    verdict = _VOTES.get(brackets[-1].upper())
    if verdict is None:
        raise NoVerdict(f"the last verdict is [[{brackets[-1]}]], not A, B or C")
    return verdict
