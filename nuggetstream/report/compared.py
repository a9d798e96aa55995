"""The comparison of two evaluations as tables for a terminal."""

from collections.abc import Iterator, Mapping

from rich.console import RenderableType

from nuggetstream.files.cells import group
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.numerals import many, number
from nuggetstream.files.result_tables import result_table
from nuggetstream.files.table_data import Cell
from nuggetstream.files.tables import Table, count, interval, text
from nuggetstream.files.tables import number as numbers
from nuggetstream.report.comparing import Compared, PreferenceRow
from nuggetstream.report.estimates import interval_cells

_QUERY = 80  # characters of a query in a table


def comparison_tables(
    compared: Compared, battles: Mapping[str, BattleRow], examples: int = 5
) -> RenderableType:
    """What two evaluations say, battle by battle.

    Args:
        compared: The comparison.
        battles: The battles of the first by id, for the queries of the examples.
        examples: Most battles with opposite preferences shown per predictor.
    """
    return group(
        f"{many(compared.battles, 'battle')} in both, {compared.only_first} only in the first and "
        f"{compared.only_second} only in the second",
        *(part if isinstance(part, str) else result_table(part) for part in _parts(compared)),
        *(result_table(_examples(row, battles, examples)) for row in compared.preferences if row.opposite),
    )


def _parts(compared: Compared) -> Iterator[Table | str]:
    yield compared.table()
    yield from (_confusion(row) for row in compared.preferences if row.battles)
    if compared.people:
        yield _people(compared)
    yield from (_groups(row) for row in compared.preferences if row.by)
    labels = compared.labels
    if labels.labels:
        equal = f"{labels.agreed} of {labels.labels} are equal"
        yield f"labels of nuggets with the same text: {equal}, kappa {number(labels.kappa, 2)}"
    if any(cost.battles for cost in compared.costs):
        yield _costs(compared)


def _costs(compared: Compared) -> Table:
    columns = (
        text("evaluation"),
        count("battles"),
        numbers("calls", digits=1),
        numbers("input_tokens", digits=0),
        numbers("output_tokens", digits=0),
        numbers("money", digits=4),
        text("currency"),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *(name, cost.battles, cost.calls, cost.input_tokens, cost.output_tokens),
            *(cost.amount, cost.currency),
        )
        for name, cost in zip(("first", "second"), compared.costs, strict=True)
    )
    return Table("Model calls of a battle, as means", columns, rows)


def _confusion(row: PreferenceRow) -> Table:
    columns = (text("vote", ""), count("a", "A"), count("tie"), count("b", "B"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *counts) for name, counts in zip(("A", "tie", "B"), row.confusion, strict=True)
    )
    return Table(f"{row.predictor}: first in rows, second in columns", columns, rows)


def _people(compared: Compared) -> Table:
    columns = (
        text("dimension"),
        text("predictor"),
        count("battles"),
        numbers("first", digits=3),
        numbers("second", digits=3),
        numbers("difference", "second - first", digits=3),
        interval("low", "high", "95%"),
    )
    rows = tuple(
        (
            *(row.dimension, row.predictor, row.battles, row.first, row.second),
            *interval_cells(row.difference),
        )
        for row in compared.people
    )
    note = "second - first: 95% interval, a bootstrap over queries"
    return Table("Agreement with people, on the same battles", columns, rows, (note,))


def _groups(row: PreferenceRow) -> Table:
    columns = (text("group"), count("battles"), numbers("equal", digits=3), interval("low", "high", "95%"))
    rows = tuple((name, size, *interval_cells(equal)) for name, (equal, size) in row.by.items())
    return Table(f"{row.predictor}: equal preferences by group", columns, rows)


def _examples(row: PreferenceRow, battles: Mapping[str, BattleRow], most: int) -> Table:
    shown = row.opposite[:most]
    title = f"{row.predictor}: opposite preferences, {len(shown)} of {len(row.opposite)}"
    rows = tuple((name, battles[name].query[:_QUERY]) for name in shown)
    return Table(title, (text("battle"), text("query")), rows)
