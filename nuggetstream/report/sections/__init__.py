"""The report's table of contents.

`SECTIONS` alone decides what a report shows and in which order. A section is a module or a package of this
folder, named like the section, that holds its numbers, their computation and their drawing, and exposes them
as `SECTION`. To add one, write the module and name it here.
"""

from typing import Any

from nuggetstream.report.section import Section
from nuggetstream.report.sections import (
    agreement,
    answers,
    assigners,
    calibration,
    certainty,
    combined,
    confusion,
    coverage,
    differences,
    grades,
    inversions,
    judge,
    leaderboards,
    misses,
    nuggets,
    panels,
    running,
    scorers,
    sources,
    style,
    support,
    threshold,
)

SECTIONS: tuple[Section[Any], ...] = (
    coverage.SECTION,
    leaderboards.SECTION,
    style.SECTION,
    combined.SECTION,
    agreement.SECTION,
    scorers.SECTION,
    confusion.SECTION,
    differences.SECTION,
    threshold.SECTION,
    certainty.SECTION,
    inversions.SECTION,
    judge.SECTION,
    calibration.SECTION,
    grades.SECTION,
    panels.SECTION,
    nuggets.SECTION,
    assigners.SECTION,
    misses.SECTION,
    answers.SECTION,
    sources.SECTION,
    support.SECTION,
    running.SECTION,
)
