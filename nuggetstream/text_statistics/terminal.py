"""Statistics of texts as tables and lines for a terminal."""

from rich.console import RenderableType

from nuggetstream.files.cells import group
from nuggetstream.files.numerals import many
from nuggetstream.files.result_tables import result_table
from nuggetstream.files.table_data import Kind
from nuggetstream.files.table_writing import without_empty
from nuggetstream.text_statistics.study import TextStudy


def text_tables(study: TextStudy, most: int, *, without_text: int = 0, repeated: int = 0) -> RenderableType:
    """Measures of every text, and means per group, without the measures that no text has.

    Args:
        study: The study to show.
        most: Maximum number of rows in the table of texts.
        without_text: Number of empty cells where a text could be.
        repeated: Number of texts left out because their name was read before.
    """
    texts, means = (without_empty(table, *Kind) for table in (study.texts_table(), study.table()))
    parts = [result_table(texts, most), "", result_table(means)]
    if without_text:
        parts.append(f"note: {many(without_text, 'cell')} without a text, not measured")
    if repeated:
        parts.append(f"note: {many(repeated, 'text')} with a name that was read before, measured once")
    return group(*parts)
