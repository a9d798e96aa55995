"""Scores from aspects as tables and lines for a terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from nuggetstream.aspects.study import AspectScores
from nuggetstream.aspects.tree import TREE_DEPTH
from nuggetstream.aspects.weights import PUBLISHED_WEIGHTS
from nuggetstream.files.cells import table
from nuggetstream.files.numerals import MISSING, fixed, many
from nuggetstream.files.result_tables import result_table
from nuggetstream.files.tables import Table

_ASPECTS = ("factuality", "amount", "formality")


def aspect_tables(scores: AspectScores) -> RenderableType:
    """Coefficients, weights with standard errors, and the tree."""
    more = (part for table in _more(scores) for part in ("", result_table(table)))
    return Group(result_table(scores.table()), *_fitted(scores), *more, *_tree(scores))


def _more(scores: AspectScores) -> list[Table]:
    return [table for table in (scores.held_out_table(), scores.errors_table()) if table.rows]


def _fitted(scores: AspectScores) -> Iterator[RenderableType]:
    fitted = scores.fitted
    if fitted is None:
        return
    grid = table("Weights", "aspect", "published", "fitted", "± standard error", text=["aspect"])
    for aspect in _ASPECTS:
        published, weight, error = (
            getattr(weights, aspect) for weights in (PUBLISHED_WEIGHTS, fitted.weights, fitted.errors)
        )
        grid.add_row(aspect, *(fixed(value, 3) for value in (published, weight, error)))
    grid.add_row("intercept", MISSING, fixed(fitted.intercept, 3), fixed(fitted.intercept_error, 3))
    yield Text()
    yield grid
    yield Text(
        f"fitted by least squares to {many(fitted.answers, 'answer')} rated by people, "
        f"R² {fixed(fitted.r_squared, 3)}; the row “weights fitted to people” compares the fit with the same "
        "acceptability and does not tell how it does on new answers"
    )


def _tree(scores: AspectScores) -> Iterator[RenderableType]:
    if scores.tree is not None:
        rules = scores.tree.rules.rstrip()
        yield Text(f"\nTree of depth {TREE_DEPTH} from the judge's aspects (each from 0 to 1)\n{rules}")
