"""A table of grades against labels as cells, CSV and LaTeX."""

import csv
import io
from collections.abc import Callable

from nuggetstream.files.numerals import number
from nuggetstream.files.table_writing import latex
from nuggetstream.files.writing import as_value
from nuggetstream.statistics.inter_annotator import InterAnnotatorTable

_DIGITS = 2


def headers_of(table: InterAnnotatorTable) -> tuple[str, ...]:
    """Names of the columns."""
    return ("label", *table.columns, "total", "kappa")


def cells_of(table: InterAnnotatorTable) -> list[list[str]]:
    """Rows of cells for a terminal; a dash where there is no kappa."""
    return _cells(table, lambda kappa: number(kappa, _DIGITS))


def csv_text(table: InterAnnotatorTable) -> str:
    """The table as CSV with a header; an empty cell where there is no kappa."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    rows = _cells(table, lambda kappa: "" if kappa is None else f"{kappa:.{_DIGITS}f}")
    writer.writerows([*map(as_value, row)] for row in (headers_of(table), *rows))
    return out.getvalue()


def latex_text(table: InterAnnotatorTable) -> str:
    """The table as a LaTeX tabular (package booktabs)."""
    header = " & ".join(("Label", *map(latex, table.columns), "Total", r"$\kappa$"))
    rows = cells_of(table)
    lines = [
        rf"\begin{{tabular}}{{l{'r' * (len(table.columns) + 2)}}}",
        r"\toprule",
        rf"{header} \\",
        r"\midrule",
        *(rf"{' & '.join(map(latex, row))} \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _cells(table: InterAnnotatorTable, printed: Callable[[float | None], str]) -> list[list[str]]:
    rows = zip(table.rows, table.counts, table.totals, table.kappas, strict=True)
    return [[name, *map(str, counts), str(total), printed(kappa)] for name, counts, total, kappa in rows]
