"""Leaderboards of the three lenses, and how far their orders agree."""

from nuggetstream.report.section import Section
from nuggetstream.report.sections.leaderboards.drawing import draw
from nuggetstream.report.sections.leaderboards.numbers import compute

SECTION = Section(
    name="leaderboards",
    title="Leaderboards of three lenses",
    question="Do people, nuggets and the judge rank the systems alike?",
    compute=compute,
    draw=draw,
)
