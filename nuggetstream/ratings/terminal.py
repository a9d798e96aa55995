"""A leaderboard as a table for a terminal."""

from collections.abc import Iterable, Sequence

from rich.table import Table

from nuggetstream.files.cells import named, table
from nuggetstream.files.numerals import MINUS, MISSING, between, chance, count, fixed, number
from nuggetstream.ratings.combined_standing import Rating
from nuggetstream.ratings.standing import IntervalState, Standing

_TEXT = ("group", "system", "pair", "feature", "remark", "dimension")


def leaderboard(
    title: str, standings: Sequence[Standing], *, weighted: str = "", caption: str | None = None
) -> Table:
    """A board in the order of its standings, with a remark where a system has no rank.

    Args:
        title: Title.
        standings: A row each.
        weighted: Behind the name of the column, where its numbers are weights and not battles.
        caption: Printed below.
    """
    remarks = [standing.remark or "" for standing in standings]
    columns = ["rank", "group", "system", "rating", "interval", "P(first)", f"won-lost-tied{weighted}"]
    columns += ["remark"] if any(remarks) else []
    cells = (
        (*_standing(standing), *([words] if any(remarks) else []))
        for standing, words in zip(standings, remarks, strict=True)
    )
    return grid(title, columns, cells, caption)


def grid(
    title: str, columns: Iterable[str], rows: Iterable[Iterable[str]], caption: str | None = None
) -> Table:
    """A table with its rows; names and remarks are left-aligned."""
    printed = table(title, *columns, text=_TEXT, caption=caption)
    for row in rows:
        printed.add_row(*row)
    return printed


def _standing(standing: Standing) -> tuple[str, ...]:
    return (
        MISSING if standing.rank is None else str(standing.rank),
        standing.group or MISSING,
        named(standing.system),
        number(standing.rating, 0),
        bounds(standing),
        chance(standing.probability_first),
        "-".join(map(count, (standing.wins, standing.losses, standing.ties))),
    )


def bounds(rated: Standing | Rating) -> str:
    """The bounds of a rating in print, the words of their state, or a dash without a rating."""
    if rated.interval_state is None:
        return MISSING
    if rated.interval_state in (IntervalState.UNBOUNDED, IntervalState.DEGENERATE, IntervalState.FIXED):
        return rated.interval_state.words
    low = f"{MINUS}∞" if rated.low is None else fixed(rated.low)
    high = "∞" if rated.high is None else fixed(rated.high)
    return between(low, high)
