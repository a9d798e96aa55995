"""The win rates between systems as a square of cells.

every pair of systems  ->  per system and opponent, the share of the points, and its step of colour
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.views.comparisons import PairsView

MOST_SYSTEMS = 20
_STEPS = 10


@dataclass(frozen=True, slots=True)
class Cell:
    """What one system won against another.

    Attributes:
        share: Share of the points, in [0, 1].
        battles: Number of their battles.
    """

    share: float
    battles: float

    @property
    def step(self) -> int:
        """Step of colour, from 0 for no points to 10 for all."""
        return round(self.share * _STEPS)


@dataclass(frozen=True, slots=True)
class Heatmap:
    """The square.

    Attributes:
        systems: Names, best first.
        rows: Cells per system and opponent; None for the system itself and where the two never met.
        hidden: Systems that were left out, because there are too many.
    """

    systems: tuple[str, ...]
    rows: tuple[tuple[Cell | None, ...], ...]
    hidden: int


def heatmap_of(view: PairsView) -> Heatmap:
    """The square of the best systems."""
    systems = view.systems[:MOST_SYSTEMS]
    cells: dict[tuple[str, str], Cell] = {}
    for pair in view.pairs:
        if pair.share is not None:
            cells[pair.a, pair.b] = Cell(pair.share, pair.battles)
            cells[pair.b, pair.a] = Cell(1.0 - pair.share, pair.battles)
    rows = tuple(_row(system, systems, cells) for system in systems)
    return Heatmap(tuple(systems), rows, len(view.systems) - len(systems))


def _row(system: str, systems: Sequence[str], cells: dict[tuple[str, str], Cell]) -> tuple[Cell | None, ...]:
    return tuple(cells.get((system, other)) for other in systems)
