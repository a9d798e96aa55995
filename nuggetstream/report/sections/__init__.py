"""The report's table of contents.

`CHAPTERS` alone decides what a report shows and in which order. A section is a module of this folder, named
like the section, that draws the numbers of one or several modules of `numbers` and exposes them as `SECTION`.
"""

from nuggetstream.report.section import Chapter
from nuggetstream.report.sections import (
    agreement,
    answers,
    evaluators,
    inversions,
    judges,
    leaderboards,
    misses,
    nuggets,
    running,
    sources,
    threshold,
    votes,
)

CHAPTERS = (
    Chapter("lead", "Who leads", (leaderboards.SECTION, votes.SECTION)),
    Chapter("trust", "Can you trust it", (agreement.SECTION, inversions.SECTION)),
    Chapter("thresholds", "Thresholds", (threshold.SECTION,)),
    Chapter("judging", "Judges", (judges.SECTION, evaluators.SECTION)),
    Chapter("facts", "Facts", (misses.SECTION, nuggets.SECTION)),
    Chapter("texts", "Answers and sources", (answers.SECTION, sources.SECTION)),
    Chapter("run", "The run", (running.SECTION,)),
)
