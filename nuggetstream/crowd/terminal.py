"""Results about a crowd as tables and lines for a terminal."""

from collections.abc import Iterator
from dataclasses import replace

from rich.console import Group, RenderableType

from nuggetstream.crowd.dimension import ALPHA_KINDS, DimensionStudy
from nuggetstream.crowd.ordering import AlphaByGroup
from nuggetstream.crowd.study import CrowdStudy
from nuggetstream.crowd.topic_grades import TopicGrades
from nuggetstream.files.cells import group
from nuggetstream.files.numerals import many
from nuggetstream.files.result_tables import result_table
from nuggetstream.files.table_data import Cell, Column, Kind
from nuggetstream.files.table_writing import without_empty
from nuggetstream.files.tables import Table, count, number, text

_LONGEST_NAME = 60
_SHOWN_COLUMNS = slice(1, 9)  # of items and workers, without the dimension
_DIFFERENCE = "difference: the larger distance of one group from both together"


def crowd_tables(study: CrowdStudy, most: int, *, file: str, rows: int) -> Group:
    """Agreement per dimension, workers, items, and what the numbers are computed from.

    Args:
        study: The study to show.
        most: Maximum number of rows in each table of workers and items.
        file: Path of the file that was read.
        rows: Number of its rows.
    """
    votes, dimensions = many(study.votes, "vote"), many(len(study.dimensions), "dimension")
    parts = [_shown(study.table()), f"from {file}: {votes} in {many(rows, 'row')}, {dimensions}"]
    parts += (part for table in (*_split(study), *_order(study)) for part in ("", _shown(table)))
    for dimension in study.dimensions:
        if not dimension.learned.missing:
            parts += ["", _shown(_of(dimension, study.workers_table(), "the least competent first"), most)]
            parts += _dropped(dimension)
        parts += ["", _shown(_of(dimension, study.gold_table()), most)]
    return group(*parts)


def grade_tables(grades: TopicGrades, most: int, *, file: str, rows: int) -> Group:
    """Merits and grades per topic, and what they are computed from.

    Args:
        grades: The grades to show.
        most: Maximum number of rows.
        file: Path of the file that was read.
        rows: Number of its rows.
    """
    return group(
        _shown(grades.table(), most),
        f"from {file}: {many(grades.labels, 'label')} in {many(rows, 'row')}, "
        f"{many(grades.topics, 'topic')}, {many(len(grades.dimensions), 'dimension')}",
    )


def _shown(table: Table, most: int | None = None) -> RenderableType:
    return result_table(without_empty(table, *Kind), most, longest=_LONGEST_NAME)


def _of(dimension: DimensionStudy, table: Table, order: str = "") -> Table:
    """The rows of one dimension."""
    return replace(
        table,
        title=", ".join(filter(None, (table.title, dimension.name, order))),
        columns=table.columns[_SHOWN_COLUMNS],
        rows=tuple(row[_SHOWN_COLUMNS] for row in table.rows if row[0] == dimension.name),
    )


def _dropped(dimension: DimensionStudy) -> Iterator[str]:
    workers = dimension.learned.workers
    yield f"{sum(not worker.kept for worker in workers)} of {many(len(workers), 'worker')} dropped"
    starts = many(dimension.learned.converged or 0, "start")
    yield f"{starts} of MACE converged before the last iteration (a small number is common)"


def _split(study: CrowdStudy) -> Iterator[Table]:
    groups = {
        "differentiable": study.split.differentiable,
        "minimally differentiable": study.split.minimal,
    }
    means = (number(kind, f"mean {kind.replace('_', ' ')}", digits=3) for kind in ALPHA_KINDS)
    rows = tuple(
        (name, len(group.items), *(group.mean_alpha[kind] for kind in ALPHA_KINDS))
        for name, group in groups.items()
        if group
    )
    options = study.options
    note = (
        f"differentiable: at least {options.decided} of {len(study.dimensions)} dimensions with "
        f"{options.needed} votes or more for one label"
    )
    if rows:
        columns = (text("pairs"), count("number"), *means)
        yield Table("Pairs that people can tell apart", columns, rows, (note,))


def _order(study: CrowdStudy) -> Iterator[Table]:
    sides = [(dimension.name, dimension.sides) for dimension in study.dimensions if dimension.sides]
    places = [(dimension.name, dimension.places) for dimension in study.dimensions if dimension.places]
    if sides:
        yield Table(
            "Pairs shown in both orders (alpha)",
            (*_effect_columns("forward", "backward"), count("pairs"), count("in_both")),
            tuple((name, *_effect(side.effect), side.pairs, side.both) for name, side in sides),
            (
                "in both: pairs shown in both orders, whose votes count",
                "forward: answers in alphabetical order; backward: in the other order, a and b exchanged",
                _DIFFERENCE,
            ),
        )
    if places and study.sessions:
        middle, last = study.sessions.middle, study.sessions.last
        yield Table(
            "Agreement along the session (alpha)",
            _effect_columns("early", "late"),
            tuple((name, *_effect(effect)) for name, effect in places),
            (f"early: positions up to {middle:,}; late: positions after it, up to {last:,}", _DIFFERENCE),
        )


def _effect_columns(first: str, second: str) -> tuple[Column, ...]:
    groups = (first, second, "together")
    numbers = (number(name, digits=3) for name in (*groups, "difference"))
    return (text("dimension"), *numbers, *(count(f"votes_{name}") for name in groups))


def _effect(effect: AlphaByGroup) -> tuple[Cell, ...]:
    alphas = (*effect.groups.values(), effect.pooled)
    return (*(alpha.value for alpha in alphas), effect.delta, *(alpha.votes for alpha in alphas))
