"""Scores from aspects as tables and lines for a terminal."""

from rich.console import RenderableType

from nuggetstream.aspects.study import AspectScores
from nuggetstream.aspects.tree import TREE_DEPTH
from nuggetstream.files.cells import group
from nuggetstream.files.result_tables import result_table


def aspect_tables(scores: AspectScores) -> RenderableType:
    """Coefficients, weights with standard errors, and the tree."""
    tables = (scores.table(), scores.weights_table(), scores.held_out_table(), scores.errors_table())
    parts = [part for table in tables if table.rows for part in (result_table(table), "")]
    if scores.tree is not None:
        parts.append(f"Tree of depth {TREE_DEPTH} from the judge's aspects (each from 0 to 1)")
        parts += scores.tree.rules.splitlines()
    return group(*parts)
