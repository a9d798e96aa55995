"""Words and marks that several sections share."""

from collections.abc import Sequence

from nuggetstream.files.dataset import VOTE
from nuggetstream.files.numerals import MISSING, integer, percent
from nuggetstream.statistics.share import FEW, Share

FEW_MARK = "†"
FEW_NOTE = f"{FEW_MARK} rests on fewer than {FEW} cases."
NO_PREFERENCE = "no battle has a human preference"


def few_mark(cases: float) -> str:
    """The mark of a number that rests on few cases; empty for one that rests on none or on enough."""
    return f"\N{NO-BREAK SPACE}{FEW_MARK}" if 0 < cases < FEW else ""


def share_of(share: Share, what: str = "") -> str:
    """A share with what it rests on, in a sentence with the name of what was counted.

    >>> from nuggetstream.statistics.share import share
    >>> share_of(share(1, 8)), share_of(share(1, 8), "the battles")
    ('12.5% (1 of 8)\\xa0†', '12.5% of the battles (1 of 8\\xa0†)')
    """
    if share.value is None:
        return MISSING
    counts, few = f"{integer(share.count)} of {integer(share.of)}", few_mark(share.of)
    if what:
        return f"{percent(share.value)} of {what} ({counts}{few})"
    return f"{percent(share.value)} ({counts}){few}"


def opening(text: str, characters: int = 160) -> str:
    """The beginning of a text, as long as a cell of a table may be.

    >>> opening("Tides follow the moon.", 5)
    'Tides…'
    """
    return text if len(text) <= characters else f"{text[:characters]}…"


def dimension_name(name: str) -> str:
    """A human dimension as words.

    >>> dimension_name("quality_overall"), dimension_name("vote")
    ('quality overall', 'human vote')
    """
    return "human vote" if name == VOTE else in_words(name)


def in_words(name: str) -> str:
    """A name of the platform as words.

    >>> in_words("not_found")
    'not found'
    """
    return name.replace("_", " ")


def sentence(text: str) -> str:
    """A text that begins with a capital letter."""
    return f"{text[0].upper()}{text[1:]}"


def and_list(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> and_list(["human", "nugget", "judge"]), and_list(["human"])
    ('human, nugget and judge', 'human')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
