"""Groups of systems between which no battle counts, so that nothing ranks one against another."""

from collections.abc import Iterable, Sequence

from nuggetstream.ratings.tally import Tally, TiePolicy, connectivity


def islands_of(tally: Tally, policy: TiePolicy) -> tuple[tuple[str, ...], ...]:
    """The groups of at least two systems, largest first."""
    return tuple(island for island in connectivity(tally, policy).islands if len(island) > 1)


def in_words(islands: Iterable[Sequence[str]], most: int = 4) -> str:
    """The groups by their systems, of each the first few.

    >>> in_words([["p", "q", "r"], ["x", "y"]], most=2)
    'p, q and 1 more; x, y'
    """
    return "; ".join(_short(island, most) for island in islands)


def _short(island: Sequence[str], most: int) -> str:
    named = ", ".join(island[:most])
    return named if len(island) <= most else f"{named} and {len(island) - most} more"
