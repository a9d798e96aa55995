"""Findings about grades as one HTML page that needs nothing else: findings, then questions by passages."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from nuggetstream.files import tables
from nuggetstream.files.table_writing import html_of
from nuggetstream.files.tables import Table
from nuggetstream.rubric.checking import Check
from nuggetstream.rubric.verification import Grid

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
caption { font-weight: 600; text-align: left } th, td { border: 1px solid #d0d5dd; padding: .2rem .5rem }
td.g { text-align: center; min-width: 1.2rem } td.none { background: #eee }
""" + "".join(
    f"td.g{grade} {{ background: {colour} }} "
    for grade, colour in enumerate(("#fff", "#edf5f9", "#d3e8f0", "#a8d3e2", "#6fb7cf", "#3a98b9"))
)


def write_page(checked: Check, path: Path) -> Path:
    """Write the page; returns its path.

    Raises:
        OSError: The file cannot be written.
    """
    path.write_text(page_of(checked), encoding="utf-8")
    return path


def page_of(checked: Check) -> str:
    """The page."""
    title = f"Grades of {checked.graded.basis.file or 'passages'}"
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>",
        html_of(checked.table(), None),
        html_of(_items(checked), None) if checked.texts else "",
        *(part for query, grid in checked.grids.items() for part in _grid(checked, query, grid)),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _items(checked: Check) -> Table:
    columns = (tables.text("item"), tables.text("text"))
    return Table("Questions", columns, tuple(checked.texts.items()), ())


def _grid(checked: Check, query: str, grid: Grid) -> Iterator[str]:
    """Questions of a query by its passages, with every grade."""
    good = checked.limits.minimum
    yield f"<h2>Query {escape(query)}</h2><table><thead><tr><th>question</th><th>answered by</th>"
    yield "".join(f"<th>{escape(name)}</th>" for name in grid.passages) + "</tr></thead><tbody>"
    for number, item in enumerate(grid.items):
        grades = [row[number] for row in grid.grades]
        given = [grade for grade in grades if grade is not None]
        answered = f"{sum(grade >= good for grade in given)} of {len(given)}"
        name = escape(checked.texts.get(item, item))
        yield f'<tr><td title="{escape(item)}">{name}</td><td>{answered}</td>'
        yield "".join(map(_cell, grades)) + "</tr>"
    yield "</tbody></table>"


def _cell(grade: int | None) -> str:
    if grade is None:
        return '<td class="g none" title="not graded">–</td>'
    return f'<td class="g g{grade}">{grade}</td>'
