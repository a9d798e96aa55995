"""Numbers as a reader wants them."""

from nuggetstream.files.dataset import VOTE
from nuggetstream.files.numerals import MISSING, between, fixed
from nuggetstream.statistics.share import FEW, Share

FEW_MARK = "†"
FEW_NOTE = f"{FEW_MARK} rests on fewer than {FEW} cases."


def whole(value: float) -> str:
    """A count with thousands apart.

    >>> whole(11074)
    '11,074'
    """
    return f"{value:,.0f}"


def number(value: float | None, digits: int = 2) -> str:
    """A number, or a dash where there is none; a rounded negative zero is a zero.

    >>> number(-0.001), number(-2.5, 1), number(None)
    ('0.00', '−2.5', '–')
    """
    return MISSING if value is None else fixed(value, digits)


def percent(value: float | None, digits: int = 1) -> str:
    """A share as a percentage, or a dash where there is none."""
    return MISSING if value is None else f"{value:.{digits}%}"


def span(low: float | None, high: float | None) -> str:
    """An interval of shares in percent, or a dash where there is none.

    >>> span(0.61, 0.7)
    '61–70%'
    """
    return MISSING if low is None or high is None else f"{100 * low:.0f}–{100 * high:.0f}%"


def ends(low: float | None, high: float | None) -> str:
    """An interval of ratings, or a dash where there is none.

    >>> ends(949.7, 1021.2), ends(-23, 1010), ends(None, None)
    ('950–1021', '−23 to 1010', '–')
    """
    return MISSING if low is None or high is None else between(fixed(low), fixed(high))


def share_of(found: Share) -> str:
    """A share with what it rests on: "12.5% (1 of 8) †"."""
    if found.value is None:
        return MISSING
    mark = f"\N{NO-BREAK SPACE}{FEW_MARK}" if found.of < FEW else ""
    return f"{percent(found.value)} ({whole(found.count)} of {whole(found.of)}){mark}"


def p_value(value: float | None) -> str:
    """A p value; very small ones as a bound.

    >>> p_value(1e-9), p_value(0.0312)
    ('< 0.001', '0.031')
    """
    if value is None:
        return MISSING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def of(part: int, total: int, things: str = "battles") -> str:
    """ "664 of 791 battles"."""
    return f"{whole(part)} of {whole(total)} {things}"


def many(count: int, thing: str) -> str:
    """A count of things.

    >>> many(1, "battle"), many(1200, "battle")
    ('1 battle', '1,200 battles')
    """
    return f"{whole(count)} {thing}" if count == 1 else f"{whole(count)} {thing}s"


def dimension_name(name: str) -> str:
    """A dimension as words.

    >>> dimension_name("quality_overall"), dimension_name("vote")
    ('quality overall', 'human vote')
    """
    return "human vote" if name == VOTE else name.replace("_", " ")
