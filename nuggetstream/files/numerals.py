"""Numbers as they are printed: one minus sign everywhere, and no dash that could be read as one."""

MINUS = "\N{MINUS SIGN}"
MISSING = "–"


def fixed(value: float, digits: int = 0) -> str:
    """A number with so many decimals; a rounded negative zero is a zero.

    >>> fixed(-23.4), fixed(-0.001, 2)
    ('−23', '0.00')
    """
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", MINUS)


def between(low: str, high: str) -> str:
    """The ends of an interval, printed already; a dash stands between them unless one is negative.

    >>> between("950", "1021"), between("−23", "1010")
    ('950–1021', '−23 to 1010')
    """
    return f"{low} to {high}" if MINUS in low + high else f"{low}–{high}"


def number(value: float | None, digits: int = 3) -> str:
    """A number, or a dash where there is none."""
    return MISSING if value is None else fixed(value, digits)


def percent(value: float | None) -> str:
    """A share as a percentage, or a dash where there is none."""
    return MISSING if value is None else f"{value:.1%}"
