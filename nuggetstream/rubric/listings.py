"""Findings about grades, checks and assessors, and every grade, as a table each."""

from collections.abc import Iterator

from nuggetstream.files.numerals import many
from nuggetstream.files.table_data import Column
from nuggetstream.files.tables import Table, count, rows_from, text
from nuggetstream.rubric.checking import Check

FINDINGS = ("spurious", "uncovered", "contradicted", "alike")
_COUNTS = {"passages": None, "judgment": None, "best": "best grade", "grade": None, "answered": None}


def listings(checked: Check) -> dict[str, Table]:
    """The table of each kind of finding, "grid" and "listing"; one whose rows nobody can know is left out."""
    good, tables = checked.limits.minimum, dict[str, Table]()
    if checked.spurious is not None:
        rows = tuple(
            (query, entry.item, entry.passages, checked.texts.get(entry.item))
            for query, items in checked.spurious.items()
            for entry in items
        )
        title = f"Spurious: answered with {good} or better by passages judged not relevant"
        note = f"{many(len(rows), 'item')}; {many(checked.not_relevant, 'passage')} judged not relevant"
        tables["spurious"] = Table(title, _columns("query", "item", "passages", "text"), rows, (note,))
    if checked.uncovered is not None:
        title = f"Uncovered: judged relevant, and no item answered with {good} or better"
        columns = _columns("query", "passage", "judgment", "best", "text")
        passages = many(len(checked.uncovered), "passage")
        note = f"{passages} of {checked.relevant:,} that were judged relevant and graded"
        tables["uncovered"] = Table(title, columns, rows_from(columns, checked.uncovered), (note,))
    if checked.contradicted is not None:
        title = f"Contradicted: graded {good} or better, and a check denies it"
        columns = _columns("query", "item", "passage", "grade", "check", "reply")
        tables["contradicted"] = Table(title, columns, rows_from(columns, checked.contradicted))
    alike = tuple(
        (entry.query, entry.item, entry.answered, entry.passages, entry.best, checked.texts.get(entry.item))
        for entry in checked.alike
    )
    title = f"Alike: all passages answer the item with {good} or better, or none does"
    columns = _columns("query", "item", "answered", "passages", "best", "text")
    tables["alike"] = Table(title, columns, alike)
    tables["grid"] = _grades(checked)
    columns = _columns("query", "item", "grade", "passage", "reply", "text")
    tables["listing"] = Table("Answers with a grade above 0", columns, rows_from(columns, checked.listing))
    return tables


def grids(checked: Check) -> Iterator[Table]:
    """A table of passages by items for each query, with every grade."""
    for query, grid in checked.grids.items():
        columns = (text("passage"), *(count(str(number)) for number in range(1, len(grid.items) + 1)))
        rows = tuple((name, *grades) for name, grades in zip(grid.passages, grid.grades, strict=True))
        items = tuple(f"{number}: {item}" for number, item in enumerate(grid.items, start=1))
        yield Table(f"Grades of query {query}", columns, rows, items)


def _grades(checked: Check) -> Table:
    rows = tuple(
        (query, passage, item, grade)
        for query, grid in checked.grids.items()
        for passage, grades in zip(grid.passages, grid.grades, strict=True)
        for item, grade in zip(grid.items, grades, strict=True)
    )
    return Table("Every grade", _columns("query", "passage", "item", "grade"), rows)


def _columns(*names: str) -> tuple[Column, ...]:
    return tuple(count(name, _COUNTS[name]) if name in _COUNTS else text(name) for name in names)
