"""Numbers as they are printed: one minus sign everywhere, and no dash that could be read as one."""

from collections.abc import Sequence

MINUS = "\N{MINUS SIGN}"
MISSING = "–"
_MOST_DIGITS = 6  # of a printed score


def fixed(value: float, digits: int = 0) -> str:
    """A number with so many decimals; a rounded negative zero is a zero.

    >>> fixed(-23.4), fixed(-0.001, 2)
    ('−23', '0.00')
    """
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", MINUS)


def integer(value: float) -> str:
    """A count with a comma between thousands.

    >>> integer(11074)
    '11,074'
    """
    return f"{value:,.0f}"


def number(value: float | None, digits: int = 3) -> str:
    """A number, or a dash where there is none.

    >>> number(-2.5, 1), number(None)
    ('−2.5', '–')
    """
    return MISSING if value is None else fixed(value, digits)


def percent(value: float | None, digits: int = 1) -> str:
    """A share as a percentage, or a dash where there is none.

    >>> percent(0.125), percent(0.125, 0), percent(None)
    ('12.5%', '12%', '–')
    """
    return MISSING if value is None else f"{value:.{digits}%}"


def between(low: str, high: str) -> str:
    """The bounds of an interval, printed already; a dash stands between them unless one is negative.

    >>> between("950", "1021"), between("−23", "1010")
    ('950–1021', '−23 to 1010')
    """
    return f"{low} to {high}" if MINUS in low + high else f"{low}–{high}"


def interval(low: float | None, high: float | None, digits: int = 0) -> str:
    """An interval, or a dash where a bound is missing.

    >>> interval(949.7, 1021.2), interval(-23, 1010), interval(None, None)
    ('950–1021', '−23 to 1010', '–')
    """
    return MISSING if low is None or high is None else between(fixed(low, digits), fixed(high, digits))


def percent_interval(low: float | None, high: float | None) -> str:
    """An interval of shares in percent, or a dash where a bound is missing.

    >>> percent_interval(0.61, 0.7)
    '61–70%'
    """
    return MISSING if low is None or high is None else f"{100 * low:.0f}–{100 * high:.0f}%"


def p_value(value: float | None) -> str:
    """A p-value, a very small one as a bound, or a dash where there is none.

    >>> p_value(1e-9), p_value(0.0312)
    ('< 0.001', '0.031')
    """
    if value is None:
        return MISSING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def part_of(part: int, total: int, things: str = "") -> str:
    """How many of how many.

    >>> part_of(664, 791, "battles"), part_of(3, 1200)
    ('664 of 791 battles', '3 of 1,200')
    """
    return f"{integer(part)} of {integer(total)} {things}".rstrip()


def many(count: int, thing: str, things: str | None = None) -> str:
    """A count of things.

    >>> many(1, "vote"), many(1200, "row"), many(2, "query", "queries")
    ('1 vote', '1,200 rows', '2 queries')
    """
    return f"{integer(count)} {thing if count == 1 else things or thing + 's'}"


def shortened(names: Sequence[str], most: int) -> str:
    """The first names of a list, and how many more there are.

    >>> shortened(["p", "q", "r"], 2), shortened(["p"], 2)
    ('p, q and 1 more', 'p')
    """
    named = ", ".join(names[:most])
    return named if len(names) <= most else f"{named} and {len(names) - most} more"


def count(value: float) -> str:
    """A count that may be weighted: whole numbers without decimals, others with one.

    >>> count(1200.0), count(2.5)
    ('1,200', '2.5')
    """
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-9 else f"{value:,.1f}"


def level(value: float) -> str:
    """A confidence level as a percentage, with the decimals that it has.

    >>> level(0.95), level(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * value:g}%"


def chance(value: float | None) -> str:
    """An estimated probability in whole percent, or a dash where there is none; an estimate is never certain.

    >>> chance(0.0), chance(0.25), chance(1.0), chance(None)
    ('<1%', '25%', '>99%', '–')
    """
    if value is None:
        return MISSING
    if value < 0.01:
        return "<1%"
    return ">99%" if value > 0.99 else f"{value:.0%}"


def decisive_digits(a: float, b: float, threshold: float) -> int:
    """The fewest decimals with which two printed scores show whether they differ by more than a threshold.

    Args:
        a: One score, in [0, 1].
        b: The other score, in [0, 1].
        threshold: The largest difference that is a tie.

    Returns:
        Number of decimals, from 2 to 6.

    >>> decisive_digits(0.6, 0.1, 0.07), decisive_digits(0.5, 0.43, 0.07)
    (2, 2)
    >>> decisive_digits(5 / 14, 6 / 14, 0.07)
    3
    """
    for digits in range(2, _MOST_DIGITS):
        printed = round(abs(round(a, digits) - round(b, digits)), digits)
        limit, differs = round(threshold, digits), round(abs(a - b) - threshold, 12) > 0
        if (printed > limit) == differs:
            return digits
    return _MOST_DIGITS
