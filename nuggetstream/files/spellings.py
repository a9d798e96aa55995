"""How arenas spell an outcome."""

import re
from functools import lru_cache

from nuggetstream.domain.battle import Vote

_SPELLINGS = {
    Vote.A: ("a", "systema", "modela", "agenta", "left", "model1"),
    Vote.B: ("b", "systemb", "modelb", "agentb", "right", "model2"),
    Vote.TIE: ("tie", "tied", "draw", "c", "tieinconsistent", "bothgood"),
    Vote.BOTH_BAD: ("bothbad", "tiebothbad", "neither"),
}
_VOTES = {spelling: vote for vote, spellings in _SPELLINGS.items() for spelling in spellings}


@lru_cache(maxsize=1024)
def spelt_vote(words: str) -> Vote | None:
    """The outcome that words usually spell; None where they spell none.

    >>> spelt_vote("Tie (both bad)"), spelt_vote("model_a"), spelt_vote("atlas")
    (<Vote.BOTH_BAD: 'both_bad'>, <Vote.A: 'a'>, None)
    """
    return _VOTES.get(re.sub(r"[\W_]+", "", words.casefold()))


def sent_vote(words: str) -> Vote | None:
    """The outcome that words of a person or an arena spell; None where they spell none.

    The letter C, a tie in some published files, is none: whoever sends it may mean a third choice.

    >>> sent_vote("draw"), sent_vote("C")
    (<Vote.TIE: 'tie'>, None)
    """
    return None if words.strip().casefold() == "c" else spelt_vote(words)
