"""The sections of a report, in the order of the page."""

from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

from nuggetstream.report import drawing, numbers
from nuggetstream.report.blocks import Section
from nuggetstream.report.rows import Results

Numbers = TypeVar("Numbers")
Made = tuple[Section, Any]


def make(results: Results) -> list[Made]:
    """Every section with the plain JSON of the numbers behind it."""
    return [
        _made(results, numbers.coverage.compute, drawing.coverage.draw),
        _made(results, numbers.boards.compute, drawing.boards.draw),
        _made(results, numbers.style_control.compute, drawing.style_control.draw),
        _made(results, numbers.combined.compute, drawing.combined.draw),
        _made(results, numbers.baselines.compute, drawing.baselines.draw),
        _made(results, numbers.scorers.compute, drawing.scorers.draw),
        _made(results, numbers.confusion.compute, drawing.confusion.draw),
        _made(results, numbers.differences.compute, drawing.differences.draw),
        _made(results, numbers.thresholds.compute, drawing.thresholds.draw),
        _made(results, numbers.certainty.compute, drawing.certainty.draw),
        _made(results, numbers.inversions.compute, drawing.inversions.draw),
        _made(results, numbers.judges.compute, drawing.judges.draw),
        _made(results, numbers.nuggets.compute, drawing.nuggets.draw),
        _made(results, numbers.misses.compute, drawing.misses.draw),
        _made(results, numbers.answers.compute, drawing.answers.draw),
        _made(results, numbers.sources.compute, drawing.sources.draw),
        _made(results, numbers.running.compute, drawing.running.draw),
    ]


def _made(
    results: Results, compute: Callable[[Results], Numbers], draw: Callable[[Numbers], Section]
) -> Made:
    found = compute(results)
    return draw(found), plain(found)


def plain(value: Any) -> Any:
    """Dataclasses, alone or in a sequence, as dictionaries."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return [plain(each) for each in value]
