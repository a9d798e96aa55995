"""Findings about grades, checks and assessors, and listings of grades, for a terminal."""

from collections.abc import Sequence

from rich.console import RenderableType

from nuggetstream.files.cells import group, table
from nuggetstream.files.result_tables import result_table
from nuggetstream.rubric.checking import Check
from nuggetstream.rubric.listings import FINDINGS, grids, listings

_LONGEST_TEXT = 60


def check_tables(checked: Check, sections: Sequence[str], most: int) -> RenderableType:
    """Counts of the grades and the sections asked for; without any, all findings that can be made.

    Args:
        checked: Findings and listings.
        sections: Any of "spurious", "uncovered", "contradicted", "alike", "grid", "listing".
        most: Rows of a table.
    """
    counts = table("Grades given", "grade", "times")
    for grade, times in checked.counts.items():
        counts.add_row(str(grade), f"{times:,}")
    parts: list[RenderableType | str] = [counts, checked.graded.basis.line]
    parts += [f"note: {note.text}" for note in checked.notes]
    by_section = listings(checked)
    for section in sections or [name for name in FINDINGS if name in by_section]:
        tables = (
            list(grids(checked))
            if section == "grid"
            else [by_section[section]]
            if section in by_section
            else []
        )
        for each in tables:
            parts += ["", result_table(each, most, longest=_LONGEST_TEXT)]
        if not tables:
            parts += ["", f"{section}: no answer"]
    return group(*parts)
