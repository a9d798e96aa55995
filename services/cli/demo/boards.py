"""Each board in a line: which system leads, and whether that is significant."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from nuggetstream.files.cells import named
from nuggetstream.files.numerals import fixed, interval, many, percent

_LENSES = {"human": "human votes", "nugget": "nuggets", "grounded": "grounded nuggets", "judge": "judge"}


def boards_in_short(boards: Sequence[Mapping[str, Any]]) -> list[RenderableType]:
    """A line per board: how many battles it has, which system leads, and whether that is significant."""
    grid = Table.grid(padding=(0, 2))
    for board in boards:
        lens = _LENSES.get(board["lens"], board["lens"])
        grid.add_row(Text(f"  {lens}"), many(board["scored"], "battle"), *_leader(board))
    heading = f"Leading systems: Bradley-Terry, {percent(boards[0]['level'], 0)} intervals"
    below = boards[0]["method"]["provisional_below"]
    if any(standing["provisional"] for board in boards for standing in board["standings"]):
        heading += f", provisional below {below} battles"
    return [Text(heading, style="bold"), grid]


def _leader(board: Mapping[str, Any]) -> tuple[str, str]:
    rated = [standing for standing in board["standings"] if standing["rating"] is not None]
    if not rated:
        return "no system can be rated", ""
    first, *others = rated
    leader = f"{named(first['system'])} {fixed(first['rating'])}"
    if first["low"] is None:
        return leader, "no intervals, so nothing is significant"
    ahead = bool(others) and first["rank"] == 1 and all((other["rank"] or 1) > 1 for other in others)
    says = "significantly ahead of all others" if ahead else "no system significantly ahead"
    return f"{leader} ({interval(first['low'], first['high'])})", says
