"""Results that show a figure beside their table."""

import html
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nuggetstream.extras import MissingExtra, extras_named
from nuggetstream.figures.figure import Figure
from nuggetstream.figures.rows import rows_figure
from nuggetstream.files.tables import Table, Tabular

if TYPE_CHECKING:
    import plotly.graph_objects

_TITLE = 44  # pixels above the figure; the report has its titles outside


class NothingToDraw(ValueError):
    """A result without a number that its figure could show."""


class Drawn(Tabular):
    """A result that shows itself as a table and as a figure.

    A `DrawnTable` knows how it is drawn; of any other table each row is a mark, see `rows_figure`.
    """

    __slots__ = ()

    def plot(self) -> "plotly.graph_objects.Figure":
        """The result as a figure of plotly, which shows itself in a notebook and can be changed or written.

        Raises:
            NothingToDraw: There is no number to draw.
            MissingExtra: plotly is not installed.
        """
        with extras_named():
            from plotly.graph_objects import Figure as PlotlyFigure
        table = self.table()
        if (drawn := table.drawing() if isinstance(table, DrawnTable) else rows_figure(table)) is None:
            raise NothingToDraw(f"{table.title}: there is no number to draw")
        figure = PlotlyFigure(drawn.spec)
        margin = drawn.spec["layout"]["margin"]
        text = html.escape(drawn.title, quote=False)  # plotly reads tags in titles
        return figure.update_layout(
            title={"text": text, "yref": "container", "y": 1, "yanchor": "top", "pad": {"t": 12}},
            height=drawn.height + _TITLE,
            margin=margin | {"t": margin["t"] + _TITLE},
        )

    def _html(self) -> str:
        return f"{super()._html()}{self._figure_html()}"

    def _figure_html(self) -> str:
        """The figure for a notebook; empty where there is none, or no plotly."""
        try:
            return f"\n{self.plot()._repr_html_()}"
        except (MissingExtra, NothingToDraw):
            return ""


@dataclass(frozen=True, slots=True, repr=False)
class DrawnTable(Table, Drawn):
    """A table that can be drawn.

    Attributes:
        drawing: Draws the figure; None where there is no number to draw.
    """

    drawing: Callable[[], Figure | None] = field(kw_only=True, compare=False)

    def table(self) -> "DrawnTable":
        """The table itself."""
        return self
