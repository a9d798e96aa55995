"""The comparison of two evaluations as tables for a terminal."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table

from nuggetstream.files.cells import named, table
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.numerals import MISSING, interval, many, number
from nuggetstream.files.result_tables import result_table
from nuggetstream.report.comparing import Compared, Estimate, PreferenceRow


def comparison_tables(
    compared: Compared, battles: Mapping[str, BattleRow], examples: int = 5
) -> RenderableType:
    """What two evaluations say, battle by battle.

    Args:
        compared: The comparison.
        battles: The battles of the first evaluation by id, for the queries of examples.
        examples: How many battles with opposite preferences are listed for each predictor.
    """
    parts: list[RenderableType] = [
        f"{many(compared.battles, 'battle')} in both, {compared.only_first} only in the first and "
        f"{compared.only_second} only in the second",
        result_table(compared.table()),
    ]
    parts += [_confusion(row) for row in compared.preferences if row.battles]
    if compared.people:
        parts += [_people(compared), "second - first: 95% interval, a bootstrap over queries"]
    parts += [_groups(row) for row in compared.preferences if row.by]
    labels = compared.labels
    if labels.labels:
        parts.append(
            f"labels of nuggets with the same text: {labels.agreed} of {labels.labels} are equal, "
            f"kappa {number(labels.kappa, 2)}"
        )
    if any(cost.battles for cost in compared.costs):
        parts.append(_costs(compared))
    parts += _examples(compared.preferences, battles, examples)
    return Group(*parts)


def _costs(compared: Compared) -> Table:
    columns = ("evaluation", "battles", "calls", "input tokens", "output tokens", "money")
    grid = table("Model calls of a battle, as means", *columns, text=["evaluation"])
    for name, cost in zip(("first", "second"), compared.costs, strict=True):
        amount = MISSING if cost.amount is None else f"{cost.amount:.4g} {cost.currency}"
        tokens = (number(cost.input_tokens, 0), number(cost.output_tokens, 0))
        grid.add_row(name, str(cost.battles), number(cost.calls, 1), *tokens, amount)
    return grid


def _confusion(row: PreferenceRow) -> Table:
    grid = table(f"{row.predictor}: first in rows, second in columns", "", "A", "tie", "B", text=[""])
    for name, counts in zip(("A", "tie", "B"), row.confusion, strict=True):
        grid.add_row(name, *map(str, counts))
    return grid


def _people(compared: Compared) -> Table:
    columns = ("dimension", "predictor", "battles", "first", "second", "second - first", "95%")
    grid = table("Agreement with people, on the same battles", *columns, text=["dimension", "predictor"])
    for row in compared.people:
        shares = (number(row.first, 3), number(row.second, 3))
        grid.add_row(
            named(row.dimension), row.predictor, str(row.battles), *shares, *_estimate(row.difference)
        )
    return grid


def _groups(row: PreferenceRow) -> Table:
    title = f"{row.predictor}: equal preferences by group"
    grid = table(title, "group", "battles", "equal", "95%", text=["group"])
    for name, (equal, count) in row.by.items():
        grid.add_row(named(name), str(count), *_estimate(equal))
    return grid


def _examples(
    rows: Sequence[PreferenceRow], battles: Mapping[str, BattleRow], most: int
) -> Iterator[RenderableType]:
    for row in rows:
        shown = row.opposite[:most]
        if shown:
            title = f"{row.predictor}: opposite preferences, {len(shown)} of {len(row.opposite)}"
            grid = table(title, "battle", "query", text=["battle", "query"])
            for name in shown:
                grid.add_row(named(name), named(battles[name].query, 80))
            yield grid


def _estimate(found: Estimate | None) -> tuple[str, str]:
    return (
        (MISSING, MISSING) if found is None else (number(found.value, 3), interval(found.low, found.high, 2))
    )
