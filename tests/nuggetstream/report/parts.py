"""The parts of the report by their names."""

from typing import Any

from nuggetstream.files.results import Results
from nuggetstream.report.section import Content, as_json
from nuggetstream.report.sections import CHAPTERS

PARTS = {part.name: part for chapter in CHAPTERS for part in chapter.parts}


def built(name: str, results: Results) -> tuple[Content, Any]:
    """What a part shows, and the numbers behind it as plain JSON."""
    numbers = PARTS[name].compute(results)
    return PARTS[name].draw(numbers), as_json(numbers)
